// SPDX-License-Identifier: BSL-1.0
//
// Snapshots and differences become books: see followed_books.hpp.
#include <exchange/client/followed_books.hpp>

#include <algorithm>
#include <functional>
#include <span>

namespace exchange {
namespace {

/// Is `left` to stand before `right` among levels of a side, whose best one is the last?
[[nodiscard]] bool is_worse(order_side side, price_ticks left, price_ticks right) noexcept {
    return side == order_side::buy ? left < right : left > right;
}

}  // namespace

told_step followed_books::hear(const book_snapshot& it) {
    followed_market* const market = market_of(it.instrument);
    if (market == nullptr) return told_step::unknown;
    if (it.first) {
        market->waiting_.clear();
        market->waiting_state_ = it.state;
        market->paging_ = true;
    } else if (!market->paging_ || market->waiting_state_ != it.state) {
        return give_up(*market, told_step::broken);
    }
    if (!put_aside(*market, std::span{it.levels}.first(it.count)))
        return give_up(*market, told_step::too_large);
    if (!it.last) return told_step::nothing;
    market->paging_ = false;
    replace(*market);
    market->state_ = it.state;
    market->has_book_ = market->current_ = true;
    market->complete_ = true;  // Or it would not be told; who wants no summary hears it here alone.
    return within_bounds(*market);
}

told_step followed_books::hear(const book_delta& it) {
    followed_market* const market = market_of(it.instrument);
    if (market == nullptr) return told_step::unknown;
    if (!market->has_book_ || market->paging_ || it.previous != market->state_)
        return give_up(*market, told_step::broken);
    // What was put aside may be of one whose end never came.
    if (market->waiting_state_ != it.state) market->waiting_.clear();
    market->waiting_state_ = it.state;
    if (!put_aside(*market, std::span{it.levels}.first(it.count)))
        return give_up(*market, told_step::too_large);
    if (!it.last) return told_step::nothing;
    apply(*market);
    market->state_ = it.state;
    return within_bounds(*market);
}

told_step followed_books::hear(const market_summary& it) {
    followed_market* const market = market_of(it.instrument);
    if (market == nullptr) return told_step::unknown;
    market->summary_ = it;
    market->complete_ = it.complete;
    return told_step::changed;
}

void followed_books::doubt() noexcept {
    for (auto& [which, it] : markets_) doubt(it);
}

void followed_books::doubt(instrument_id which) noexcept {
    if (const auto found = markets_.find(which); found != markets_.end()) doubt(found->second);
}

void followed_books::doubt(followed_market& it) noexcept {
    static_cast<void>(give_up(it, told_step::nothing));
    it.complete_ = true;  // Until the next one says otherwise.
}

const followed_market* followed_books::find(instrument_id which) const noexcept {
    const auto found = markets_.find(which);
    return found == markets_.end() ? nullptr : &found->second;
}

followed_market* followed_books::market_of(instrument_id which) {
    const auto found = markets_.find(which);
    if (found != markets_.end()) return &found->second;
    if (markets_.size() >= options_.instruments_max) return nullptr;
    return &markets_.try_emplace(which, which).first->second;
}

told_step followed_books::give_up(followed_market& it, told_step why) noexcept {
    it.current_ = it.has_book_ = it.paging_ = false;
    it.waiting_.clear();
    if (why == told_step::too_large) {
        it.bids_.clear();
        it.asks_.clear();
    }
    return why;
}

bool followed_books::put_aside(followed_market& it, std::span<const told_level> levels) {
    // Of a difference, as many may go as come.
    if (it.waiting_.size() + levels.size() > 4 * options_.levels_max + told_levels_max)
        return false;
    it.waiting_.insert(it.waiting_.end(), levels.begin(), levels.end());
    return true;
}

told_step followed_books::within_bounds(followed_market& it) noexcept {
    if (std::max(it.bids_.size(), it.asks_.size()) > options_.levels_max)
        return give_up(it, told_step::too_large);
    return told_step::changed;
}

void followed_books::replace(followed_market& it) {
    it.bids_.clear();
    it.asks_.clear();
    for (const told_level& level : it.waiting_)
        if (level.orders != 0)
            (level.side == order_side::buy ? it.bids_ : it.asks_).push_back(level);
    it.waiting_.clear();
    std::ranges::sort(it.bids_, std::less{}, &told_level::price);
    std::ranges::sort(it.asks_, std::greater{}, &told_level::price);
}

void followed_books::apply(followed_market& it) {
    for (const told_level& level : it.waiting_) {
        std::vector<told_level>& side = level.side == order_side::buy ? it.bids_ : it.asks_;
        const auto at = std::ranges::lower_bound(
            side, level.price,
            [&level](price_ticks left, price_ticks right) {
                return is_worse(level.side, left, right);
            },
            &told_level::price);
        const bool there = at != side.end() && at->price == level.price;
        if (there && level.orders == 0) side.erase(at);
        else if (there) *at = level;
        else if (level.orders != 0) side.insert(at, level);
    }
    it.waiting_.clear();
}

}  // namespace exchange
