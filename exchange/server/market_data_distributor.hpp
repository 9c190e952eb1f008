// SPDX-License-Identifier: BSL-1.0
//
// The market data distributor: it listens to the public feed, asks the exchange for what it missed, and tells
// its subscribers; if it is to, it sends the feed once more, to another group (feed_relay.hpp).
//
// Books are market_books.hpp's, subscriptions session/market_data_client.hpp's.
#pragma once

#include <exchange/net/application/book_recovery.hpp>
#include <exchange/net/application/feed_relay.hpp>
#include <exchange/net/gyre/traits.hpp>
#include <exchange/net/session/book_recovery_client.hpp>
#include <exchange/net/session/market_data_client.hpp>
#include <exchange/server/client_server.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace exchange {

struct distributor_options {
    client_server_options clients{};  ///< Where subscribers connect.
    feed_relay_options feed{};  ///< Feed that is received and, if there is a group for it, sent.
    order_entry_client_options exchange{};  ///< Where and as which user it asks for books.
    book_recovery_options recovery{};
    /// Least time between two updates of subscribers, so that many of them leave time to listen.
    gyre::duration told_every = std::chrono::milliseconds{1};
    gyre::duration timer_tick = std::chrono::milliseconds{10};  ///< Of questions to the exchange.
    /// True if subscribers are let in once the feed is received and no book misses anything. For a
    /// distributor that is to replace another one, and listens with the same sockets: until then that one
    /// serves all that connect.
    bool opens_with_feed = false;
};

struct distributor_counts {
    std::uint64_t heard = 0;     ///< Messages of the feed.
    std::uint64_t unread = 0;    ///< Those among them that no reader of this version knows.
    std::uint64_t losses = 0;    ///< Times that books had to be asked for anew.
    std::uint64_t silences = 0;  ///< Times that the feed was silent for too long.
    std::uint64_t lives = 0;
};

/// Receives rare events of a distributor. Called within its functions, which it must not call.
class distributor_watcher {
public:
    virtual void life_begun(const soup_session& life) noexcept = 0;
    /// Messages were lost, up to this one: books are asked for.
    virtual void feed_lost(std::uint64_t next) noexcept = 0;
    virtual void feed_silent() noexcept = 0;
    virtual void feed_ended() noexcept = 0;
    /// The exchange does not let us log in, so books that are incomplete stay so. Once for each attempt.
    virtual void exchange_refuses() noexcept = 0;

protected:
    ~distributor_watcher() = default;
};

/// Threads:  the loop's.
/// Cost:     Memory at `listen`, for each subscriber, and as books grow.
class market_data_distributor : private feed_handler {
public:
    /// @param  books  Borrowed; outlives this. Those of `host`, and fed by nothing else.
    /// @param  host   Borrowed; outlives this.
    market_data_distributor(gyre::io_context& on, market_books& books, market_data_host& host,
                            const distributor_options& options);
    market_data_distributor(const market_data_distributor&) = delete;
    market_data_distributor& operator=(const market_data_distributor&) = delete;

    /// Listens to the feed and for subscribers, who wait until `serve`.
    ///
    /// Errors:  those of binding, listening, and joining a group through its interface.
    [[nodiscard]] gyre::io_result<> listen();

    /// Serves subscribers, and asks for books.
    ///
    /// Errors:        those of accepting subscribers.
    /// Cancellation:  a drain lets no subscriber in any more, and asks for no book. It returns when the last
    ///                subscriber has left and the exchange knows that we have. A stop ends all.
    /// Threads:       the loop's. Once.
    /// Cost:          frames for each subscriber; no allocation for a message once warm.
    [[nodiscard]] gyre::task<gyre::io_result<>> serve();

    /// Address that answers its requests, and address where it asks for books, if the options do not say it.
    void ask(const gyre::endpoint& requests, const gyre::endpoint& exchange) noexcept;
    /// @param  watcher  Borrowed, or null.
    void be_watched(distributor_watcher* watcher) noexcept { watcher_ = watcher; }

    /// In a drain: subscribers that are still here are asked to log in again, and leave when they have read
    /// that.
    void send_away() noexcept { host_.send_away(on_.now()); }

    /// True if subscribers are let in, or were, until it was drained.
    [[nodiscard]] bool has_opened() const noexcept { return opened_.is_set(); }
    /// Where subscribers connect.
    [[nodiscard]] const gyre::endpoint& tcp() const noexcept { return clients_.tcp(); }
    /// Where subscribers of WebSocket connect; nowhere, if there is no such place.
    [[nodiscard]] const gyre::endpoint& websocket() const noexcept { return clients_.websocket(); }
    /// Where the feed is received.
    [[nodiscard]] const gyre::endpoint& source() const noexcept {
        return relay_ ? relay_->source() : listener_->local();
    }
    /// Where listeners of the feed that it sends ask; nowhere, if it sends none.
    [[nodiscard]] gyre::endpoint requests() const noexcept {
        return relay_ ? relay_->requests() : gyre::endpoint{};
    }
    /// Subscribers that are connected, logged in or not.
    [[nodiscard]] std::size_t clients() const noexcept { return clients_.clients(); }
    /// Calls `look(market_data_client)` for each.
    template <class Look>
    void for_each_client(const Look& look) {
        clients_.for_each(look);
    }
    [[nodiscard]] const mold_receiver& receiver() const noexcept {
        return relay_ ? relay_->receiver() : listener_->receiver();
    }
    [[nodiscard]] const distributor_counts& counts() const noexcept { return counts_; }
    [[nodiscard]] const book_recovery_counts& recovery() const noexcept {
        return recovery_.counts();
    }
    /// True if books can be asked for.
    [[nodiscard]] bool reaches_exchange() const noexcept { return asking_.connected(); }
    /// Logins at the exchange that were refused.
    [[nodiscard]] std::uint64_t refused_by_exchange() const noexcept { return asking_.refused(); }
    /// The feed that it sends; null if it sends none.
    [[nodiscard]] const feed_relay<gyre_traits>* relay() const noexcept {
        return relay_ ? &*relay_ : nullptr;
    }

private:
    // The feed.
    void heard(const mold_message& message) noexcept override;
    void missed(mold_gap gap) noexcept override;
    void silent() noexcept override;
    void ended() noexcept override;
    void new_life(const mold_session& ended, const mold_session& begun) noexcept override;
    void note_life() noexcept;
    void begin_life(const mold_session& name) noexcept;
    void lose(std::uint64_t next) noexcept;
    void stop_listening() noexcept;

    [[nodiscard]] bool knows_all(gyre::time_point now) const noexcept;
    gyre::task<gyre::io_result<>> serve_clients();
    gyre::task<> ask_for_books();
    gyre::task<> heed_drain();
    gyre::task<> keep_time();
    void look(gyre::time_point now) noexcept;
    gyre::task<> tell_changes();

    gyre::io_context& on_;
    market_books& books_;
    market_data_host& host_;
    distributor_options options_;
    gyre::event changed_;
    gyre::event opened_;  // Subscribers may come.
    gyre::event asked_;   // No book is asked for any more.
    book_recovery recovery_;
    book_recovery_client<gyre_traits> asking_;
    client_server<market_data_client> clients_;
    std::optional<feed_relay<gyre_traits>> relay_;  // One of these two.
    std::optional<feed_listener<gyre_traits>> listener_;
    distributor_watcher* watcher_ = nullptr;
    distributor_counts counts_;
    std::uint64_t told_pages_ = 0;
    std::uint64_t told_refusals_ = 0;
};

}  // namespace exchange
