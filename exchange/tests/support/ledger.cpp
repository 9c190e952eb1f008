// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/tests/support/ledger.hpp>

#include <optional>

namespace exchange::testing {
namespace {

// What the command at hand asks for on this side.
struct wish {
    price_ticks limit;
    contracts quantity;
};

// What the command at hand makes of an order.
std::optional<wish> wish_of_amend(const command& it) {
    if (const auto* amended = std::get_if<amend_order>(&it))
        return wish{amended->price, amended->quantity};
    if (const auto* amended = std::get_if<amend_stop>(&it))
        return wish{amended->price, amended->quantity};
    return std::nullopt;
}

// An order at the market may pay any price, and rests as if that were its limit.
wish wish_of(const command& it, order_side side) {
    if (const auto* entered = std::get_if<enter_order>(&it)) {
        const bool at_market = entered->type == order_type::market;
        const price_ticks any = side == order_side::buy ? price_ticks_max : -price_ticks_max;
        return {at_market ? any : entered->price, entered->quantity};
    }
    if (const auto* entered = std::get_if<enter_advanced_order>(&it)) {
        const price_ticks any = side == order_side::buy ? price_ticks_max : -price_ticks_max;
        return {is_at_market(entered->type) ? any : entered->price, entered->quantity};
    }
    if (const auto* quoted = std::get_if<enter_quote>(&it)) {
        if (side == order_side::buy) return {quoted->bid_price, quoted->bid_quantity};
        return {quoted->ask_price, quoted->ask_quantity};
    }
    return {0, 0};
}

}  // namespace

std::string ledger::hear(const event& it) {
    return visit(it, [this](const auto& message) { return hear(message); });
}

template <class Message>
ledger::entry& ledger::entry_of(const Message& it) {
    const auto known = open_.find(it.order);
    if (known != open_.end()) return known->second;
    const wish asked = wish_of(*command_, it.side);
    return open_[it.order] = {asked.limit, asked.quantity, 0, it.side, 0};
}

void ledger::close_if_done(order_id id) {
    if (open_.at(id).open == 0) open_.erase(id);
}

std::string ledger::hear(const order_entered& it) {
    const entry& own = entry_of(it);
    if (own.open != it.open || own.executed != it.executed) return "another quantity rests";
    if (own.limit != it.price) return "an order rests at another price than it was entered with";
    return {};
}

std::string ledger::hear(const order_amended& it) {
    entry& own = entry_of(it);
    if (it.executed != own.executed) return "an amend changed what was executed";
    if (it.reason == amend_reason::self_trade) {
        if (it.open >= own.open || it.open == 0) return "a decremented order did not shrink";
    } else {
        const auto asked = wish_of_amend(*command_);
        if (!asked) return "an order was amended without a request";
        if (it.open + it.executed != asked->quantity) return "another quantity was amended to";
        // A stop that will be at the market has no limit to be amended.
        const bool at_market = own.type == order_type::stop && own.executed == 0;
        if (!at_market && it.price != asked->limit) return "another price was amended to";
        if (!at_market) own.limit = asked->limit;
    }
    own.open = it.open;
    return {};
}

std::string ledger::hear(const order_terms& it) {
    entry& own = entry_of(it);
    if (it.display_quantity != 0 && it.display_quantity >= own.open) return "it hides nothing";
    if (it.minimum_quantity > own.open) return "it wants more than it is";
    own.type = it.type;
    own.least = it.minimum_quantity;
    return {};
}

std::string ledger::hear(const stop_entered& it) {
    const entry& own = entry_of(it);
    if (!is_stop(own.type)) return "an order waits that is no stop";
    if (own.open != it.open || own.executed != 0) return "another quantity waits";
    return {};
}

std::string ledger::hear(const stop_triggered& it) {
    entry& own = entry_of(it);
    if (own.open != it.open) return "another quantity is triggered";
    if (own.type == order_type::stop_limit && own.limit != it.price)
        return "a stop has another limit";
    own.limit = it.price;
    return {};
}

std::string ledger::hear(const order_cancelled& it) {
    entry& own = entry_of(it);
    if (it.executed != own.executed) return "a cancel changed what was executed";
    if (it.cancelled != own.open) return "more or less was cancelled than was open";
    const bool too_little = it.reason == cancel_reason::minimum_quantity;
    if (too_little && own.executed != 0) return "less than the minimum was filled";
    open_.erase(it.order);
    return {};
}

std::string ledger::hear(const order_executed& it) {
    entry& own = entry_of(it);
    if (it.role != execution_role::taker && own.executed < own.least)
        return "an order rests of which less than its minimum was filled";
    if (it.quantity == 0 || it.quantity > own.open) return "a fill of more than was open";
    own.open -= it.quantity;
    own.executed += it.quantity;
    if (it.open != own.open) return "a fill leaves another quantity than it should";
    const bool buys = it.side == order_side::buy;
    if (buys ? it.price > own.limit : it.price < own.limit) return "a fill beyond the limit";
    const bool in_auction = it.role == execution_role::auction;
    if (it.role == execution_role::maker || (in_auction && buys)) {
        if (!in_auction && it.price != own.limit) return "the price is not the maker's";
        maker_ = it;
    } else if (maker_.trade != it.trade || maker_.quantity != it.quantity ||
               maker_.price != it.price || maker_.side == it.side) {
        return "maker and taker disagree";
    }
    positions_[{it.account, it.instrument}] +=
        buys ? std::int64_t{it.quantity} : -std::int64_t{it.quantity};
    close_if_done(it.order);
    return {};
}

std::string ledger::hear(const execution_busted& it) {
    positions_[{it.account, it.instrument}] -=
        it.side == order_side::buy ? std::int64_t{it.quantity} : -std::int64_t{it.quantity};
    return {};
}

std::string ledger::hear(const admin_accepted&) {
    const auto* brought = std::get_if<set_position>(command_);
    if (brought == nullptr) return {};
    std::int64_t& position = positions_[{brought->account, brought->instrument}];
    brought_[brought->instrument] += brought->position - position;
    position = brought->position;
    return {};
}

std::int64_t ledger::position_of(account_id whose, instrument_id in) const {
    const auto at = positions_.find({whose, in});
    return at == positions_.end() ? 0 : at->second;
}

std::int64_t ledger::brought_into(instrument_id in) const {
    const auto at = brought_.find(in);
    return at == brought_.end() ? 0 : at->second;
}

std::string ledger::hear(const trade& it) {
    const bool same = it.id == maker_.trade && it.price == maker_.price &&
                      it.quantity == maker_.quantity && it.aggressor != maker_.side;
    return same ? "" : "the trade that is printed is not the one that happened";
}

}  // namespace exchange::testing
