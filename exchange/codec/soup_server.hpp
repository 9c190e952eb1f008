// SPDX-License-Identifier: BSL-1.0
//
// The server's side of one SoupBinTCP connection, as a function of what it is told.
//
// It is told packets, the time, and the application's decisions; it answers with what came in and what
// is to be written. It does no I/O and reads no clock, so that tests, the simulator and every transport
// drive the same machine. The session's messages are soup_stream.hpp's: they outlive this object.
#pragma once

#include <exchange/codec/soup_connection.hpp>
#include <exchange/codec/soup_packet.hpp>
#include <exchange/codec/soup_stream.hpp>

#include <algorithm>

namespace exchange {

/// One connection, from its first byte to its last.
///
/// After each call that can change something, `output()` is what to write and `deadline()` when to call
/// `on_timer`. Ending is final: further packets are ignored.
///
/// Threads:  One at a time, the stream included.
/// Cost:     Memory is taken at construction. Sequenced messages are written from where they stand.
class soup_server {
public:
    soup_server(const soup_options& options, gyre::time_point now);

    /// Takes a packet of the client.
    [[nodiscard]] soup_step on_packet(const soup_packet& packet, gyre::time_point now) noexcept;

    /// Ends the session because of what the framer found; a debug packet tells the client.
    [[nodiscard]] soup_step on_framing_error(soup_ending ending) noexcept { return fail(ending); }

    /// Sends a heartbeat or gives up, if it is time.
    [[nodiscard]] soup_step on_timer(gyre::time_point now) noexcept;

    /// To be called at `on_timer`'s moments while the caller does not read from its connection: the client's
    /// silence, or a login that is not read, is not held against it. Constant time; no effect at the end.
    void keep_waiting(gyre::time_point now) noexcept {
        liveness_.heard(now);
        login_deadline_ =
            std::max(login_deadline_, gyre::deadline_after(now, options_.login_within));
    }

    /// The client's packets are not looked at, so its silence says nothing.
    void keep_alive(gyre::time_point now) noexcept { liveness_.heard(now); }

    /// When `on_timer` is wanted next; `never` once the session is over.
    [[nodiscard]] gyre::time_point deadline() const noexcept;

    /// What the client asked for. Meaningful from the step `login` on.
    [[nodiscard]] const soup_login& login() const noexcept { return login_; }

    /// Lets the client in, if it asks for this session, or any, and for a message that is kept or next.
    ///
    /// @param  stream  Borrowed; must outlive this object. The caller has checked that `login()` may
    ///                 have it, and that no other connection has it.
    /// @return `nothing`; or `ended`, and the client is told `session_not_available`.
    [[nodiscard]] soup_step accept(const soup_stream& stream, gyre::time_point now) noexcept;

    /// Sends the client away.
    soup_step reject(soup_reject reason) noexcept;

    /// Sends a message outside the sequenced stream. It is lost if the connection is.
    ///
    /// @return False if there is no room, or no client is logged in.
    bool send_unsequenced(std::span<const std::byte> message) noexcept;

    /// Sends text for people. False if there is no room.
    bool send_debug(std::string_view text) noexcept;

    /// What is to be written next, in this order; call `sent` afterwards. The pieces stay valid as long
    /// as the stream holds their messages: it does while it knows who reads (`soup_stream::reader_at`).
    ///
    /// @return Itself valid until the next call.
    [[nodiscard]] const soup_output& output() noexcept;

    /// Behind the end of an ended stream, this ends the session: look at `ending()`.
    ///
    /// @param  size  How much of the last `output()` was written.
    void sent(std::size_t size, gyre::time_point now) noexcept;

    [[nodiscard]] soup_ending ending() const noexcept { return ending_; }
    [[nodiscard]] bool logged_in() const noexcept { return phase_ == phase::logged_in; }

    /// The next sequenced message that is not written entirely.
    [[nodiscard]] std::uint64_t next_to_send() const noexcept { return cursor_; }

    /// Does anything but sequenced messages wait to be written?
    [[nodiscard]] bool owes_answers() const noexcept { return !outbox_.empty(); }

    /// Did the last `output()` point into the stream? Until `sent`, the writer reads from there,
    /// also behind the end of the session.
    [[nodiscard]] bool offers_stream() const noexcept { return stream_offered_; }

private:
    enum class phase : std::uint8_t { silent, asking, logged_in, over };

    soup_step on_login(std::span<const std::byte> payload) noexcept;
    soup_step fail(soup_ending ending) noexcept;
    soup_step end(soup_ending ending) noexcept;
    [[nodiscard]] bool fell_behind() const noexcept;
    [[nodiscard]] bool nothing_to_write() const noexcept;
    void add_stream() noexcept;
    void sent_in_part(std::size_t size) noexcept;
    void advance(std::size_t size) noexcept;

    soup_options options_;
    soup_liveness liveness_;
    gyre::time_point login_deadline_;
    soup_outbox outbox_;
    soup_login login_;
    const soup_stream* stream_ = nullptr;  // Set once logged in.
    std::uint64_t cursor_ = 0;             // The sequence of the message to be written next.
    std::size_t partial_ = 0;              // How much of that message is written already.
    soup_output offered_;                  // By the last `output()`; of that,
    std::size_t outbox_offered_ = 0;       // by the outbox.
    std::uint64_t offered_end_ = 0;        // The next sequence, once all of it is written.
    bool stream_offered_ = false;          // By the last `output()`.
    phase phase_ = phase::silent;
    soup_ending ending_ = soup_ending::none;
    bool end_announced_ = false;
};

}  // namespace exchange
