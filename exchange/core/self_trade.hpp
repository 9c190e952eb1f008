// SPDX-License-Identifier: BSL-1.0
//
// Whether two accounts may trade with each other, and who gives way if they may not.
#pragma once

#include <exchange/core/accounts.hpp>
#include <exchange/core/types.hpp>

namespace exchange {

/// An account is always in one group with itself.
[[nodiscard]] constexpr bool are_related(const account& one, const account& other) noexcept {
    if (&one == &other) return true;
    return one.terms.group != self_trade_group::none && one.terms.group == other.terms.group;
}

/// What an order of this account does, given what it says itself. Never `account_default`.
[[nodiscard]] constexpr self_trade_action action_of(const account& it,
                                                    self_trade_action asked) noexcept {
    return asked == self_trade_action::account_default ? it.terms.self_trade : asked;
}

[[nodiscard]] constexpr bool cancels_resting(self_trade_action action) noexcept {
    return action == self_trade_action::cancel_resting || action == self_trade_action::cancel_both;
}

[[nodiscard]] constexpr bool cancels_aggressor(self_trade_action action) noexcept {
    return action == self_trade_action::cancel_aggressor ||
           action == self_trade_action::cancel_both;
}

}  // namespace exchange
