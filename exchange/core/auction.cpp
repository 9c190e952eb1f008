// SPDX-License-Identifier: BSL-1.0
//
// See the header; and the phases of a market, and what interrupts it.
//
// Whatever leads into continuous trading leads through an uncross, so the sides of a market that trades never
// overlap. In an auction each command tells at its end what it has changed of what the auction would trade.
#include <exchange/core/auction.hpp>

#include <exchange/core/partition.hpp>

#include <algorithm>
#include <utility>

namespace exchange {
namespace {

constexpr timestamp_ns second_ns = 1'000'000'000;
constexpr timestamp_ns day_ns = seconds_of_day * second_ns;

bool may_be_set(market_phase it) noexcept {
    return it >= market_phase::closed && it <= market_phase::closing_auction &&
           it != market_phase::ended;
}

struct due_phase {
    timestamp_ns at;
    market_phase phase;
};

// The first time after `after` at which a schedule says something; 0 if it says nothing.
due_phase next_in(const market_cycle& of, timestamp_ns after) noexcept {
    due_phase first{};
    for (std::uint8_t each = 0; each < of.schedule.size(); ++each) {
        if (of.schedule[each] == 0) continue;
        timestamp_ns at = after - after % day_ns + (of.schedule[each] - 1) * second_ns;
        if (at <= after) at += day_ns;
        if (first.at == 0 || at < first.at) first = {at, market_phase{each}};
    }
    return first;
}

}  // namespace

// ---------------------------------------------------------------------------------------------
// Phases
// ---------------------------------------------------------------------------------------------

void partition::handle(const set_phase& it) noexcept {
    if (!answer(out_, it, number(it.instrument), check(it))) return;
    market& in = venue_.markets[number(it.instrument)];
    begin_day_of(in, it.phase);
    if (it.phase != market_phase::continuous) return enter_phase(in, it.phase);
    begin_uncross(in, {.then = it.phase, .by_timer = false});
    go_on();
}

reject_reason partition::check(const set_phase& it) const noexcept {
    const reject_reason why = check_present(it.instrument);
    if (why != reject_reason::none) return why;
    if (!may_be_set(it.phase)) return reject_reason::invalid_field;
    const bool over = now_ >= venue_.markets[number(it.instrument)].expires_at;
    return over && it.phase != market_phase::closed ? reject_reason::out_of_use
                                                    : reject_reason::none;
}

void partition::enter_phase(market& in, market_phase phase) noexcept {
    in.phase = phase;
    in.cycle.told = {};
    in.cycle.ends_at = 0;
    out_.changed(phase_changed{.instrument = in.terms.instrument.instrument, .phase = phase});
    matcher_.touch(in);
}

void partition::begin_day_of(market& in, market_phase next) noexcept {
    if (next != market_phase::closed && std::exchange(in.cycle.day_over, false)) ++in.cycle.day;
}

void partition::end_day_of(market& in) noexcept {
    in.cycle.day_begin = venue_.last_trade;
    if (in.phase == market_phase::closed) in.cycle.day_over = true;
    else ++in.cycle.day;
}

// ---------------------------------------------------------------------------------------------
// Uncrossing
// ---------------------------------------------------------------------------------------------

void partition::handle(const uncross& it) noexcept {
    if (!answer(out_, it, number(it.instrument), check(it))) return;
    market& in = venue_.markets[number(it.instrument)];
    const bool closes = in.phase == market_phase::closing_auction;
    begin_uncross(
        in, {.then = closes ? market_phase::closed : market_phase::continuous, .by_timer = false});
    go_on();
}

reject_reason partition::check(const uncross& it) const noexcept {
    const reject_reason why = check_present(it.instrument);
    if (why != reject_reason::none) return why;
    const market& in = venue_.markets[number(it.instrument)];
    if (now_ >= in.expires_at) return reject_reason::out_of_use;
    return is_collecting(in.phase) ? reject_reason::none : reject_reason::no_auction;
}

void partition::begin_uncross(const market& in, const auction_end& how) noexcept {
    uncross_ = {.market = static_cast<std::uint16_t>(number(in.terms.instrument.instrument)),
                .then = how.then,
                .by_timer = how.by_timer,
                .priced = false,
                .found = {},
                .left = 0,
                .clearing = {}};
    search_.begin(in, venue_.memory);
    stage_ = stage::uncrossing;
}

bool partition::uncross_some() noexcept {
    market& in = venue_.markets[uncross_.market];
    if (!uncross_.priced) {
        if (!search_.go_on(in, venue_.memory, work_)) return false;
        uncross_.priced = true;
        uncross_.found = search_.result(in, venue_.memory);
        uncross_.left = uncross_.found.volume;
        if (uncross_.left != 0) out_.uncrosses(in, uncross_.found);
    }
    while (uncross_.left != 0) {
        if (work_.spent()) return false;
        work_.spend(work_of_cross);
        uncross_.left -= matcher_.cross(in, uncross_.found.price, uncross_.left);
    }
    if (!clear_some(in) || !withdraw_some()) return false;
    finish_uncross(in);
    return true;
}

// Orders at the market do not outlive their auction.
bool partition::clear_some(const market& in) noexcept {
    auto& [sides, entered, next] = uncross_.clearing;
    for (; sides < 2; ++sides) {
        if (!entered) next = first_at_market(in, order_side{sides});
        entered = true;
        while (next != 0) {
            if (work_.spent()) return false;
            const order& each = venue_.memory.orders[next];
            const order_index at = std::exchange(next, each.next);
            const bool goes = each.tif == time_in_force::immediate_or_cancel;
            work_.spend(goes ? work_of_cancel : work_of_look);
            if (goes) matcher_.cancel(at, cancel_reason::immediate_or_cancel, request_name{});
        }
        entered = false;
    }
    return true;
}

order_index partition::first_at_market(const market& in, order_side side) const noexcept {
    const ladder& levels = in.book.of(side);
    const bool some = levels.best() != 0 && levels.best_rank() == rank_of(side, market_price(side));
    return some ? venue_.memory.levels.chunks.level(levels.best()).first : 0;
}

void partition::finish_uncross(market& in) noexcept {
    enter_phase(in, uncross_.then);
    if (uncross_.then == market_phase::closed) {
        // Stops that were reached wait for another day: here nothing trades any more.
        in.stops.forget_trades();
        return cancel_all(in, cancel_reason::day_ended);
    }
    traded_in_ = &in;
    finish_trading();
}

// ---------------------------------------------------------------------------------------------
// What an auction would trade
// ---------------------------------------------------------------------------------------------

void partition::begin_indicating() noexcept {
    stage_ = stage::indicating;
    search_.begin(venue_.markets[venue_.first_touched], venue_.memory);
}

bool partition::indicate_some() noexcept {
    for (;;) {
        market& in = venue_.markets[venue_.first_touched];
        // One whose auction the command itself has ended tells nothing any more.
        if (is_collecting(in.phase)) {
            if (!search_.go_on(in, venue_.memory, work_)) return false;
            out_.indicate(in, search_.result(in, venue_.memory));
        }
        in.cycle.touched = false;
        venue_.first_touched = in.cycle.next_touched;
        if (venue_.first_touched == 0) break;
        begin_indicating();
        work_.spend(work_of_look);
        if (work_.spent()) return false;
    }
    stage_ = stage::idle;
    return true;
}

// ---------------------------------------------------------------------------------------------
// By the time
// ---------------------------------------------------------------------------------------------

void partition::handle(const set_interruption& it) noexcept {
    reject_reason why = check_present(it.instrument);
    if (why == reject_reason::none && (it.collar < 0 || it.collar > price_ticks_max))
        why = reject_reason::invalid_definition;
    if (!answer(out_, it, number(it.instrument), why)) return;
    market_cycle& cycle = venue_.markets[number(it.instrument)].cycle;
    cycle.collar = it.collar;
    cycle.duration_ns = it.duration_ns;
}

void partition::handle(const schedule_phase& it) noexcept {
    reject_reason why = check_present(it.instrument);
    if (why == reject_reason::none && !may_be_set(it.phase)) why = reject_reason::invalid_field;
    if (why == reject_reason::none && it.second_of_day > seconds_of_day)
        why = reject_reason::invalid_definition;
    if (!answer(out_, it, number(it.instrument), why)) return;
    market_cycle& cycle = venue_.markets[number(it.instrument)].cycle;
    const bool never = it.second_of_day == seconds_of_day;
    cycle.schedule[number(it.phase)] = never ? 0 : it.second_of_day + 1;
    plan(cycle, now_);
}

void partition::plan(market_cycle& of, timestamp_ns after) noexcept {
    const auto [at, phase] = next_in(of, after);
    of.due_at = at;
    of.due = phase;
    if (at != 0) venue_.next_phase_change = std::min(venue_.next_phase_change, at);
}

void partition::handle(const advance_phases& it) noexcept {
    if (!answer(out_, it, 0, reject_reason::none)) return;
    scanned_ = 0;
    venue_.next_phase_change = ~timestamp_ns{0};
    stage_ = stage::advancing;
    go_on();
}

// Up to the next uncross, behind which it looks at the same market again.
bool partition::advance_some() noexcept {
    while (scanned_ < venue_.last_instrument) {
        if (work_.spent()) return false;
        work_.spend(work_of_look);
        market& each = venue_.markets[scanned_ + 1];
        // A market whose last day is over trades no more.
        const bool over = each.phase == market_phase::ended || now_ >= each.expires_at;
        if (over || each.terms.instrument.instrument == instrument_id::none || !is_due(each)) {
            ++scanned_;
            continue;
        }
        market_phase next = market_phase::continuous;
        if (!is_interrupted(each) || now_ < each.cycle.ends_at) {
            next = each.cycle.due;
            plan(each.cycle, each.cycle.due_at);
            const bool halted = each.phase == market_phase::halted && next != market_phase::closed;
            if (halted || next == each.phase) continue;
        }
        begin_day_of(each, next);
        const bool closes =
            next == market_phase::closed && each.phase == market_phase::closing_auction;
        if (closes || next == market_phase::continuous) {
            begin_uncross(each, {.then = next, .by_timer = true});
            return true;
        }
        work_.spend(work_of_look);
        enter_phase(each, next);
    }
    stage_ = stage::idle;
    return true;
}

bool partition::is_interrupted(const market& in) noexcept {
    return in.phase == market_phase::volatility_auction && in.cycle.ends_at != 0;
}

// Notes when it will be, if it is not yet.
bool partition::is_due(const market& in) noexcept {
    const market_cycle& cycle = in.cycle;
    timestamp_ns first = ~timestamp_ns{0};
    if (is_interrupted(in)) first = cycle.ends_at;
    if (cycle.due_at != 0) first = std::min(first, cycle.due_at);
    if (first != ~timestamp_ns{0} && now_ >= first) return true;
    venue_.next_phase_change = std::min(venue_.next_phase_change, first);
    return false;
}

}  // namespace exchange
