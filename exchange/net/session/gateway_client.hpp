// SPDX-License-Identifier: BSL-1.0
//
// One client of a gateway, as a function of what comes in: packets, time, and what the facility says.
//
// To the client it is what order_entry_session.hpp is at the facility: login, heartbeats, messages, and a
// reason when it ends. Behind it is a channel to the facility, which comes and goes with the link; what the
// facility says is copied once, in whole packets, to where it is written from. No socket is in here;
// served_client.hpp drives it.
#pragma once

#include <exchange/codec/command_codec.hpp>
#include <exchange/codec/link_connection.hpp>
#include <exchange/codec/packet_batch.hpp>
#include <exchange/codec/soup_connection.hpp>
#include <exchange/net/application/gateway_host.hpp>
#include <exchange/net/session/client_link.hpp>

#include <optional>
#include <string_view>

namespace exchange {

/// Threads:  One at a time, its host included.
/// Cost:     Memory is taken at construction: two windows, which are used as they fill.
class gateway_client final : public link_channel,
                             public gyre::list_link<gateway_client>,
                             private waiting_login {
public:
    using host_type = gateway_host;

    /// @param  host  Borrowed; outlives this.
    /// @param  to    Borrowed; outlives this.
    gateway_client(gateway_host& host, client_link& to, gyre::time_point now);
    gateway_client(const gateway_client&) = delete;
    gateway_client& operator=(const gateway_client&) = delete;
    ~gateway_client();

    // The driver's side.

    /// Takes packets. Those behind a packet for which the link has no room just now wait here.
    ///
    /// @param  batch  Borrowed until `wants_packets`. Any batch before it was used up.
    void take(const packet_batch& batch, gyre::time_point now) noexcept;
    /// Uses packets that wait here, as far as it can by now.
    void proceed(gyre::time_point now) noexcept;
    /// True if all packets that it took were used up, and it can use more. So also while a login waits, to
    /// learn that the client has left: the session of a user must not go to such a client.
    [[nodiscard]] bool wants_packets() const noexcept {
        return can_use() && packets_.packets.empty();
    }
    void on_timer(gyre::time_point now) noexcept;
    /// What is to be written. Stays valid until it is `sent`.
    [[nodiscard]] std::span<const std::byte> output() noexcept { return outbox_.offer(); }
    /// @param  size  How much of it was taken; none of it, where a transport has written what it took before.
    void sent(std::size_t size, gyre::time_point now) noexcept;
    /// The connection is gone.
    void disconnected() noexcept;

    /// The session is over: write `output()` to its end, then close.
    [[nodiscard]] bool over() const noexcept { return phase_ == phase::over; }
    /// Why; none if the client has gone first.
    [[nodiscard]] soup_ending ending() const noexcept { return ending_; }
    [[nodiscard]] bool logged_in() const noexcept {
        return phase_ == phase::in || phase_ == phase::opening;
    }
    [[nodiscard]] bool was_logged_in() const noexcept { return user_ != nullptr; }
    [[nodiscard]] const soup_username& username() const noexcept { return login_.username; }
    /// The next message of the stream that it is to be told.
    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_; }
    /// What waits to be written to it.
    [[nodiscard]] std::size_t unread_bytes() const noexcept { return of_facility_ + own_; }
    [[nodiscard]] gyre::endpoint peer() const noexcept { return to_.peer(); }
    [[nodiscard]] std::string_view transport() const noexcept { return to_.transport(); }

    // The host's side.

    /// What its channel is opened with.
    [[nodiscard]] link_open request() noexcept;
    /// Takes what the facility says. False if that cannot be.
    [[nodiscard]] bool deliver(std::span<const std::byte> packets, gyre::time_point now) noexcept;
    /// The facility has ended its session.
    void channel_closed(soup_ending why) noexcept;
    /// The link is gone, and with it what was in flight.
    void channel_lost(std::uint32_t in_flight) noexcept;
    /// The facility is there again, in this life.
    void leave_unless_of(const soup_session& life) noexcept;
    /// No channel is to be had here any more: it is told to come again.
    void send_away() noexcept { end(soup_ending::gateway_goes); }

private:
    enum class phase : std::uint8_t {
        silent,   // No login yet.
        asking,   // Its secret waits to be checked, or was wrong, which is told later.
        opening,  // The facility has not answered yet.
        in,
        over
    };

    link_pull pull(std::span<std::byte> room) noexcept override;
    void check_login(gyre::time_point now) noexcept override;

    /// Not behind a packet that waits for the link, a message that waits for the login, or a login that is
    /// refused late.
    [[nodiscard]] bool can_use() const noexcept {
        return !held_ && !early_ && !over() && refuse_at_ == gyre::never;
    }
    void look() noexcept;
    void on_packet(const soup_packet& packet) noexcept;
    void on_login(std::span<const std::byte> payload) noexcept;
    void on_message(const soup_packet& packet) noexcept;
    void on_logout(const soup_packet& packet) noexcept;

    /// Whether a packet of the facility is to be passed on.
    enum class verdict : std::uint8_t { pass, drop, wrong };
    [[nodiscard]] verdict judge(const soup_packet& packet) noexcept;
    [[nodiscard]] verdict on_accepted(std::span<const std::byte> payload) noexcept;
    [[nodiscard]] verdict on_rejected() noexcept;
    [[nodiscard]] bool pass_on(std::span<const std::byte> packets) noexcept;

    void refuse(std::span<const std::byte> message, decode_error why) noexcept;
    [[nodiscard]] bool say(soup_type type, std::span<const std::byte> payload) noexcept;
    void reject() noexcept;
    void end(soup_ending why) noexcept;
    void leave_lists() noexcept;
    [[nodiscard]] bool is_stalled(gyre::time_point now) const noexcept;

    gateway_host& host_;
    client_link& to_;
    soup_liveness liveness_;
    gyre::time_point login_deadline_;
    soup_outbox outbox_;
    soup_login login_;
    gateway_users::known* user_ = nullptr;
    soup_session life_;                // Of the stream that it is told, once it is in.
    std::uint64_t next_ = 0;           // Of that stream.
    packet_batch packets_;             // Not used yet.
    std::optional<soup_packet> held_;  // For the facility; the channel has its bytes.
    std::optional<soup_packet>
        early_;                     // As that: a message that came before its login was answered.
    std::size_t of_facility_ = 0;   // Bytes that wait to be written, of the facility's
    std::size_t own_ = 0;           // and of ours. Together, all that waits.
    gyre::time_point progress_at_;  // When the client last took something, or had all.
    gyre::time_point refuse_at_ = gyre::never;
    gyre::time_point patient_until_ = gyre::never;  // Without an answer of the facility.
    phase phase_ = phase::silent;
    soup_ending ending_ = soup_ending::none;
    bool resuming_ = false;      // Its channel is opened anew, and that is not answered yet.
    bool drains_first_ = false;  // It is to read what it has before it gets another channel.
    bool pulling_ = false;
};

}  // namespace exchange
