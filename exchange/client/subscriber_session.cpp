// SPDX-License-Identifier: BSL-1.0
//
// Wishes, books and news: see subscriber_session.hpp.
#include <exchange/client/subscriber_session.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/sync/timeout.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace exchange {
namespace {

using gyre::errc;

constexpr auto ask_again_after = std::chrono::milliseconds{200};
// Of a subscription on its way, more or less.
constexpr std::size_t wish_bytes = 64;
// What one message and a session's own turns may tell beyond `news_max`.
constexpr std::size_t news_at_once = told_trades_max + 16;

order_entry_client_options subscriber_connection(const market_data_options& from) {
    order_entry_client_options made;
    made.exchange = from.distributor;
    made.login.username = std::string_view{from.username};
    made.login.password = std::string_view{from.password};
    made.login.sequence = 1;
    made.session.heartbeat_after = from.heartbeat_after;
    made.session.dead_after = from.dead_after;
    made.session.outbox_bytes_max =
        std::max(made.session.outbox_bytes_max, (from.instruments_max + 1) * wish_bytes);
    made.websocket.path = from.websocket_path;
    made.connect_within = from.connect_within;
    made.reconnect_after = from.reconnect_after;
    made.reconnect_after_max = from.reconnect_after_max;
    return made;
}

[[nodiscard]] bool wants_something(const exchange::subscribe& it) noexcept {
    return it.book || it.trades || it.summary;
}

}  // namespace

// Of each market a change of the book and one of the sums wait at most.
subscriber_session::subscriber_session(const market_data_options& options)
    : options_{options},
      news_{options.news_max + news_at_once + 2 * options.instruments_max},
      books_{{options.instruments_max, options.levels_max}} {}

bool subscriber_session::start(gyre::io_context& on, std::shared_ptr<channel_security> security) {
    connection_ = connection_by(options_.transport, on, subscriber_connection(options_),
                                std::move(security), insecure_, *this);
    if (connection_ == nullptr) return false;
    gyre::launch(on, drive(shared_from_this()), gyre::or_terminate{});
    gyre::launch(on, keep_asking(shared_from_this()), gyre::or_terminate{});
    return true;
}

/// Goes on while everything around it is stopped, as when the loop ends: `keep_asking` hears that and stops
/// the connection, whose coroutines end in order then.
gyre::task<> subscriber_session::drive(std::shared_ptr<subscriber_session> it) {
    const soup_client& machine = it->connection_->machine();
    do {
        static_cast<void>(co_await gyre::shielded(it->connection_->run(), gyre::duration::max()));
        // What is not kept is nothing that a subscriber wants: the session is there, and so it logs in.
    } while (machine.ending() == soup_ending::not_kept && !it->stopped_);
    it->finish();
}

/// What a distributor that has just begun does not know yet, it may know a little later.
gyre::task<> subscriber_session::keep_asking(std::shared_ptr<subscriber_session> it) {
    while (!it->over_) {
        const auto waited = co_await gyre::with_timeout(ask_again_after, it->over_changed_.wait());
        if (waited.error() == errc::canceled) break;
        if (waited.error() == errc::timed_out && it->in_) it->say_what_is_unsaid();
    }
    it->stop();
}

void subscriber_session::abandon() noexcept {
    stop();
    news_.close();
}

void subscriber_session::stop() noexcept {
    if (over_) return;
    stopped_ = true;
    connection_->stop();
}

bool subscriber_session::log_out() noexcept { return !over_ && connection_->log_out(); }

// -------- Out --------

gyre::io_result<std::uint32_t> subscriber_session::want(const market_wish& it) {
    if (over_ || stopped_) return errc::closed;
    const exchange::subscribe what{requests_ + 1, it.instrument, it.depth,
                                   it.book,       it.trades,     it.summary};
    if (it.depth > subscription_depth_max || !wants_something(what)) return errc::invalid_argument;
    const bool all = it.instrument == instrument_id::none;
    if (!all && find(it.instrument) == nullptr && kept_singly() >= options_.instruments_max)
        return errc::no_buffer_space;
    if (all) wishes_.clear();
    keep(what);
    doubt_unwanted(it.instrument);
    return what.request;
}

gyre::io_result<std::uint32_t> subscriber_session::want_no_more(instrument_id which) {
    if (over_ || stopped_) return errc::closed;
    const exchange::subscribe nothing{requests_ + 1, which, 0, false, false, false};
    const bool all = which == instrument_id::none;
    const bool exception = !all && wants_all();
    const bool wanted = find(which) != nullptr;
    if (exception && !wanted && kept_singly() >= options_.instruments_max)
        return errc::no_buffer_space;
    if (all) wishes_.clear();
    if (exception || (in_ && (all || wanted))) {
        keep(nothing);
        drop_what_needs_no_words();
    } else {  // The distributor knows nothing of it.
        ++requests_;
        std::erase_if(wishes_, [which](const wish& it) { return it.what.instrument == which; });
    }
    doubt_unwanted(which);
    return nothing.request;
}

bool subscriber_session::wants_all() noexcept {
    const wish* const all = find(instrument_id::none);
    return all != nullptr && wants_something(all->what);
}

std::size_t subscriber_session::kept_singly() noexcept {
    return wishes_.size() - (find(instrument_id::none) == nullptr ? 0 : 1);
}

/// Of it, or of all: a book that is not wanted any more is not told any more, whole or half told.
void subscriber_session::doubt_unwanted(instrument_id which) {
    for (const auto& [instrument, market] : books_.all()) {
        if (which != instrument_id::none && instrument != which) continue;
        if (wants_book(instrument)) continue;
        const bool was_current = market.current();
        books_.doubt(instrument);
        if (was_current) tell_book(instrument);
    }
}

/// Unless all others are wanted, there is nothing to be said of it after another login.
void subscriber_session::drop_what_needs_no_words() noexcept {
    const bool all_wanted = wants_all();
    std::erase_if(wishes_, [all_wanted](const wish& each) {
        const bool nothing = each.said && !wants_something(each.what);
        return nothing && (!all_wanted || each.what.instrument == instrument_id::none);
    });
}

/// In place of what was wanted of the same.
void subscriber_session::keep(const exchange::subscribe& what) {
    ++requests_;
    wish made{.what = what};
    if (in_) made.said = say(what);
    if (wish* const before = find(what.instrument)) *before = made;
    else wishes_.push_back(made);
}

bool subscriber_session::say(const exchange::subscribe& what) noexcept {
    std::array<std::byte, std::max(message_bytes_of<exchange::subscribe>,
                                   message_bytes_of<exchange::unsubscribe>)>
        bytes;
    const std::size_t size =
        wants_something(what)
            ? encode_market(what, bytes)
            : encode_market(exchange::unsubscribe{what.request, what.instrument}, bytes);
    return connection_->send(std::span{bytes}.first(size));
}

void subscriber_session::say_what_is_unsaid() noexcept {
    for (wish& each : wishes_) {
        if (!each.said) each.said = say(each.what);
        if (!each.said) return;  // No room: tried again by `keep_asking`.
    }
    drop_what_needs_no_words();
}

subscriber_session::wish* subscriber_session::find(instrument_id which) noexcept {
    const auto found = std::ranges::find_if(
        wishes_, [which](const wish& each) { return each.what.instrument == which; });
    return found == wishes_.end() ? nullptr : &*found;
}

subscriber_session::wish* subscriber_session::of_request(std::uint32_t request) noexcept {
    const auto found = std::ranges::find_if(
        wishes_, [request](const wish& each) { return each.what.request == request; });
    return found == wishes_.end() ? nullptr : &*found;
}

const exchange::subscribe* subscriber_session::wanted_of(instrument_id which) noexcept {
    const wish* found = find(which);
    if (found == nullptr) found = find(instrument_id::none);
    return found != nullptr && wants_something(found->what) ? &found->what : nullptr;
}

// A distributor keeps no exceptions: one that comes to know the instrument behind an end of it follows it as
// one of all. So it is said again, once for each answer.
const exchange::subscribe* subscriber_session::wanted_and_told(instrument_id which) noexcept {
    const exchange::subscribe* const wanted = wanted_of(which);
    if (wanted != nullptr) return wanted;
    wish* const exception = find(which);
    if (in_ && exception != nullptr && std::exchange(exception->answered, false))
        exception->said = say(exception->what);
    return nullptr;
}

bool subscriber_session::wants_book(instrument_id which) noexcept {
    const exchange::subscribe* const wanted = wanted_of(which);
    return wanted != nullptr && wanted->book;
}

// -------- In --------

void subscriber_session::logged_in() noexcept {
    in_ = true;
    told_unreachable_ = false;
    tell({exchange::logged_in{connection_->machine().resume().session, 0}});
    for (wish& each : wishes_) each.said = each.answered = false;
    for (auto& [which, it] : untaken_) it.asked_anew = false;
    say_what_is_unsaid();
}

void subscriber_session::heard(std::uint64_t, std::span<const std::byte> message) noexcept {
    const decode_fault fault = decode_market_message(message, *this);
    if (fault) tell({unreadable_message{fault.error}});
}

void subscriber_session::operator()(const subscribed& it) {
    wish* const found = of_request(it.request);
    if (found == nullptr) return;
    found->answered = true;
    if (std::exchange(found->granted, true)) return;
    if (wants_something(found->what)) tell({subscription_granted{it.request, it.instrument}});
}

void subscriber_session::operator()(const subscription_refused& it) {
    wish* const found = of_request(it.request);
    if (found == nullptr) return;
    if (found->granted && it.reason == subscription_refusal::unknown_instrument) {
        found->said = false;  // And is said again.
        return;
    }
    tell({subscription_denied{it.request, it.instrument, it.reason}});
    wishes_.erase(wishes_.begin() + (found - wishes_.data()));
}

// What was on its way when it was unsubscribed is followed by nothing: it would stay current for ever.
void subscriber_session::operator()(const book_snapshot& it) {
    const exchange::subscribe* const wanted = wanted_and_told(it.instrument);
    if (wanted == nullptr || !wanted->book) return;
    const told_step step = books_.hear(it);
    if (step == told_step::changed) untaken_[it.instrument].asked_anew = false;
    take(it.instrument, step);
}
void subscriber_session::operator()(const book_delta& it) {
    const exchange::subscribe* const wanted = wanted_and_told(it.instrument);
    if (wanted != nullptr && wanted->book) take(it.instrument, books_.hear(it));
}

void subscriber_session::take(instrument_id which, told_step step) {
    switch (step) {
        case told_step::nothing: return;
        case told_step::changed: return tell_book(which);
        case told_step::unknown: return tell_untracked(which);
        case told_step::too_large:
            untaken_[which].asked_anew = true;  // It would be too large again.
            tell({market_untracked{which}});
            return tell_book(which);
        case told_step::broken: break;
    }
    if (std::exchange(untaken_[which].asked_anew, true)) return;
    ++broken_;
    exchange::subscribe anew = *wanted_of(which);
    anew.request = 0;
    anew.instrument = which;
    untaken_[which].asked_anew = say(anew);
    tell_book(which);
}

void subscriber_session::operator()(const trades_printed& it) {
    const exchange::subscribe* const wanted = wanted_and_told(it.instrument);
    if (wanted == nullptr || !wanted->trades) return;
    if (it.dropped > 0) tell({trades_missed{it.instrument, it.dropped}});
    for (std::uint16_t each = 0; each < it.count; ++each)
        tell({market_trade{it.instrument, it.trades[each]}});
}

void subscriber_session::operator()(const market_summary& it) {
    const exchange::subscribe* const wanted = wanted_and_told(it.instrument);
    if (wanted == nullptr || !wanted->summary) return;
    const followed_market* const before = books_.find(it.instrument);
    const bool was_current = before != nullptr && before->current();
    if (books_.hear(it) == told_step::unknown) return tell_untracked(it.instrument);
    if (books_.find(it.instrument)->current() != was_current) tell_book(it.instrument);
    if (!std::exchange(untaken_[it.instrument].summary, true))
        tell({summary_changed{it.instrument}});
}

void subscriber_session::not_reached(gyre::error why) noexcept {
    if (std::exchange(told_unreachable_, true)) return;
    tell({unreachable{why}});
}

void subscriber_session::disconnected(soup_ending why) noexcept {
    const bool last = stopped_ || connection_->machine().is_over();  // Told by `session_over`.
    const bool was_in = std::exchange(in_, false);
    if (was_in && !last) tell({connection_lost{why}});
    std::vector<instrument_id> current;
    for (const auto& [which, it] : books_.all())
        if (it.current()) current.push_back(which);
    books_.doubt();
    for (const instrument_id which : current) tell_book(which);
    if (connection_->turned_away()) {
        refused_security_ = !insecure_.view().empty();
        refused_upgrade_ = !refused_security_;
        if (refused_security_) tell({security_failed{insecure_}});
        connection_->stop();
    } else if (!was_in && !last) {
        if (const gyre::error none = why_no_answer(why)) not_reached(none);
    }
    insecure_ = {};
}

next_life subscriber_session::life_ended(const soup_session& ended,
                                         const soup_session& next) noexcept {
    books_.clear();
    untaken_.clear();
    tell({life_changed{ended, next}});
    left_life_ = !options_.join_next_life;
    return left_life_ ? next_life::leave : next_life::join;
}

session_over subscriber_session::ending() const noexcept {
    const soup_client& machine = connection_->machine();
    if (refused_security_) return {session_end::security_refused, soup_reject::none};
    if (refused_upgrade_) return {session_end::upgrade_refused, soup_reject::none};
    if (left_life_) return {session_end::life_ended, soup_reject::none};
    switch (machine.ending()) {
        case soup_ending::logged_out: return {session_end::logged_out, soup_reject::none};
        case soup_ending::session_ended: return {session_end::day_ended, soup_reject::none};
        case soup_ending::rejected: return {session_end::login_refused, machine.rejected()};
        default: return {session_end::stopped, soup_reject::none};
    }
}

void subscriber_session::finish() noexcept {
    tell({ending()});
    over_ = true;
    in_ = false;
    connection_.reset();  // It belongs to the loop, which may end before the program.
    news_.close();
    over_changed_.set();
}

// -------- News --------

void subscriber_session::tell_book(instrument_id which) {
    if (!std::exchange(untaken_[which].book, true)) tell({book_changed{which}});
}

void subscriber_session::tell_untracked(instrument_id which) {
    if (!std::exchange(told_untracked_, true)) tell({market_untracked{which}});
}

void subscriber_session::tell(const market_news& it) noexcept {
    if (news_.closed()) return;  // The program is gone.
    market_news copy = it;
    gyre::ensures(news_.try_send(copy), "reading stops before there is no room for news");
    if (news_.size() < options_.news_max || paused_) return;
    paused_ = true;
    connection_->pause();
}

void subscriber_session::taken(const market_news& it) noexcept {
    if (const auto* book = it.as<book_changed>()) {
        if (const auto found = untaken_.find(book->instrument); found != untaken_.end())
            found->second.book = false;
    } else if (const auto* summary = it.as<summary_changed>()) {
        if (const auto found = untaken_.find(summary->instrument); found != untaken_.end())
            found->second.summary = false;
    }
    if (over_ || !paused_ || news_.size() > options_.news_max / 2) return;
    paused_ = false;
    connection_->go_on();
}

bool subscriber_session::try_next(market_news& into) {
    const std::optional<market_news> got = news_.try_receive();
    if (!got) return false;
    into = *got;
    taken(into);
    return true;
}

gyre::task<gyre::io_result<market_news>> subscriber_session::next(
    std::shared_ptr<subscriber_session> it) {
    auto got = co_await it->news_.receive();
    if (got.ok()) it->taken(got.value());
    co_return got;
}

}  // namespace exchange
