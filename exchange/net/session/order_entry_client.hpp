// SPDX-License-Identifier: BSL-1.0
//
// A client of the exchange that stays connected: it logs in, resumes where it stopped, and logs in again.
//
// codec/soup_client.hpp knows what to say; this waits for it, on either side of the seam. An exchange that
// was started anew is not the one whose orders a client remembers: the handler decides whether to begin
// again with it. Tools and tests are written on this. The other end is order_entry_connection.hpp.
#pragma once

#include <exchange/codec/soup_client.hpp>
#include <exchange/net/transport/frame_transport.hpp>
#include <exchange/net/transport/packet_stream.hpp>

#include <algorithm>
#include <memory>
#include <span>

namespace exchange {

struct order_entry_client_options {
    gyre::endpoint exchange;
    soup_login login{};
    soup_options session{};
    soup_framer_options framing{};
    websocket_options websocket{};
    std::shared_ptr<channel_security>
        security{};  ///< Of its connections; null: nothing secures them.
    gyre::duration timer_tick = std::chrono::milliseconds{50};
    /// For a connection, with the handshakes of TLS and WebSocket; an answer to the login is no part of it.
    gyre::duration connect_within = std::chrono::seconds{2};
    gyre::duration reconnect_after = std::chrono::milliseconds{10};  ///< Doubles with each failure,
    gyre::duration reconnect_after_max = std::chrono::seconds{1};    ///< up to this.
    gyre::duration farewell_max = std::chrono::seconds{2};  ///< Behind `log_out`, then we hang up.

    [[nodiscard]] transport_options transports() const {
        return {.framing = framing, .websocket = websocket, .security = security};
    }
};

/// What to do when the exchange has begun another life.
enum class next_life : bool {
    leave,  ///< `run` returns.
    join,   ///< Log in to it.
};

/// What a client wants to hear. Called on the context's thread; may `send` and `stop`.
class order_entry_handler {
public:
    virtual void logged_in() noexcept {}

    /// @param  sequence  Of the session, each once and in order; 0 if it is outside of that.
    /// @param  message   Borrowed during the call.
    virtual void heard(std::uint64_t sequence, std::span<const std::byte> message) noexcept = 0;

    /// There was no connection to be had, or not in time (`errc::timed_out`); it is tried again.
    virtual void not_reached(gyre::error) noexcept {}

    /// A connection has ended, logged in or not, and unless `soup_client` says that there is no use in it,
    /// there will be another. `peer_silent` is also one whose handshakes were not over in time.
    virtual void disconnected(soup_ending) noexcept {}

    /// The life of the exchange in which we were logged in is over: the exchange has gone down and was
    /// started anew. All orders and positions of that life are gone, as is what its operator defined.
    /// What was not heard of it will not be, and what was sent and not answered has no effect any more.
    ///
    /// Who joins the next life hears all that it has told this session, from message 1 on, and nothing
    /// of it before this call has returned. Client sequences begin anew, too: any first one up to 2^24
    /// will do. Also the public feed goes on under the new name (feed_handler::new_life), at its own
    /// time.
    ///
    /// @param  ended  Its name.
    /// @param  next   That of the life which there is now. The same if the exchange does not name its
    ///                lives, and was found out since it has told less than we had heard.
    virtual next_life life_ended([[maybe_unused]] const soup_session& ended,
                                 [[maybe_unused]] const soup_session& next) noexcept {
        return next_life::leave;
    }

protected:
    ~order_entry_handler() = default;
};

/// @tparam  X          A side of the seam.
/// @tparam  Transport  What carries its packets.
///
/// Threads:  that of its context.
/// Cost:     Memory is taken at construction, by some transports for each connection.
template <executor_traits X, frame_transport<X> Transport = packet_stream<X>>
class order_entry_client {
    static_assert(Transport::reliable && Transport::ordered,
                  "a session counts the messages of its connection");

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
          packets_{options.transports()},
          timer_{context} {}
    order_entry_client(const order_entry_client&) = delete;
    order_entry_client& operator=(const order_entry_client&) = delete;

    /// Connects, and again whenever the connection is lost. It resumes the session that it was logged in
    /// to, or none: see `order_entry_handler::life_ended`.
    ///
    /// Errors:        none: it returns when it was stopped, logged out or rejected, when the exchange
    ///                ended the session, when what comes next is not kept any more, or when the handler
    ///                leaves with the life that has ended. `machine()` tells which.
    /// Cancellation:  `stop`.
    /// Threads:       that of the context. Once at a time.
    /// Cost:          frames per connection; no allocation per message.
    task run() {
        gyre::duration pause = options_.reconnect_after;
        while (!stopped_) {
            begin_attempt();
            auto [error, socket] = co_await connector_.connect(options_.exchange);
            connecting_ = false;
            timer_.cancel();
            co_await companions_end();
            if (stopped_) break;
            if (!error) {
                packets_.open(std::move(socket), soup_end::client);
                co_await serve();
                if (machine_.is_over() || leaves_with_its_life()) break;
                if (served_) pause = options_.reconnect_after;
            } else {
                const bool late = late_ && error == gyre::errc::canceled;
                handler_.not_reached(
                    late ? gyre::error{gyre::errc::timed_out, gyre::activity::connect} : error);
            }
            if (stopped_) break;  // By the handler, when nothing waited here.
            const auto [ended] = co_await timer_.wait_until(X::now(context_) + pause);
            if (ended) break;  // Stopped, or the context ends.
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
        cut_ = true;
        may_read_.set();
    }

    /// Hears nothing more until `go_on`: what comes waits in the kernel, and then with the exchange,
    /// which cuts off who reads too slowly. Heartbeats go on.
    void pause() noexcept {
        paused_ = true;
        may_read_.reset();
    }
    void go_on() noexcept {
        paused_ = false;
        may_read_.set();
    }

    /// Did the other end refuse this connection, or the one before, what its packets are carried by?
    [[nodiscard]] bool turned_away() const noexcept { return turned_away_; }

    [[nodiscard]] const soup_client& machine() const noexcept { return machine_; }

private:
    [[nodiscard]] bool leaves_with_its_life() noexcept {
        if (machine_.ending() != soup_ending::life_ended) return false;
        const soup_session ended = machine_.resume().session;
        if (handler_.life_ended(ended, machine_.next_life()) == next_life::leave) return true;
        machine_.join_next_life();
        return false;
    }

    void begin_attempt() {
        open_by_ = gyre::deadline_after(X::now(context_), options_.connect_within);
        late_ = false;
        connecting_ = true;
        companions_ = 1;
        X::launch(context_, limit_attempt());
    }

    /// The kernel would go on for minutes.
    task limit_attempt() {
        if (connecting_) {
            const auto waited = co_await timer_.wait_until(open_by_);
            late_ = waited.ok() && connecting_;
            if (late_) connector_.cancel();
        }
        leave();
    }

    task companions_end() {
        while (companions_ > 0) {
            companion_gone_.reset();
            static_cast<void>(co_await companion_gone_.wait());
        }
    }

    task serve() {
        machine_.connect(X::now(context_));
        served_ = false;
        cut_ = false;
        turned_away_ = false;
        open_ = true;
        leave_at_ = gyre::never;
        companions_ = 2;
        has_output_.set();
        X::launch(context_, write());
        X::launch(context_, keep_time());
        while (machine_.ending() == soup_ending::none && !packets_.ended()) {
            if (paused_) {
                const auto waited = co_await may_read_.wait();
                if (!waited.ok() || cut_) break;
                take_packets();  // What stands behind the last that was heard.
                continue;
            }
            const auto [error, size] = co_await packets_.receive();
            if (error) break;
            packets_.received(size);
            take_packets();
            // Behind a handshake also what waited for it.
            if (packets_.ready(machine_.output())) has_output_.set();
        }
        open_by_ = gyre::never;
        if constexpr (requires { packets_.refused(); }) turned_away_ = packets_.refused();
        co_await say_goodbye();
        open_ = false;
        machine_.disconnected();
        packets_.cut();
        has_output_.set();
        timer_.cancel();
        co_await companions_end();
        packets_.close();
        handler_.disconnected(machine_.ending());
    }

    /// The transport's own last words, if it has some and may write.
    task say_goodbye() {
        const soup_output nothing{};
        leave_at_ = gyre::deadline_after(X::now(context_), options_.farewell_max);
        packets_.finish(machine_.ending());
        while (packets_.owes() && !writing_) {
            writing_ = true;  // The writer stays away.
            const auto [error, size] = co_await packets_.send(nothing);
            writing_ = false;
            if (error) co_return;
            static_cast<void>(packets_.sent(size));
        }
    }

    void take_packets() noexcept {
        const gyre::time_point now = X::now(context_);
        while (!paused_) {
            const soup_framed framed = packets_.next();
            if (framed.ending != soup_ending::none) {
                static_cast<void>(machine_.on_framing_error(framed.ending));
                return;
            }
            if (!framed.complete) return;
            const soup_step step = machine_.on_packet(framed.packet, now);
            served_ = served_ || step.what == soup_step::kind::started ||
                      step.ending == soup_ending::rejected ||
                      step.ending == soup_ending::life_ended;
            if (step.what == soup_step::kind::started) handler_.logged_in();
            if (step.what == soup_step::kind::message) handler_.heard(step.sequence, step.payload);
        }
    }

    task write() {
        while (open_) {
            const auto waited = co_await has_output_.wait();
            if (!waited.ok()) break;  // The context ends.
            has_output_.reset();
            for (;;) {
                const soup_output output = machine_.output();
                if (!open_ || writing_ || !packets_.ready(output)) break;
                writing_ = true;
                const auto [error, size] = co_await packets_.send(output);
                writing_ = false;
                if (error) break;  // The reader sees it too.
                machine_.sent(packets_.sent(size), X::now(context_));
            }
        }
        leave();
    }

    task keep_time() {
        while (open_) {
            const auto waited = co_await timer_.wait_until(X::now(context_) + options_.timer_tick);
            if (!waited.ok()) break;  // Stopped, or the context ends.
            const gyre::time_point now = X::now(context_);
            if (paused_) machine_.keep_waiting(now);
            if (now >= std::min(hang_up_at_, leave_at_)) hang_up();
            limit_handshakes(now);
            if (!open_ || now < machine_.deadline()) continue;
            if (machine_.on_timer(now).what == soup_step::kind::ended) packets_.cut();
            has_output_.set();
        }
        leave();
    }

    void limit_handshakes(gyre::time_point now) noexcept {
        if (open_by_ == gyre::never) return;
        if (paused_) open_by_ = gyre::deadline_after(now, options_.connect_within);
        const bool opened = packets_.opened();
        if (!opened && now < open_by_) return;
        open_by_ = gyre::never;
        if (opened) return;
        static_cast<void>(machine_.on_framing_error(soup_ending::peer_silent));
        packets_.cut();
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
    Transport packets_;
    typename X::timer timer_;  // Of an attempt, of heartbeats, and between two connections.
    typename X::event has_output_;
    typename X::event companion_gone_;
    typename X::event may_read_;                 // While it is paused.
    gyre::time_point hang_up_at_ = gyre::never;  // Behind `log_out`.
    gyre::time_point leave_at_ = gyre::never;    // Behind the end of this connection's session.
    gyre::time_point open_by_ = gyre::never;     // The connection and its handshakes.
    int companions_ = 0;                         // Coroutines beside `run` that have not ended.
    bool connecting_ = false;
    bool late_ = false;  // The attempt was given up.
    bool open_ = false;
    bool writing_ = false;
    bool served_ = false;  // Has a login on this connection been answered?
    bool stopped_ = false;
    bool paused_ = false;
    bool cut_ = false;          // By us, so that a pause ends.
    bool turned_away_ = false;  // The last connection.
};

}  // namespace exchange
