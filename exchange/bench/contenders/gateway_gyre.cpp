// SPDX-License-Identifier: BSL-1.0
//
// Facility and gateway on gyre, both on io_uring or both on epoll.
#include <exchange/bench/gateway_in_front.hpp>
#include <exchange/bench/seam_facility.hpp>
#include <exchange/net/gyre/traits.hpp>

namespace exchange::bench {

std::unique_ptr<facility_under_test> make_facility(const facility_tuning& how) {
    using fronted = gateway_in_front<gyre_traits>;
    using pipeline = seam_facility<fronted, gyre::io_context, gyre::io_context_options>;
    const auto make = [&how](std::string name, std::string waits_with,
                             gyre::backend_choice choice) {
        gyre::io_context_options options;
        options.backend = choice;
        options.spin_max = how.spin_max;
        fronted::context_options = options;
        return std::make_unique<pipeline>(
            facility_identity{std::move(name), "gyre", "", std::move(waits_with)}, how, options);
    };
    if (how.backend == "uring") return make("gyre_uring", "io_uring", gyre::backend_choice::uring);
    if (how.backend == "epoll") return make("gyre_epoll", "epoll", gyre::backend_choice::epoll);
    lab::fail("exchange: gyre runs on --backend uring or epoll");
}

}  // namespace exchange::bench
