// SPDX-License-Identifier: BSL-1.0
//
// What stands behind exchange_client.hpp: what is heard becomes news, and what is sent gets a number.
//
// The connection below finds its way back by itself; what this adds is the *fence*. After each login it
// sends a cancel of an order that there is not, whose refusal is the first answer to anything of this
// connection. When that is heard, all that the exchange has to say about earlier connections has been
// heard, too: what is unanswered then never arrived, and the next free number is known. A fence with a
// number that was used before is refused for that, and another one goes up farther on.
#pragma once

#include <exchange/client/client_connection.hpp>
#include <exchange/client/exchange_client.hpp>
#include <exchange/client/sent_commands.hpp>
#include <exchange/codec/event_codec.hpp>

#include <gyre/sync/channel.hpp>

namespace exchange {

/// Threads:  the loop's.
class trading_session final : public order_entry_handler,
                              public std::enable_shared_from_this<trading_session> {
public:
    trading_session(gyre::io_context& on, const exchange_client_options& options);

    /// Connects it. False if this build does not have the transport.
    ///
    /// @param  security  Of its connections, or null.
    [[nodiscard]] bool start(gyre::io_context& on, const exchange_client_options& options,
                             std::shared_ptr<channel_security> security);

    /// The program has let go of it.
    void abandon() noexcept;

    /// Sends `it` under the next number.
    template <class Command>
    [[nodiscard]] gyre::io_result<client_sequence> send(Command it);
    [[nodiscard]] gyre::io_result<client_sequence> send(const enter_quotes& it);
    [[nodiscard]] bool log_out() noexcept;
    void stop() noexcept;

    [[nodiscard]] static gyre::task<gyre::io_result<news>> next(
        std::shared_ptr<trading_session> it);
    [[nodiscard]] static gyre::task<gyre::io_result<>> room(std::shared_ptr<trading_session> it,
                                                            std::size_t commands);
    [[nodiscard]] bool try_next(news& into);

    [[nodiscard]] const own_orders& orders() const noexcept { return orders_; }
    [[nodiscard]] std::size_t unanswered() const noexcept { return sent_.unanswered(); }
    [[nodiscard]] bool trading() const noexcept { return ready_ && !over_; }
    [[nodiscard]] const soup_login& resume() const noexcept {
        return over_ ? left_at_ : connection_->machine().resume();
    }

    // Of decode_private_event.
    template <class Event>
    void operator()(const event_stamp& stamp, const Event& it);
    void operator()(const message_rejected& it);

private:
    void logged_in() noexcept override;
    void heard(std::uint64_t sequence, std::span<const std::byte> message) noexcept override;
    void not_reached(gyre::error why) noexcept override;
    void disconnected(soup_ending why) noexcept override;
    next_life life_ended(const soup_session& ended, const soup_session& next) noexcept override;

    [[nodiscard]] static gyre::task<> drive(std::shared_ptr<trading_session> it);
    [[nodiscard]] static gyre::task<> keep_fence(std::shared_ptr<trading_session> it);

    [[nodiscard]] gyre::error why_not(std::size_t commands) const noexcept;
    void put_up_fence() noexcept;
    void fence_is_down() noexcept;
    /// Is this the answer to a fence, this one's or one of before? It is not told.
    [[nodiscard]] bool is_fence(const order_rejected& it) noexcept;
    void tell(news it) noexcept;
    void taken() noexcept;
    void finish() noexcept;
    [[nodiscard]] session_over ending() const noexcept;

    exchange_client_options options_;
    std::unique_ptr<client_connection> connection_;  // Null once the session is over.
    soup_login left_at_;                             // And then this is its `resume`.
    gyre::channel<news> news_;
    sent_commands sent_;
    own_orders orders_;
    told_text insecure_;        // Why the last connection could not be secured.
    gyre::event changed_;       // Room, or an end: for `room`.
    gyre::event fence_wanted_;  // For `keep_fence`.
    std::uint64_t next_seq_ = 1;
    std::uint64_t first_fence_ = 0;  // Since the login.
    std::uint64_t fence_ = 0;        // The newest, or 0.
    std::uint64_t login_ = 0;        // A number of its own for each.
    std::uint64_t stride_ = 0;    // How far on the next fence goes up if this one was used before.
    std::uint64_t sequence_ = 0;  // Of the message that is being read.
    bool ready_ = false;
    bool in_ = false;  // A login was told, and its end was not.
    bool told_unreachable_ = false;
    bool full_ = false;  // The last command had no room; nothing was answered since.
    bool paused_ = false;
    bool stopped_ = false;
    bool refused_upgrade_ = false;
    bool refused_security_ = false;
    bool left_life_ = false;
    bool over_ = false;
};

}  // namespace exchange
