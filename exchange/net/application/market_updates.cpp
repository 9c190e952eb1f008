// SPDX-License-Identifier: BSL-1.0
//
// Changes gathered into messages: see market_updates.hpp.
#include <exchange/net/application/market_updates.hpp>

#include <algorithm>
#include <tuple>

namespace exchange {
namespace {

constexpr std::array sides{order_side::buy, order_side::sell};
// With more levels a subscriber takes the whole book, which can be told in parts.
constexpr std::size_t delta_levels_max = 1024;

[[nodiscard]] bool at_or_better(order_side side, price_ticks it, price_ticks than) noexcept {
    return side == order_side::buy ? it >= than : it <= than;
}

[[nodiscard]] told_level level_told(order_side side, const book_level& level) noexcept {
    return {level.price, level.quantity, level.orders, side};
}

/// Has anything but levels and trades changed since?
[[nodiscard]] bool summary_changed(const market_book& of, std::uint64_t since) noexcept {
    if (since < of.oldest()) return true;
    for (std::uint64_t each = since; each < of.version(); ++each) {
        const market_part part = of.change_at(each).part;
        if (part != market_part::level && part != market_part::trade) return true;
    }
    return false;
}

}  // namespace

bool market_updates::tell(const market_book& of, const subscribe& wanted, market_seen& seen,
                          market_message_sink& to) {
    const bool complete = of.book() == market_book::state::complete;
    const bool summary = wanted.summary && (seen.summary == 0 || summary_changed(of, seen.summary));
    // That a book is not complete any more is told to all who have it.
    if (summary || (wanted.book && seen.complete != complete)) {
        if (!tell_summary(of, to)) return false;
        seen.complete = complete;
        seen.summary = of.version();
    }
    if (complete && wanted.book) {
        if (!tell_book(of, wanted, seen, to)) return false;
        seen.has_book = true;
    }
    seen.changes = of.version();
    if (wanted.trades && !tell_trades(of, seen, to)) return false;
    seen.trades = of.trades();
    seen.begun = true;
    return true;
}

template <class Record>
bool market_updates::give(const Record& it, market_message_sink& to) {
    const std::size_t size = encode_market(it, message_);
    return to.take(std::span<const std::byte>{message_}.first(size));
}

bool market_updates::tell_summary(const market_book& of, market_message_sink& to) {
    const market_statistics& sums = of.statistics();
    return give(market_summary{.state = of.version(),
                               .open = sums.open,
                               .high = sums.high,
                               .low = sums.low,
                               .last = sums.last,
                               .volume = sums.volume,
                               .indicated_price = of.indication().price,
                               .indicated_volume = of.indication().volume,
                               .instrument = of.instrument(),
                               .trades = sums.trades,
                               .phase = of.phase(),
                               .complete = of.book() == market_book::state::complete},
                to);
}

bool market_updates::tell_trades(const market_book& of, market_seen& seen,
                                 market_message_sink& to) {
    trades_printed made{};
    made.instrument = of.instrument();
    while (seen.trades < of.trades()) {
        const std::uint64_t first = std::max(seen.trades, of.oldest_trade());
        made.dropped = first - seen.trades;
        made.count = static_cast<std::uint16_t>(
            std::min<std::uint64_t>(of.trades() - first, told_trades_max));
        for (std::uint16_t each = 0; each < made.count; ++each) {
            const printed_trade& it = of.trade_at(first + each);
            made.trades[each] = {it.what.id,       it.what.price,     it.time,
                                 it.what.quantity, it.what.aggressor, it.busted};
        }
        if (!give(made, to)) return false;
        seen.trades = first + made.count;
        seen.dropped += made.dropped;
    }
    return true;
}

// ---------------------------------------------------------------------------------------------
// The book
// ---------------------------------------------------------------------------------------------

bool market_updates::tell_book(const market_book& of, const subscribe& wanted, market_seen& seen,
                               market_message_sink& to) {
    const bool whole = !seen.has_book || seen.changes < of.oldest();
    if (wanted.depth > 0) {
        if (!whole) gather(of, seen.changes, of.version());
        if (!whole && !touches(of, wanted.depth)) return true;
        if (!tell_best(of, wanted.depth, to)) return false;
        seen.book = of.version();
        return true;
    }
    return tell_changes(of, seen, to);
}

bool market_updates::tell_changes(const market_book& of, market_seen& seen,
                                  market_message_sink& to) {
    const bool whole = !seen.has_book || seen.changes < of.oldest();
    if (!whole) gather(of, seen.changes, of.version());
    if (whole || touched_.size() > delta_levels_max) {
        if (!tell_whole(of, seen, to)) return false;
        seen.changes = seen.book = seen.snapshot.begun;
        seen.snapshot = seen.delta = {};
        seen.has_book = true;
        gather(of, seen.changes, of.version());
    } else if (seen.delta.any) {
        // What there was no room for the last time, to its end; then what has changed since that was begun.
        gather(of, seen.changes, seen.delta.begun);
        if (!tell_delta(of, seen, seen.delta.begun, to)) return false;
        gather(of, seen.changes, of.version());
    }
    return tell_delta(of, seen, of.version(), to);
}

void market_updates::gather(const market_book& of, std::uint64_t since, std::uint64_t until) {
    touched_.clear();
    for (std::uint64_t each = since; each < until; ++each) {
        const market_book::change& it = of.change_at(each);
        if (it.part == market_part::level) touched_.push_back({it.side, it.price});
    }
    std::ranges::sort(touched_, {}, order_of);
    const auto doubles = std::ranges::unique(touched_);
    touched_.erase(doubles.begin(), doubles.end());
}

// Of a subscriber to the best levels: is one of these another one? What has left them was better than the
// last one is now, which has come in its place.
bool market_updates::touches(const market_book& of, std::size_t depth) const noexcept {
    return std::ranges::any_of(touched_, [&of, depth](const place& it) {
        const auto levels = of.levels(it.side);
        return levels.size() < depth ||
               at_or_better(it.side, it.price, levels[levels.size() - depth].price);
    });
}

bool market_updates::tell_best(const market_book& of, std::size_t depth, market_message_sink& to) {
    book_snapshot made{};
    made.state = of.version();
    made.instrument = of.instrument();
    made.first = made.last = true;
    for (const order_side side : sides) {
        const auto levels = of.levels(side);
        for (std::size_t each = 0; each < std::min(depth, levels.size()); ++each)
            made.levels[made.count++] = level_told(side, levels[levels.size() - 1 - each]);
    }
    return give(made, to);
}

// Best first, and where it goes on is kept by price: what changes behind it meanwhile is told as it is then,
// and what changes before it by the delta that follows.
bool market_updates::tell_whole(const market_book& of, market_seen& seen, market_message_sink& to) {
    market_seen::part& at = seen.snapshot;
    if (!at.any || at.begun < of.oldest()) at = {.begun = of.version(), .side = sides.front()};
    for (;;) {
        book_snapshot made{};
        made.state = at.begun;
        made.instrument = of.instrument();
        made.first = !at.any;
        market_seen::part next = at;
        bool more = false;
        for (const order_side side : sides) {
            if (side == order_side::buy && next.side == order_side::sell) continue;
            const auto levels = of.levels(side);
            const bool inside = next.any && next.side == side;
            for (std::size_t left = levels.size(); left > 0 && !more; --left) {
                const book_level& each = levels[left - 1];
                if (inside && at_or_better(side, each.price, at.price)) continue;
                if (made.count == told_levels_max) {
                    more = true;
                } else {
                    made.levels[made.count++] = level_told(side, each);
                    next.side = side;
                    next.price = each.price;
                    next.any = true;
                }
            }
        }
        made.last = !more;
        if (!give(made, to)) return false;
        at = next;
        at.any = true;
        if (!more) return true;
    }
}

// Of what was gathered, in the order of places. Where it goes on is kept: a level is told as it is by
// then, and what changes behind `until` is told by the delta that follows.
bool market_updates::tell_delta(const market_book& of, market_seen& seen, std::uint64_t until,
                                market_message_sink& to) {
    if (!touched_.empty()) {
        book_delta made{};
        made.previous = seen.book;
        made.state = until;
        made.instrument = of.instrument();
        const market_seen::part told = seen.delta;
        for (const place& each : touched_) {
            if (told.any && order_of(each) <= std::tuple{told.side, told.price}) continue;
            if (made.count == told_levels_max) {
                if (!give(made, to)) return false;
                const told_level& end = made.levels[made.count - 1U];
                seen.delta = {until, end.side, end.price, true};
                made.count = 0;
            }
            made.levels[made.count++] = level_told(each.side, of.level_at(each.side, each.price));
        }
        made.last = true;
        if (!give(made, to)) return false;
        seen.book = until;
    }
    seen.changes = until;
    seen.delta = {};
    return true;
}

}  // namespace exchange
