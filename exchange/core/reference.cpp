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

bool is_on_tick(const define_product& product, price_ticks price) noexcept {
    if (product.bands == 0) return true;
    std::uint32_t band = 0;
    while (band + 1 < product.bands && price >= product.ticks[band + 1].from) ++band;
    const price_ticks step = product.ticks[band].step;
    return step == 1 || price % step == 0;
}

}  // namespace

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
           it.order_value_max >= 0;
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

reject_reason check_quantity(const instrument_terms& terms, contracts quantity) noexcept {
    const contracts lot = terms.product.lot;
    if (quantity == 0 || (lot != 1 && quantity % lot != 0)) return reject_reason::invalid_quantity;
    const contracts most = terms.instrument.order_quantity_max;
    return most != 0 && quantity > most ? reject_reason::quantity_over_max : reject_reason::none;
}

reject_reason check_value(const instrument_terms& terms, const valued_order& it) noexcept {
    // A sell at one tick is filled at the best bid: its limit alone says nothing about its value.
    const bool bounded = terms.instrument.collar != 0;
    const price_ticks best = bounded ? market_limit(terms, opposite(it.side)) : it.limit;
    // Each within 48 bits: settlement and collar are prices.
    std::int64_t value = std::max(std::abs(it.limit), std::abs(best));
    if (__builtin_mul_overflow(value, std::int64_t{it.quantity}, &value) ||
        __builtin_mul_overflow(value, std::int64_t{terms.product.multiplier}, &value)) {
        return reject_reason::value_over_max;
    }
    const std::int64_t most = terms.instrument.order_value_max;
    return most != 0 && value > most ? reject_reason::value_over_max : reject_reason::none;
}

price_ticks market_limit(const instrument_terms& terms, order_side side) noexcept {
    const price_ticks collar = terms.instrument.collar;
    const price_ticks settlement = terms.instrument.settlement_price;
    if (side == order_side::buy) return collar == 0 ? price_ticks_max : settlement + collar;
    return collar == 0 ? -price_ticks_max : settlement - collar;
}

}  // namespace exchange
