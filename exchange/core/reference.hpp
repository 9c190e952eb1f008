// SPDX-License-Identifier: BSL-1.0
//
// What an instrument allows: prices on its ticks and within its collar, quantities in its lots.
//
// Product and instrument are joined once, when the instrument is defined, so that an order asks one
// record.
#pragma once

#include <exchange/core/commands.hpp>
#include <exchange/core/types.hpp>

#include <cstdint>

namespace exchange {

/// Is it a day, as yyyymmdd, up to the year 2200?
[[nodiscard]] bool is_date(std::uint32_t yyyymmdd) noexcept;

/// When an instrument with this expiry is over, in nanoseconds since 1970: at the end of that day in UTC, or
/// never. Asked of dates that are sound.
[[nodiscard]] timestamp_ns end_of_expiry(std::uint32_t yyyymmdd) noexcept;

/// Is this something that can be traded by?
[[nodiscard]] bool is_sound(const define_product& product) noexcept;
[[nodiscard]] bool is_sound(const define_instrument& instrument) noexcept;

/// An instrument with what its product says about it.
struct instrument_terms {
    define_instrument instrument;
    define_product product;
};

/// Why an order may not have this limit, or `none`.
[[nodiscard]] reject_reason check_price(const instrument_terms& terms, price_ticks price) noexcept;

/// Why a stop may not wait for this price, or `none`. The collar may have moved by the time it is reached.
[[nodiscard]] reject_reason check_trigger(const instrument_terms& terms,
                                          price_ticks trigger) noexcept;

/// Why an order may not have this quantity, or `none`.
[[nodiscard]] reject_reason check_quantity(const instrument_terms& terms,
                                           contracts quantity) noexcept;

/// What the value of an order depends on.
struct valued_order {
    order_side side;
    price_ticks limit;
    contracts quantity;
};

/// Why the order is worth too much, or `none`. It trades between its limit and the far end of the collar,
/// and is valued at that of the two which is farther from zero; without a collar, at its limit.
[[nodiscard]] reject_reason check_value(const instrument_terms& terms,
                                        const valued_order& it) noexcept;

/// Does collar or band bound the price of a market order?
[[nodiscard]] constexpr bool is_protected(const instrument_terms& terms) noexcept {
    return terms.instrument.collar != 0 || terms.instrument.market_band != 0;
}

/// Does a collar? That alone bounds what an auction makes an order at the market pay.
[[nodiscard]] constexpr bool has_collar(const instrument_terms& terms) noexcept {
    return terms.instrument.collar != 0;
}

/// How far an order of this side may reach at the most: to the far end of the collar, or as far as it likes.
[[nodiscard]] price_ticks collar_limit(const instrument_terms& terms, order_side side) noexcept;

/// The limit of a market order: the nearer of collar and band. It `is_protected`.
///
/// @param  best  The price that it would meet first; without one, the settlement price.
[[nodiscard]] price_ticks market_limit(const instrument_terms& terms, order_side side,
                                       price_ticks best) noexcept;

/// The limit of an order, and the price that its value is asked at.
struct priced {
    price_ticks limit;
    price_ticks valued_at;
};

/// Of an order at the market that would meet `best` first. It `is_protected`.
[[nodiscard]] priced price_at_market(const instrument_terms& terms, order_side side,
                                     price_ticks best) noexcept;

}  // namespace exchange
