// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/tests/support/duel.hpp>

#include <exchange/tests/support/describe.hpp>

#include <algorithm>

namespace exchange::testing {
namespace {

// Calls `body(id)` with the order id of a message that has one, to read or to change.
template <class Body>
void with_order(event& it, const Body& body) {
    switch (it.kind) {
        case event_kind::order_entered: return body(it.order_entered.order);
        case event_kind::order_amended: return body(it.order_amended.order);
        case event_kind::order_cancelled: return body(it.order_cancelled.order);
        case event_kind::order_rejected: return body(it.order_rejected.order);
        case event_kind::order_executed: return body(it.order_executed.order);
        case event_kind::trade_capture_report: return body(it.trade_capture_report.order);
        case event_kind::order_book_update: return body(it.order_book_update.order);
        default: return;
    }
}

bool same(const event& one, const event& other) {
    if (one.kind != other.kind) return false;
    return visit(one, [&]<class Message>(const Message& it) {
        return visit(other, [&]<class Other>(const Other& that) {
            if constexpr (std::is_same_v<Message, Other>) return it == that;
            else return false;
        });
    });
}

template <class Command>
constexpr bool has_target = requires(Command it) { it.target; };

}  // namespace

bool duel::play(const step& it) {
    command for_real = it.what;
    command for_model = it.what;
    if (it.by_id.session != session_id::none) {
        const auto known = ids_.find(key(it.by_id));
        // An order that is not known yet has an id that no order has.
        constexpr order_id unheard{~std::uint64_t{0}};
        const both_ids ids = known == ids_.end() ? both_ids{unheard, unheard} : known->second;
        const auto aim = [](command& at, order_id id) {
            std::visit(
                [&](auto& each) {
                    if constexpr (has_target<decltype(each)>) {
                        each.target = {id, client_sequence::none};
                    }
                },
                at);
        };
        aim(for_real, ids.real);
        aim(for_model, ids.model);
    }

    said_.clear();
    complete_ = false;
    ++steps_;
    now_ = it.now;
    seen_.count(it.what);
    model_.far_nodes_left(limits_.far_nodes_max - real_.state().memory.levels.nodes.in_use());
    const auto take = [this](const event_batch& batch) { hear(batch); };
    if (real_.apply(it.now, for_real, event_sink::to(take)) != steps_) {
        complain("the command got another number than its place");
    }
    if (!complete_ && !said_.empty()) complain("the last message of an event does not say so");
    ledger_.begin(for_real);
    for (event& each : said_) {
        if (spoil_) spoil_(each);
        seen_.count(each);
        complain(public_.hear(each));
        complain(ledger_.hear(each));
    }
    compare(model_.apply(it.now, for_model));
    complain(public_.compare_touched(real_.state()));
    complain(compare_fills());
    if (steps_ % full_comparison_every == 0) compare_whole();
    return complaint_.empty();
}

bool duel::finish() {
    compare_whole();
    return complaint_.empty();
}

void duel::compare_whole() {
    complain(public_.compare_all(real_.state()));
    complain(compare_accounts());
    complain(compare_holdings());
    complain(compare_far_nodes());
}

void duel::hear(const event_batch& batch) {
    if (batch.events.empty()) complain("an empty batch");
    if (complete_) complain("a batch after the last one");
    complete_ = batch.complete;
    for (std::size_t at = 0; at < batch.events.size(); ++at) {
        const event_stamp stamp = batch.stamp(at);
        const bool placed = stamp.out_seq == ++out_seq_ && stamp.in_seq == steps_ &&
                            stamp.index == said_.size() && stamp.time == now_;
        if (!placed) complain("a message does not know its place");
        said_.push_back(batch.events[at]);
    }
}

void duel::complain(const std::string& what) {
    if (complaint_.empty() && !what.empty()) complaint_ = what;
}

order_id duel::real_of(order_id id) const {
    return number(id) < real_by_model_.size() ? real_by_model_[number(id)] : id;
}

void duel::learn(const event& said, const event& expected) {
    const auto note = [this]<class Message>(const Message& real, const Message& wanted) {
        const std::uint64_t id = number(wanted.order);
        if (id < real_by_model_.size() && real_by_model_[id] != order_id::none) return;
        if (id >= real_by_model_.size()) real_by_model_.resize(id + 1);
        real_by_model_[id] = real.order;
        // Whatever stood in the same place before had a lower generation.
        order_id& last = last_in_place_[number(real.order) & orders_limit];
        if (number(real.order) <= number(last)) complain("an order id is used twice");
        last = real.order;
        ids_[key({real.session, real.client_seq})] = {real.order, wanted.order};
    };
    if (said.kind != expected.kind) return;
    switch (said.kind) {
        case event_kind::order_entered: return note(said.order_entered, expected.order_entered);
        case event_kind::order_amended: return note(said.order_amended, expected.order_amended);
        case event_kind::order_cancelled:
            return note(said.order_cancelled, expected.order_cancelled);
        case event_kind::order_executed: return note(said.order_executed, expected.order_executed);
        default: return;
    }
}

void duel::compare(std::vector<event> expected) {
    const std::size_t common = std::min(expected.size(), said_.size());
    for (std::size_t at = 0; at < common; ++at) {
        learn(said_[at], expected[at]);
        with_order(expected[at], [this](order_id& id) { id = real_of(id); });
        if (same(said_[at], expected[at])) continue;
        complain("message " + std::to_string(at) + " is `" + describe(said_[at]) +
                 "`, the model says `" + describe(expected[at]) + '`');
        return;
    }
    if (said_.size() > common) complain("one message too many: " + describe(said_[common]));
    if (expected.size() > common) complain("a message is missing: " + describe(expected[common]));
}

// Both sides of each fill, at once: later fills may make up for what went wrong.
std::string duel::compare_fills() const {
    const holding_table& holdings = real_.state().holdings;
    for (const event& each : said_) {
        if (each.kind != event_kind::order_executed) continue;
        const order_executed& it = each.order_executed;
        const auto market = static_cast<std::uint16_t>(number(it.instrument));
        const holding& held = holdings[holdings.find(it.account, market)];
        if (held.position != model_.position_of(it.account, it.instrument)) {
            return "a position is wrong after a fill";
        }
    }
    return {};
}

std::string duel::compare_accounts() const {
    const venue& real = real_.state();
    std::size_t resting = 0;
    for (const account& each : real.accounts) {
        std::uint32_t own = 0;
        for (order_index at = each.first_order; at != 0; ++own) {
            const order& it = real.memory.orders[at];
            if (real.holdings[it.holding].account != each.terms.account) {
                return "an account lists an order of another";
            }
            if (real.by_client.find(real.memory.orders, it.session, it.client_seq) == 0) {
                return "an order is not found by its sequence";
            }
            at = it.account_next;
        }
        if (own != each.open_orders) return "an account miscounts its orders";
        resting += own;
    }
    if (resting != real.memory.orders.in_use()) return "an order belongs to no account";
    return resting == model_.orders().size() ? "" : "another number of orders rests";
}

std::string duel::compare_holdings() const {
    const venue& real = real_.state();
    const auto markets = static_cast<std::uint16_t>(real.markets.size());
    std::vector<std::int64_t> positions(markets);
    for (const account& each : real.accounts) {
        const account_id whose = each.terms.account;
        for (std::uint16_t market = 1; market < markets; ++market) {
            const holding& held = real.holdings[real.holdings.find(whose, market)];
            const instrument_id in{market};
            if (held.position != model_.position_of(whose, in)) return "a position is wrong";
            positions[market] += held.position;
            for (const order_side side : {order_side::buy, order_side::sell}) {
                if (held.open[number(side)] != model_.open_of(whose, in, side)) {
                    return "the open quantity of an account is wrong";
                }
            }
        }
    }
    for (const std::int64_t sum : positions) {
        if (sum != 0) return "positions do not add up to zero";
    }
    return {};
}

// How many there should be, the model takes from the core; but without far prices it is none.
std::string duel::compare_far_nodes() const {
    const venue& real = real_.state();
    for (const market& each : real.markets) {
        for (const order_side side : {order_side::buy, order_side::sell}) {
            if (each.book.of(side).has_far_levels()) return {};
        }
    }
    return real.memory.levels.nodes.in_use() == 0 ? "" : "nodes for far prices are lost";
}

std::vector<step> shrink(std::vector<step> steps,
                         const std::function<bool(const std::vector<step>&)>& fails) {
    // Halves, quarters, ... single steps: whatever can go without the failure going, goes.
    for (std::size_t size = steps.size() / 2; size > 0; size /= 2) {
        bool shorter = true;
        while (shorter) {
            shorter = false;
            for (std::size_t end = steps.size(); end >= size && end > 0;) {
                const std::size_t begin = end - size;
                std::vector<step> rest(steps.begin(),
                                       steps.begin() + static_cast<std::ptrdiff_t>(begin));
                rest.insert(rest.end(), steps.begin() + static_cast<std::ptrdiff_t>(end),
                            steps.end());
                if (fails(rest)) {
                    steps = std::move(rest);
                    shorter = size == 1;
                }
                end = begin;
            }
        }
    }
    return steps;
}

// ---------------------------------------------------------------------------------------------
// As code
// ---------------------------------------------------------------------------------------------

namespace {

std::string text(std::int64_t it) { return std::to_string(it); }

template <class Enum>
    requires std::is_enum_v<Enum>
std::string text(Enum it, const char* type) {
    return std::string{type} + '{' + std::to_string(+number(it)) + '}';
}

template <class... Fields>
std::string braces(const char* type, const Fields&... fields) {
    std::string made = std::string{type} + '{';
    const char* separator = "";
    ((made += separator, made += fields, separator = ", "), ...);
    return made + '}';
}

std::string session(session_id it) { return text(it, "session_id"); }
std::string sequence(client_sequence it) { return text(it, "client_sequence"); }
std::string instrument(instrument_id it) { return text(it, "instrument_id"); }
std::string account(account_id it) { return text(it, "account_id"); }

std::string target(const order_reference& it) {
    return braces("", text(it.id, "order_id"), sequence(it.client_seq));
}

std::string code(const enter_order& it) {
    return braces("enter_order", session(it.session), sequence(it.client_seq),
                  instrument(it.instrument), text(it.side, "order_side"),
                  text(it.type, "order_type"), text(it.tif, "time_in_force"),
                  text(it.instruction, "execution_instruction"),
                  text(it.self_trade, "self_trade_action"), text(it.price), text(it.quantity));
}
std::string code(const amend_order& it) {
    return braces("amend_order", session(it.session), sequence(it.client_seq), target(it.target),
                  text(it.price), text(it.quantity));
}
std::string code(const cancel_order& it) {
    return braces("cancel_order", session(it.session), sequence(it.client_seq), target(it.target));
}
std::string code(const cancel_orders& it) {
    return braces("cancel_orders", session(it.session), sequence(it.client_seq),
                  account(it.account), instrument(it.instrument), text(it.sides, "side_filter"));
}
std::string code(const enter_quote& it) {
    return braces("enter_quote", session(it.session), sequence(it.client_seq),
                  instrument(it.instrument), text(it.self_trade, "self_trade_action"),
                  text(it.bid_price), text(it.ask_price), text(it.bid_quantity),
                  text(it.ask_quantity));
}
std::string code(const define_product& it) {
    std::string bands = "{";
    for (std::uint32_t each = 0; each < it.bands; ++each) {
        bands += braces("", text(it.ticks[each].from), text(it.ticks[each].step)) + ", ";
    }
    return braces("define_product", text(it.product, "product_id"), text(it.multiplier),
                  text(it.lot), text(it.bands), bands + '}');
}
std::string code(const define_instrument& it) {
    return braces("define_instrument", instrument(it.instrument), text(it.product, "product_id"),
                  text(it.type, "instrument_kind"), text(it.lone_orders, "lone_order_policy"),
                  text(it.expiry_yyyymmdd), text(it.strike), text(it.settlement_price),
                  text(it.collar), text(it.order_quantity_max), text(it.order_value_max));
}
std::string code(const define_account& it) {
    return braces("define_account", account(it.account), text(it.firm, "firm_id"),
                  text(it.group, "self_trade_group"), text(it.self_trade, "self_trade_action"),
                  text(it.order_quantity_max), text(it.open_orders_max),
                  text(it.messages_per_second_max), text(it.position_max));
}
std::string code(const define_session& it) {
    return braces("define_session", session(it.session), account(it.account),
                  text(it.on_disconnect, "disconnect_policy"));
}
std::string code(const set_phase& it) {
    return braces("set_phase", instrument(it.instrument), text(it.phase, "market_phase"));
}
std::string code(const set_account_state& it) {
    return braces("set_account_state", account(it.account), text(it.state, "account_state"));
}
std::string code(const set_settlement_price& it) {
    return braces("set_settlement_price", instrument(it.instrument), text(it.settlement_price));
}
std::string code(const end_session& it) { return braces("end_session", session(it.session)); }
std::string code(const end_day& it) { return braces("end_day", instrument(it.instrument)); }

}  // namespace

std::string as_code(const step& it) {
    const std::string what = std::visit([](const auto& each) { return code(each); }, it.what);
    return braces("step", text(static_cast<std::int64_t>(it.now)), what,
                  braces("", session(it.by_id.session), sequence(it.by_id.client_seq))) +
           ',';
}

}  // namespace exchange::testing
