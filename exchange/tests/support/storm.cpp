// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/tests/support/storm.hpp>

#include <algorithm>
#include <iterator>

namespace exchange::testing {
namespace {

constexpr std::uint32_t past_orders = 64;
constexpr std::uint32_t standing_orders = 200;
constexpr std::uint32_t standing_orders_deep = 4'500;

// Where a day ends: 2030-12-21, 00:00 UTC.
constexpr timestamp_ns midnight = 1'924'041'600'000'000'000;
constexpr timestamp_ns second = 1'000'000'000;

// Its sequences begin below 2^32 and are soon above it; its account has no limits.
constexpr session_id leaper{5};

// What happens how often, in thousandths; the rest are orders.
struct weights {
    std::uint32_t cancel;
    std::uint32_t amend;
    std::uint32_t mass_cancel;
    std::uint32_t quote;
    std::uint32_t by_operator;
};

weights weights_of(storm_shape shape) {
    switch (shape) {
        case storm_shape::near_touch: return {150, 100, 4, 50, 4};
        case storm_shape::wide_sparse: return {250, 100, 4, 50, 4};
        case storm_shape::heavy_cancel: return {450, 50, 15, 30, 4};
        case storm_shape::heavy_amend: return {50, 600, 4, 30, 4};
        case storm_shape::many_accounts: return {200, 150, 10, 150, 8};
    }
    return {};
}

std::uint64_t mix(std::uint64_t it) {
    it = (it ^ it >> 30) * 0xbf58'476d'1ce4'e5b9;
    it = (it ^ it >> 27) * 0x94d0'49bb'1331'11eb;
    return it ^ it >> 31;
}

}  // namespace

std::string_view name_of(storm_shape shape) {
    switch (shape) {
        case storm_shape::near_touch: return "near touch";
        case storm_shape::wide_sparse: return "wide and sparse";
        case storm_shape::heavy_cancel: return "heavy on cancels";
        case storm_shape::heavy_amend: return "heavy on amends";
        case storm_shape::many_accounts: return "many accounts";
    }
    return "";
}

std::string_view name_of(storm_accent accent) {
    switch (accent) {
        case storm_accent::none: return "no accent";
        case storm_accent::stops: return "stops";
        case storm_accent::icebergs: return "icebergs";
        case storm_accent::minimum_quantities: return "minimum quantities";
        case storm_accent::last_days: return "last days";
        case storm_accent::quotes: return "quotes";
        case storm_accent::protections: return "protections";
        case storm_accent::phases: return "phases";
    }
    return "";
}

storm::storm(storm_shape shape, std::uint64_t seed, storm_accent accent)
    : shape_{shape},
      climate_{static_cast<storm_climate>(seed % storm_climates)},
      accent_{accent},
      // Mixed, for streams that begin a step apart are one stream, and fall into step before long.
      random_{mix(mix(seed) + static_cast<std::uint64_t>(shape))},
      sequences_((std::size_t{accounts()} + passing_accounts) * 2 + 2),
      past_(past_orders, order_name{session_id{1}, client_sequence{1}, order_side::buy}) {
    now_ = midnight - (sees_midnight() ? (3 + below(30)) * second : 900 * second);
}

partition_limits storm::limits() const {
    partition_limits limits;
    limits.products_max = 4;
    limits.instruments_max = 8;
    limits.accounts_max = 256;
    limits.sessions_max = 512;
    limits.orders_max = 320;  // Few enough to run out of.
    limits.holdings_max = 1'024;
    limits.protections_max = 1'024;
    limits.level_chunks_max = 512;
    limits.far_nodes_max = 4'096;
    limits.trades_kept_max = 1 + static_cast<std::uint32_t>(random_ >> 16) % 200;
    limits.client_index_key = random_;
    // A step does little or much; where time is short, as much as by default.
    constexpr std::uint32_t budgets[] = {1, 2, 7, 40};
    if (climate_ != storm_climate::hasty) limits.step_work_max = budgets[random_ >> 8 & 3];
    if (climate_ == storm_climate::deep) {
        limits.orders_max = 6'000;
        limits.level_chunks_max = 6'000;
        limits.far_nodes_max = 20'000;
    }
    if (climate_ == storm_climate::cramped) {
        // Of each kind of memory, some episode has too little.
        const auto some = static_cast<std::uint32_t>(random_ >> 32);
        limits.orders_max = 60;
        limits.protections_max = 12;
        limits.holdings_max = accounts() * 3u - some % accounts();
        limits.level_chunks_max = 3 + some / 256 % 10;
        limits.far_nodes_max = 14 + some / 4'096 % 16;
    }
    return limits;
}

// splitmix64: the standard library's distributions differ from one library to the next.
std::uint32_t storm::below(std::uint32_t end) {
    random_ += 0x9e37'79b9'7f4a'7c15;
    return static_cast<std::uint32_t>((mix(random_) >> 32) * end >> 32);
}

std::vector<step> storm::prelude() {
    std::vector<step> steps;
    for (const command& each : definitions()) steps.push_back({0, each, {}});
    if (has_leaper()) {
        std::uint64_t& last = sequences_[number(leaper)];
        while (last < (std::uint64_t{1} << 32) - client_sequence_jump_max) {
            last += client_sequence_jump_max;
            steps.push_back({0, cancel_order{leaper, client_sequence{last}, {}}, {}});
        }
    }
    const bool deep = climate_ == storm_climate::deep;
    if (!deep && !sees_midnight()) return steps;
    for (std::uint32_t each = 0; each < (deep ? standing_orders_deep : standing_orders); ++each) {
        // Not faster than any account may.
        steps.push_back({now_ += deep ? 30'000'000 : 10'000'000, standing_order(), {}});
    }
    return steps;
}

// Behind every price that most orders have, so that it stays for long.
enter_order storm::standing_order() {
    enter_order it{};
    const bool buys = below(2) == 0;
    it.session = session_id{static_cast<std::uint16_t>(1 + below(2u * accounts()))};
    it.client_seq = client_sequence{++sequences_[number(it.session)]};
    it.instrument = instrument_id{1 + below(instruments)};
    if (sees_midnight() && chance(150)) it.instrument = instrument_id{5 + below(2)};
    it.side = buys ? order_side::buy : order_side::sell;
    it.type = order_type::limit;
    it.tif = time_in_force{static_cast<std::uint8_t>(1 + below(2))};
    const price_ticks away = shape_ == storm_shape::wide_sparse ? far_distance() : 50 + below(100);
    it.price = buys ? 1'000 - away : 1'000 + away;
    it.price -= it.price % 10;
    it.quantity = 5 * (1 + below(12));
    return it;
}

std::uint16_t storm::accounts() const { return shape_ == storm_shape::many_accounts ? 200 : 8; }

// 255 leaps are too many where time hardly moves, or where thousands of steps come first.
bool storm::has_leaper() const {
    return climate_ != storm_climate::hasty && climate_ != storm_climate::deep;
}

session_id storm::any_session() {
    if (chance(restless() ? 100 : 10)) {
        const std::uint32_t passing = 2u * accounts() + 1 + below(2 * passing_accounts);
        return session_id{static_cast<std::uint16_t>(passing)};
    }
    if (chance(2)) return session_id{static_cast<std::uint16_t>(below(1'000))};
    return session_id{static_cast<std::uint16_t>(1 + below(2u * accounts()))};
}

instrument_id storm::any_instrument() {
    if (chance(2)) return instrument_id{below(11)};
    if (chance(restless() ? 120 : 15)) return instrument_id{4 + below(instruments_max - 3)};
    return instrument_id{1 + below(instruments)};
}

client_sequence storm::next_seq(session_id of) {
    if (number(of) >= sequences_.size()) return client_sequence{1};
    std::uint64_t& last = sequences_[number(of)];
    if (of == leaper && has_leaper() && chance(200)) {
        return client_sequence{last += client_sequence_jump_max};
    }
    if (last > 1 && chance(4))
        return client_sequence{last - below(2)};  // Again, or one that is long past.
    if (chance(6)) return any_jump(last);
    return client_sequence{last += 1 + (chance(20) ? below(40) : 0)};
}

// As far as it may, farther, or to the end, after which a session would have nothing left to say.
client_sequence storm::any_jump(std::uint64_t& last) {
    switch (below(4)) {
        case 0: return client_sequence{last += client_sequence_jump_max - below(2)};
        case 1: return client_sequence{~std::uint64_t{0} - below(2)};
        default: return client_sequence{last + client_sequence_jump_max + 1 + below(3)};
    }
}

// Any order of magnitude is as likely as any other.
price_ticks storm::far_distance() {
    const std::uint32_t width = below(40);
    return static_cast<price_ticks>((std::uint64_t{below(1u << 31)} << 9 | below(512)) &
                                    ((std::uint64_t{1} << width) - 1));
}

price_ticks storm::any_price() {
    if (chance(2)) return price_ticks_max + 1 - below(3);
    if (shape_ == storm_shape::wide_sparse) {
        const price_ticks far = far_distance();
        return 1'000 + (below(2) == 0 ? far : -far);
    }
    const price_ticks spread = shape_ == storm_shape::near_touch ? 6 : 40;
    return 1'000 - spread +
           static_cast<price_ticks>(below(static_cast<std::uint32_t>(2 * spread))) +
           (chance(5) ? 190 : 0);
}

contracts storm::any_quantity() {
    if (chance(3)) return below(3) == 0 ? 0xffff'ffff : below(2);
    const contracts small = 1 + below(chance(100) ? 250 : 40);
    return chance(600) ? (small + 4) / 5 * 5 : small;
}

enter_order storm::any_order() {
    enter_order it{};
    it.session = any_session();
    it.client_seq = next_seq(it.session);
    it.instrument = any_instrument();
    it.side = order_side{static_cast<std::uint8_t>(below(2))};
    it.type = chance(40) ? order_type::market : order_type::limit;
    it.tif = chance(800) ? time_in_force{static_cast<std::uint8_t>(1 + below(2))}
                         : time_in_force{static_cast<std::uint8_t>(3 + below(2))};
    it.instruction = chance(80) ? execution_instruction::post_only : execution_instruction::none;
    it.self_trade = chance(300) ? self_trade_action{static_cast<std::uint8_t>(below(6))}
                                : self_trade_action::account_default;
    it.price = any_price();
    if (it.instrument == instrument_id{2} && !chance(50)) it.price -= it.price % 10;
    it.quantity = any_quantity();
    if (chance(2)) {
        const auto wrong = static_cast<std::uint8_t>(6 + below(250));
        switch (below(5)) {
            case 0: it.side = order_side{wrong}; break;
            case 1: it.type = order_type{wrong}; break;
            case 2: it.tif = time_in_force{wrong}; break;
            case 3: it.instruction = execution_instruction{wrong}; break;
            default: it.self_trade = self_trade_action{wrong}; break;
        }
    }
    past_[past_next_++ % past_orders] = {it.session, it.client_seq, it.side};
    return it;
}

command storm::any_entry() {
    if (chance(cramped() ? 600 : 300)) return any_advanced_order();
    return any_order();
}

enter_quote storm::any_quote() {
    enter_quote it{};
    it.session = any_session();
    it.client_seq = next_seq(it.session);
    it.instrument = any_instrument();
    it.self_trade = self_trade_action{static_cast<std::uint8_t>(chance(5) ? 200 : below(6))};
    it.bid_price = any_price();
    it.ask_price = chance(950) ? it.bid_price + 1 + below(10) : any_price();
    if (it.instrument == instrument_id{2} && !chance(50)) {
        it.bid_price -= it.bid_price % 10;
        it.ask_price += 10 - it.ask_price % 10;
    }
    if (chance(8)) it.ask_price = price_ticks_max + 1;
    it.bid_quantity = chance(850) ? any_quantity() : 0;
    it.ask_quantity = chance(850) ? any_quantity() : 0;
    if (chance(60)) it.bid_quantity = it.ask_quantity = 0;  // Withdrawn.
    past_[past_next_++ % past_orders] = {it.session, it.client_seq,
                                         order_side{static_cast<std::uint8_t>(below(2))}};
    return it;
}

const model_order* storm::any_resting(const model& at) {
    if (at.orders().empty()) return nullptr;
    const std::uint64_t first = number(at.orders().begin()->first);
    const std::uint64_t last = number(at.orders().rbegin()->first);
    const auto around = first + below(static_cast<std::uint32_t>(last - first + 1));
    return &at.orders().lower_bound(order_id{around})->second;
}

step storm::aimed(const model& at, bool amend) {
    const model_order* resting = any_resting(at);
    const bool past = resting == nullptr || chance(60);
    const order_name name =
        past ? past_[below(past_orders)]
             : order_name{resting->terms.session, resting->terms.client_seq, resting->terms.side};
    // Mostly its own session; by id, its account's other session may as well, and strangers may not.
    session_id from = name.session;
    const bool by_id = chance(400);
    if (by_id && chance(300))
        from = session_id{static_cast<std::uint16_t>(((number(from) - 1) ^ 1) + 1)};
    if (chance(10)) from = any_session();
    const client_sequence seq = next_seq(from);
    order_reference target{order_id::none, name.client_seq};
    // The same in 32 bits, and none that there is.
    if (chance(8))
        target.client_seq = client_sequence{number(name.client_seq) ^ std::uint64_t{1} << 32};
    step made{now_, {}, by_id ? name : order_name{}};
    if (!amend) {
        made.what = cancel_order{from, seq, target};
        return made;
    }
    price_ticks price = past || chance(400) ? any_price() : resting->terms.price;
    if (cramped() && chance(300)) price += 64 * (1 + below(3));
    if (chance(4)) price = -price_ticks_max - 1;
    contracts quantity = any_quantity();
    if (!past && chance(700)) {
        const contracts all = resting->executed + resting->open;
        const std::uint32_t larger = resting->waits ? 500 : 300;
        quantity = chance(larger) ? all + 1 + below(30) : all - below(resting->open + 2) + 1;
        if (chance(300)) quantity -= quantity % 5;
    }
    const bool hides = past || resting->display != 0;
    if (hides) quantity = std::min(quantity, 1'000u);  // Or a sweep would go on for ever.
    const amend_order plain{from, seq, target, price, quantity};
    const bool waits = !past && resting->waits;
    if (chance(waits ? 600 : 15)) made.what = any_stop_change(past ? nullptr : resting, plain);
    else made.what = plain;
    return made;
}

step storm::next(const model& at) {
    ++played_;
    now_ += below(slowest_step());
    const weights often = weights_of(shape_);
    // A book that grows without end would slow the model down, and end in one kind of refusal.
    const bool crowded = at.orders().size() > orders_wanted() && !chance(100);
    const std::uint32_t by_operator = restless() ? 180 : cramped() ? 25 : often.by_operator;
    const bool hasty = climate_ == storm_climate::hasty;
    const std::uint32_t mass_cancel = restless() || hasty ? 20 : often.mass_cancel;
    // One that is bare gives nothing to aim at.
    if (at.orders().size() < 8 && chance(500)) return {now_, any_entry(), {}};
    std::uint32_t roll = below(1'000);
    if (now_ >= midnight && chance(5)) return {now_, expire_instruments{}, {}};
    if (chance(12)) return {now_, any_protection(), {}};
    if (chance(4)) return {now_, any_price_protection(), {}};
    if (chance(8)) return {now_, any_phase_command(), {}};
    if (chance(4)) return {now_, any_bust(at), {}};
    if (chance(4)) return {now_, advance_phases{}, {}};
    if (crowded) return aimed(at, false);
    if (accent_ != storm_accent::none && chance(400)) return {now_, any_accented(), {}};
    if (roll < often.cancel) return aimed(at, false);
    roll -= often.cancel;
    if (roll < often.amend) return aimed(at, true);
    roll -= often.amend;
    if (roll < often.quote) return {now_, any_quote(), {}};
    roll -= often.quote;
    if (roll < by_operator) return {now_, operator_command(), {}};
    roll -= by_operator;
    if (roll >= mass_cancel) return {now_, any_entry(), {}};
    return {now_, any_mass_cancel(), {}};
}

cancel_orders storm::any_mass_cancel() {
    const session_id from = chance(20) ? session_id::none : any_session();
    const account_id own{(number(from) + 1u) / 2};
    const client_sequence wrong{chance(500) ? 1 : ~std::uint64_t{0}};
    const client_sequence seq = chance(40) ? wrong : next_seq(from);
    return {from, seq, chance(20) ? account_id{below(300)} : own,
            chance(500) ? instrument_id::none : instrument_id{1 + below(9)},
            side_filter{static_cast<std::uint8_t>(below(chance(60) ? 5 : 3))}};
}

// In the hasty climate each account sends some hundred messages a second.
std::uint32_t storm::slowest_step() const {
    return climate_ == storm_climate::hasty ? 20'000'000u / accounts() : 20'000'000u;
}

std::size_t storm::orders_wanted() const {
    switch (climate_) {
        case storm_climate::deep: return 5'000;
        case storm_climate::cramped: return 1'000;  // There is no place for so many.
        default: return 300;
    }
}

}  // namespace exchange::testing
