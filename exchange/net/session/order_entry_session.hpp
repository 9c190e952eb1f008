// SPDX-License-Identifier: BSL-1.0
//
// One client's connection, as a function of what comes in: packets, time, and what others do.
//
// soup_server.hpp knows the protocol and order_entry_host.hpp the application; this brings them together,
// and its driver has bytes to read, bytes to write and a time to call again. No socket is
// in here, so the same session runs over every transport and every library.
#pragma once

#include <exchange/codec/soup_framer.hpp>
#include <exchange/codec/soup_server.hpp>
#include <exchange/net/application/order_entry_host.hpp>
#include <exchange/net/application/span_watch.hpp>

#include <algorithm>
#include <string_view>

namespace exchange {

/// What a session asks of the connection that it stands on.
class session_link {
public:
    /// There is something to write, which no read has caused: write when you can. May be said
    /// again.
    virtual void has_output() noexcept = 0;

    /// Ends the connection at once: no byte may leave any more, not even of a write that is under way.
    virtual void cut() noexcept = 0;

    /// Where the client is; nowhere if that is not known.
    [[nodiscard]] virtual gyre::endpoint peer() const noexcept { return {}; }
    /// What carries its packets, for people; empty if that is not known. Static storage.
    [[nodiscard]] virtual std::string_view transport() const noexcept { return {}; }

protected:
    ~session_link() = default;
};

/// Threads:  One at a time, its host included.
/// Cost:     Memory is taken at construction.
class order_entry_session final : private waiting_login {
public:
    /// @param  host  Borrowed; outlives this.
    /// @param  link     Borrowed; outlives this. Called from within any function of the host.
    order_entry_session(order_entry_host& host, session_link& link, const soup_options& options,
                        gyre::time_point now);
    order_entry_session(const order_entry_session&) = delete;
    order_entry_session& operator=(const order_entry_session&) = delete;
    ~order_entry_session();

    /// Logs a client in without a password: a gateway has checked that. As its first packet.
    ///
    /// @param  whose  Borrowed from the host; null: nobody that it may let in, which is told.
    void admit(const soup_login& login, participant* whose, gyre::time_point now) noexcept;

    /// Takes a packet: carries it out, or answers why not.
    void on_packet(const soup_packet& packet, gyre::time_point now) noexcept;

    /// Is a login under way? Its password waits to be checked, or was wrong, which is told later. Until then
    /// no packets are to be taken; the link is told when it is decided.
    [[nodiscard]] bool login_pending() const noexcept { return pending_; }

    /// Takes the packets that are here entirely, up to `packets_max` or its own end. Fewer, but one at least,
    /// while the feed waits to be sent and must not be pushed out, or if one takes the host more than a
    /// step; none while a login is pending. The host is not busy.
    ///
    /// @param  from  A soup_framer, or what has its `next`: a transport.
    /// @return How many, the verdict on what is none included.
    template <class Frames>
    std::size_t take_packets(Frames& from, std::size_t packets_max, gyre::time_point now,
                             span_watch& spans) noexcept;

    /// Takes what the framer found instead of a packet.
    void on_framing_error(soup_ending ending) noexcept;

    /// Does what is due.
    void on_timer(gyre::time_point now) noexcept;
    /// The client waits for us, so its silence, or a login that is not read, says nothing.
    void keep_waiting(gyre::time_point now) noexcept { server_.keep_waiting(now); }
    [[nodiscard]] gyre::time_point deadline() const noexcept {
        return std::min(server_.deadline(), refuse_at_);
    }

    /// What is to be written. Stays valid until it is written, or `cut` was called.
    [[nodiscard]] const soup_output& output() noexcept { return server_.output(); }
    void sent(std::size_t size, gyre::time_point now) noexcept;

    /// Does anything but sequenced messages wait to be written?
    [[nodiscard]] bool owes_answers() const noexcept { return server_.owes_answers(); }

    /// The session is over: write `output()` to its end, then close.
    [[nodiscard]] bool over() const noexcept { return server_.ending() != soup_ending::none; }
    [[nodiscard]] soup_ending ending() const noexcept { return server_.ending(); }

    /// The connection is gone.
    void disconnected() noexcept;

    /// Who is logged in, a participant or an operator? False before, and afterwards.
    [[nodiscard]] bool logged_in() const noexcept {
        return who_ != nullptr || operator_ != nullptr;
    }

    /// Has there been a login?
    [[nodiscard]] bool was_logged_in() const noexcept { return was_logged_in_; }

    // For the host.

    /// The message of its stream from which on it has still to write.
    [[nodiscard]] std::uint64_t next_to_send() const noexcept { return server_.next_to_send(); }
    /// Has its stream forgotten what it is about to write?
    [[nodiscard]] bool is_outrun(const soup_stream& stream) const noexcept {
        return server_.next_to_send() < stream.messages().first_sequence();
    }
    /// Is a write under way that reads from its stream? Also behind its end.
    [[nodiscard]] bool is_writing_stream() const noexcept { return server_.offers_stream(); }
    /// Ends the session and its connection at once. Only the first time counts.
    void cut(soup_ending why) noexcept;
    void announce_output() noexcept { link_.has_output(); }
    /// Where the client is; nowhere if that is not known.
    [[nodiscard]] gyre::endpoint peer() const noexcept { return link_.peer(); }
    [[nodiscard]] std::string_view transport() const noexcept { return link_.transport(); }

private:
    void on_step(const soup_step& step, gyre::time_point now) noexcept;
    void log_in(gyre::time_point now) noexcept;
    void check_login(gyre::time_point now) noexcept override;
    void log_in(participant& whose, gyre::time_point now) noexcept;
    void log_in(const operator_user& whose, gyre::time_point now) noexcept;
    void note_refusal(login_refusal why) noexcept;
    [[nodiscard]] login_refusal why_not(const soup_stream& stream) const noexcept;
    void refuse(soup_reject reason) noexcept;
    void carry_out(std::span<const std::byte> message, gyre::time_point now) noexcept;
    void say(std::span<const std::byte> answer) noexcept;

    order_entry_host& host_;
    session_link& link_;
    soup_server server_;
    participant* who_ = nullptr;
    participant* owner_ =
        nullptr;  // Of the stream that is written: `who_` while that is set, and behind it.
    timestamp_ns queries_until_ = 0;  // See `let_through`.
    operator_session* operator_ = nullptr;
    operator_session* place_ = nullptr;         // Of that stream: `operator_`, and behind its end.
    gyre::time_point refuse_at_ = gyre::never;  // If its password was wrong.
    bool pending_ = false;                      // Waits to be checked, or to be refused.
    bool was_logged_in_ = false;
    bool cut_ = false;
};

// Implementation

template <class Frames>
std::size_t order_entry_session::take_packets(Frames& from, std::size_t packets_max,
                                              gyre::time_point now, span_watch& spans) noexcept {
    std::size_t taken = 0;
    host_.begin_turn();
    for (; taken < packets_max && !over() && !login_pending(); ++taken) {
        if (taken > 0 && (host_.busy() || host_.feed().crowded())) break;
        const soup_framed framed = from.next();
        if (framed.ending != soup_ending::none) {
            on_framing_error(framed.ending);
        } else if (framed.complete) {
            on_packet(framed.packet, now);
            spans.carried_out();
        } else {
            break;
        }
    }
    host_.end_turn();
    return taken;
}

}  // namespace exchange
