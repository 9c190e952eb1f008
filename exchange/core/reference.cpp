// SPDX-License-Identifier: BSL-1.0
//
// See the header: the rules of an instrument, one function each.
#include <exchange/core/reference.hpp>

#include <algorithm>
#include <cstdlib>

namespace exchange {
namespace {

constexpr bool is_price(price_ticks price) noexcept {
    return price >= -price_ticks_max && price <= price_ticks_max;
}

struct date {
    std::uint32_t year;
    std::uint32_t month;
    std::uint32_t day;
};

constexpr date date_of(std::uint32_t yyyymmdd) noexcept {
    return {yyyymmdd / 10'000, yyyymmdd / 100 % 100, yyyymmdd % 100};
}

constexpr bool is_leap(std::uint32_t year) noexcept {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

constexpr std::uint32_t days_in(std::uint32_t year, std::uint32_t month) noexcept {
    if (month == 2) return is_leap(year) ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

bool is_on_tick(const define_product& product, price_ticks price) noexcept {
    if (product.bands == 0) return true;
    std::uint32_t band = 0;
    while (band + 1 < product.bands && price >= product.ticks[band + 1].from) ++band;
    const price_ticks step = product.ticks[band].step;
    return step == 1 || price % step == 0;
}

}  // namespace

// Timestamps of 64 bits end in 2554.
bool is_date(std::uint32_t yyyymmdd) noexcept {
    const auto [year, month, day] = date_of(yyyymmdd);
    return year >= 1970 && year <= 2200 && month >= 1 && month <= 12 && day >= 1 &&
           day <= days_in(year, month);
}

timestamp_ns end_of_expiry(std::uint32_t yyyymmdd) noexcept {
    if (yyyymmdd == 0) return ~timestamp_ns{0};
    const auto [year, month, day] = date_of(yyyymmdd);
    std::uint64_t days = day;
    for (std::uint32_t each = 1970; each < year; ++each) days += is_leap(each) ? 366 : 365;
    for (std::uint32_t each = 1; each < month; ++each) days += days_in(year, each);
    return days * 86'400 * 1'000'000'000;
}

bool is_sound(const define_product& product) noexcept {
    if (product.product == product_id::none || product.multiplier == 0 || product.lot == 0) {
        return false;
    }
    if (product.bands > tick_bands_max) return false;
    for (std::uint32_t each = 0; each < product.bands; ++each) {
        if (product.ticks[each].step <= 0 || !is_price(product.ticks[each].step)) return false;
        if (each > 0 && product.ticks[each].from <= product.ticks[each - 1].from) return false;
    }
    return true;
}

bool is_sound(const define_instrument& it) noexcept {
    const bool kind_known = it.type >= instrument_kind::future && it.type <= instrument_kind::put;
    return it.instrument != instrument_id::none && kind_known &&
           it.lone_orders <= lone_order_policy::reject && is_price(it.strike) &&
           is_price(it.settlement_price) && it.collar >= 0 && is_price(it.collar) &&
           it.market_band >= 0 && is_price(it.market_band) &&
           (it.expiry_yyyymmdd == 0 || is_date(it.expiry_yyyymmdd)) && it.order_value_max >= 0;
}

reject_reason check_price(const instrument_terms& terms, price_ticks price) noexcept {
    if (!is_price(price)) return reject_reason::invalid_price;
    if (!is_on_tick(terms.product, price)) return reject_reason::price_off_tick;
    const price_ticks collar = terms.instrument.collar;
    const price_ticks distance = price - terms.instrument.settlement_price;
    if (collar != 0 && (distance > collar || distance < -collar)) {
        return reject_reason::price_outside_collar;
    }
    return reject_reason::none;
}

reject_reason check_trigger(const instrument_terms& terms, price_ticks trigger) noexcept {
    if (!is_price(trigger)) return reject_reason::invalid_price;
    return is_on_tick(terms.product, trigger) ? reject_reason::none : reject_reason::price_off_tick;
}

reject_reason check_quantity(const instrument_terms& terms, contracts quantity) noexcept {
    const contracts lot = terms.product.lot;
    if (quantity == 0 || (lot != 1 && quantity % lot != 0)) return reject_reason::invalid_quantity;
    const contracts most = terms.instrument.order_quantity_max;
    return most != 0 && quantity > most ? reject_reason::quantity_over_max : reject_reason::none;
}

reject_reason check_value(const instrument_terms& terms, const valued_order& it) noexcept {
    // A sell at one tick is filled at the best bid: its limit alone says nothing about its value.
    const bool bounded = terms.instrument.collar != 0;
    const price_ticks best = bounded ? collar_limit(terms, opposite(it.side)) : it.limit;
    // Each within 49 bits: settlement, collar and band are prices.
    std::int64_t value = std::max(std::abs(it.limit), std::abs(best));
    if (__builtin_mul_overflow(value, std::int64_t{it.quantity}, &value) ||
        __builtin_mul_overflow(value, std::int64_t{terms.product.multiplier}, &value)) {
        return reject_reason::value_over_max;
    }
    const std::int64_t most = terms.instrument.order_value_max;
    return most != 0 && value > most ? reject_reason::value_over_max : reject_reason::none;
}

price_ticks collar_limit(const instrument_terms& terms, order_side side) noexcept {
    const price_ticks collar = terms.instrument.collar;
    const price_ticks settlement = terms.instrument.settlement_price;
    if (side == order_side::buy) return collar == 0 ? price_ticks_max : settlement + collar;
    return collar == 0 ? -price_ticks_max : settlement - collar;
}

price_ticks market_limit(const instrument_terms& terms, order_side side,
                         price_ticks best) noexcept {
    const price_ticks collar = collar_limit(terms, side);
    const price_ticks band = terms.instrument.market_band;
    if (band == 0) return collar;
    const price_ticks banded = side == order_side::buy ? best + band : best - band;
    if (terms.instrument.collar == 0) return banded;
    return side == order_side::buy ? std::min(collar, banded) : std::max(collar, banded);
}

priced price_at_market(const instrument_terms& terms, order_side side, price_ticks best) noexcept {
    const price_ticks limit = market_limit(terms, side, best);
    // Without a collar nothing bounds what the other side may pay but that it is there.
    const bool at_best = terms.instrument.collar == 0 && std::abs(best) > std::abs(limit);
    return {limit, at_best ? best : limit};
}

}  // namespace exchange
