// SPDX-License-Identifier: BSL-1.0
//
// What each event does to an order: see own_orders.hpp.
#include <exchange/client/own_orders.hpp>

#include <algorithm>

namespace exchange {
namespace {

template <class Event>
constexpr session_id asker_of(const Event& it) noexcept {
    if constexpr (requires { it.request_session; }) return it.request_session;
    else return session_id::none;
}

}  // namespace

own_orders::own_orders(std::size_t orders_max) : orders_max_{orders_max}, orders_{&memory_} {
    orders_.reserve(std::min<std::size_t>(orders_max, 4096));
}

/// What names two sessions was told to both, and does not say which of them we are.
bool own_orders::is_own(session_id of, session_id asked) noexcept {
    if (whose_ == session_id::none && (asked == session_id::none || asked == of)) whose_ = of;
    return of == whose_;
}

template <class Event>
working_order* own_orders::known(const Event& it) noexcept {
    if (!is_own(it.session, asker_of(it))) return nullptr;
    const auto found = orders_.find(key_of(it.client_seq, it.side));
    return found == orders_.end() ? nullptr : &found->second;
}

template <class Event>
working_order* own_orders::known_or_new(const Event& it) {
    if (working_order* const there = known(it)) return there;
    if (orders_.size() == orders_max_) {
        ++untracked_;
        return nullptr;
    }
    working_order& fresh = orders_[key_of(it.client_seq, it.side)];
    fresh.order = it.order;
    fresh.client_seq = it.client_seq;
    fresh.instrument = it.instrument;
    fresh.side = it.side;
    return &fresh;
}

bool own_orders::hear(const order_entered& it) {
    working_order* const of = known_or_new(it);
    if (of == nullptr) return false;
    of->price = it.price;
    of->open = it.open;
    of->executed = it.executed;
    of->tif = it.tif;
    of->rests = true;
    of->waits = false;
    return true;
}

bool own_orders::hear(const order_terms& it) {
    working_order* const of = known_or_new(it);
    if (of == nullptr) return false;
    of->type = it.type;
    of->trigger_price = it.trigger_price;
    of->display_quantity = it.display_quantity;
    return true;
}

bool own_orders::hear(const stop_entered& it) {
    working_order* const of = known_or_new(it);
    if (of == nullptr) return false;
    of->price = it.price;
    of->open = it.open;
    of->tif = it.tif;
    of->waits = true;
    return true;
}

bool own_orders::hear(const stop_triggered& it) {
    if (working_order* const of = known(it)) {
        of->price = it.price;
        of->open = it.open;
        of->waits = false;
    }
    return true;
}

bool own_orders::hear(const trigger_amended& it) {
    if (working_order* const of = known(it)) of->trigger_price = it.trigger_price;
    return true;
}

bool own_orders::hear(const order_amended& it) {
    if (working_order* const of = known(it)) {
        of->price = it.price;
        of->open = it.open;
        of->executed = it.executed;
    }
    return true;
}

bool own_orders::hear(const order_cancelled& it) {
    if (known(it) != nullptr) orders_.erase(key_of(it.client_seq, it.side));
    return true;
}

bool own_orders::hear(const order_executed& it) {
    if (working_order* const of = known(it)) {
        of->open = it.open;
        of->executed += it.quantity;
        if (it.open == 0) orders_.erase(key_of(it.client_seq, it.side));
    }
    return true;
}

void own_orders::clear() noexcept {
    orders_.clear();
    untracked_ = 0;
    whose_ = session_id::none;
}

const working_order* own_orders::find(client_sequence it, order_side side) const noexcept {
    const auto found = orders_.find(key_of(it, side));
    return found == orders_.end() ? nullptr : &found->second;
}

const working_order* own_orders::find(client_sequence it) const noexcept {
    const working_order* const buys = find(it, order_side::buy);
    return buys != nullptr ? buys : find(it, order_side::sell);
}

}  // namespace exchange
