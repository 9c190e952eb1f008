// SPDX-License-Identifier: BSL-1.0
//
// Levels by price, and pages that are spliced in: see market_books.hpp.
#include <exchange/net/application/market_books.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>
#include <type_traits>

namespace exchange {
namespace {

/// Is a price better than another one of this side?
[[nodiscard]] bool better(order_side side, price_ticks left, price_ticks right) noexcept {
    return side == order_side::buy ? left > right : left < right;
}

/// Where a price is, or belongs, among levels that stand worst first.
template <class Levels>
[[nodiscard]] auto place_of(Levels& levels, order_side side, price_ticks price) noexcept {
    return std::lower_bound(levels.begin(), levels.end(), price,
                            [side](const book_level& level, price_ticks wanted) {
                                return better(side, wanted, level.price);
                            });
}

/// As a price is, the next one that is worse.
[[nodiscard]] price_ticks behind(order_side side, price_ticks price) noexcept {
    return side == order_side::buy ? price - 1 : price + 1;
}

constexpr std::size_t numbers_max = 1 << 16;  // Of instruments that have a place in a table.

}  // namespace

book_level market_book::level_at(order_side side, price_ticks price) const noexcept {
    const std::vector<book_level>& levels = sides_[index_of(side)].levels;
    const auto at = place_of(levels, side, price);
    if (at == levels.end() || at->price != price) return {price, {}, 0};
    return *at;
}

market_books::market_books(const market_books_options& options, bool from_the_beginning)
    : options_{options}, from_the_beginning_{from_the_beginning} {
    gyre::expects(options.changes_max > 0 && options.trades_max > 0,
                  "there is something to remember");
}

struct market_books::teller {
    market_books& to;
    std::uint64_t sequence;

    template <class Event>
    void operator()(const event_stamp& stamp, const Event& it) const {
        market_book* const book = to.book_of(it.instrument);
        if (book == nullptr) return;
        if constexpr (requires { to.apply(*book, it, sequence); }) to.apply(*book, it, sequence);
        else if constexpr (std::is_same_v<Event, trade>) print(*book, {it, stamp.time, false});
        else if constexpr (std::is_same_v<Event, trade_busted>)
            print(*book, {{it.id, it.price, it.instrument, it.quantity, {}}, stamp.time, true});
        else if constexpr (requires { to.apply(*book, it); }) to.apply(*book, it);
        // The rest is said by these: orders by levels, the best by levels, volumes by statistics.
    }
    void operator()(const message_rejected&) const noexcept {}
};

decode_fault market_books::hear(std::uint64_t sequence, std::span<const std::byte> message) {
    next_ = sequence + 1;
    const decode_fault fault = decode_public_event(message, teller{*this, sequence});
    if (recovering_) [[unlikely]]
        finish_recoveries();
    return fault;
}

// Large numbers are searched for: a table for them would have the size of the largest.
std::size_t market_books::place_of_book(instrument_id which) const noexcept {
    const std::size_t at = number(which);
    if (at < numbers_max) {
        const std::size_t place = at < by_number_.size() ? by_number_[at] : 0;
        return place != 0 ? place - 1 : books_.size();
    }
    const auto found = std::ranges::find_if(
        books_, [which](const market_book& it) { return it.instrument_ == which; });
    return static_cast<std::size_t>(found - books_.begin());
}

market_book* market_books::book_of(instrument_id which) {
    if (const std::size_t there = place_of_book(which); there < books_.size())
        return &books_[there];
    if (books_.size() >= options_.instruments_max) {
        ++unfollowed_;
        return nullptr;
    }
    const std::size_t at = number(which);
    market_book& made = books_.emplace_back();
    made.instrument_ = which;
    made.changes_.resize(options_.changes_max);
    made.trades_.resize(options_.trades_max);
    made.state_ =
        from_the_beginning_ ? market_book::state::complete : market_book::state::incomplete;
    if (at < numbers_max) {
        if (at >= by_number_.size()) by_number_.resize(at + 1);
        by_number_[at] = books_.size();
    }
    return &made;
}

const market_book* market_books::find(instrument_id which) const noexcept {
    const std::size_t at = place_of_book(which);
    return at < books_.size() ? &books_[at] : nullptr;
}

void market_books::note(market_book& in, const market_book::change& what) noexcept {
    const std::size_t most = in.changes_.size();
    in.changes_[static_cast<std::size_t>(in.version_++ % most)] = what;
    in.oldest_ = std::max(in.oldest_, in.version_ > most ? in.version_ - most : 0);
}

void market_books::forget_changes(market_book& of) noexcept { of.oldest_ = ++of.version_; }

void market_books::put(market_book& to, order_side side, const book_level& level) {
    std::vector<book_level>& levels = to.sides_[market_book::index_of(side)].levels;
    const auto at = place_of(levels, side, level.price);
    const bool there = at != levels.end() && at->price == level.price;
    if (level.orders == 0) {
        if (there) levels.erase(at);
    } else if (there) {
        *at = level;
    } else if (levels.size() < options_.levels_max) {
        levels.insert(at, level);
    } else {
        spoil(to);
    }
}

// More levels than there is room for: what is here is a part of the book, and is told to be.
void market_books::spoil(market_book& it) noexcept {
    it.state_ = market_book::state::incomplete;
    note(it, {.part = market_part::phase});
}

void market_books::apply(market_book& to, const price_level_update& it, std::uint64_t sequence) {
    const book_level level{it.price, it.quantity, it.orders};
    if (to.state_ == market_book::state::recovering) {
        auto& pending = to.sides_[market_book::index_of(it.side)].pending;
        if (pending.size() < options_.levels_max) pending.push_back({sequence, level});
        else
            to.state_ =
                market_book::state::incomplete;  // Too slow: the pages are to be asked for again.
    }
    put(to, it.side, level);
    note(to, {.price = it.price, .part = market_part::level, .side = it.side});
}

void market_books::print(market_book& in, const printed_trade& it) noexcept {
    in.trades_[static_cast<std::size_t>(in.trades_made_++ % in.trades_.size())] = it;
    note(in, {.part = market_part::trade});
}

void market_books::apply(market_book& to, const market_statistics& it,
                         std::uint64_t sequence) noexcept {
    to.statistics_ = it;
    to.sums_at_ = sequence;
    note(to, {.part = market_part::statistics});
}

// What an auction would trade is over with it, and no message says so.
void market_books::apply(market_book& to, const phase_changed& it,
                         std::uint64_t sequence) noexcept {
    to.phase_ = it.phase;
    to.phase_at_ = sequence;
    to.indication_ = {};
    note(to, {.part = market_part::phase});
}

void market_books::apply(market_book& to, const auction_indication& it) {
    to.indication_ = it;
    note(to, {.part = market_part::indication});
}

// ---------------------------------------------------------------------------------------------
// Loss and recovery
// ---------------------------------------------------------------------------------------------

void market_books::lose(std::uint64_t next) {
    next_ = next;
    from_the_beginning_ = false;
    for (market_book& each : books_) {
        each.state_ = market_book::state::incomplete;
        each.indication_ = {};
        note(each, {.part = market_part::phase});
    }
}

void market_books::begin_anew() {
    next_ = 1;
    from_the_beginning_ = true;
    for (market_book& each : books_) {
        for (market_book::side_book& side : each.sides_) side = {};
        each.state_ = market_book::state::complete;
        each.phase_ = market_phase::closed;
        each.statistics_ = {};
        each.indication_ = {};
        each.life_trades_ = each.trades_made_;
        each.phase_at_ = each.sums_at_ = 0;
        forget_changes(each);
    }
}

void market_books::learn(const market_statistics& sums, market_phase phase,
                         std::uint64_t asked_at) {
    market_book* const book = book_of(sums.instrument);
    if (book == nullptr) return;
    if (book->sums_at_ < asked_at) book->statistics_ = sums;
    if (book->phase_at_ < asked_at) book->phase_ = phase;
    note(*book, {.part = market_part::phase});
}

void market_books::recover(instrument_id which) {
    market_book* const book = book_of(which);
    if (book == nullptr) return;
    for (market_book::side_book& side : book->sides_) {
        side.pages.clear();
        side.pending.clear();
        side.spliced_from = 0;
        side.paged = false;
    }
    book->complete_at_ = 0;
    book->asked_at_ = next_;
    // Who has the book hears that it is not complete any more.
    if (book->state_ == market_book::state::complete) note(*book, {.part = market_part::phase});
    book->state_ = market_book::state::recovering;
    recovering_ = true;
}

bool market_books::splice(const book_page& page) {
    market_book* const book = book_of(page.instrument);
    if (book == nullptr || book->state_ != market_book::state::recovering) return false;
    market_book::side_book& side = book->sides_[market_book::index_of(page.side)];
    // An answer to a question before `recover` knows less than the feed has said, and may leave levels out.
    const price_ticks wanted =
        side.pages.empty() ? best_of(page.side) : behind(page.side, side.pages.back().price);
    if (side.paged || page.from != wanted || page.next_in_feed < book->asked_at_) return false;
    if (side.spliced_from == 0) side.spliced_from = page.next_in_feed;
    for (std::uint16_t each = 0; each < page.count; ++each) side.pages.push_back(page.levels[each]);
    book->complete_at_ = std::max(book->complete_at_, page.next_in_feed);
    // A page is often older than what has been heard since it was asked for.
    if (page.next_in_feed > book->phase_at_) book->phase_ = page.phase;
    side.paged = page.last;
    if (side.pages.size() > options_.levels_max) spoil(*book);
    else finish_recovery(*book);
    return true;
}

void market_books::finish_recoveries() {
    recovering_ = false;
    for (market_book& each : books_) {
        if (each.state_ != market_book::state::recovering) continue;
        finish_recovery(each);
        recovering_ = recovering_ || each.state_ == market_book::state::recovering;
    }
}

// Each page is the side as it was at its own moment. What the feed has said since the first one was made says
// what levels are, so it does not matter which page had it already.
void market_books::finish_recovery(market_book& of) {
    if (!of.sides_[0].paged || !of.sides_[1].paged || next_ < of.complete_at_) return;
    of.state_ = market_book::state::complete;
    for (const order_side which : {order_side::buy, order_side::sell}) {
        market_book::side_book& side = of.sides_[market_book::index_of(which)];
        side.levels.assign(side.pages.rbegin(), side.pages.rend());
        for (const market_book::pending_level& each : side.pending)
            if (each.sequence >= side.spliced_from) put(of, which, each.level);
        side.pages = {};
        side.pending = {};
    }
    forget_changes(of);
}

}  // namespace exchange
