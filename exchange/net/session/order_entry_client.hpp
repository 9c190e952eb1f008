// SPDX-License-Identifier: BSL-1.0
//
// A client of the exchange that stays connected: it logs in, resumes where it stopped, and logs in again.
//
// codec/soup_client.hpp knows what to say; this waits for it, on either side of the seam. Tools and
// tests are written on it. The other end is order_entry_connection.hpp.
#pragma once

#include <exchange/codec/soup_client.hpp>
#include <exchange/net/transport/packet_stream.hpp>

#include <algorithm>
#include <span>

namespace exchange {

struct order_entry_client_options {
    gyre::endpoint exchange;
    soup_login login{};
    soup_options session{};
    soup_framer_options framing{};
    gyre::duration timer_tick = std::chrono::milliseconds{50};
    gyre::duration reconnect_after = std::chrono::milliseconds{10};  ///< Doubles with each failure,
    gyre::duration reconnect_after_max = std::chrono::seconds{1};    ///< up to this.
    gyre::duration farewell_max = std::chrono::seconds{2};  ///< Behind `log_out`, then we hang up.
};

/// What a client wants to hear. Called on the context's thread; may `send` and `stop`.
class order_entry_handler {
public:
    virtual void logged_in() noexcept {}

    /// @param  sequence  Of the session, each once and in order; 0 if it is outside of that.
    /// @param  message   Borrowed during the call.
    virtual void heard(std::uint64_t sequence, std::span<const std::byte> message) noexcept = 0;

    /// A connection has ended, and unless `soup_client` says that it was the last, there will be another.
    virtual void disconnected(soup_ending) noexcept {}

protected:
    ~order_entry_handler() = default;
};

/// @tparam  X  A side of the seam.
///
/// Threads:  that of its context.
/// Cost:     Memory is taken at construction.
template <executor_traits X>
class order_entry_client {
public:
    using task = typename X::template task<void>;

    /// @param  handler  Borrowed; outlives this.
    order_entry_client(typename X::context& context, const order_entry_client_options& options,
                       order_entry_handler& handler)
        : context_{context},
          options_{options},
          handler_{handler},
          machine_{options.session, options.login, X::now(context)},
          connector_{context},
          packets_{options.framing},
          timer_{context} {}
    order_entry_client(const order_entry_client&) = delete;
    order_entry_client& operator=(const order_entry_client&) = delete;

    /// Connects, and again whenever the connection is lost.
    ///
    /// Errors:        none: it returns when it was stopped, logged out or rejected, or when the exchange
    ///                ended the session. `machine()` tells which.
    /// Cancellation:  `stop`.
    /// Threads:       that of the context. Once at a time.
    /// Cost:          frames per connection; no allocation per message.
    task run() {
        gyre::duration pause = options_.reconnect_after;
        while (!stopped_) {
            auto [error, socket] = co_await connector_.connect(options_.exchange);
            if (stopped_) break;
            if (!error) {
                packets_.open(std::move(socket));
                co_await serve();
                if (is_last(machine_.ending())) break;
                if (served_) pause = options_.reconnect_after;
            }
            static_cast<void>(co_await timer_.wait_until(X::now(context_) + pause));
            pause = std::min(pause * 2, options_.reconnect_after_max);
        }
    }

    /// Sends a message. False if there is no room, or without a login, as between two connections:
    /// then nothing was sent. What was sent may be lost with the connection.
    [[nodiscard]] bool send(std::span<const std::byte> message) noexcept {
        if (!machine_.send(message)) return false;
        has_output_.set();
        return true;
    }

    /// Ends the session in order. False if there is no room for that yet, or without a login. An
    /// exchange that does not close the connection within `farewell_max` is left without its
    /// consent.
    [[nodiscard]] bool log_out() noexcept {
        if (!machine_.log_out()) return false;
        hang_up_at_ = gyre::deadline_after(X::now(context_), options_.farewell_max);
        has_output_.set();
        return true;
    }

    /// Ends the connection, or the attempt to make one, and `run`.
    void stop() noexcept {
        stopped_ = true;
        connector_.cancel();
        hang_up();
        timer_.cancel();
    }

    /// Ends this connection; `run` makes the next.
    void hang_up() noexcept {
        if (packets_.is_open()) packets_.cut();
    }

    [[nodiscard]] const soup_client& machine() const noexcept { return machine_; }

private:
    [[nodiscard]] static bool is_last(soup_ending ending) noexcept {
        return ending == soup_ending::logged_out || ending == soup_ending::session_ended ||
               ending == soup_ending::rejected;
    }

    task serve() {
        machine_.connect(X::now(context_));
        served_ = false;
        open_ = true;
        companions_ = 2;
        has_output_.set();
        X::launch(context_, write());
        X::launch(context_, keep_time());
        while (machine_.ending() == soup_ending::none) {
            const auto [error, size] = co_await packets_.receive();
            if (error) break;
            packets_.received(size);
            take_packets();
        }
        open_ = false;
        machine_.disconnected();
        packets_.cut();
        has_output_.set();
        timer_.cancel();
        while (companions_ > 0) {
            companion_gone_.reset();
            static_cast<void>(co_await companion_gone_.wait());
        }
        packets_.close();
        handler_.disconnected(machine_.ending());
    }

    void take_packets() noexcept {
        const gyre::time_point now = X::now(context_);
        for (;;) {
            const soup_framed framed = packets_.framer().next();
            if (framed.ending != soup_ending::none) {
                static_cast<void>(machine_.on_framing_error(framed.ending));
                return;
            }
            if (!framed.complete) return;
            const soup_step step = machine_.on_packet(framed.packet, now);
            if (step.what == soup_step::kind::started) {
                served_ = true;
                handler_.logged_in();
            }
            if (step.what == soup_step::kind::message) handler_.heard(step.sequence, step.payload);
        }
    }

    task write() {
        while (open_) {
            static_cast<void>(co_await has_output_.wait());
            has_output_.reset();
            for (;;) {
                const soup_output output = machine_.output();
                if (!open_ || output.size() == 0) break;
                const auto [error, size] = co_await packets_.send(output);
                if (error) break;  // The reader sees it too.
                machine_.sent(size, X::now(context_));
            }
        }
        leave();
    }

    task keep_time() {
        while (open_) {
            static_cast<void>(co_await timer_.wait_until(X::now(context_) + options_.timer_tick));
            const gyre::time_point now = X::now(context_);
            if (now >= hang_up_at_) hang_up();
            if (!open_ || now < machine_.deadline()) continue;
            if (machine_.on_timer(now).what == soup_step::kind::ended) packets_.cut();
            has_output_.set();
        }
        leave();
    }

    void leave() noexcept {
        --companions_;
        companion_gone_.set();
    }

    typename X::context& context_;
    order_entry_client_options options_;
    order_entry_handler& handler_;
    soup_client machine_;
    typename X::connector connector_;
    packet_stream<X> packets_;
    typename X::timer timer_;  // Of a connection's heartbeats, and between two connections.
    typename X::event has_output_;
    typename X::event companion_gone_;
    gyre::time_point hang_up_at_ = gyre::never;
    int companions_ = 0;  // Coroutines beside the reader that have not ended.
    bool open_ = false;
    bool served_ = false;  // Has this connection been logged in?
    bool stopped_ = false;
};

}  // namespace exchange
