// SPDX-License-Identifier: BSL-1.0
//
// A facility under test on one side of the seam: its context on a thread of its own.
//
// Everything that is measured is exchange/net's; this starts it and stops it. A contender of contenders/
// says which library, and how that is set up.
#pragma once

#include <exchange/bench/facility_under_test.hpp>
#include <exchange/bench/loopback.hpp>
#include <exchange/bench/span_recorder.hpp>
#include <exchange/net/application/facility_options.hpp>

#include <gyre/io/endpoint.hpp>

#include <lab/kit/fail.hpp>

#include <array>
#include <bit>
#include <latch>
#include <string>
#include <thread>
#include <utility>

namespace exchange::bench {

[[nodiscard]] inline gyre::endpoint endpoint_of(const sockaddr_in& address) noexcept {
    const auto bytes = std::bit_cast<std::array<std::uint8_t, 4>>(address.sin_addr.s_addr);
    return {gyre::ipv4{bytes}, ntohs(address.sin_port)};
}

/// What every pipeline is told, so that only what carries out its I/O differs.
[[nodiscard]] inline facility_options options_of(const facility_plan& plan,
                                                 const facility_tuning& how) {
    facility_options options;
    options.packets_per_turn_max = how.packets_per_turn_max;
    options.datagrams_per_send = how.datagrams_per_send;
    options.order_entry = {gyre::ipv4::loopback(), 0};
    options.feed_requests = {gyre::ipv4::loopback(), 0};
    options.feed_from = {gyre::ipv4::loopback(), 0};
    options.feed = endpoint_of(plan.feed);
    if (is_multicast(plan.feed.sin_addr)) options.feed_interface = "lo";
    return options;
}

/// @tparam  Facility  Made from a context, a host, `facility_options` and an observer, as
///                    matching_facility: `start`, `stop`, `order_entry`, `feed_requests`, `feed`.
/// @tparam  Context   Made from `Options`; has `run` and `post`.
template <class Facility, class Context, class Options>
class seam_facility final : public facility_under_test {
public:
    /// @param  options  Of the context.
    seam_facility(facility_identity about, const facility_tuning& how, Options options)
        : about_{std::move(about)}, tuning_{how}, options_{std::move(options)} {}
    seam_facility(const seam_facility&) = delete;
    seam_facility& operator=(const seam_facility&) = delete;
    ~seam_facility() override { stop(); }

    [[nodiscard]] facility_identity about() const override { return about_; }

    [[nodiscard]] facility_endpoints start(const facility_plan& plan) override {
        thread_ = std::thread{[this, plan] { run(plan); }};
        started_.wait();
        return endpoints_;
    }

    void stop() override {
        if (!thread_.joinable()) return;
        context_->post([this]() noexcept { facility_->stop(); });
        posted_.count_down();
        thread_.join();
    }

    [[nodiscard]] facility_counts counts() const override { return counts_; }

private:
    void run(const facility_plan& plan) {
        stay_on_processor(plan.processor);
        Context context{options_};
        if constexpr (requires { context.status(); })
            lab::require(!context.status(), "exchange: this backend cannot run here");
        span_recorder recorder{plan.host, plan.spans};
        Facility facility{context, plan.host, options_of(plan, tuning_), &recorder};
        const auto [error] = facility.start();
        if (error) lab::fail("exchange: the facility cannot start: " + error.message());
        context_ = &context;
        facility_ = &facility;
        endpoints_ = {loopback_address(facility.order_entry().port()),
                      loopback_address(facility.feed_requests().port())};
        started_.count_down();
        context.run();
        posted_.wait();  // The poster is still inside of the context.
        counts_.datagrams = facility.feed().datagrams;
    }

    facility_identity about_;
    facility_tuning tuning_;
    Options options_;
    std::latch started_{1};
    std::latch posted_{1};
    std::thread thread_;
    facility_endpoints endpoints_;  // These three: written before `started_`, read after it.
    Context* context_ = nullptr;
    Facility* facility_ = nullptr;
    facility_counts counts_;  // Written by the thread, read once it has ended.
};

}  // namespace exchange::bench
