// SPDX-License-Identifier: BSL-1.0
//
// The public feed once more, to another group: what was heard leaves with the same numbers and name.
//
// Listeners behind a router, or in numbers that the facility should not answer, hear a relay as they would
// the facility, and ask it for what they missed. session/feed_listener.hpp is its ear,
// transport/feed_publisher.hpp its voice. A relay adds nothing: it falls silent with its source, and what
// was lost for good before it is lost behind it, too.
#pragma once

#include <exchange/codec/mold_sender.hpp>
#include <exchange/net/executor_traits.hpp>
#include <exchange/net/session/feed_listener.hpp>
#include <exchange/net/transport/feed_publisher.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace exchange {

struct feed_relay_options {
    feed_listener_options source{};  ///< What is heard.
    gyre::endpoint send_from;        ///< Port 0 lets the kernel choose.
    std::string interface;    ///< Through which a group is reached, such as "eth0". Empty: default.
    gyre::endpoint requests;  ///< Where listeners ask; port 0 lets the kernel choose.
    feed_options out{};       ///< Where it goes.
    mold_sender_options
        kept{};  ///< For those who ask; name and first number are those of the source.
    gyre::duration timer_tick =
        std::chrono::milliseconds{10};  ///< Between two looks for heartbeats.
};

struct feed_relay_counts {
    std::uint64_t messages = 0;  ///< Passed on.
    std::uint64_t lives = 0;     ///< That were begun.
    std::uint64_t gaps = 0;      ///< Behind which the numbers go on further up.
    std::uint64_t too_long =
        0;                     ///< Not passed on, and a gap: longer than `kept.message_bytes_max`.
    std::uint64_t unsent = 0;  ///< Made room for what follows a gap, or for another life, unsent.
    std::uint64_t after_end = 0;  ///< Came in the same life behind its end, and were not passed on.
};

/// @tparam  X  A side of the seam.
///
/// Threads:  that of its context.
/// Cost:     Memory is taken at construction, and at each life or gap for what is kept of what follows.
///           A message is copied once.
template <executor_traits X>
class feed_relay final : private feed_handler {
public:
    using task = typename X::template task<void>;

    /// @param  also  Borrowed; outlives this. Is told all that the feed tells, behind the relay. May be null.
    feed_relay(typename X::context& context, const feed_relay_options& options,
               feed_handler* also = nullptr)
        : context_{context},
          options_{options},
          also_{also},
          source_{context, options.source, *this},
          tick_{context} {
        gyre::expects(options.out.datagram_bytes_max == options.kept.datagram_bytes_max,
                      "what is kept leaves in datagrams of the same size");
    }

    /// Opens its sockets and begins. After an error nothing has begun.
    ///
    /// Errors:  those of binding, of joining or reaching a group through its interface.
    [[nodiscard]] gyre::io_result<> start() {
        auto [unsendable, outgoing] = X::bind(context_, options_.send_from, {});
        if (unsendable) return unsendable;
        if (!options_.interface.empty()) {
            const auto [missing, through] = outgoing.find_interface(options_.interface);
            if (missing) return missing;
            if (const auto [routing] = outgoing.set_multicast_interface(through); routing)
                return routing;
        }
        auto [unasked, requests] = X::bind(context_, options_.requests, {});
        if (unasked) return unasked;
        auto [unnamed, asked_at] = requests.local_endpoint();
        if (unnamed) return unnamed;
        if (const auto [deaf] = source_.start(); deaf) return deaf;
        requests_at_ = asked_at;
        outgoing_ = std::move(outgoing);
        requests_ = std::move(requests);
        running_ = true;
        X::launch(context_, keep_time());
        return {};
    }

    /// Who answers the relay's own requests from here on.
    void ask(const gyre::endpoint& requests) noexcept { source_.ask(requests); }

    /// Ends it. The context runs out of work, and then this may be destroyed.
    void stop() noexcept {
        running_ = false;
        source_.stop();
        tick_.cancel();
        if (out_) out_->close();
        static_cast<void>(outgoing_.close());
        static_cast<void>(requests_.close());
    }

    /// Where the source is heard, once started.
    [[nodiscard]] const gyre::endpoint& source() const noexcept { return source_.local(); }
    /// Where listeners ask, once started.
    [[nodiscard]] const gyre::endpoint& requests() const noexcept { return requests_at_; }
    /// What is known of the source: name, gap, losses.
    [[nodiscard]] const mold_receiver& receiver() const noexcept { return source_.receiver(); }
    [[nodiscard]] const feed_relay_counts& counts() const noexcept { return counts_; }
    /// What left; nothing before the first life was heard.
    [[nodiscard]] feed_counts sent() const noexcept {
        return out_ ? out_->counts() : feed_counts{};
    }

private:
    void heard(const mold_message& message) noexcept override {
        pass_on(message);
        if (also_ != nullptr) also_->heard(message);
    }
    void missed(mold_gap gap) noexcept override {
        if (also_ != nullptr) also_->missed(gap);
    }
    void silent() noexcept override {
        if (also_ != nullptr) also_->silent();
    }
    void ended() noexcept override {
        const mold_receiver& from = source_.receiver();
        if (!is_of_this_life()) begin_at(from.expected());
        if (!std::exchange(told_end_, true)) kept_->end(X::now(context_));
        out_->send_what_is_due();
        if (also_ != nullptr) also_->ended();
    }
    // The first message or heartbeat of the new one begins it here, too.
    void new_life(const mold_session& ended, const mold_session& begun) noexcept override {
        if (also_ != nullptr) also_->new_life(ended, begun);
    }

    void pass_on(const mold_message& message) noexcept {
        if (is_of_this_life() && told_end_) {
            ++counts_.after_end;
            return;
        }
        if (message.payload.size() > options_.kept.message_bytes_max) {
            ++counts_.too_long;
            return;
        }
        if (!is_of_this_life()) begin_at(message.sequence);
        else if (kept_->messages().next_sequence() != message.sequence) {
            ++counts_.gaps;
            begin_at(message.sequence);
        }
        std::ranges::copy(message.payload, kept_->prepare(message.payload.size()).begin());
        kept_->commit(message.payload.size());
        ++counts_.messages;
        out_->send_what_is_due();
    }

    [[nodiscard]] bool is_of_this_life() const noexcept {
        return kept_ && options_.kept.session == source_.receiver().session();
    }

    /// Goes on at another number, or in another life. What was kept is not kept any more: numbers have
    /// no gaps in a mold_sender. Datagrams on their way are copies and leave all the same.
    void begin_at(std::uint64_t sequence) noexcept {
        if (!is_of_this_life()) {
            ++counts_.lives;
            told_end_ = false;
        }
        if (kept_) counts_.unsent += kept_->end_of_sendable() - kept_->next_to_send();
        options_.kept.session = source_.receiver().session();
        options_.kept.first_sequence = std::max<std::uint64_t>(sequence, 1);
        kept_.emplace(options_.kept, X::now(context_));
        if (out_) return;
        out_.emplace(context_, *kept_, options_.out);
        out_->open(std::move(outgoing_), std::move(requests_));
        X::launch(context_, answer_requests());
        X::launch(context_, send_the_rest());
    }

    task answer_requests() { co_await out_->answer_requests(); }
    task send_the_rest() { co_await out_->send_the_rest(); }

    task keep_time() {
        while (running_) {
            const auto [ended] = co_await tick_.wait_until(X::now(context_) + options_.timer_tick);
            if (ended || !running_) break;
            const mold_receiver& from = source_.receiver();
            if (from.session().empty() || from.silent(X::now(context_))) continue;
            // A life that has said nothing yet is told by its heartbeats.
            if (!is_of_this_life() && from.expected() != 0) begin_at(from.expected());
            if (out_) out_->send_what_is_due();
        }
    }

    typename X::context& context_;
    feed_relay_options options_;  // `kept` has name and first number of what is kept now.
    feed_handler* also_;
    feed_listener<X> source_;
    typename X::timer tick_;
    typename X::udp_socket outgoing_;  // Both are the publisher's once there is one.
    typename X::udp_socket requests_;
    gyre::endpoint requests_at_;
    std::optional<mold_sender> kept_;       // Replaced in its place, which `out_` refers to.
    std::optional<feed_publisher<X>> out_;  // From the first life on, since nothing has no name.
    feed_relay_counts counts_;
    bool running_ = false;
    bool told_end_ = false;  // To those who listen here, of this life.
};

}  // namespace exchange
