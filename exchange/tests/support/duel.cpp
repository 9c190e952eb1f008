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
        case event_kind::order_terms: return body(it.order_terms.order);
        case event_kind::stop_entered: return body(it.stop_entered.order);
        case event_kind::stop_triggered: return body(it.stop_triggered.order);
        case event_kind::trigger_amended: return body(it.trigger_amended.order);
        case event_kind::execution_busted: return body(it.execution_busted.order);
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

// By a client, and not about a session.
template <class Command>
constexpr bool has_sender = requires(Command it) { it.client_seq; };

bool names(const event& it, session_id whom) {
    return visit(it, [&]<class Message>(const Message& message) {
        bool found = false;
        if constexpr (requires { message.session; }) found = message.session == whom;
        if constexpr (requires { message.request_session; }) {
            found = found || message.request_session == whom;
        }
        return found;
    });
}

}  // namespace

bool duel::play(const step& it) {
    command for_real = it.what;
    command for_model = it.what;
    if (it.by_id.session != session_id::none) {
        const auto known = ids_.find(it.by_id);
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
    carry_out(it.now, for_real);
    ledger_.begin(for_real);
    for (event& each : said_) {
        if (spoil_) spoil_(each);
        seen_.count(each);
        complain(public_.hear(each));
        complain(ledger_.hear(each));
    }
    complain(compare_answer(it.what));
    compare(model_.apply(it.now, for_model));
    complain(public_.compare_touched(real_.state()));
    complain(compare_fills());
    if (steps_ % full_comparison_every == 0) compare_whole();
    return complaint_.empty();
}

// A step at a time, if the partition works in steps; between them it says nothing by itself.
void duel::carry_out(timestamp_ns now, const command& what) {
    const auto take = [this](const event_batch& batch) { hear(batch); };
    const event_sink sink = event_sink::to(take);
    if (real_.begin(now, what, sink) != steps_) {
        complain("the command got another number than its place");
    }
    while (real_.busy()) {
        if (complete_) complain("a command goes on after its last message");
        real_.resume(sink);
        seen_.count_resumption();
    }
    if (!complete_ && !said_.empty()) complain("the last message of an event does not say so");
}

// Before the model carries it out, which may retire the session.
std::string duel::compare_answer(const command& what) const {
    return std::visit(
        [this]<class Command>(const Command& it) -> std::string {
            if constexpr (has_sender<Command>) {
                const auto told = [&](const event& each) { return names(each, it.session); };
                if (model_.knows(it.session) && std::none_of(said_.begin(), said_.end(), told)) {
                    return "a client's command is not answered";
                }
            }
            return {};
        },
        what);
}

bool duel::finish() {
    compare_whole();
    return complaint_.empty();
}

void duel::compare_whole() {
    complain(public_.compare_all(real_.state()));
    complain(compare_accounts());
    complain(compare_holdings());
    complain(compare_orders());
    complain(compare_stops());
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
        ids_[{real.session, real.client_seq, real.side}] = {real.order, wanted.order};
    };
    if (said.kind != expected.kind) return;
    switch (said.kind) {
        case event_kind::order_entered: return note(said.order_entered, expected.order_entered);
        case event_kind::order_amended: return note(said.order_amended, expected.order_amended);
        case event_kind::order_cancelled:
            return note(said.order_cancelled, expected.order_cancelled);
        case event_kind::order_executed: return note(said.order_executed, expected.order_executed);
        case event_kind::order_terms: return note(said.order_terms, expected.order_terms);
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
            if (held.position != ledger_.position_of(whose, in)) {
                return "a position is not what the fills add up to";
            }
            positions[market] += held.position;
            if (!same_day(whose, market)) return "the sums of an account's day are wrong";
            for (const order_side side : {order_side::buy, order_side::sell}) {
                if (held.open[number(side)] != model_.open_of(whose, in, side)) {
                    return "the open quantity of an account is wrong";
                }
            }
        }
    }
    for (std::uint16_t market = 1; market < markets; ++market) {
        if (positions[market] != ledger_.brought_into(instrument_id{market})) {
            return "positions do not add up to what was brought along";
        }
    }
    return {};
}

// Also what no feed shows of them.
std::string duel::compare_orders() const {
    const book_memory& real = real_.state().memory;
    for (const auto& [id, it] : model_.orders()) {
        const order_index at = real.orders.find(real_of(id));
        if (at == 0) return "an order is lost";
        if (real.open_of(real.orders[at]) != it.open) return "more or less is open of an order";
        if (!it.waits && real.orders[at].open != shown_of(it))
            return "an order shows something else";
        if (real.waits(at) != it.waits) return "an order waits, or does not";
    }
    return {};
}

// In the order in which they would be triggered.
std::string duel::compare_stops() const {
    const venue& real = real_.state();
    for (std::uint32_t market = 1; market < real.markets.size(); ++market) {
        const stop_book& stops = real.markets[market].stops;
        std::size_t waiting = 0;
        for (const order_side side : {order_side::buy, order_side::sell}) {
            std::vector<order_id> found;
            const level_memory& levels = real.memory.levels;
            for (level_index at = stops.of(side).best(); at != 0;
                 at = stops.of(side).after(levels, at)) {
                for (order_index each = levels.chunks.level(at).first; each != 0;
                     each = real.memory.orders[each].next) {
                    found.push_back(real.memory.orders[each].id);
                }
            }
            std::vector<order_id> expected = model_.stops_of(instrument_id{market}, side);
            for (order_id& each : expected) each = real_of(each);
            if (found != expected) return "stops wait in another order";
            waiting += found.size();
        }
        if (waiting != stops.waiting()) return "a market miscounts its stops";
        if (stops.has_traded()) return "trades are noted behind the command";
    }
    return {};
}

// Of a holding that has not traded in the day, what stands there is of another one.
bool duel::same_day(account_id whose, std::uint16_t market) const {
    const venue& real = real_.state();
    const day_sums& kept = real.days[real.holdings.find(whose, market)];
    const day_sums none{};
    const day_sums& found = kept.day == real.markets[market].cycle.day ? kept : none;
    const model_day wanted = model_.day_of(whose, instrument_id{market});
    return found.quantities[0] == wanted.bought && found.quantities[1] == wanted.sold &&
           found.values[0] == wanted.bought_value && found.values[1] == wanted.sold_value &&
           found.trades == wanted.trades;
}

// How many there should be, the model takes from the core; but without far prices it is none.
std::string duel::compare_far_nodes() const {
    const venue& real = real_.state();
    for (const market& each : real.markets) {
        for (const order_side side : {order_side::buy, order_side::sell}) {
            if (each.book.of(side).has_far_levels() || each.stops.of(side).has_far_levels())
                return {};
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

}  // namespace exchange::testing
