// SPDX-License-Identifier: BSL-1.0
//
// The facility on gyre, on io_uring or on epoll; with a gateway in front of it, on the same.
#include <exchange/bench/gateway_in_front.hpp>

namespace exchange::bench {
namespace {

[[nodiscard]] gyre::io_context_options options_of(const facility_tuning& how,
                                                  gyre::backend_choice choice) {
    gyre::io_context_options made;
    made.backend = choice;
    made.spin_max = how.spin_max;
    if (how.ring_submissions) made.ring_submissions = *how.ring_submissions;
    if (how.receive_block_bytes) made.receive_block_size = *how.receive_block_bytes;
    if (how.timer_slack) made.timer_slack = *how.timer_slack;
    return made;
}

}  // namespace

std::unique_ptr<facility_under_test> make_facility(const facility_tuning& how) {
    const auto make = [&how](std::string name, std::string waits_with,
                             gyre::backend_choice choice) {
        return gyre_facility_of({std::move(name), "gyre", "", std::move(waits_with)}, how,
                                options_of(how, choice));
    };
    if (how.backend == "uring") return make("gyre_uring", "io_uring", gyre::backend_choice::uring);
    if (how.backend == "epoll") return make("gyre_epoll", "epoll", gyre::backend_choice::epoll);
    lab::fail("exchange: gyre runs on --backend uring or epoll");
}

}  // namespace exchange::bench
