// SPDX-License-Identifier: BSL-1.0
//
// The two coroutines of a gateway's link at the facility: one reads and carries out, one writes.
//
// What order_entry_connection.hpp is for one client, this is for a thousand: a read brings packets of many of
// them, which are carried out whole; then the feed is sent, and one write takes what all of them are told.
#pragma once

#include <exchange/net/session/gateway_session.hpp>
#include <exchange/net/session/order_entry_connection.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace exchange {

/// What links share.
template <executor_traits X>
struct gateway_shared_state {
    order_entry_shared_state<X>& facility;
    gateway_session::list all{};
};

/// @tparam  X  A side of the seam.
///
/// Threads:  that of its context.
/// Cost:     Serves one gateway after the other; the buffers are taken for each anew.
template <executor_traits X>
class gateway_link final : public gateway_session_link {
public:
    using task = typename X::template task<void>;

    /// @param  shared  Borrowed; outlives this.
    explicit gateway_link(gateway_shared_state<X>& shared)
        : all_{shared.all}, shared_{shared.facility} {}
    gateway_link(const gateway_link&) = delete;
    gateway_link& operator=(const gateway_link&) = delete;

    /// Takes charge of a gateway, which is then to be served.
    void open(typename X::stream_socket socket) {
        socket_ = std::move(socket);
        framer_.emplace();
        accepted_at_ = X::now(shared_.context);
        session_.emplace(shared_.host, *this, shared_.options.gateways.link, all_, accepted_at_);
        over_since_ = gyre::never;
        finished_ = cut_ = waits_for_host_ = false;
        has_output_.reset();
        writer_gone_.reset();
    }

    /// Serves it, until it or the facility has had enough.
    ///
    /// Errors:        none: a link that is lost is an end like any other.
    /// Cancellation:  `hang_up` ends it.
    /// Threads:       that of the context.
    /// Cost:          no allocation per message.
    task serve() {
        X::launch(shared_.context, write());
        co_await carry_out();
        session_->disconnected();  // Orders of its clients may be cancelled, which others hear of.
        shared_.host.announce();
        co_await shared_.feed.flush();
        finished_ = true;
        has_output_.set();
        static_cast<void>(co_await writer_gone_.wait());
        co_await wait_for_the_end();
        note_clean();
        static_cast<void>(socket_.close());
        framer_.reset();
        session_.reset();
    }

    [[nodiscard]] bool serving() const noexcept { return session_.has_value(); }
    [[nodiscard]] bool logged_in() const noexcept { return session_->logged_in(); }
    [[nodiscard]] bool was_logged_in() const noexcept { return session_->logged_in(); }
    [[nodiscard]] gyre::time_point accepted_at() const noexcept { return accepted_at_; }
    [[nodiscard]] std::size_t clients() const noexcept {
        return session_ ? session_->clients() : 0;
    }

    /// Ends it now.
    void hang_up() noexcept {
        cut_ = true;
        static_cast<void>(socket_.shutdown(gyre::shutdown_side::both));
        decided_.set();
    }

    /// Does what is due.
    void on_timer(gyre::time_point now) noexcept {
        if (session_->over() || finished_) {
            over_since_ = std::min(over_since_, now);
            if (now >= gyre::deadline_after(over_since_, shared_.options.linger)) hang_up();
            return;
        }
        if (waits_for_host_) session_->keep_waiting(now);  // So does what it has sent.
        session_->on_timer(now);
    }

private:
    void has_output() noexcept override {
        if (!unwritten_) {
            unwritten_ = true;
            shared_.spans.note_unwritten();
        }
        if (!carrying_out_) has_output_.set();
        if (!session_->login_pending()) decided_.set();
    }
    [[nodiscard]] gyre::endpoint peer() const noexcept override {
        const auto [unknown, where] = socket_.remote_endpoint();
        return unknown ? gyre::endpoint{} : where;
    }

    /// Carries out what is here, up to the limit of one turn. False if there was nothing.
    bool take_frames() noexcept {
        carrying_out_ = true;
        const std::size_t taken = session_->take_frames(
            *framer_, shared_.options.packets_per_turn_max, X::now(shared_.context), shared_.spans);
        shared_.host.announce();
        carrying_out_ = false;
        return taken > 0;
    }

    task carry_out() {
        while (!session_->over() && !cut_) {
            const auto [error, size] = co_await socket_.read_some(framer_->space());
            if (error) break;
            framer_->received(size);
            shared_.spans.received();
            for (;;) {
                while (shared_.host.busy()) {
                    waits_for_host_ = true;
                    static_cast<void>(co_await shared_.idle.wait());
                }
                waits_for_host_ = false;
                if (cut_) break;
                decided_.reset();  // Not later: a login may be decided before it is waited for.
                if (!take_frames()) break;
                // The feed first: the public must not wait for a gateway's window.
                for (bool more = shared_.feed.begin(); more;) {
                    const auto sent = co_await shared_.feed.send();
                    more = shared_.feed.sent(sent);
                }
                has_output_.set();
                if (session_->login_pending()) {
                    static_cast<void>(co_await decided_.wait());
                    if (session_->login_pending()) break;  // It has been cut.
                }
                while (shared_.feed.crowded())
                    static_cast<void>(co_await shared_.feed.until_less_crowded());
            }
        }
    }

    task write() {
        for (;;) {
            if (!finished_ && !has_output_.is_set()) static_cast<void>(co_await has_output_.wait());
            has_output_.reset();
            for (bool more = take_output(); more;) {
                const auto [error, size] = co_await socket_.write_some(output_);
                more = note_output(error, size);
            }
            shared_.note_written();
            if (finished_) break;
            // The last words are written; the reader may be waiting for bytes that are not wanted.
            if (session_->over()) static_cast<void>(socket_.shutdown(gyre::shutdown_side::both));
        }
        writer_gone_.set();
    }

    /// Whether there is something to write: `output_`.
    [[nodiscard]] bool take_output() noexcept {
        output_ = {};
        if (!cut_ && session_->wants_to_write())
            output_ = session_->output(X::now(shared_.context));
        if (session_->sweep()) {  // What their orders' end causes is told by others.
            shared_.host.announce();
            shared_.feed.send_what_is_due();
        }
        if (output_.empty()) note_clean();
        return !output_.empty();
    }
    [[nodiscard]] bool note_output(const gyre::error& error, std::size_t size) noexcept {
        if (error) {
            hang_up();
            return false;
        }
        session_->sent(size, X::now(shared_.context));
        return take_output();
    }

    /// Lets the gateway read why it has to go. Closing at once would reset the connection, and destroy it.
    task wait_for_the_end() {
        over_since_ = std::min(over_since_, X::now(shared_.context));
        if (cut_) co_return;
        static_cast<void>(socket_.shutdown(gyre::shutdown_side::send));
        framer_->reset();
        for (;;) {
            const auto [error, size] = co_await socket_.read_some(framer_->space());
            if (error) co_return;
        }
    }

    void note_clean() noexcept {
        if (!unwritten_) return;
        unwritten_ = false;
        shared_.spans.note_clean();
    }

    gateway_session::list& all_;
    order_entry_shared_state<X>& shared_;
    typename X::stream_socket socket_;
    std::optional<link_framer> framer_;
    std::optional<gateway_session> session_;
    std::span<const std::byte> output_{};  // Being written.
    typename X::event has_output_;
    typename X::event writer_gone_;
    typename X::event decided_;  // Set when the login is, or nobody waits for it any more.
    gyre::time_point accepted_at_{};
    gyre::time_point over_since_ = gyre::never;
    bool carrying_out_ = false;  // Inside take_frames: what it causes is written behind the feed.
    bool unwritten_ = false;     // Counted in the shared state.
    bool finished_ = false;      // The reader is done, and the writer shall be.
    bool cut_ = false;
    bool waits_for_host_ = false;  // Behind a command of several steps.
};

}  // namespace exchange
