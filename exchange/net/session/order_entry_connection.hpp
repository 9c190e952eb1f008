// SPDX-License-Identifier: BSL-1.0
//
// The two coroutines of a client's connection: one reads and carries out, one writes what others caused.
//
// This is the only place where a session waits, whatever carries its packets. The reader of a batch of
// packets carries all of it out, sends the feed, and then writes its own answers; messages that it caused
// for other sessions are left to their writers, so that no session waits for another one's slow client.
#pragma once

#include <exchange/codec/soup_connection.hpp>
#include <exchange/net/application/facility_options.hpp>
#include <exchange/net/application/span_watch.hpp>
#include <exchange/net/session/order_entry_session.hpp>
#include <exchange/net/transport/feed_publisher.hpp>
#include <exchange/net/transport/frame_transport.hpp>
#include <exchange/net/transport/packet_stream.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace exchange {

/// What connections share.
template <executor_traits X>
struct order_entry_shared_state {
    typename X::context& context;
    order_entry_host& host;
    feed_publisher<X>& feed;
    const facility_options& options;
    span_watch spans;
    typename X::event idle{};  // Set when a command that took several steps is through.

    /// A writer has finished, or there is no client to write to.
    void note_written() noexcept {
        if (!feed.sending()) spans.note_written();
    }
};

/// @tparam  X          A side of the seam.
/// @tparam  Transport  What carries its packets.
///
/// Threads:  that of its context.
/// Cost:     Serves one connection after the other; the buffers are taken for each anew.
template <executor_traits X, frame_transport<X> Transport = packet_stream<X>>
class order_entry_connection final : public session_link {
    static_assert(Transport::reliable && Transport::ordered,
                  "a session counts the messages of its connection");

public:
    using task = typename X::template task<void>;

    /// @param  shared  Borrowed; outlives this.
    explicit order_entry_connection(order_entry_shared_state<X>& shared)
        : shared_{shared}, packets_{shared.options.transports()} {}
    order_entry_connection(const order_entry_connection&) = delete;
    order_entry_connection& operator=(const order_entry_connection&) = delete;

    /// Takes charge of a client, who is then to be served.
    void open(typename X::stream_socket socket) {
        packets_.open(std::move(socket));
        accepted_at_ = X::now(shared_.context);
        session_.emplace(shared_.host, *this, shared_.options.sessions, accepted_at_);
        over_since_ = gyre::never;
        finished_ = cut_ = waits_for_host_ = handed_over_ = end_said_ = false;
        has_output_.reset();
        writer_gone_.reset();
    }

    /// Serves it, until it or the exchange has had enough.
    ///
    /// Errors:        none: a connection that is lost is an end like any other.
    /// Cancellation:  `hang_up` ends it.
    /// Threads:       that of the context.
    /// Cost:          no allocation per message.
    task serve() {
        X::launch(shared_.context, write_what_others_caused());
        co_await carry_out();
        co_await wait_for_the_end();
        session_->disconnected();
        shared_.host.announce();
        co_await shared_.feed.flush();  // Its orders may have been cancelled, which others hear of.
        co_await end_writer();
        note_clean();
        packets_.close();
        packets_.release();
        session_.reset();
    }

    /// Is there a client, from `open` to the end of `serve`?
    [[nodiscard]] bool serving() const noexcept { return session_.has_value(); }
    [[nodiscard]] bool logged_in() const noexcept { return session_->logged_in(); }
    [[nodiscard]] bool was_logged_in() const noexcept { return session_->was_logged_in(); }
    [[nodiscard]] gyre::time_point accepted_at() const noexcept { return accepted_at_; }

    /// Ends it now.
    void hang_up() noexcept { cut(); }

    /// Does what is due.
    void on_timer(gyre::time_point now) noexcept {
        if (session_->over()) {
            over_since_ = std::min(over_since_, now);
            if (now >= gyre::deadline_after(over_since_, shared_.options.linger)) packets_.cut();
            return;
        }
        if (waits_for_host_) session_->keep_waiting(now);  // So does what it has sent.
        if (now < session_->deadline()) return;
        session_->on_timer(now);
        has_output();
    }

    void has_output() noexcept override {
        if (!unwritten_) {
            unwritten_ = true;
            shared_.spans.note_unwritten();
        }
        if (!carrying_out_) has_output_.set();
        if (!session_->login_pending()) decided_.set();
    }
    void cut() noexcept override {
        cut_ = true;
        packets_.cut();
        decided_.set();
    }
    [[nodiscard]] gyre::endpoint peer() const noexcept override { return packets_.peer(); }
    [[nodiscard]] std::string_view transport() const noexcept override { return packets_.name(); }

private:
    /// Carries out packets that are here, up to the limit of one turn. False if there was none.
    bool take_packets() noexcept {
        carrying_out_ = true;
        const std::size_t taken = session_->take_packets(
            packets_, shared_.options.packets_per_turn_max, X::now(shared_.context), shared_.spans);
        if (taken > 0) has_output();  // An acceptance, a refusal: not all output is announced.
        shared_.host.announce();
        carrying_out_ = false;
        return taken > 0;
    }

    /// Reads, carries out and answers, until the client has gone or its session is over. All that it awaits
    /// are operations, so that a message makes no frame.
    task carry_out() {
        while (!session_->over()) {
            const auto [error, size] = co_await packets_.receive();
            if (error) break;
            packets_.received(size);
            shared_.spans.received();
            for (;;) {
                while (shared_.host.busy()) {
                    waits_for_host_ = true;
                    static_cast<void>(co_await shared_.idle.wait());
                }
                waits_for_host_ = false;
                if (cut_) break;
                decided_.reset();  // Not later: a login may be decided before it is waited for.
                if (!take_packets()) break;
                // The feed first: the public must not wait for one client's window.
                for (bool more = shared_.feed.begin(); more;) {
                    const auto sent = co_await shared_.feed.send();
                    more = shared_.feed.sent(sent);
                }
                for (bool more = begin_own_output(); more;) {
                    const auto written = co_await packets_.send(*output_);
                    more = note_own_output(written);
                }
                shared_.note_written();
                if (session_->login_pending()) {
                    static_cast<void>(co_await decided_.wait());
                    if (session_->login_pending()) break;  // It has been cut.
                }
                while (shared_.feed
                           .crowded())  // Another one is sending, and the next turn would add more.
                    static_cast<void>(co_await shared_.feed.until_less_crowded());
            }
            if (packets_.owes()) has_output_.set();
            if (packets_.ended()) break;
        }
    }

    task write_what_others_caused() {
        for (;;) {
            if (!finished_ && !has_output_.is_set()) static_cast<void>(co_await has_output_.wait());
            has_output_.reset();
            if (finished_ && !handed_over_) break;
            for (bool more = std::exchange(handed_over_, false) || begin_output(); more;) {
                const auto written = co_await packets_.send(*output_);
                more = note_output(written);
            }
            shared_.note_written();
        }
        writer_gone_.set();
    }

    /// Whether the caller is to write `output_`. If it has a writer, that one goes on until all is
    /// written.
    [[nodiscard]] bool begin_output() noexcept {
        if (writing_) return false;
        return next_output();
    }
    [[nodiscard]] bool next_output() noexcept {
        output_ = &session_->output();
        writing_ = packets_.ready(*output_);
        if (!writing_ && session_->over() && !std::exchange(end_said_, true)) {
            packets_.finish(session_->ending());  // Now: its reader may wait for long.
            writing_ = packets_.ready(*output_);
        }
        if (!writing_) note_clean();
        return writing_;
    }
    /// Whether there is more to write. Of a client that cannot be written to, there is not.
    [[nodiscard]] bool note_output(const gyre::io_result<std::size_t>& written) noexcept {
        last_taken_ = written.ok() ? packets_.sent(written.value()) : 0;
        if (written.ok()) {
            session_->sent(last_taken_, X::now(shared_.context));
            return next_output();
        }
        packets_.cut();
        writing_ = false;
        note_clean();
        return false;
    }

    /// The same for the reader, who writes what is offered when it begins. What others cause meanwhile it
    /// leaves to the writer: they could go on for ever, and a client that is told much must be heard.
    [[nodiscard]] bool begin_own_output() noexcept {
        const bool begun = begin_output();
        own_left_ = begun ? output_->size() : 0;
        return begun;
    }
    [[nodiscard]] bool note_own_output(const gyre::io_result<std::size_t>& written) noexcept {
        if (!note_output(written)) return false;
        own_left_ -= std::min(own_left_, last_taken_);
        if (own_left_ > 0) return true;
        handed_over_ = true;
        has_output_.set();
        return false;
    }

    /// Lets the client read our last words: what it still sends is dropped until it closes, or for as long
    /// as `on_timer` allows. Closing at once would reset the connection, and destroy them.
    task wait_for_the_end() {
        co_await shared_.feed.flush();
        for (bool more = begin_output(); more;) {
            const auto written = co_await packets_.send(*output_);
            more = note_output(written);
        }
        shared_.note_written();
        if (!session_->over()) co_return;  // The client went first.
        over_since_ = std::min(over_since_, X::now(shared_.context));
        co_await end_writer();  // It may be in the middle of a message, with our last words behind it.
        for (;;) {
            const auto [error, size] = co_await packets_.discard();
            if (error) co_return;
            packets_.discarded(size);
        }
    }

    /// Waits for the other coroutine, which first writes all that it has begun.
    task end_writer() {
        finished_ = true;
        has_output_.set();
        static_cast<void>(co_await writer_gone_.wait());
    }

    void note_clean() noexcept {
        if (!unwritten_) return;
        unwritten_ = false;
        shared_.spans.note_clean();
    }

    order_entry_shared_state<X>& shared_;
    Transport packets_;
    std::optional<order_entry_session> session_;
    const soup_output* output_ = nullptr;  // Being written, while `writing_`.
    typename X::event has_output_;
    typename X::event writer_gone_;
    typename X::event decided_;  // Set when a login is, or nobody waits for it any more.
    gyre::time_point accepted_at_{};
    gyre::time_point over_since_ = gyre::never;
    std::size_t last_taken_ = 0;  // Of `output_`, by the last write.
    std::size_t own_left_ = 0;    // Of what the reader writes, while it does.
    bool handed_over_ = false;    // To the writer, while `writing_`.
    bool carrying_out_ = false;   // Inside take_packets: its own output is written right behind.
    bool writing_ = false;
    bool unwritten_ = false;       // Counted in the shared state.
    bool finished_ = false;        // The reader is done, and the writer shall be.
    bool end_said_ = false;        // The transport was told that nothing follows.
    bool cut_ = false;             // It was told to leave: nothing more is carried out.
    bool waits_for_host_ = false;  // Behind a command of several steps.
};

/// As an argument of templates, which takes no constraints.
template <class X, class Transport>
using order_entry_connection_over = order_entry_connection<X, Transport>;

}  // namespace exchange
