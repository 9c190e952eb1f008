// SPDX-License-Identifier: BSL-1.0
//
// The laws of the seam on Boost.Asio's side.
#include <exchange/net/asio/traits.hpp>

#include <exchange/tests/net/asio_side.hpp>
#include <exchange/tests/net/datagram_laws.hpp>
#include <exchange/tests/net/stream_laws.hpp>
#include <exchange/tests/net/waiting_laws.hpp>

namespace exchange::testing {

TEST_CASE_TEMPLATE_INVOKE(bytes_in_order, asio_side);
TEST_CASE_TEMPLATE_INVOKE(local_connection, asio_side);
TEST_CASE_TEMPLATE_INVOKE(adopted_listener, asio_side);
TEST_CASE_TEMPLATE_INVOKE(empty_buffers, asio_side);
TEST_CASE_TEMPLATE_INVOKE(both_directions, asio_side);
TEST_CASE_TEMPLATE_INVOKE(half_closed, asio_side);
TEST_CASE_TEMPLATE_INVOKE(reset_by_peer, asio_side);
TEST_CASE_TEMPLATE_INVOKE(refused, asio_side);
TEST_CASE_TEMPLATE_INVOKE(connect_cancelled, asio_side);
TEST_CASE_TEMPLATE_INVOKE(closed_below_read, asio_side);
TEST_CASE_TEMPLATE_INVOKE(closed_below_write, asio_side);
TEST_CASE_TEMPLATE_INVOKE(closed_below_accept, asio_side);
TEST_CASE_TEMPLATE_INVOKE(addresses_refused, asio_side);
TEST_CASE_TEMPLATE_INVOKE(port_shared, asio_side);
TEST_CASE_TEMPLATE_INVOKE(addresses_known, asio_side);
TEST_CASE_TEMPLATE_INVOKE(closed_sockets, asio_side);
TEST_CASE_TEMPLATE_INVOKE(closed_by_end, asio_side);

TEST_CASE_TEMPLATE_INVOKE(datagram_arrives, asio_side);
TEST_CASE_TEMPLATE_INVOKE(datagram_truncated, asio_side);
TEST_CASE_TEMPLATE_INVOKE(datagram_refused, asio_side);
TEST_CASE_TEMPLATE_INVOKE(datagram_unheard, asio_side);
TEST_CASE_TEMPLATE_INVOKE(closed_below_receive, asio_side);
TEST_CASE_TEMPLATE_INVOKE(bind_refused, asio_side);
TEST_CASE_TEMPLATE_INVOKE(batch_arrives, asio_side);
TEST_CASE_TEMPLATE_INVOKE(batch_refused, asio_side);
TEST_CASE_TEMPLATE_INVOKE(groups, asio_side);
TEST_CASE_TEMPLATE_INVOKE(interfaces, asio_side);

TEST_CASE_TEMPLATE_INVOKE(timer_passes, asio_side);
TEST_CASE_TEMPLATE_INVOKE(timer_pushed_back, asio_side);
TEST_CASE_TEMPLATE_INVOKE(timer_moved_nearer, asio_side);
TEST_CASE_TEMPLATE_INVOKE(timer_cancelled, asio_side);
TEST_CASE_TEMPLATE_INVOKE(event_wakes_all, asio_side);
TEST_CASE_TEMPLATE_INVOKE(event_stays_set, asio_side);
TEST_CASE_TEMPLATE_INVOKE(signal_reported, asio_side);
TEST_CASE_TEMPLATE_INVOKE(signal_wait_cancelled, asio_side);
TEST_CASE_TEMPLATE_INVOKE(launch_later, asio_side);
TEST_CASE_TEMPLATE_INVOKE(run_and_stop, asio_side);
TEST_CASE_TEMPLATE_INVOKE(no_rest, asio_side);
TEST_CASE_TEMPLATE_INVOKE(context_ends, asio_side);

}  // namespace exchange::testing
