// SPDX-License-Identifier: BSL-1.0
//
// What each message changes, and what it must not say: see order_view.hpp.
#include <exchange/bin/order_view.hpp>

#include <exchange/management/words.hpp>

#include <algorithm>
#include <utility>

namespace exchange {
namespace {

constexpr std::size_t contradictions_told = 10;

bool enters(command_kind it) {
    return it == command_kind::enter_order || it == command_kind::enter_advanced_order;
}

/// It has come to rest, or shows its next part.
void show(own_order& it) { it.shown = it.display == 0 ? it.open : std::min(it.display, it.open); }

}  // namespace

void order_view::asks(const enter_order& it, steady_ns now) {
    const std::uint64_t order = number(it.client_seq);
    orders_[order] = {.entered = it, .price = it.price, .open = it.quantity};
    asked_[order] = {it.kind, order, now, false};
}

void order_view::asks(const enter_advanced_order& it, steady_ns now) {
    const std::uint64_t order = number(it.client_seq);
    const enter_order plain{it.session, it.client_seq,  it.instrument, it.side,  it.type,
                            it.tif,     it.instruction, it.self_trade, it.price, it.quantity};
    orders_[order] = {.entered = plain,
                      .price = it.price,
                      .open = it.quantity,
                      .type = it.type,
                      .display = it.display_quantity};
    asked_[order] = {it.kind, order, now, false};
}

void order_view::asks(const amend_order& it, steady_ns now) {
    const std::uint64_t order = number(it.target.client_seq);
    if (own_order* const of = find(it.target.client_seq)) of->asked = true;
    asked_[number(it.client_seq)] = {it.kind, order, now, false};
}

void order_view::asks(const cancel_order& it, steady_ns now) {
    const std::uint64_t order = number(it.target.client_seq);
    if (own_order* const of = find(it.target.client_seq)) of->asked = true;
    asked_[number(it.client_seq)] = {it.kind, order, now, false};
}

void order_view::asks(const cancel_orders& it, steady_ns now) {
    asked_[number(it.client_seq)] = {it.kind, 0, now, false};
}

void order_view::hear(std::span<const std::byte> message, steady_ns now) {
    now_ = now;
    const decode_fault fault = decode_private_event(message, *this);
    if (fault)
        contradict("a message that cannot be read, error " + std::to_string(number(fault.error)));
}

void order_view::lost_connection() noexcept {
    for (auto& [request, it] : asked_) it.doubtful = true;
}

void order_view::begin_life() {
    lost_ += asked_.size();
    orders_.clear();
    asked_.clear();
    resting_.clear();
    place_.clear();
    trades_.clear();
}

void order_view::settle() {
    for (const auto& [request, it] : asked_) {
        if (it.doubtful) ++lost_;
        else contradict(word_for(it.kind) + ' ' + std::to_string(request) + " was never answered");
        if (own_order* const of = find(client_sequence{it.target})) of->asked = false;
        if (enters(it.kind)) forget(request);
    }
    asked_.clear();
}

void order_view::operator()(const event_stamp&, const order_entered& it) {
    ++heard_.entered;
    own_order* const of = find(it.client_seq);
    check(of != nullptr, "rests, though we never entered it", it.client_seq);
    answered(it.client_seq);
    if (of == nullptr) return;
    check(it.price == of->price && it.side == of->entered.side, "rests elsewhere", it.client_seq);
    check(it.open == of->open && it.executed == of->executed, "rests with another quantity",
          it.client_seq);
    check(!of->rests, "rests twice", it.client_seq);
    of->id = it.order;
    show(*of);
    begin_resting(number(it.client_seq));
}

void order_view::operator()(const event_stamp&, const order_terms& it) {
    const own_order* const of = find(it.client_seq);
    check(of != nullptr, "has terms, though we never entered it", it.client_seq);
    answered(it.client_seq);
    if (of == nullptr) return;
    check(it.type == of->type && it.display_quantity == of->display, "has other terms",
          it.client_seq);
}

void order_view::operator()(const event_stamp&, const stop_entered& it) {
    own_order* const of = find(it.client_seq);
    check(of != nullptr && is_stop(of->type), "waits, though it is no stop of ours", it.client_seq);
    if (of == nullptr) return;
    check(it.open == of->open, "waits with another quantity", it.client_seq);
    of->waits = true;
    begin_resting(number(it.client_seq));
}

void order_view::operator()(const event_stamp&, const stop_triggered& it) {
    own_order* const of = find(it.client_seq);
    check(of != nullptr && of->waits, "is triggered, though it does not wait", it.client_seq);
    if (of == nullptr) return;
    check(it.open == of->open, "is triggered with another quantity", it.client_seq);
    of->waits = false;
    of->price = it.price;
    end_resting(number(it.client_seq));
}

void order_view::operator()(const event_stamp&, const trigger_amended&) {}

void order_view::operator()(const event_stamp&, const order_amended& it) {
    ++heard_.amended;
    if (!hear_of(it)) return;
    own_order* const of = find(it.client_seq);
    check(of != nullptr, "is amended, though it is not there", it.client_seq);
    if (of == nullptr) return;
    check(it.executed == of->executed, "is amended and has another past", it.client_seq);
    of->open = it.open;
    of->price = it.price;
    if (it.priority == amend_priority::lost) show(*of);
    else of->shown = std::min(of->shown, of->open);
}

void order_view::operator()(const event_stamp&, const order_cancelled& it) {
    ++heard_.cancelled;
    if (!hear_of(it)) return;
    own_order* const of = find(it.client_seq);
    check(of != nullptr, "is cancelled, though it is not there", it.client_seq);
    if (it.request_session == session_id::none) answered(it.client_seq);
    if (of == nullptr) return;
    check(it.cancelled == of->open && it.executed == of->executed,
          "is cancelled with another quantity", it.client_seq);
    forget(number(it.client_seq));
}

void order_view::operator()(const event_stamp&, const order_rejected& it) {
    ++heard_.rejected;
    if (number(it.reason) < heard_.reasons.size()) ++heard_.reasons[number(it.reason)];
    const auto found = asked_.find(number(it.client_seq));
    check(found != asked_.end(), "is refused, though we never asked", it.client_seq);
    if (found == asked_.end()) return;
    const question asked = found->second;
    answered(it.client_seq);
    if (enters(asked.kind)) return forget(asked.target);
    own_order* const of = find(client_sequence{asked.target});
    // The stream is in order: had an order gone before, we would have heard of it before this.
    if (it.reason == reject_reason::unknown_order)
        check(of == nullptr, "was acknowledged and is lost", client_sequence{asked.target});
    if (it.reason == reject_reason::nothing_to_cancel && !resting_.empty())
        check(false, "was acknowledged and is lost", client_sequence{resting_.front()});
}

void order_view::operator()(const event_stamp&, const order_executed& it) {
    ++heard_.executed;
    own_order* const of = find(it.client_seq);
    check(of != nullptr, "is executed, though it is not there", it.client_seq);
    answered(it.client_seq);
    trades_[number(it.trade)] = {it.instrument, it.price, it.quantity};
    if (of == nullptr) return;
    const bool buys = of->entered.side == order_side::buy;
    check(it.quantity <= of->open && it.open == of->open - it.quantity,
          "is executed beyond what is open", it.client_seq);
    check(buys ? it.price <= of->price : it.price >= of->price, "is executed beyond its limit",
          it.client_seq);
    of->open = it.open;
    of->executed += it.quantity;
    of->shown -= std::min(of->shown, it.quantity);
    if (it.role == execution_role::taker || of->shown == 0) show(*of);
    if (of->open == 0) forget(number(it.client_seq));
}

void order_view::operator()(const event_stamp&, const trade_capture_report&) { ++heard_.captured; }

void order_view::operator()(const event_stamp&, const execution_busted& it) {
    ++heard_.busted;
    check(trades_.contains(number(it.trade)), "has a trade undone that it never had",
          it.client_seq);
}

void order_view::operator()(const message_rejected& it) {
    if (it.error == decode_error::too_many_messages ||
        it.error == decode_error::exchange_unreachable) {
        ++heard_.held_back;
        const bool enters = orders_.contains(number(it.client_seq));
        answered(it.client_seq);
        if (enters) forget(number(it.client_seq));
        return;
    }
    contradict("message " + std::to_string(number(it.client_seq)) + " was not understood, error " +
               std::to_string(number(it.error)));
}

own_order* order_view::find(client_sequence it) {
    const auto found = orders_.find(number(it));
    return found == orders_.end() ? nullptr : &found->second;
}

void order_view::answered(client_sequence request) {
    const auto found = asked_.find(number(request));
    if (found == asked_.end()) return;  // Of an order whose first answer came before.
    latencies_.record(now_ - found->second.asked_at);
    const std::uint64_t order = found->second.target;
    asked_.erase(found);
    if (own_order* const of = find(client_sequence{order})) of->asked = false;
}

template <class Event>
bool order_view::hear_of(const Event& it) {
    if (it.request_session == whose_) answered(it.request_seq);
    return it.session == whose_;
}

void order_view::begin_resting(std::uint64_t order) {
    own_order& it = orders_.at(order);
    if (std::exchange(it.rests, true)) return;
    place_[order] = resting_.size();
    resting_.push_back(order);
}

void order_view::end_resting(std::uint64_t order) {
    const auto placed = place_.find(order);
    if (placed == place_.end()) return;
    const std::size_t at = placed->second;
    place_[resting_.back()] = at;
    resting_[at] = resting_.back();
    resting_.pop_back();
    place_.erase(order);
    orders_.at(order).rests = false;
}

void order_view::forget(std::uint64_t order) {
    end_resting(order);
    orders_.erase(order);
}

void order_view::check(bool holds, const char* what, client_sequence about) {
    if (!holds) contradict("order " + std::to_string(number(about)) + ' ' + what);
}

void order_view::contradict(std::string what) {
    if (contradictions_++ < contradictions_told) first_.push_back(std::move(what));
}

}  // namespace exchange
