// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/tests/links/blotter.hpp>

namespace exchange::testing {
namespace {

constexpr std::size_t complaints_max = 8;

std::int64_t signed_quantity(order_side side, contracts quantity) {
    return side == order_side::buy ? std::int64_t{quantity} : -std::int64_t{quantity};
}

}  // namespace

void blotter::complain(const std::string& what) {
    if (complaints_.size() == complaints_max) return;
    complaints_.push_back("session " + std::to_string(number(whose_)) + ", behind message " +
                          std::to_string(last_out_seq_) + ": " + what);
}

void blotter::begin_life() {
    counts_.lost += unanswered_.size();
    open_.clear();
    position_.clear();
    captured_.clear();
    unanswered_.clear();
    lost_.clear();
    last_sent_ = answered_up_to_ = client_sequence::none;
    last_out_seq_ = 0;
}

// ---------------------------------------------------------------------------------------------
// Commands and their answers
// ---------------------------------------------------------------------------------------------

void blotter::sent(client_sequence client_seq) {
    if (client_seq <= last_sent_) complain("a client sequence is used twice");
    last_sent_ = client_seq;
    unanswered_.push_back({client_seq, connection_});
    ++counts_.sent;
}

/// What is answered for the first time settles all that was sent before it: on the same connection it
/// must have been answered, on an earlier one it can never have arrived.
void blotter::answered(client_sequence it) {
    if (it > last_sent_) return complain("an answer to what was never sent");
    if (lost_.contains(it)) return complain("an old connection's command was carried out too late");
    if (unanswered_.empty() || it < unanswered_.front().client_seq) return;  // One more answer.
    std::uint64_t connection = 0;
    for (const sent_command& each : unanswered_)
        if (each.client_seq == it) connection = each.connection;
    while (!unanswered_.empty() && unanswered_.front().client_seq < it) {
        const sent_command& passed = unanswered_.front();
        if (passed.connection == connection)
            complain("command " + std::to_string(number(passed.client_seq)) + " was left out");
        lost_.insert(passed.client_seq);
        ++counts_.lost;
        unanswered_.pop_front();
    }
    unanswered_.pop_front();
    answered_up_to_ = it;
    ++counts_.answered;
}

// ---------------------------------------------------------------------------------------------
// Messages
// ---------------------------------------------------------------------------------------------

void blotter::hear(const order_entered& it) {
    answered(it.client_seq);
    if (it.session != whose_) complain("an order of another session");
    if (it.open == 0) complain("an order rests with nothing open");
    const known_order known{it.client_seq, it.instrument, it.side, it.price, it.open, it.executed};
    if (!open_.emplace(it.order, known).second) complain("an order is entered twice");
}

void blotter::hear(const order_amended& it) {
    const auto found = open_.find(it.order);
    if (it.session != whose_) return complain("an amended order of another session");
    if (it.request_session == whose_) {
        answered(it.request_seq);
        if (found == open_.end()) return complain("an order is amended that does not rest");
    }
    if (found == open_.end()) return answered(it.client_seq);  // On its way into the book.
    if (it.executed != found->second.executed) complain("an amended order has other executions");
    found->second.price = it.price;
    found->second.open = it.open;
}

void blotter::hear(const order_cancelled& it) {
    const auto found = open_.find(it.order);
    if (it.session != whose_) return complain("a cancelled order of another session");
    if (it.request_session == whose_) answered(it.request_seq);
    if (found == open_.end()) {
        if (it.request_session == whose_) complain("an order is cancelled that does not rest");
        return answered(it.client_seq);
    }
    if (it.cancelled != found->second.open) complain("a cancelled order had another quantity");
    if (it.price != found->second.price) complain("a cancelled order had another price");
    open_.erase(found);
}

void blotter::hear(const order_rejected& it) {
    answered(it.client_seq);
    ++counts_.rejected;
    // We count upwards, so this would be a command that came twice, or after a later one.
    if (it.reason == reject_reason::duplicate_client_sequence) complain("a command came late");
}

void blotter::hear(const order_executed& it) {
    position_[it.instrument] += signed_quantity(it.side, it.quantity);
    const auto found = open_.find(it.order);
    if (found == open_.end()) {
        if (it.role == execution_role::maker) complain("a maker was filled that does not rest");
        return answered(it.client_seq);
    }
    known_order& mine = found->second;
    if (mine.open < it.quantity || mine.open - it.quantity != it.open)
        complain("a fill does not fit to what was open");
    mine.open = it.open;
    mine.executed += it.quantity;
    if (mine.open == 0) open_.erase(found);
}

void blotter::hear(const trade_capture_report& it) {
    captured_[it.instrument] += signed_quantity(it.side, it.quantity);
}

void blotter::hear(const order_terms& it) {
    answered(it.client_seq);
    if (it.session != whose_) complain("terms of another session's order");
}

void blotter::hear(const stop_entered& it) {
    const known_order known{it.client_seq, it.instrument, it.side, it.price, it.open, 0};
    if (!open_.emplace(it.order, known).second) complain("a stop is entered twice");
}

// It arrives, and is heard of again as an order that is entered.
void blotter::hear(const stop_triggered& it) {
    if (open_.erase(it.order) == 0) complain("a stop is triggered that does not wait");
}

// ---------------------------------------------------------------------------------------------
// The truth
// ---------------------------------------------------------------------------------------------

std::string blotter::compare(const venue& all, const order& real) const {
    const instrument_id in{all.holdings[real.holding].market};
    const auto found = open_.find(real.id);
    if (found == open_.end()) return "an order rests that its owner does not know";
    const known_order& mine = found->second;
    const bool same = mine.client_seq == real.client_seq && mine.instrument == in &&
                      mine.side == real.side && mine.price == real.price &&
                      mine.open == all.memory.open_of(real) && mine.executed == real.executed;
    return same && real.session == whose_ ? "" : "an order differs from what its owner knows";
}

std::string blotter::compare(const venue& real, account_id account,
                             std::uint32_t holdings_max) const {
    std::size_t resting = 0;
    const order_slab& orders = real.memory.orders;
    for (order_index at = real.accounts[number(account)].first_order; at != 0;
         at = orders[at].account_next, ++resting) {
        std::string wrong = compare(real, orders[at]);
        if (!wrong.empty()) return wrong;
    }
    if (resting != open_.size()) return "an acknowledged order is lost";
    if (captured_ != position_) return "executions and reports of trades differ";
    std::map<instrument_id, std::int64_t> held;
    for (holding_index at = 1; at <= holdings_max; ++at) {
        const holding& each = real.holdings[at];
        if (each.account == account && position_.contains(instrument_id{each.market}))
            held[instrument_id{each.market}] = each.position;
        else if (each.account == account && each.position != 0)
            return "a position that its owner does not know";
    }
    if (held != position_) return "a position differs from what its owner knows";
    return {};
}

}  // namespace exchange::testing
