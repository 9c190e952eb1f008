// SPDX-License-Identifier: BSL-1.0
//
// Rebuilding and comparing: see feed_view.hpp.
#include <exchange/bin/feed_view.hpp>

namespace exchange {

void feed_view::hear(std::span<const std::byte> message) {
    ++messages_;
    if (decode_public_event(message, *this)) ++unreadable_;
}

void feed_view::begin_life() noexcept {
    orders_.clear();
    trades_.clear();
    last_out_seq_ = {};
    ++lives_;
}

void feed_view::take(const order_book_update& it) {
    if (it.action == book_action::erase) orders_.erase(number(it.order));
    else orders_[number(it.order)] = {it.instrument, it.side, it.price, it.open};
}

void feed_view::take(const trade& it) {
    trades_[number(it.id)] = {it.instrument, it.price, it.quantity};
}

std::optional<std::string> feed_view::difference(const order_view& trader) const {
    for (const auto& [id, ours] : trader.trades()) {
        const auto found = trades_.find(id);
        const std::string name = "trade " + std::to_string(id);
        if (found == trades_.end()) return name + " was told to us and not to the public";
        const own_trade& theirs = found->second;
        if (theirs.instrument != ours.instrument || theirs.price != ours.price ||
            theirs.quantity != ours.quantity)
            return name + " was told to the public otherwise than to us";
    }
    for (std::size_t each = 0; each < trader.resting(); ++each) {
        const own_order& ours = trader.resting(each);
        if (ours.waits) continue;  // Which is nobody else's business.
        const auto found = orders_.find(number(ours.id));
        const std::string name = "order " + std::to_string(number(ours.entered.client_seq));
        if (found == orders_.end()) return name + " rests and is not in the public book";
        const public_order& theirs = found->second;
        if (theirs.instrument != ours.entered.instrument || theirs.side != ours.entered.side ||
            theirs.price != ours.price || theirs.open != ours.shown)
            return name + " stands otherwise in the public book";
    }
    return std::nullopt;
}

}  // namespace exchange
