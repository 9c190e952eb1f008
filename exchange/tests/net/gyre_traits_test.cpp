// SPDX-License-Identifier: BSL-1.0
//
// The laws of the seam on gyre's own side.
#include <exchange/net/gyre/traits.hpp>

#include <exchange/tests/net/datagram_laws.hpp>
#include <exchange/tests/net/gyre_side.hpp>
#include <exchange/tests/net/stream_laws.hpp>
#include <exchange/tests/net/waiting_laws.hpp>

namespace exchange::testing {

TEST_CASE_TEMPLATE_INVOKE(bytes_in_order, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(local_connection, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(adopted_listener, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(empty_buffers, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(both_directions, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(half_closed, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(reset_by_peer, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(refused, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(connect_cancelled, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(closed_below_read, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(closed_below_write, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(closed_below_accept, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(addresses_refused, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(port_shared, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(addresses_known, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(closed_sockets, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(closed_by_end, gyre_side);

TEST_CASE_TEMPLATE_INVOKE(datagram_arrives, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(datagram_truncated, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(datagram_refused, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(datagram_unheard, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(closed_below_receive, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(bind_refused, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(batch_arrives, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(batch_refused, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(groups, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(interfaces, gyre_side);

TEST_CASE_TEMPLATE_INVOKE(timer_passes, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(timer_pushed_back, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(timer_moved_nearer, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(timer_cancelled, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(event_wakes_all, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(event_stays_set, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(signal_reported, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(signal_wait_cancelled, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(launch_later, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(run_and_stop, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(no_rest, gyre_side);
TEST_CASE_TEMPLATE_INVOKE(context_ends, gyre_side);

}  // namespace exchange::testing
