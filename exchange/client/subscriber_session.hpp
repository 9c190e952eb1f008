// SPDX-License-Identifier: BSL-1.0
//
// What stands behind market_data_subscriber.hpp: what is told becomes books and news, and what is wanted is
// said again after each login.
//
// A distributor keeps nothing of a subscriber that is gone, and numbers nothing. So the list of what is
// wanted is kept here, and what is known of a book ends with the connection over which it was told.
#pragma once

#include <exchange/client/client_connection.hpp>
#include <exchange/client/market_data_subscriber.hpp>
#include <exchange/codec/market_subscription_codec.hpp>

#include <gyre/sync/channel.hpp>
#include <gyre/sync/event.hpp>

#include <map>
#include <memory>
#include <span>
#include <vector>

namespace exchange {

/// Threads:  the loop's.
class subscriber_session final : public order_entry_handler,
                                 public std::enable_shared_from_this<subscriber_session> {
public:
    explicit subscriber_session(const market_data_options& options);

    /// Connects it. False if this build does not have the transport.
    ///
    /// @param  security  Of its connections, or null.
    [[nodiscard]] bool start(gyre::io_context& on, std::shared_ptr<channel_security> security);
    /// The program has let go of it.
    void abandon() noexcept;

    [[nodiscard]] gyre::io_result<std::uint32_t> want(const market_wish& what);
    [[nodiscard]] gyre::io_result<std::uint32_t> want_no_more(instrument_id which);
    [[nodiscard]] bool log_out() noexcept;
    void stop() noexcept;

    [[nodiscard]] static gyre::task<gyre::io_result<market_news>> next(
        std::shared_ptr<subscriber_session> it);
    [[nodiscard]] bool try_next(market_news& into);

    [[nodiscard]] const followed_books& books() const noexcept { return books_; }
    [[nodiscard]] bool connected() const noexcept { return in_; }
    [[nodiscard]] std::uint64_t broken_books() const noexcept { return broken_; }

    // Of decode_market_message.
    void operator()(const subscribed& it);
    void operator()(const subscription_refused& it);
    void operator()(const book_snapshot& it);
    void operator()(const book_delta& it);
    void operator()(const trades_printed& it);
    void operator()(const market_summary& it);
    template <class Other>
    void operator()(const Other&) noexcept {}  // What only subscribers say.

private:
    struct wish {
        exchange::subscribe what;  // Without anything: an end, or an exception from all.
        bool granted = false;      // Once at least.
        bool said = false;         // Since the login.
        bool answered = false;     // Since it was said.
    };
    /// What of a market waits to be taken by `next`, and what it waits for itself.
    struct untaken {
        bool book = false;
        bool summary = false;
        bool asked_anew = false;
    };

    void logged_in() noexcept override;
    void heard(std::uint64_t sequence, std::span<const std::byte> message) noexcept override;
    void not_reached(gyre::error why) noexcept override;
    void disconnected(soup_ending why) noexcept override;
    next_life life_ended(const soup_session& ended, const soup_session& next) noexcept override;

    [[nodiscard]] static gyre::task<> drive(std::shared_ptr<subscriber_session> it);
    [[nodiscard]] static gyre::task<> keep_asking(std::shared_ptr<subscriber_session> it);

    [[nodiscard]] wish* find(instrument_id which) noexcept;
    [[nodiscard]] wish* of_request(std::uint32_t request) noexcept;
    /// What is wanted of it: of its own, or as one of all. Null if nothing is.
    [[nodiscard]] const exchange::subscribe* wanted_of(instrument_id which) noexcept;
    /// The same, of one of which something is told.
    [[nodiscard]] const exchange::subscribe* wanted_and_told(instrument_id which) noexcept;
    [[nodiscard]] bool wants_book(instrument_id which) noexcept;
    [[nodiscard]] bool wants_all() noexcept;
    /// So many subscriptions of single instruments are kept, and exceptions.
    [[nodiscard]] std::size_t kept_singly() noexcept;
    void doubt_unwanted(instrument_id which);
    void keep(const exchange::subscribe& what);
    void drop_what_needs_no_words() noexcept;
    [[nodiscard]] bool say(const exchange::subscribe& what) noexcept;
    void say_what_is_unsaid() noexcept;

    void take(instrument_id which, told_step step);
    void tell_book(instrument_id which);
    void tell_untracked(instrument_id which);
    void tell(const market_news& it) noexcept;
    void taken(const market_news& it) noexcept;
    void finish() noexcept;
    [[nodiscard]] session_over ending() const noexcept;

    market_data_options options_;
    std::unique_ptr<client_connection> connection_;  // Null once the session is over.
    gyre::channel<market_news> news_;
    followed_books books_;
    std::vector<wish> wishes_;  // What is wanted of all comes first.
    std::map<instrument_id, untaken> untaken_;
    told_text insecure_;        // Why the last connection could not be secured.
    gyre::event over_changed_;  // For `keep_asking`.
    std::uint64_t broken_ = 0;
    std::uint32_t requests_ = 0;
    bool in_ = false;
    bool told_unreachable_ = false;
    bool told_untracked_ = false;
    bool paused_ = false;
    bool stopped_ = false;
    bool refused_upgrade_ = false;
    bool refused_security_ = false;
    bool left_life_ = false;
    bool over_ = false;
};

}  // namespace exchange
