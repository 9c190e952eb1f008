// SPDX-License-Identifier: BSL-1.0
//
// One subscriber of a distributor, as a function of what comes in: packets, time, and changes of books.
//
// It logs in by packets of SoupBinTCP, subscribes, and is told messages that have no number. What it is told
// is made when it can be written, so what waits for it is one filled buffer, however slow it is. No socket is
// in here; served_client.hpp drives it.
#pragma once

#include <exchange/codec/market_subscription_codec.hpp>
#include <exchange/codec/packet_batch.hpp>
#include <exchange/codec/soup_connection.hpp>
#include <exchange/net/application/market_data_host.hpp>
#include <exchange/net/session/client_link.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace exchange {

/// Threads:  One at a time, its host included.
/// Cost:     Memory is taken at construction, and for each subscription.
class market_data_client final : public gyre::list_link<market_data_client>,
                                 private waiting_login,
                                 private market_message_sink {
public:
    using host_type = market_data_host;

    /// @param  host  Borrowed; outlives this.
    /// @param  to    Borrowed; outlives this.
    market_data_client(market_data_host& host, client_link& to, gyre::time_point now);
    market_data_client(const market_data_client&) = delete;
    market_data_client& operator=(const market_data_client&) = delete;
    ~market_data_client();

    // The driver's side.

    /// Takes packets. Those behind a login wait here until it is answered.
    ///
    /// @param  batch  Borrowed until `wants_packets`. Any batch before it was used up.
    void take(const packet_batch& batch, gyre::time_point now) noexcept;
    /// Uses packets that wait here, as far as it can by now.
    void proceed(gyre::time_point now) noexcept;
    /// True if all packets that it took were used up, and it can use more.
    [[nodiscard]] bool wants_packets() const noexcept {
        return can_use() && packets_.packets.empty();
    }
    void on_timer(gyre::time_point now) noexcept;
    /// What is to be written: what has changed, if nothing waits. Stays valid until it is `sent`.
    [[nodiscard]] std::span<const std::byte> output() noexcept;
    void sent(std::size_t size, gyre::time_point now) noexcept;
    /// The connection is gone.
    void disconnected() noexcept;

    [[nodiscard]] bool over() const noexcept { return phase_ == phase::over; }
    [[nodiscard]] soup_ending ending() const noexcept { return ending_; }
    [[nodiscard]] bool logged_in() const noexcept { return phase_ == phase::in; }
    [[nodiscard]] bool was_logged_in() const noexcept { return was_in_; }
    [[nodiscard]] const soup_username& username() const noexcept { return login_.username; }
    [[nodiscard]] std::size_t subscriptions() const noexcept { return wanted_.size(); }
    [[nodiscard]] std::size_t unread_bytes() const noexcept { return unsent_; }
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
    [[nodiscard]] gyre::endpoint peer() const noexcept { return to_.peer(); }
    [[nodiscard]] std::string_view transport() const noexcept { return to_.transport(); }

    // The host's side.

    void begin_life(gyre::time_point now) noexcept;
    /// Tells it to log in again, here or elsewhere.
    void send_away(gyre::time_point now) noexcept;
    void note_change() noexcept;

    // For what it sends: see market_subscription_codec.hpp.

    void operator()(const subscribe& it) noexcept;
    void operator()(const unsubscribe& it) noexcept;
    template <class Other>
    void operator()(const Other&) noexcept {}

private:
    enum class phase : std::uint8_t {
        silent,   // No login yet.
        asking,   // Its secret waits to be checked, or was wrong, which is told later.
        waiting,  // It may come in when there is a life.
        in,
        over
    };
    struct followed {
        subscribe what;
        market_seen seen;
    };

    [[nodiscard]] bool take(std::span<const std::byte> message) noexcept override;
    void check_login(gyre::time_point now) noexcept override;

    [[nodiscard]] bool can_use() const noexcept {
        return phase_ == phase::silent || phase_ == phase::in;
    }
    void on_packet(const soup_packet& packet) noexcept;
    void on_login(std::span<const std::byte> payload) noexcept;
    void on_message(std::span<const std::byte> message) noexcept;
    void let_in() noexcept;
    void note_refused(login_refusal why) noexcept;
    void reject(soup_reject why) noexcept;
    [[nodiscard]] followed* find(instrument_id which) noexcept;
    [[nodiscard]] static followed begun(const market_book& what, const subscribe& how) noexcept;
    void follow(const market_book& what, const subscribe& how);
    void follow_all();
    void follow_all_new();
    template <class Answer>
    void answer(const Answer& it) noexcept;
    [[nodiscard]] bool say(soup_type type, std::span<const std::byte> payload = {}) noexcept;
    void end(soup_ending why) noexcept;
    void leave() noexcept;

    market_data_host& host_;
    client_link& to_;
    soup_liveness liveness_;
    gyre::time_point login_deadline_;
    gyre::time_point refuse_at_ = gyre::never;
    gyre::time_point progress_at_;  // When it last took something, or had all.
    gyre::time_point now_;
    packet_batch packets_;  // Not used yet.
    soup_outbox outbox_;
    soup_login login_;
    std::vector<followed> wanted_;
    std::optional<subscribe> all_;  // How all are wanted, those that come later as well.
    std::size_t all_known_ = 0;     // So many of the host's books were looked at for that.
    std::size_t turn_ = 0;          // Whose is next: none is told twice before all were told once.
    std::size_t unsent_ = 0;        // Bytes that wait.
    std::uint64_t dropped_ = 0;
    phase phase_ = phase::silent;
    soup_ending ending_ = soup_ending::none;
    bool was_in_ = false;
};

}  // namespace exchange
