// SPDX-License-Identifier: BSL-1.0
//
// Changes gathered into messages: see market_updates.hpp.
#include <exchange/net/application/market_updates.hpp>

#include <algorithm>
#include <tuple>

namespace exchange {
namespace {

constexpr std::array sides{order_side::buy, order_side::sell};

[[nodiscard]] bool at_or_better(order_side side, price_ticks it, price_ticks than) noexcept {
    return side == order_side::buy ? it >= than : it <= than;
}

[[nodiscard]] told_level told(order_side side, const book_level& level) noexcept {
    return {level.price, level.quantity, level.orders, side};
}

[[nodiscard]] bool has_changed(const market_book& of, const market_seen& seen,
                               bool (*is_meant)(market_part)) noexcept {
    if (seen.changes < of.oldest()) return true;
    for (std::uint64_t each = seen.changes; each < of.version(); ++each)
        if (is_meant(of.change_at(each).part)) return true;
    return false;
}

[[nodiscard]] bool is_of_summary(market_part it) noexcept {
    return it != market_part::level && it != market_part::trade;
}

}  // namespace

bool market_updates::tell(const market_book& of, const subscribe& wanted, market_seen& seen,
                          market_message_sink& to) {
    const bool complete = of.book() == market_book::state::complete;
    const bool summary = wanted.summary && (!seen.begun || has_changed(of, seen, is_of_summary));
    // That a book is not complete any more is told to all who have it.
    if (summary || (wanted.book && seen.complete != complete)) {
        if (!tell_summary(of, to)) return false;
        seen.complete = complete;
    }
    if (complete && wanted.book) {
        if (!tell_book(of, wanted, seen, to)) return false;
        seen.has_book = true;
    }
    if (wanted.trades && !tell_trades(of, seen, to)) return false;
    seen.changes = of.version();
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
    if (!whole) gather(of, seen);
    if (!whole && (wanted.depth == 0 ? touched_.empty() : !touches(of, wanted.depth))) return true;
    const bool room = whole || wanted.depth > 0
                          ? tell_snapshot(of, wanted.depth > 0 ? wanted.depth : ~std::size_t{0}, to)
                          : tell_delta(of, seen, to);
    if (room) seen.book = of.version();
    return room;
}

void market_updates::gather(const market_book& of, const market_seen& seen) {
    touched_.clear();
    for (std::uint64_t each = seen.changes; each < of.version(); ++each) {
        const market_book::change& it = of.change_at(each);
        if (it.part == market_part::level) touched_.push_back({it.side, it.price});
    }
    std::ranges::sort(touched_, {}, [](const place& it) { return std::tuple{it.side, it.price}; });
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

bool market_updates::tell_snapshot(const market_book& of, std::size_t depth,
                                   market_message_sink& to) {
    book_snapshot made{};
    made.state = of.version();
    made.instrument = of.instrument();
    made.first = true;
    for (const order_side side : sides) {
        const auto levels = of.levels(side);
        const std::size_t count = std::min(depth, levels.size());
        for (std::size_t each = 0; each < count; ++each) {
            if (made.count == told_levels_max) {
                if (!give(made, to)) return false;
                made.first = false;
                made.count = 0;
            }
            made.levels[made.count++] = told(side, levels[levels.size() - 1 - each]);
        }
    }
    made.last = true;
    return give(made, to);
}

bool market_updates::tell_delta(const market_book& of, const market_seen& seen,
                                market_message_sink& to) {
    book_delta made{};
    made.previous = seen.book;
    made.state = of.version();
    made.instrument = of.instrument();
    for (const place& each : touched_) {
        if (made.count == told_levels_max) {
            if (!give(made, to)) return false;
            made.count = 0;
        }
        made.levels[made.count++] = told(each.side, of.level_at(each.side, each.price));
    }
    made.last = true;
    return give(made, to);
}

}  // namespace exchange
