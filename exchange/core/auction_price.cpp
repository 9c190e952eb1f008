// SPDX-License-Identifier: BSL-1.0
//
// See the header. `low` and `high` are the last levels that trade, of sellers and of buyers: at every
// price from one to the other the whole volume trades, and at none beyond.
#include <exchange/core/auction_price.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace exchange {
namespace {

price_ticks price_at(const book_memory& memory, order_side side, level_index at) noexcept {
    return price_of(side, ladder::rank_of(memory.levels, at));
}

/// The reference price, if an order could have it.
std::optional<price_ticks> reference_limit(const market& in) noexcept {
    const price_ticks reference = reference_price(in);
    if (check_price(in.terms, reference) != reject_reason::none) return std::nullopt;
    return reference;
}

/// Keeps the price nearest to another, and of two the higher.
class nearest_price {
public:
    explicit nearest_price(price_ticks to) noexcept : to_{to} {}

    void offer(price_ticks it) noexcept {
        const price_ticks farther = found_ ? std::abs(it - to_) - std::abs(*found_ - to_) : -1;
        if (farther < 0 || (farther == 0 && it > *found_)) found_ = it;
    }
    [[nodiscard]] const std::optional<price_ticks>& found() const noexcept { return found_; }

private:
    price_ticks to_;
    std::optional<price_ticks> found_;
};

}  // namespace

void auction_search::begin(const market& in, const book_memory& memory) noexcept {
    for (const order_side side : {order_side::buy, order_side::sell}) {
        const level_index best = in.book.best(side);
        sides_[number(side)] = {.next = best, .left = memory.quantity_at(best), .last = 0};
    }
    volume_ = 0;
}

bool auction_search::go_on(const market& in, const book_memory& memory, step_work& work) noexcept {
    progress& bids = sides_[number(order_side::buy)];
    progress& asks = sides_[number(order_side::sell)];
    const auto fill = [&](progress& it, order_side side, contracts_total by) {
        it.last = it.next;
        it.left -= by;
        if (it.left != 0) return;
        it.next = in.book.of(side).after(memory.levels, it.next);
        it.left = memory.quantity_at(it.next);
    };
    while (bids.next != 0 && asks.next != 0 &&
           price_at(memory, order_side::buy, bids.next) >=
               price_at(memory, order_side::sell, asks.next)) {
        if (work.spent()) return false;
        work.spend(work_of_look);
        const contracts_total both = std::min(bids.left, asks.left);
        volume_ += both;
        fill(bids, order_side::buy, both);
        fill(asks, order_side::sell, both);
    }
    return true;
}

auction_price auction_search::result(const market& in, const book_memory& memory) const noexcept {
    if (volume_ == 0) return {};
    // Not of both sides: what is left of two levels that have traded with each other would trade on.
    for (const order_side side : {order_side::buy, order_side::sell}) {
        const progress& it = sides_[number(side)];
        if (it.next == it.last) return pressed(in, memory, side);
    }
    return balanced(in, memory);
}

// Something is left of the last level that trades of this side, and nothing of the other's. A better
// price leaves less over, so it is the best that there is up to that level: its own, unless it has
// none.
auction_price auction_search::pressed(const market& in, const book_memory& memory,
                                      order_side side) const noexcept {
    const progress& more = sides_[number(side)];
    const price_ticks other = price_at(memory, opposite(side), sides_[number(opposite(side))].last);
    auction_price made{.price = price_at(memory, side, more.last),
                       .volume = volume_,
                       .surplus = more.left,
                       .surplus_side = side};
    if (made.price != market_price(side)) return made;

    std::optional<price_rank> best;
    const auto offer = [&](price_ticks price) {
        const price_rank rank = rank_of(side, price);
        if (rank <= rank_of(side, other) && (!best || rank < *best)) best = rank;
    };
    if (other != market_price(opposite(side))) offer(other);
    const level_index behind = in.book.of(side).after(memory.levels, more.last);
    if (behind != 0) offer(price_at(memory, side, behind));
    if (const auto reference = reference_limit(in)) offer(*reference);
    made.price = best ? price_of(side, *best) : reference_price(in);
    if (behind != 0 && price_at(memory, side, behind) == made.price)
        made.surplus += memory.quantity_at(behind);
    return made;
}

// Both last levels are filled exactly. Between the next ones nothing is left over; from these on, what
// they have.
auction_price auction_search::balanced(const market& in, const book_memory& memory) const noexcept {
    const auto& [bids, asks] = sides_;
    const auto buys_at = [&](level_index at) { return price_at(memory, order_side::buy, at); };
    const auto sells_at = [&](level_index at) { return price_at(memory, order_side::sell, at); };
    // The part from one price on, of a range that ends before `behind` if there is one.
    const auto down_to = [&](price_ticks end, level_index behind) {
        return behind == 0 ? end : std::max(end, buys_at(behind) + 1);
    };
    const auto up_to = [&](price_ticks end, level_index behind) {
        return behind == 0 ? end : std::min(end, sells_at(behind) - 1);
    };
    const price_ticks low = sells_at(asks.last);
    const price_ticks high = buys_at(bids.last);
    const bool low_is_limit = low != market_price(order_side::sell);
    const bool high_is_limit = high != market_price(order_side::buy);
    const std::optional<price_ticks> reference = reference_limit(in);
    nearest_price nearest{reference_price(in)};

    const price_ticks from = down_to(low, bids.next);
    const price_ticks to = up_to(high, asks.next);
    if (reference && from <= *reference && *reference <= to) nearest.offer(*reference);
    if (low_is_limit && low >= from) nearest.offer(low);
    if (high_is_limit && high <= to) nearest.offer(high);
    if (nearest.found()) return {*nearest.found(), volume_, 0, order_side::buy};

    const bool buyers = bids.next != 0 && buys_at(bids.next) >= low;
    const bool sellers = asks.next != 0 && sells_at(asks.next) <= high;
    if (!buyers && !sellers) return {reference_price(in), volume_, 0, order_side::buy};
    if (!sellers || (buyers && bids.left < asks.left))
        return {buys_at(bids.next), volume_, bids.left, order_side::buy};
    if (!buyers || asks.left < bids.left)
        return {sells_at(asks.next), volume_, asks.left, order_side::sell};

    // As much is left over on either side of the gap, from the next limit of each side up to the one
    // behind it.
    const price_ticks below = buys_at(bids.next);
    const price_ticks above = sells_at(asks.next);
    const price_ticks lowest =
        down_to(low, in.book.of(order_side::buy).after(memory.levels, bids.next));
    const price_ticks highest =
        up_to(high, in.book.of(order_side::sell).after(memory.levels, asks.next));
    nearest.offer(below);
    nearest.offer(above);
    if (low_is_limit && low >= lowest) nearest.offer(low);
    if (high_is_limit && high <= highest) nearest.offer(high);
    if (reference && lowest <= *reference && *reference <= highest) nearest.offer(*reference);
    const price_ticks price = *nearest.found();
    return {price, volume_, bids.left, price <= below ? order_side::buy : order_side::sell};
}

}  // namespace exchange
