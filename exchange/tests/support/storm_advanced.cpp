// SPDX-License-Identifier: BSL-1.0
//
// The storm, continued: orders that wait for a price, hide, want a minimum, or end with a day.
#include <exchange/tests/support/storm.hpp>

#include <algorithm>

namespace exchange::testing {

command storm::any_accented() {
    ++accented_;
    switch (accent_) {
        case storm_accent::stops: return any_advanced_order(below(4));
        case storm_accent::icebergs: return any_iceberg();
        case storm_accent::minimum_quantities: return any_advanced_order(6);
        case storm_accent::last_days: return any_advanced_order(7);
        case storm_accent::phases: return any_phase_command();
        case storm_accent::protections:
            if (chance(200)) return any_protection();
            break;
        case storm_accent::quotes:
        case storm_accent::none: break;
    }
    return any_quote();
}

// Mostly one that may stand, and shows less than it is: the others are refused.
enter_advanced_order storm::any_iceberg() {
    enter_advanced_order it = any_advanced_order(4);
    if (chance(50)) return it;
    const bool dated = it.tif == time_in_force::good_till_date;
    it.type = order_type::limit;
    if (!dated) it.tif = any_of({time_in_force::day, time_in_force::good_till_cancel});
    it.instruction = execution_instruction::none;
    it.minimum_quantity = 0;
    const contracts lot = it.quantity % 5 == 0 ? 5 : 1;
    it.quantity = std::max(it.quantity, 2 * lot);
    it.display_quantity = std::max(it.quantity / (2 + below(4)) / lot * lot, lot);
    return it;
}

// Mostly one thing at a time, or one kind of refusal would hide all others.
enter_advanced_order storm::any_advanced_order(std::optional<std::uint32_t> kind) {
    const enter_order plain = any_order();
    enter_advanced_order it{plain.session,
                            plain.client_seq,
                            plain.instrument,
                            plain.side,
                            plain.type,
                            plain.tif,
                            plain.instruction,
                            plain.self_trade,
                            plain.price,
                            0,
                            plain.quantity,
                            0,
                            0,
                            0};
    const std::uint32_t roll = kind ? *kind : below(8);
    if (roll < 4) make_stop(it);
    if (roll == 4 || roll == 5 || chance(100)) it.display_quantity = any_part(it.quantity);
    if (roll == 6 || chance(60)) it.minimum_quantity = any_part(it.quantity);
    if (roll == 7 || chance(100)) {
        it.tif = time_in_force::good_till_date;
        it.expiry_yyyymmdd = any_last_day();
    }
    if (chance(10)) it.expiry_yyyymmdd = any_last_day();
    if (chance(10)) it.display_quantity = it.quantity;
    if (chance(5)) it.minimum_quantity = it.quantity + 1;
    return it;
}

void storm::make_stop(enter_advanced_order& it) {
    // How much room there is at far prices when it is triggered, its model would have to be told then.
    const bool at_market = shape_ == storm_shape::wide_sparse && cramped();
    it.type = at_market || chance(500) ? order_type::stop : order_type::stop_limit;
    if (!chance(20)) it.tif = any_of({time_in_force::day, time_in_force::good_till_cancel});
    if (!chance(20)) it.instruction = execution_instruction::none;
    it.trigger_price = any_trigger(it.side, it.instrument);
    const bool buys = it.side == order_side::buy;
    const price_ticks beyond = 10 * price_ticks{below(3)} + (chance(500) ? 0u : below(5));
    if (chance(700)) it.price = it.trigger_price + (buys ? beyond : -beyond);
    // Where nothing else stands, and memory may be short.
    if (cramped() && chance(500)) it.price += (buys ? 64 : -64) * price_ticks{1 + below(3)};
    if (it.instrument == instrument_id{2} && !chance(50)) it.price -= it.price % 10;
}

// Where a market that moves gets to, and mostly on the side where it has not been.
price_ticks storm::any_trigger(order_side side, instrument_id in) {
    if (chance(3)) return price_ticks_max + 1 - below(3);
    const bool near = shape_ == storm_shape::near_touch;
    price_ticks away = below(near ? 7u : 45u);
    if (shape_ == storm_shape::wide_sparse && chance(500)) away = far_distance();
    if (chance(150)) away = -away;
    price_ticks trigger = side == order_side::buy ? 1'000 + away : 1'000 - away;
    if (in == instrument_id{2} && !chance(50)) trigger -= trigger % 10;
    return trigger;
}

// Not so little of it that a sweep would go on for ever.
contracts storm::any_part(contracts quantity) {
    const contracts part = std::max(quantity / (1 + below(5)), 1u);
    return part % 5 != 0 && quantity % 5 == 0 && part > 5 ? part - part % 5 : part;
}

std::uint32_t storm::any_last_day() {
    if (chance(60)) return any_of({20'301'219u, 20'300'931u, 7u, 22'010'101u});
    return any_of({20'301'220u, 20'301'220u, 20'301'221u, 22'001'231u});
}

amend_stop storm::any_stop_change(const model_order* resting, const amend_order& plain) {
    amend_stop it{plain.session, plain.client_seq, plain.target, 0, plain.price, plain.quantity};
    const order_side side =
        resting == nullptr ? order_side{static_cast<std::uint8_t>(below(2))} : resting->terms.side;
    const instrument_id in = resting == nullptr ? instrument_id{1} : resting->terms.instrument;
    const bool stays = resting != nullptr && chance(300);
    it.trigger_price = stays ? resting->trigger : any_trigger(side, in);
    if (chance(80))
        it.quantity = 5 * (12 + below(26));  // More than some may have, or than it may be worth.
    if (chance(4))
        it.session = session_id{999};  // Few commands are of this kind: it is told rarely.
    return it;
}

// Tight enough that some are struck, and not so tight that nobody quotes any more.
set_protection storm::any_protection() {
    set_protection it{};
    it.session = any_session();
    it.client_seq = next_seq(it.session);
    it.product = product_id{chance(900) ? 1 + below(2) : below(7)};
    it.window_ns = any_of<timestamp_ns>({50'000'000, 500'000'000, 5'000'000'000});
    switch (below(4)) {
        case 0: it.quantity_max = 10 + below(60); break;
        case 1: it.trades_max = 1 + below(4); break;
        case 2: it.delta_max = 5 + below(40); break;
        default: it.window_ns = 0; break;
    }
    if (chance(20)) it.window_ns = it.window_ns == 0 ? 1 : 0;
    if (chance(4)) it.session = session_id{999};  // As above.
    return it;
}

// Of a market that lasts: none at all, while stops wait that need some, or what it had at first.
define_instrument storm::any_price_protection() {
    define_instrument it = lasting_terms(1 + below(instruments));
    it.action = definition_action::change;
    if (chance(500)) it.collar = it.market_band = 0;
    return it;
}

}  // namespace exchange::testing
