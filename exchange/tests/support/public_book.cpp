// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/tests/support/public_book.hpp>

#include <algorithm>

namespace exchange::testing {

std::string public_book::hear(const event& it) {
    return visit(it, [this](const auto& message) { return hear(message); });
}

std::string public_book::hear(const order_book_update& it) {
    level& at = markets_[it.instrument].sides[number(it.side)][it.price];
    touched_.push_back({it.instrument, it.side, it.price});
    const auto found = std::find_if(at.orders.begin(), at.orders.end(),
                                    [&](const auto& each) { return each.first == it.order; });
    if (it.action == book_action::add) {
        if (found != at.orders.end()) return "an order is added twice";
        at.orders.emplace_back(it.order, it.open);
        return {};
    }
    if (found == at.orders.end()) return "an order is changed that the feed does not know";
    if (it.action == book_action::modify) {
        if (it.open == 0 || it.open > found->second) return "a modified order did not shrink";
        found->second = it.open;
    } else {
        at.orders.erase(found);
    }
    return {};
}

std::string public_book::hear(const price_level_update& it) {
    level& at = markets_[it.instrument].sides[number(it.side)][it.price];
    at.quantity = it.quantity;
    at.count = it.orders;
    touched_.push_back({it.instrument, it.side, it.price});
    if ((it.quantity == 0) != (it.orders == 0)) return "a level has orders or quantity, not both";
    return {};
}

std::string public_book::hear(const top_of_book& it) {
    top_of_book& top = markets_[it.instrument].top;
    if (top.bid_price == it.bid_price && top.bid_quantity == it.bid_quantity &&
        top.ask_price == it.ask_price && top.ask_quantity == it.ask_quantity) {
        return "the top was told again without a change";
    }
    top = it;
    return {};
}

const public_book::level* public_book::find(const place& where) const {
    const auto market = markets_.find(where.instrument);
    if (market == markets_.end()) return nullptr;
    const side_levels& side = market->second.sides[number(where.side)];
    const auto at = side.find(where.price);
    return at == side.end() ? nullptr : &at->second;
}

std::string public_book::compare_touched(const venue& real) {
    std::string wrong;
    for (const place& each : touched_) {
        if (wrong.empty()) wrong = compare_level(real, each);
        if (wrong.empty()) wrong = compare_top(real, each.instrument);
    }
    settle();
    return wrong;
}

void public_book::settle() {
    for (const place& each : touched_) {
        side_levels& side = markets_[each.instrument].sides[number(each.side)];
        const auto at = side.find(each.price);
        const bool gone = at != side.end() && at->second.orders.empty() && at->second.count == 0;
        if (gone) side.erase(at);
    }
    touched_.clear();
}

std::string public_book::compare_level(const venue& real, const place& where) const {
    static const level nothing;
    const level* told = find(where);
    if (told == nullptr) told = &nothing;
    const level_memory& levels = real.memory.levels;
    const ladder& side = real.markets[number(where.instrument)].book.of(where.side);
    const level_index index = side.find(levels, rank_of(where.side, where.price));
    const price_level& truth = levels.chunks.level(index);

    contracts_total sum = 0;
    contracts_total all = 0;
    std::uint32_t advanced = 0;
    std::size_t at = 0;
    order_index before = 0;
    for (order_index each = truth.first; each != 0; each = real.memory.orders[each].next, ++at) {
        const order& it = real.memory.orders[each];
        sum += it.open;
        all += real.memory.open_of(it);
        advanced += it.advanced;
        if (it.previous != before) return "the list of a level is torn";
        if (it.price != where.price || it.side != where.side || it.level != index) {
            return "an order stands at a level that is not its own";
        }
        if (at >= told->orders.size() || told->orders[at] != std::pair{it.id, it.open}) {
            return "orders of a level differ from the feed, or their sequence does";
        }
        before = each;
    }
    if (truth.last != before) return "a level does not know its last order";
    if (at != told->orders.size()) return "the feed has orders that the level has not";
    if (truth.orders != at || truth.quantity != sum) return "the sums of a level are wrong";
    if (index != 0 && real.memory.quantity_at(index) != all)
        return "a level miscounts what its orders hide";
    if (truth.advanced != advanced) return "a level miscounts its advanced orders";
    if (told->count != at || told->quantity != sum) return "the feed by price has other sums";
    return {};
}

std::string public_book::compare_top(const venue& real, instrument_id in) const {
    const book& truth = real.markets[number(in)].book;
    const price_level& bids = real.memory.levels.chunks.level(truth.best(order_side::buy));
    const price_level& asks = real.memory.levels.chunks.level(truth.best(order_side::sell));
    const bool has_bid = bids.orders != 0;
    const bool has_ask = asks.orders != 0;
    const price_ticks bid = has_bid ? -truth.of(order_side::buy).best_rank() : 0;
    const price_ticks ask = has_ask ? truth.of(order_side::sell).best_rank() : 0;
    const bool trades = real.markets[number(in)].phase == market_phase::continuous;
    if (trades && has_bid && has_ask && bid >= ask) return "the book is crossed";

    const auto view = markets_.find(in);
    const top_of_book told = view == markets_.end() ? top_of_book{} : view->second.top;
    const bool same = told.bid_price == bid && told.bid_quantity == bids.quantity &&
                      told.ask_price == ask && told.ask_quantity == asks.quantity;
    return same ? "" : "the top that was told is not the best of the book";
}

std::string public_book::compare_all(const venue& real) const {
    std::size_t resting = 0;
    for (const auto& [instrument, view] : markets_) {
        for (const order_side side : {order_side::buy, order_side::sell}) {
            const ladder& truth = real.markets[number(instrument)].book.of(side);
            const level_memory& levels = real.memory.levels;
            std::size_t levels_seen = 0;
            price_rank last = 0;
            for (level_index at = truth.best(); at != 0; at = truth.after(levels, at)) {
                const price_rank rank = ladder::rank_of(levels, at);
                if (levels_seen > 0 && rank <= last) return "the levels are out of order";
                last = rank;
                ++levels_seen;
                resting += levels.chunks.level(at).orders;
            }
            const side_levels& told = view.sides[number(side)];
            if (levels_seen != told.size()) return "the feed has another number of levels";
            for (const auto& [price, unused] : told) {
                std::string wrong = compare_level(real, {instrument, side, price});
                if (!wrong.empty()) return wrong;
            }
        }
        std::string wrong = compare_top(real, instrument);
        if (!wrong.empty()) return wrong;
    }
    for (const market& each : real.markets) resting += each.stops.waiting();
    if (resting != real.memory.orders.in_use()) return "an order is in the slab and in no book";
    return {};
}

}  // namespace exchange::testing
