// SPDX-License-Identifier: BSL-1.0
//
// Pacing, settling, comparing: see load_run.hpp.
#include <exchange/bin/load_run.hpp>

#include <exchange/management/words.hpp>

#include <gyre/sync/sleep.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace exchange {
namespace {

using gyre::task;
using namespace std::chrono_literals;

constexpr int inconsistent = 1;
constexpr int unreachable = 3;
constexpr auto pace = 1ms;  // How often a paced run looks at what is due.

unsigned long long count(std::uint64_t it) { return it; }

/// Such as 10 and 0.5.
[[nodiscard]] std::string shortest(double it) {
    std::array<char, 32> text{};
    const int size = std::snprintf(text.data(), text.size(), "%g", it);
    return {text.data(), static_cast<std::size_t>(size)};
}

/// The address without the port, which is the facility's.
[[nodiscard]] gyre::endpoint any_port_of(const gyre::endpoint& it) {
    if (it.kind() == gyre::endpoint::family::v6) return {it.v6(), 0};
    return {it.v4(), 0};
}

[[nodiscard]] feed_listener_options listening(const config& in) {
    feed_listener_options made;
    made.group = in.facility.feed;
    made.interface = in.facility.feed_interface;
    made.requests = in.facility.feed_requests;
    made.ask_from = any_port_of(in.facility.feed_from);
    made.receiver.first_sequence = 0;  // What was before us is not ours to judge.
    made.receiver.new_life_after = 5 * (in.host.feed.heartbeat_after + in.facility.timer_tick) / 2;
    made.receiver.datagrams_held_max = 1024;
    return made;
}

}  // namespace

std::string find_markets(const config& in, const std::vector<std::uint32_t>& wanted,
                         std::vector<traded_market>& into) {
    std::vector<define_product> products;
    for (const opening_command& each : in.opening) {
        if (const auto* const it = std::get_if<define_product>(&each.what)) products.push_back(*it);
        const auto* const it = std::get_if<define_instrument>(&each.what);
        if (it == nullptr) continue;
        const bool chosen =
            wanted.empty() || std::ranges::count(wanted, number(it->instrument)) > 0;
        if (!chosen) continue;
        const auto of = std::ranges::find(products, it->product, &define_product::product);
        const price_ticks step = of->bands > 0 ? of->ticks[of->bands - 1].step : 1;
        into.push_back({it->instrument, it->settlement_price, step, of->lot});
    }
    if (into.empty()) return "there is no market to trade in";
    return into.size() < wanted.size() ? "not all of the wanted ones are defined" : "";
}

load_run::load_run(gyre::io_context& context, const config& where, std::vector<client_user> users,
                   const load_options& how)
    : context_{context},
      where_{where},
      users_{std::move(users)},
      how_{how},
      mix_{how.mix, how.seed},
      feed_{context, listening(where), *this} {}

int load_run::carry_out() {
    auto opened = gyre_traits::open_signals(context_, {SIGINT, SIGTERM});
    if (!opened.ok()) {
        std::fprintf(stderr, "load_generator: cannot watch signals: %s\n",
                     opened.error().message().c_str());
        return unreachable;
    }
    signals_ = opened.take();
    if (how_.with_feed) {
        const auto [failed] = feed_.start();
        if (failed) {
            std::fprintf(stderr, "load_generator: cannot listen to the feed on %s: %s\n",
                         where_.facility.feed.to_string().c_str(), failed.message().c_str());
            return unreachable;
        }
    }
    for (const client_user& each : users_) {
        const auto* const session = find_definition(where_, &define_session::session, each.session);
        if (session == nullptr) continue;  // An operator, or who is defined later.
        order_entry_client_options options;
        options.exchange = where_.facility.order_entry;
        options.login = {each.username, each.password, {}, 0};
        options.session = where_.facility.sessions;
        traders_.emplace_back(context_, options, *session, progress_);
    }
    gyre::launch(context_, obey_signals(), gyre::or_terminate{});
    gyre::launch(context_, run(), gyre::or_terminate{});
    context_.run();
    report();
    return status_;
}

void load_run::heard(const mold_message& message) noexcept { public_.hear(message.payload); }

void load_run::silent() noexcept {
    fail("the feed on " + where_.facility.feed.to_string() + " has fallen silent", unreachable);
}

gyre::time_point load_run::deadline() const noexcept {
    return gyre::deadline_after(std::chrono::steady_clock::now(), how_.patience);
}

void load_run::fail(std::string what, int status) {
    complaints_.push_back(std::move(what));
    status_ = std::max(status_, status);
}

task<> load_run::obey_signals() {
    for (;;) {
        const auto [ended, signal] = co_await signals_.wait();
        if (ended) co_return;
        if (asked_to_end_) std::_Exit(128 + signal);
        asked_to_end_ = true;
        progress_.set();
    }
}

task<> load_run::run() {
    const bool ready = co_await prepare();
    if (ready) {
        std::printf("ready: %zu traders\n", traders_.size());
        std::fflush(stdout);
        const auto begun = std::chrono::steady_clock::now();
        stuck_at_ = deadline();
        if (how_.messages_per_second > 0) co_await trade_paced();
        else co_await trade_unbounded();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
        seconds_ = took.count();
        if (status_ < unreachable) {
            co_await settle();
            if (how_.with_feed) co_await compare();
        }
    }
    leave();
}

task<bool> load_run::prepare() {
    if (traders_.empty()) {
        fail("no participant has a session that the configuration defines", unreachable);
        co_return false;
    }
    const gyre::time_point until = deadline();
    for (load_client& each : traders_) {
        const std::string failure = co_await each.prepare(until);
        if (!failure.empty()) {
            const std::string at = where_.facility.order_entry.to_string();
            fail(at + " as " + each.name() + ": " + failure, unreachable);
            co_return false;
        }
    }
    // The first datagram tells where the feed is; a heartbeat will do.
    while (how_.with_feed && feed_.receiver().expected() == 0) {
        if (std::chrono::steady_clock::now() >= until) {
            fail("nothing is heard of the feed on " + where_.facility.feed.to_string(),
                 unreachable);
            co_return false;
        }
        static_cast<void>(co_await gyre::sleep_for(pace));
    }
    co_return true;
}

bool load_run::send_one() {
    for (std::size_t each = 0; each < traders_.size(); ++each) {
        load_client& it = traders_[turn_++ % traders_.size()];
        const bool may = how_.messages_per_second > 0 || it.view().unanswered() < how_.window;
        if (!may || !it.trade(mix_)) continue;
        ++sent_;
        stuck_at_ = deadline();
        return true;
    }
    return false;
}

bool load_run::gets_on() {
    if (std::ranges::any_of(traders_, &load_client::over)) return false;
    if (std::chrono::steady_clock::now() < stuck_at_) return true;
    const std::chrono::duration<double> patience = how_.patience;
    fail(where_.facility.order_entry.to_string() + ": nothing could be sent for " +
             shortest(patience.count()) + " s; " + std::to_string(sent_) + " messages were",
         unreachable);
    return false;
}

task<> load_run::trade_paced() {
    const auto begun = std::chrono::steady_clock::now();
    while (has_more_to_send()) {
        const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begun;
        const double due = since.count() * static_cast<double>(how_.messages_per_second);
        const std::uint64_t now_due = std::min(how_.messages, static_cast<std::uint64_t>(due) + 1);
        if (sent_ == now_due) stuck_at_ = deadline();  // Nothing is due yet.
        while (sent_ < now_due) {
            if (send_one()) continue;
            ++held_back_;
            break;
        }
        static_cast<void>(co_await gyre::sleep_for(pace));
        if (!gets_on()) break;
    }
}

task<> load_run::trade_unbounded() {
    std::uint64_t burst = 0;
    while (has_more_to_send()) {
        while (sent_ < how_.messages && burst < how_.window && send_one()) ++burst;
        burst = 0;
        progress_.reset();
        // A lost connection makes no progress, so look again by ourselves.
        static_cast<void>(co_await gyre::with_timeout(100ms, progress_.wait()));
        if (!gets_on()) break;
    }
}

task<> load_run::settle() {
    if (has_more_to_send()) fail("the exchange ended the session", inconsistent);
    const gyre::time_point until = deadline();
    for (load_client& each : traders_) {
        if (how_.clean && !each.cancel_all()) fail(each.name() + ": cannot cancel", inconsistent);
        const std::string failure = co_await each.settle(until);
        if (!failure.empty()) fail(each.name() + ": " + failure, inconsistent);
    }
    for (load_client& each : traders_) {
        const order_view& view = each.view();
        for (const std::string& what : view.first_contradictions())
            fail(each.name() + ": " + what, inconsistent);
        if (how_.clean && view.resting() > 0)
            fail(each.name() + ": " + std::to_string(view.resting()) +
                     " orders survived a mass cancel",
                 inconsistent);
    }
}

task<> load_run::compare() {
    const gyre::time_point until = deadline();
    for (const load_client& each : traders_) {
        std::optional<std::string> found = public_.difference(each.view());
        while (found && std::chrono::steady_clock::now() < until) {
            static_cast<void>(co_await gyre::sleep_for(10ms));
            found = public_.difference(each.view());
        }
        if (found) fail(each.name() + ": " + *found, inconsistent);
    }
    if (feed_lost_ > 0)
        fail(std::to_string(feed_lost_) + " messages of the feed are lost", inconsistent);
    if (public_.misplaced() > 0)
        fail(std::to_string(public_.misplaced()) + " messages of the feed are of another life",
             inconsistent);
    if (public_.unreadable() > 0)
        fail(std::to_string(public_.unreadable()) + " messages of the feed cannot be read",
             inconsistent);
}

void load_run::leave() {
    for (load_client& each : traders_) each.leave();
    if (how_.with_feed) feed_.stop();
    signals_.cancel();
}

void load_run::report() {
    lab::histogram latencies;
    heard_counts all;
    std::uint64_t lost = 0;
    std::uint64_t losses = 0;
    std::uint64_t lives = 1;
    std::size_t resting = 0;
    for (const load_client& each : traders_) {
        const heard_counts& heard = each.view().heard();
        latencies.add(each.view().latencies());
        all.entered += heard.entered;
        all.amended += heard.amended;
        all.cancelled += heard.cancelled;
        all.rejected += heard.rejected;
        all.executed += heard.executed;
        all.captured += heard.captured;
        all.held_back += heard.held_back;
        for (std::size_t reason = 0; reason < all.reasons.size(); ++reason)
            all.reasons[reason] += heard.reasons[reason];
        lost += each.view().lost();
        losses += each.losses();
        lives = std::max(lives, each.lives());
        resting += each.view().resting();
    }
    const auto us = [&](double part) {
        return static_cast<double>(latencies.quantile(part)) / 1000;
    };
    if (sent_ > 0) {
        std::printf(
            "sent %llu messages in %.3f s, %.0f a second, by %zu traders; late %llu times\n",
            count(sent_), seconds_, static_cast<double>(sent_) / seconds_, traders_.size(),
            count(held_back_));
        std::printf(
            "answered after p50 %.1f us, p90 %.1f us, p99 %.1f us, p99.9 %.1f us, max %.1f us\n",
            us(0.5), us(0.9), us(0.99), us(0.999), us(1));
        std::printf(
            "heard: entered %llu, amended %llu, cancelled %llu, executed %llu, captured %llu, "
            "rejected %llu\n",
            count(all.entered), count(all.amended), count(all.cancelled), count(all.executed),
            count(all.captured), count(all.rejected));
        for (std::size_t reason = 0; reason < all.reasons.size(); ++reason) {
            if (all.reasons[reason] == 0) continue;
            std::printf("  %s %llu\n",
                        word_for(reject_reason{static_cast<std::uint8_t>(reason)}).c_str(),
                        count(all.reasons[reason]));
        }
        if (all.held_back > 0) std::printf("held back by a gateway: %llu\n", count(all.held_back));
        std::printf("resting %zu, lost %llu connections, and %llu messages with them\n", resting,
                    count(losses), count(lost));
        std::printf(
            "lives of the exchange: %llu to traders, %llu in the feed; messages of another one "
            "%llu\n",
            count(lives), count(how_.with_feed ? public_.lives() : 0), count(public_.misplaced()));
    }
    if (sent_ > 0 && how_.with_feed) {
        const mold_counts& feed = feed_.receiver().counts();
        std::printf(
            "feed: messages %llu, trades %zu, datagrams ahead of their turn %llu, requests %llu, "
            "lost %llu\n",
            count(public_.messages()), public_.trades(), count(feed.held), count(feed.requests),
            count(feed_lost_));
    }
    std::fflush(stdout);
    for (const std::string& each : complaints_)
        std::fprintf(stderr, "load_generator: %s\n", each.c_str());
    if (status_ == 0) std::puts("everything agrees");
}

}  // namespace exchange
