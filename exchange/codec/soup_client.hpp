// SPDX-License-Identifier: BSL-1.0
//
// The client's side of a SoupBinTCP session, over as many connections as it takes.
//
// It remembers which message comes next, so that after a lost connection `connect` asks for just that
// one: the application sees each sequenced message once and in order. What it sends itself is not
// sequenced and may be lost with a connection; soup_server.hpp is the other side.
//
// A session that is resumed may be over, since the server has begun another life, whose numbers begin
// again. So it is resumed by its name, and an acceptance of any other name is none. A server refuses in
// the same words what is over and what is not kept any more; `connect` then asks, without a name and from
// the next message on, which session there is.
#pragma once

#include <exchange/codec/soup_connection.hpp>
#include <exchange/codec/soup_packet.hpp>

namespace exchange {

/// After each call that can change something, `output()` is what to write and `deadline()` when to call
/// `on_timer`. An ending is final for the connection: `connect` begins the next one.
///
/// Threads:  One at a time.
/// Cost:     Memory is taken at construction.
class soup_client {
public:
    /// @param  login  `session` and `sequence` are what the first `connect` asks for.
    soup_client(const soup_options& options, const soup_login& login, gyre::time_point now);

    /// Logs in on a new connection; unsent packets of the one before are forgotten. If the session was
    /// refused, it asks which there is: that ends the connection with `life_ended` or `not_kept`.
    void connect(gyre::time_point now) noexcept;

    /// The connection is gone: the client is not logged in, and nothing can be sent, until the next
    /// `connect`.
    void disconnected() noexcept {
        if (phase_ != phase::over) phase_ = phase::idle;
    }

    /// Takes a packet of the server.
    [[nodiscard]] soup_step on_packet(const soup_packet& packet, gyre::time_point now) noexcept;

    /// Ends the connection because of what the framer found, or what carries the packets.
    [[nodiscard]] soup_step on_framing_error(soup_ending ending) noexcept { return end(ending); }

    /// Sends a heartbeat or gives up, if it is time.
    [[nodiscard]] soup_step on_timer(gyre::time_point now) noexcept;

    /// The server waits for us to read, so its silence says nothing.
    void keep_waiting(gyre::time_point now) noexcept { liveness_.heard(now); }

    /// When `on_timer` is wanted next; `never` while there is no connection.
    [[nodiscard]] gyre::time_point deadline() const noexcept;

    /// Sends a message.
    ///
    /// @return False if there is no room, or the client is not logged in.
    bool send(std::span<const std::byte> message) noexcept;

    /// Sends text for people. False if there is no room, or no connection.
    bool send_debug(std::string_view text) noexcept;

    /// Ends the session from this side: the server will close. False if there is no room yet.
    bool log_out() noexcept;

    /// What is to be written; call `sent` afterwards. Stays valid until then.
    [[nodiscard]] soup_output output() noexcept;

    /// @param  size  How much of the last `output()` was written.
    void sent(std::size_t size, gyre::time_point now) noexcept;

    [[nodiscard]] bool logged_in() const noexcept { return phase_ == phase::logged_in; }
    /// Is a connection there, and the login not answered?
    [[nodiscard]] bool asking() const noexcept { return phase_ == phase::asking; }
    [[nodiscard]] soup_ending ending() const noexcept { return ending_; }

    /// Is there no use in another `connect`? What ended with `life_ended` is gone for good, and goes on
    /// only with `join_next_life`.
    [[nodiscard]] bool is_over() const noexcept;

    /// The session that there is instead of ours, once that has ended with `life_ended`.
    [[nodiscard]] const soup_session& next_life() const noexcept { return next_life_; }

    /// To be called behind `life_ended`: makes the next `connect` ask for all of the session that there
    /// is now.
    void join_next_life() noexcept;

    /// Why the login was rejected; `none` if it was not.
    [[nodiscard]] soup_reject rejected() const noexcept { return rejected_; }

    /// What the next `connect` asks for: the session, once known, and the next message wanted.
    [[nodiscard]] const soup_login& resume() const noexcept { return login_; }

private:
    enum class phase : std::uint8_t { idle, asking, logged_in, over };

    soup_step on_accepted(std::span<const std::byte> payload) noexcept;
    soup_step on_present_session(const soup_acceptance& present) noexcept;
    soup_step on_rejected(std::span<const std::byte> payload) noexcept;
    soup_step on_sequenced(std::span<const std::byte> payload) noexcept;
    soup_step end(soup_ending ending) noexcept;

    soup_liveness liveness_;
    soup_options options_;
    soup_outbox outbox_;
    soup_login login_;
    soup_session next_life_;
    std::uint64_t arriving_ = 0;  // The number of the next sequenced packet on this connection.
    phase phase_ = phase::idle;
    soup_ending ending_ = soup_ending::none;
    soup_reject rejected_ = soup_reject::none;
    bool doubtful_ = false;  // Our session was refused, and it is not known yet which one there is.
};

}  // namespace exchange
