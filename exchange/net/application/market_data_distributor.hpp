// SPDX-License-Identifier: BSL-1.0
//
// The market data distributor on one side of the seam: everything that waits, put together.
//
// It hears the public feed, asks the exchange for what it missed, and tells its subscribers, over a door for
// each transport; if it is to, it sends the feed once more, to another group (feed_relay.hpp). What books and
// subscriptions mean is market_books.hpp's and session/market_data_client.hpp's.
#pragma once

#include <exchange/net/application/book_recovery.hpp>
#include <exchange/net/application/client_doors.hpp>
#include <exchange/net/application/feed_relay.hpp>
#include <exchange/net/session/book_recovery_client.hpp>
#include <exchange/net/session/market_data_client.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace exchange {

struct distributor_options {
    client_doors_options doors{};  ///< Where subscribers connect.
    feed_relay_options feed{};     ///< What is heard and, if there is a group to send it to, sent.
    order_entry_client_options exchange{};  ///< Where and as which user it asks for books.
    book_recovery_options recovery{};
    /// Subscribers are told what has changed this often at most, so that many of them leave time to listen.
    gyre::duration told_every = std::chrono::milliseconds{1};
    gyre::duration timer_tick = std::chrono::milliseconds{10};  ///< Of what is asked for.
    /// Subscribers are let in once the feed is heard and no book misses anything. For one that is to replace
    /// another, and listens with the same sockets: until then that one has all that connect.
    bool opens_with_feed = false;
};

struct distributor_counts {
    std::uint64_t heard = 0;     ///< Messages of the feed.
    std::uint64_t unread = 0;    ///< Those among them that no reader of this version knows.
    std::uint64_t losses = 0;    ///< Times that books had to be asked for anew.
    std::uint64_t silences = 0;  ///< Times that the feed was silent for too long.
    std::uint64_t lives = 0;
};

/// Is told what seldom happens at a distributor. Within its functions, which it must not call.
class distributor_watcher {
public:
    virtual void life_begun(const soup_session& life) noexcept = 0;
    /// Messages were lost, up to this one: books are asked for.
    virtual void feed_lost(std::uint64_t next) noexcept = 0;
    virtual void feed_silent() noexcept = 0;
    virtual void feed_ended() noexcept = 0;
    /// It does not let us log in, so books that are incomplete stay so. Once for each attempt.
    virtual void exchange_refuses() noexcept = 0;

protected:
    ~distributor_watcher() = default;
};

/// @tparam  X           A side of the seam.
/// @tparam  Websockets  What carries sessions of WebSocket: a frame_transport<X>; void if nothing does.
///
/// Threads:  that of its context.
/// Cost:     Memory is taken at construction, for each client that connects, and as books grow.
template <executor_traits X, class Websockets = void>
class market_data_distributor final : private feed_handler {
public:
    using task = typename X::template task<void>;

    /// @param  context  Borrowed; outlives this.
    /// @param  books    Borrowed; outlives this. Those of `host`, and fed by nothing else.
    /// @param  host     Borrowed; outlives this.
    market_data_distributor(typename X::context& context, market_books& books,
                            market_data_host& host, const distributor_options& options)
        : context_{context},
          books_{books},
          host_{host},
          options_{options},
          tick_{context},
          pause_{context},
          recovery_{books, options.recovery},
          asking_{context, recovery_, options.exchange},
          doors_{context, host, with_texts(options.doors)} {
        feed_handler& heard_by = *this;
        if (is_relay()) relay_.emplace(context, options.feed, &heard_by);
        else listener_.emplace(context, options.feed.source, heard_by);
    }
    market_data_distributor(const market_data_distributor&) = delete;
    market_data_distributor& operator=(const market_data_distributor&) = delete;

    /// Listens to the feed and for subscribers, and begins. After an error nothing has begun.
    ///
    /// Errors:  those of binding, listening, and joining a group through its interface.
    [[nodiscard]] gyre::io_result<> start() {
        auto [failed, doors] = doors_.listen();
        if (failed) return failed;
        if (const auto [deaf] = relay_ ? relay_->start() : listener_->start(); deaf) return deaf;
        running_ = true;
        waiting_doors_ = std::move(doors);
        if (!options_.opens_with_feed) open_doors();
        begin(ask_for_books());
        begin(keep_time());
        begin(tell_changes());
        return {};
    }

    /// Who answers its requests, and where it asks for books, if the options do not say it.
    void ask(const gyre::endpoint& requests, const gyre::endpoint& exchange) noexcept {
        if (relay_) relay_->ask(requests);
        else listener_->ask(requests);
        asking_.reach(exchange);
    }
    /// Who is told what seldom happens. Borrowed, or null.
    void be_watched(distributor_watcher* watcher) noexcept { watcher_ = watcher; }

    /// No new subscriber is let in, and no book is asked for any more; subscribers that are here stay.
    void drain() noexcept {
        waiting_doors_.reset();
        doors_.close();
        asking_.leave();
    }
    /// Behind `drain`: subscribers that are still here are told to log in again, and leave when they have
    /// read that.
    void send_away() noexcept { host_.send_away(X::now(context_)); }
    /// Behind `drain`: have all subscribers left, and is the exchange told that we have?
    [[nodiscard]] bool left() const noexcept { return clients() == 0 && asking_.over(); }
    /// Ends everything. The context runs out of work, and then this may be destroyed: see `idle`.
    void stop() noexcept {
        running_ = false;
        waiting_doors_.reset();
        stop_hearing();
        asking_.stop();
        tick_.cancel();
        pause_.cancel();
        changed_.set();
        doors_.stop();
    }
    /// Has everything ended that `start` has begun? Behind `stop`. (The listener ends with the context.)
    [[nodiscard]] bool idle() const noexcept { return tasks_ == 0 && doors_.over(); }

    /// Are subscribers let in, or were they, until it was drained? Behind `start`.
    [[nodiscard]] bool has_opened() const noexcept { return !waiting_doors_; }

    /// Where subscribers connect, once they are let in.
    [[nodiscard]] const gyre::endpoint& tcp() const noexcept { return doors_.tcp(); }
    /// Where those of WebSocket do; nowhere, if there is no such place.
    [[nodiscard]] const gyre::endpoint& websocket() const noexcept { return doors_.websocket(); }
    /// Where the feed is heard, once started.
    [[nodiscard]] const gyre::endpoint& source() const noexcept {
        return relay_ ? relay_->source() : listener_->local();
    }
    /// Where listeners of what is sent once more ask; nowhere, if nothing is.
    [[nodiscard]] gyre::endpoint requests() const noexcept {
        return relay_ ? relay_->requests() : gyre::endpoint{};
    }

    /// How many subscribers are connected, logged in or not.
    [[nodiscard]] std::size_t clients() const noexcept { return doors_.serving(); }
    template <class Look>
    void for_each_client(const Look& look) const {
        doors_.for_each(look);
    }
    /// What is known of the feed.
    [[nodiscard]] const mold_receiver& receiver() const noexcept {
        return relay_ ? relay_->receiver() : listener_->receiver();
    }
    [[nodiscard]] const distributor_counts& counts() const noexcept { return counts_; }
    [[nodiscard]] const book_recovery_counts& recovery() const noexcept {
        return recovery_.counts();
    }
    /// Can books be asked for?
    [[nodiscard]] bool reaches_exchange() const noexcept { return asking_.connected(); }
    /// Logins at the exchange that were refused.
    [[nodiscard]] std::uint64_t refused_by_exchange() const noexcept { return asking_.refused(); }
    /// What was sent once more; null if nothing is.
    [[nodiscard]] const feed_relay<X>* relay() const noexcept {
        return relay_ ? &*relay_ : nullptr;
    }

private:
    /// What one subscriber is told in JSON, others are as well.
    [[nodiscard]] static client_doors_options with_texts(client_doors_options doors) {
        if (doors.said == nullptr) doors.said = std::make_shared<said_texts>();
        return doors;
    }

    void open_doors() {
        if (waiting_doors_) doors_.open(*std::exchange(waiting_doors_, {}));
    }
    /// Could a subscriber be told all that there is?
    [[nodiscard]] bool knows_all(gyre::time_point now) const noexcept {
        return !host_.life().empty() && !receiver().silent(now) && recovery_.complete();
    }

    void begin(task what) {
        ++tasks_;
        X::launch(context_, count(std::move(what)));
    }
    task count(task what) {
        co_await std::move(what);
        --tasks_;
    }
    task ask_for_books() { co_await asking_.run(); }

    [[nodiscard]] bool is_relay() const noexcept {
        return options_.feed.out.group.kind() != gyre::endpoint::family::none;
    }
    void stop_hearing() noexcept {
        if (relay_) relay_->stop();
        else listener_->stop();
    }

    // ----------------------------------------------------------------------------------------
    // The feed
    // ----------------------------------------------------------------------------------------

    void heard(const mold_message& message) noexcept override {
        note_life();
        if (message.sequence != books_.next_in_feed()) lose(message.sequence);
        ++counts_.heard;
        if (books_.hear(message.sequence, message.payload)) ++counts_.unread;
        changed_.set();
    }
    void missed(mold_gap gap) noexcept override {
        note_life();
        lose(gap.last);
    }
    // What is heard next may be anything: books that are told as complete are not to be old ones.
    void silent() noexcept override {
        ++counts_.silences;
        if (watcher_ != nullptr) watcher_->feed_silent();
        if (!host_.life().empty()) lose(books_.next_in_feed());
        asking_.on_timer({});
    }
    void ended() noexcept override {
        if (watcher_ != nullptr) watcher_->feed_ended();
    }
    // It is heard from its beginning, or what is missing of that is lost.
    void new_life(const mold_session&, const mold_session& begun) noexcept override {
        begin_life(begun);
    }

    /// The first life that is heard.
    void note_life() noexcept {
        const mold_receiver& from = receiver();
        if (host_.life().empty() && !from.session().empty()) begin_life(from.session());
    }
    void begin_life(const mold_session& name) noexcept {
        ++counts_.lives;
        books_.begin_anew();
        recovery_.begin_anew();
        host_.begin_life(name, X::now(context_));
        if (watcher_ != nullptr) watcher_->life_begun(name);
        changed_.set();
    }
    void lose(std::uint64_t next) noexcept {
        ++counts_.losses;
        books_.lose(next);
        recovery_.note_loss();
        if (watcher_ != nullptr) watcher_->feed_lost(next);
        changed_.set();
    }

    // ----------------------------------------------------------------------------------------
    // Time
    // ----------------------------------------------------------------------------------------

    task keep_time() {
        gyre::time_point doors_at = X::now(context_) + options_.doors.timer_tick;
        while (running_) {
            const gyre::time_point begun = X::now(context_);
            const gyre::time_point logins_at =
                std::max(begun + std::chrono::milliseconds{1}, host_.deadline());
            const gyre::time_point next = std::min(begun + options_.timer_tick, doors_at);
            const auto [ended] = co_await tick_.wait_until(std::min(next, logins_at));
            if (ended || !running_) break;
            const gyre::time_point now = X::now(context_);
            if (now >= doors_at) doors_at = doors_.on_tick(now);
            host_.on_timer(now);
            note_life();
            // Messages that were sent before it listened.
            if (receiver().expected() > books_.next_in_feed()) lose(receiver().expected());
            // Pages that no feed goes on from would be called complete, and grow old.
            asking_.on_timer(receiver().silent(now) ? soup_session{} : host_.life());
            if (std::exchange(told_refusals_, asking_.refused()) != asking_.refused() &&
                watcher_ != nullptr)
                watcher_->exchange_refuses();
            if (waiting_doors_ && knows_all(now)) open_doors();
            // A page, which may have been the last of a book.
            if (std::exchange(told_pages_, recovery_.counts().pages) != recovery_.counts().pages)
                changed_.set();
        }
    }

    task tell_changes() {
        while (running_) {
            if (!changed_.is_set()) {
                const auto [canceled] = co_await changed_.wait();
                if (canceled) break;
            }
            changed_.reset();
            if (!running_) break;
            host_.changed();
            const auto [ended] = co_await pause_.wait_until(X::now(context_) + options_.told_every);
            if (ended) break;
        }
    }

    typename X::context& context_;
    market_books& books_;
    market_data_host& host_;
    distributor_options options_;
    typename X::timer tick_;
    typename X::timer pause_;  // Between two tellings.
    typename X::event changed_;
    book_recovery recovery_;
    book_recovery_client<X> asking_;
    client_doors<X, market_data_client, Websockets> doors_;
    std::optional<typename client_doors<X, market_data_client, Websockets>::listening>
        waiting_doors_;
    std::optional<feed_relay<X>> relay_;  // One of these two.
    std::optional<feed_listener<X>> listener_;
    distributor_watcher* watcher_ = nullptr;
    distributor_counts counts_;
    std::uint64_t told_pages_ = 0;
    std::uint64_t told_refusals_ = 0;
    std::size_t tasks_ = 0;
    bool running_ = false;
};

}  // namespace exchange
