// SPDX-License-Identifier: BSL-1.0
//
// A matching facility with a gateway in front of it, where clients connect: what order entry costs from end
// to end.
//
// The gateway has a loop and a thread of its own, as its process has, on the processor of the facility's
// thread. To seam_facility.hpp it is a facility like any other.
#pragma once

#include <exchange/bench/facility_under_test.hpp>
#include <exchange/bench/loopback.hpp>
#include <exchange/bench/seam_facility.hpp>
#include <exchange/net/application/matching_facility.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/server/order_entry_gateway.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/runtime/io_context.hpp>

#include <lab/kit/fail.hpp>

#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace exchange::bench {

/// Threads:  that of its context, but for the gateway's own.
class gateway_in_front {
public:
    /// Of the gateway's context. Set before one is made.
    static inline gyre::io_context_options context_options{};

    gateway_in_front(gyre::io_context& context, order_entry_host& host, facility_options options,
                     span_observer* observer)
        : facility_{context, host, with_gateways(std::move(options)), observer} {}
    gateway_in_front(const gateway_in_front&) = delete;
    gateway_in_front& operator=(const gateway_in_front&) = delete;
    ~gateway_in_front() { join(); }

    /// Clients may come once it returns; they are let in as soon as the gateway has its link.
    [[nodiscard]] gyre::io_result<> start() {
        if (const auto [error] = facility_.start(); error) return error;
        thread_ = std::thread{[this] { run(); }};
        started_.wait();
        return {};
    }
    void stop() {
        gateway_.request_stop();
        join();
        facility_.stop();
    }

    [[nodiscard]] const gyre::endpoint& order_entry() const noexcept { return order_entry_; }
    [[nodiscard]] const gyre::endpoint& feed_requests() const { return facility_.feed_requests(); }
    [[nodiscard]] const feed_counts& feed() const { return facility_.feed(); }

private:
    [[nodiscard]] static facility_options with_gateways(facility_options options) {
        options.gateways.at = {gyre::ipv4::loopback(), 0};
        return options;
    }
    [[nodiscard]] static gateway_host_options users() {
        gateway_host_options made;
        made.name = gateway_name;
        made.password = password;
        for (const std::string_view each : {maker_name, taker_name})
            made.users.users.push_back({.username = each, .secrets = {std::string{password}}});
        return made;
    }

    void run() {
        gyre::io_context context{context_options};
        gateway_host host{users(), context.now()};
        gateway_options options;
        options.clients.tcp = {gyre::ipv4::loopback(), 0};
        options.facility = facility_.gateways();
        order_entry_gateway gateway{host, options};
        const auto [error] = gateway.listen(context);
        if (error) lab::fail("exchange: the gateway cannot start: " + error.message());
        gateway_ = gyre::launch(context, gateway.serve(), gyre::or_terminate{});
        order_entry_ = gateway.order_entry();
        started_.count_down();
        context.run();
        over_.wait();  // The thread that stops it is still inside of the context.
    }
    void join() {
        if (!thread_.joinable()) return;
        over_.count_down();
        thread_.join();
    }

    matching_facility<gyre_traits> facility_;
    std::latch started_{1};
    std::latch over_{1};
    std::thread thread_;
    gyre::stop_handle gateway_;  // Both: written before `started_`.
    gyre::endpoint order_entry_;
};

/// A facility of both, or of the facility alone: what `how` says.
///
/// @param  options  Of the context; of the gateway's, too.
[[nodiscard]] inline std::unique_ptr<facility_under_test> gyre_facility_of(
    facility_identity about, const facility_tuning& how, const gyre::io_context_options& options) {
    using Options = gyre::io_context_options;
    gateway_in_front::context_options = options;
    if (how.through_gateway)
        return std::make_unique<seam_facility<gateway_in_front, gyre::io_context, Options>>(
            std::move(about), how, options);
    return std::make_unique<
        seam_facility<matching_facility<gyre_traits>, gyre::io_context, Options>>(std::move(about),
                                                                                  how, options);
}

}  // namespace exchange::bench
