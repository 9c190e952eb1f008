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

/// The limit of a market order: the collar, or none that matters.
[[nodiscard]] price_ticks market_limit(const instrument_terms& terms, order_side side) noexcept;

}  // namespace exchange
