// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/core/risk.hpp>

namespace exchange {
namespace {

// The position if all that is open on one side were filled, counted away from zero on that side.
std::int64_t worst_position(const holding& held, order_side side) noexcept {
    const auto open = static_cast<std::int64_t>(held.open[number(side)]);
    return side == order_side::buy ? open + held.position : open - held.position;
}

}  // namespace

reject_reason check_limits(const account& whose, const holding& held,
                           const exposure& wanted) noexcept {
    const define_account& terms = whose.terms;
    if (terms.order_quantity_max != 0 && wanted.order_quantity > terms.order_quantity_max) {
        return reject_reason::quantity_over_max;
    }
    if (terms.open_orders_max != 0 && wanted.more_orders > 0 &&
        whose.open_orders + wanted.more_orders > terms.open_orders_max) {
        return reject_reason::open_orders_over_max;
    }
    if (terms.position_max != 0 && wanted.more_open > 0 &&
        worst_position(held, wanted.side) + wanted.more_open > terms.position_max) {
        return reject_reason::position_over_max;
    }
    return reject_reason::none;
}

}  // namespace exchange
