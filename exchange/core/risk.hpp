// SPDX-License-Identifier: BSL-1.0
//
// Whether an account may take on more: its limits, as if everything open were filled.
#pragma once

#include <exchange/core/accounts.hpp>
#include <exchange/core/types.hpp>

#include <cstdint>

namespace exchange {

/// What a command would add.
struct exposure {
    order_side side;
    contracts order_quantity;  ///< The whole order.
    std::int64_t more_open;    ///< Open contracts of this side, more or less.
    std::int64_t more_orders;  ///< Resting orders, more or less.
};

/// Why the account may not, or `none`. To take on less is always allowed.
[[nodiscard]] reject_reason check_limits(const account& whose, const holding& held,
                                         const exposure& wanted) noexcept;

}  // namespace exchange
