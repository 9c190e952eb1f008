// SPDX-License-Identifier: BSL-1.0
//
// The matching facility on one side of the seam: everything that waits, put together.
//
// It has a door for each transport, publishes the feed, answers who missed a part of it, and keeps time.
// What a message means is order_entry_host.hpp's; the loop of one client is
// session/order_entry_connection.hpp's.
#pragma once

#include <exchange/net/application/client_door.hpp>
#include <exchange/net/application/facility_sockets.hpp>
#include <exchange/net/session/gateway_link.hpp>
#include <exchange/net/session/order_entry_connection.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <utility>

namespace exchange {

/// @tparam  X           A side of the seam.
/// @tparam  Websockets  What carries sessions at `facility_options::websocket`, a model of
///                      frame_transport; void: nothing does, and no place is to be named there. Clients of
///                      `order_entry` speak
///                      SoupBinTCP.
///
/// Threads:  that of its context.
/// Cost:     Memory is taken at construction, and for each client that connects.
template <executor_traits X, class Websockets = void>
class matching_facility final : private command_runner {
public:
    using task = typename X::template task<void>;

    /// @param  context   Borrowed; outlives this.
    /// @param  host   Borrowed; outlives this.
    /// @param  observer  Borrowed, or null.
    matching_facility(typename X::context& context, order_entry_host& host,
                      const facility_options& options, span_observer* observer = nullptr)
        : context_{context},
          host_{host},
          options_{options},
          feed_{context, host.feed(), options.publishing()},
          shared_{context, host, feed_, options_, span_watch{observer}},
          links_{shared_},
          tick_{context},
          turn_{context},
          order_entry_{context, shared_, options.connections_max, options.timer_tick},
          websockets_{context, shared_, options.connections_max, options.timer_tick},
          gateways_{context, links_, options.gateways.links_max, options.timer_tick} {
        gyre::expects(options.connections_max > host.logins_max(),
                      "a connection for each participant and operator, and one to ask for it");
        feed_.be_watched(shared_.spans);
    }
    matching_facility(const matching_facility&) = delete;
    matching_facility& operator=(const matching_facility&) = delete;

    /// Opens all sockets and begins. After an error nothing has begun.
    ///
    /// Errors:  those of listening and binding, of joining `feed_interface`: what the kernel says.
    [[nodiscard]] gyre::io_result<> start() {
        if (!speaks_websocket && options_.websocket.kind() != gyre::endpoint::family::none)
            return gyre::error{gyre::errc::not_supported, gyre::activity::listen};
        auto [failed, sockets] = facility_sockets<X>::open(context_, options_);
        if (failed) return failed;
        requests_at_ = sockets.feed_requests;
        feed_.open(std::move(sockets.feed), std::move(sockets.requests));
        running_ = true;
        host_.run_with(this);
        order_entry_.open(std::move(sockets.order_entry));
        websockets_.open(std::move(sockets.websocket));
        gateways_.open(std::move(sockets.gateways));
        begin(finish_commands());
        begin(answer_requests());
        begin(keep_time());
        begin(send_the_rest());
        return {};
    }

    /// Where clients connect, once started.
    [[nodiscard]] const gyre::endpoint& order_entry() const noexcept { return order_entry_.at(); }
    /// Where clients of WebSocket do; nowhere, if there is no such place.
    [[nodiscard]] const gyre::endpoint& websocket() const noexcept { return websockets_.at(); }
    /// Where requests for retransmission go, once started.
    [[nodiscard]] const gyre::endpoint& feed_requests() const noexcept { return requests_at_; }
    /// Where gateways connect, once started; nowhere if there are to be none.
    [[nodiscard]] const gyre::endpoint& gateways() const noexcept { return gateways_.at(); }

    /// Ends the day in order: each client is told what there is to tell, then that nothing follows;
    /// the feed ends. A client that comes only now, or again, is told the same from the message on
    /// that it asks for, and can change nothing any more. `stop` comes next; until then clients are
    /// let in.
    void drain() noexcept { host_.end(X::now(context_)); }

    /// Is no client connected, through gateways neither? Once drained: each that was has been told, or was
    /// lost and may come again.
    [[nodiscard]] bool idle() const noexcept {
        std::size_t behind_gateways = 0;
        gateways_.for_each([&](const gateway_link<X>& each) { behind_gateways += each.clients(); });
        return order_entry_.idle() && websockets_.idle() && behind_gateways == 0;
    }

    /// Ends everything. The context runs out of work, and then this may be destroyed.
    void stop() noexcept {
        running_ = false;
        host_.run_with(nullptr);
        host_.finish_command();
        busy_.set();
        shared_.idle.set();
        feed_.close();
        tick_.cancel();
        turn_.cancel();
        order_entry_.stop();
        websockets_.stop();
        gateways_.stop();
    }

    [[nodiscard]] const feed_counts& feed() const noexcept { return feed_.counts(); }

private:
    static constexpr bool speaks_websocket = !std::is_void_v<Websockets>;

    void begin(task what) { X::launch(context_, std::move(what)); }

    static constexpr std::chrono::microseconds next_turn{1};

    void host_is_busy() noexcept override {
        shared_.idle.reset();
        busy_.set();
    }

    /// Carries out, step by step, what takes more than one, and lets all others do in between what they have
    /// to do, but for commands.
    task finish_commands() {
        while (running_) {
            static_cast<void>(co_await busy_.wait());
            busy_.reset();
            while (host_.busy()) {
                host_.announce();
                for (bool more = feed_.begin(); more;) {
                    const auto what = co_await feed_.send();
                    more = feed_.sent(what);
                }
                while (feed_.crowded()) static_cast<void>(co_await feed_.until_less_crowded());
                // In the future, or the loop would not be left: it takes a visit to the kernel.
                static_cast<void>(co_await turn_.wait_until(X::now(context_) + next_turn));
                if (host_.busy()) host_.resume();
            }
            shared_.idle.set();
            host_.announce();
            co_await feed_.flush();
        }
    }

    task answer_requests() { co_await feed_.answer_requests(); }
    task send_the_rest() { co_await feed_.send_the_rest(); }

    task keep_time() {
        gyre::time_point tick = X::now(context_) + options_.timer_tick;
        while (running_) {
            const gyre::time_point soon = X::now(context_) + next_turn;
            const auto [ended] =
                co_await tick_.wait_until(std::min(tick, std::max(soon, host_.deadline())));
            if (ended || !running_) break;
            const gyre::time_point now = X::now(context_);
            tick = std::min(
                {order_entry_.on_tick(now), websockets_.on_tick(now), gateways_.on_tick(now)});
            host_.on_timer(now);
            host_.announce();  // Orders of who was too silent may have been cancelled.
            feed_.send_what_is_due();
        }
    }

    typename X::context& context_;
    order_entry_host& host_;
    facility_options options_;
    feed_publisher<X> feed_;
    order_entry_shared_state<X> shared_;
    gateway_shared_state<X> links_;
    typename X::timer tick_;
    typename X::timer turn_;  // Between two steps of a command.
    typename X::event busy_;  // Set when a command takes more than a step.
    client_door<X, order_entry_connection<X>> order_entry_;
    typename door_of<X, order_entry_connection_over, Websockets>::type websockets_;
    client_door<X, gateway_link<X>> gateways_;
    gyre::endpoint requests_at_;
    bool running_ = false;
};

}  // namespace exchange
