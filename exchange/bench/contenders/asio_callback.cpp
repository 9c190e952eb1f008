// SPDX-License-Identifier: BSL-1.0
//
// The facility on Boost.Asio's completion handlers: no coroutine, no seam.
#include <exchange/bench/seam_facility.hpp>
#include <exchange/net/asio/callback/facility.hpp>

#include <boost/version.hpp>

namespace exchange::bench {
namespace {

/// The facility that writes at once what the kernel takes at once.
class tried_first {
public:
    tried_first(asio_loop& loop, order_entry_host& host, const facility_options& options,
                span_observer* observer)
        : it_{loop, host, options, observer, callback_style::tried_first} {}

    [[nodiscard]] gyre::io_result<> start() { return it_.start(); }
    void stop() noexcept { it_.stop(); }
    [[nodiscard]] const gyre::endpoint& order_entry() const noexcept { return it_.order_entry(); }
    [[nodiscard]] const gyre::endpoint& feed_requests() const noexcept {
        return it_.feed_requests();
    }
    [[nodiscard]] const feed_counts& feed() const noexcept { return it_.feed(); }

private:
    callback_facility it_;
};

template <class Facility>
std::unique_ptr<facility_under_test> make(const char* name, const facility_tuning& how) {
    using pipeline = seam_facility<Facility, asio_loop, asio_loop_options>;
    const std::string version =
        std::to_string(BOOST_VERSION / 100'000) + "." + std::to_string(BOOST_VERSION / 100 % 1'000);
    return std::make_unique<pipeline>(facility_identity{name, "Boost.Asio", version, "epoll"}, how,
                                      asio_loop_options{});
}

}  // namespace

std::unique_ptr<facility_under_test> make_facility(const facility_tuning& how) {
    lab::require(!how.turns_context(), "exchange: Asio does not spin");
    lab::require(!how.through_gateway, "exchange: gateways run on gyre alone");
    if (how.backend.empty()) return make<callback_facility>("asio_callback", how);
    if (how.backend == "tried_first") return make<tried_first>("asio_callback_tried_first", how);
    lab::fail("exchange: Asio's callbacks run on --backend tried_first, or without");
}

}  // namespace exchange::bench
