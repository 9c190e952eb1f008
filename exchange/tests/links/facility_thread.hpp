// SPDX-License-Identifier: BSL-1.0
//
// A matching facility on a thread of its own, if need be in a network of its own.
//
// Clients are on another thread, so whatever comes between is really between. What it remembers is looked at
// only when its thread has ended.
#pragma once

#include <exchange/net/application/facility_options.hpp>
#include <exchange/net/transport/feed_publisher.hpp>
#include <exchange/tests/links/crowded_market.hpp>

#include <support/network_namespace.hpp>

#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace exchange::testing {

/// @tparam  X         A side of the seam.
/// @tparam  Facility  A matching_facility, or what has its members.
template <executor_traits X, class Facility>
class facility_thread {
public:
    /// Starts it, and returns when that has succeeded or failed.
    /// @param  network  A network namespace's path; empty: ours.
    facility_thread(const typename X::context_options& how, const order_entry_host_options& rules,
                    const facility_options& options, std::string network = {})
        : thread_{[this, how, rules, options, network] { live(how, rules, options, network); }} {
        started_.wait();
    }
    facility_thread(const facility_thread&) = delete;
    facility_thread& operator=(const facility_thread&) = delete;
    ~facility_thread() { stop(); }

    [[nodiscard]] bool is_started() const noexcept { return status_.ok(); }
    [[nodiscard]] gyre::error status() const noexcept { return status_.error(); }
    [[nodiscard]] const gyre::endpoint& order_entry() const noexcept { return order_entry_; }
    [[nodiscard]] const gyre::endpoint& feed_requests() const noexcept { return feed_requests_; }

    /// Ends the day in order. Any thread.
    void drain() {
        context_->post([this] { facility_->drain(); });
    }

    /// Ends it, and its thread.
    void stop() {
        if (!thread_.joinable()) return;
        if (is_started()) context_->post([this] { facility_->stop(); });
        posted_.count_down();
        thread_.join();
    }

    // Once stopped.
    [[nodiscard]] order_entry_host& host() noexcept { return *host_; }
    [[nodiscard]] const feed_counts& feed() const noexcept { return feed_; }
    [[nodiscard]] bool was_idle() const noexcept { return was_idle_; }

private:
    void live(const typename X::context_options& how, const order_entry_host_options& rules,
              const facility_options& options, const std::string& network) {
        if (!network.empty() && !gyre::testing::enter_network(network)) {
            status_ = gyre::error{gyre::errc::permission_denied};
            started_.count_down();
            return;
        }
        typename X::context context{how};
        context_ = &context;
        host_.emplace(rules, X::now(context));
        open_crowded_market(*host_);
        facility_.emplace(context, *host_, options);
        status_ = facility_->start();
        order_entry_ = facility_->order_entry();
        feed_requests_ = facility_->feed_requests();
        started_.count_down();
        if (is_started()) context.run();
        posted_.wait();  // The owner may still be inside `post`, and the loop must outlive that.
        was_idle_ = facility_->idle();
        feed_ = facility_->feed();
        facility_.reset();
    }

    std::latch started_{1};
    std::latch posted_{1};  // No thread posts any more.
    gyre::io_result<> status_;
    gyre::endpoint order_entry_;
    gyre::endpoint feed_requests_;
    typename X::context* context_ = nullptr;  // While its thread lives.
    std::optional<order_entry_host> host_;
    std::optional<Facility> facility_;
    feed_counts feed_;
    bool was_idle_ = false;
    std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace exchange::testing
