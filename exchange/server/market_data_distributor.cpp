// SPDX-License-Identifier: BSL-1.0
//
// The coroutines of a distributor, and what the feed brings: see market_data_distributor.hpp.
#include <exchange/server/market_data_distributor.hpp>

#include <gyre/coro/this_task.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace exchange {

namespace {

// JSON that is made for one subscriber serves others.
[[nodiscard]] client_server_options with_texts(client_server_options clients) {
    if (clients.said == nullptr) clients.said = std::make_shared<said_texts>();
    return clients;
}

}  // namespace

market_data_distributor::market_data_distributor(gyre::io_context& on, market_books& books,
                                                 market_data_host& host,
                                                 const distributor_options& options)
    : on_{on},
      books_{books},
      host_{host},
      options_{options},
      recovery_{books, options.recovery},
      asking_{on, recovery_, options.exchange},
      clients_{host, with_texts(options.clients)} {
    feed_handler& heard_by = *this;
    const bool sends = options_.feed.out.group.kind() != gyre::endpoint::family::none;
    if (sends) relay_.emplace(on, options.feed, &heard_by);
    else listener_.emplace(on, options.feed.source, heard_by);
}

gyre::io_result<> market_data_distributor::listen() {
    if (const auto [failed] = clients_.listen(on_); failed) return failed;
    return relay_ ? relay_->start() : listener_->start();
}

void market_data_distributor::ask(const gyre::endpoint& requests,
                                  const gyre::endpoint& exchange) noexcept {
    if (relay_) relay_->ask(requests);
    else listener_->ask(requests);
    asking_.reach(exchange);
}

gyre::task<gyre::io_result<>> market_data_distributor::serve() {
    if (!options_.opens_with_feed) opened_.set();
    gyre::io_result<> served;
    const auto body = [this, &served](gyre::task_group& all) -> gyre::task<> {
        all.spawn(ask_for_books());
        all.spawn(keep_time());
        all.spawn(tell_changes());
        all.spawn(heed_drain());
        served = co_await serve_clients();
        static_cast<void>(co_await asked_.wait());
        all.request_stop();
    };
    co_await gyre::with_group(body);
    stop_listening();
    co_return served;
}

gyre::task<gyre::io_result<>> market_data_distributor::serve_clients() {
    const auto [ended] = co_await gyre::idle(opened_.wait());
    if (ended) {
        clients_.leave();
        co_return gyre::io_result<>{};
    }
    const gyre::io_result<> served = co_await clients_.serve();
    asking_.leave();
    co_return served;
}

gyre::task<> market_data_distributor::ask_for_books() {
    co_await asking_.run();
    asked_.set();
}

gyre::task<> market_data_distributor::heed_drain() {
    const gyre::stop_level asked = co_await gyre::this_task::stop_requested();
    if (asked == gyre::stop_level::drain) asking_.leave();
    else asking_.stop();
}

void market_data_distributor::stop_listening() noexcept {
    if (relay_) relay_->stop();
    else listener_->stop();
}

// ---------------------------------------------------------------------------------------------
// Time
// ---------------------------------------------------------------------------------------------

bool market_data_distributor::knows_all(gyre::time_point now) const noexcept {
    return !host_.life().empty() && !receiver().silent(now) && recovery_.complete();
}

gyre::task<> market_data_distributor::keep_time() {
    gyre::time_point clients_at = on_.now() + options_.clients.timer_tick;
    for (;;) {
        const gyre::time_point begun = on_.now();
        const gyre::time_point logins_at =
            std::max(begun + std::chrono::milliseconds{1}, host_.deadline());
        const gyre::time_point next = std::min(begun + options_.timer_tick, clients_at);
        const auto [ended] = co_await gyre::sleep_until(std::min(next, logins_at));
        if (ended) co_return;
        const gyre::time_point now = on_.now();
        if (now >= clients_at) clients_at = clients_.on_tick(now);
        host_.on_timer(now);
        look(now);
    }
}

void market_data_distributor::look(gyre::time_point now) noexcept {
    note_life();
    // Messages that were sent before it listened.
    if (receiver().expected() > books_.next_in_feed()) lose(receiver().expected());
    // Pages that no feed continues would be called complete, and grow old.
    asking_.on_timer(receiver().silent(now) ? soup_session{} : host_.life());
    if (std::exchange(told_refusals_, asking_.refused()) != asking_.refused() &&
        watcher_ != nullptr)
        watcher_->exchange_refuses();
    if (knows_all(now)) opened_.set();
    // A page, which may have been the last of a book.
    if (std::exchange(told_pages_, recovery_.counts().pages) != recovery_.counts().pages)
        changed_.set();
}

gyre::task<> market_data_distributor::tell_changes() {
    for (;;) {
        const auto [ended] = co_await changed_.wait();
        if (ended) co_return;
        changed_.reset();
        host_.changed();
        const auto [stopped] = co_await gyre::sleep_for(options_.told_every);
        if (stopped) co_return;
    }
}

// ---------------------------------------------------------------------------------------------
// The feed
// ---------------------------------------------------------------------------------------------

void market_data_distributor::heard(const mold_message& message) noexcept {
    note_life();
    if (message.sequence != books_.next_in_feed()) lose(message.sequence);
    ++counts_.heard;
    if (books_.hear(message.sequence, message.payload)) ++counts_.unread;
    changed_.set();
}

void market_data_distributor::missed(mold_gap gap) noexcept {
    note_life();
    lose(gap.last);
}

// Books that are sent as complete must not be old ones, and the feed may continue anywhere.
void market_data_distributor::silent() noexcept {
    ++counts_.silences;
    if (watcher_ != nullptr) watcher_->feed_silent();
    if (!host_.life().empty()) lose(books_.next_in_feed());
    asking_.on_timer({});
}

void market_data_distributor::ended() noexcept {
    if (watcher_ != nullptr) watcher_->feed_ended();
}

// It is received from its beginning, or what is missing of that is lost.
void market_data_distributor::new_life(const mold_session&, const mold_session& begun) noexcept {
    begin_life(begun);
}

/// The first life that is received.
void market_data_distributor::note_life() noexcept {
    const mold_receiver& from = receiver();
    if (host_.life().empty() && !from.session().empty()) begin_life(from.session());
}

void market_data_distributor::begin_life(const mold_session& name) noexcept {
    ++counts_.lives;
    books_.begin_anew();
    recovery_.begin_anew();
    host_.begin_life(name, on_.now());
    if (watcher_ != nullptr) watcher_->life_begun(name);
    changed_.set();
}

void market_data_distributor::lose(std::uint64_t next) noexcept {
    ++counts_.losses;
    books_.lose(next);
    recovery_.note_loss();
    if (watcher_ != nullptr) watcher_->feed_lost(next);
    changed_.set();
}

}  // namespace exchange
