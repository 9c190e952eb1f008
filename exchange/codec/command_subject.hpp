// SPDX-License-Identifier: BSL-1.0
//
// Which number an operator's command is about, as its answer says it.
//
// Whoever waits for the answer (exchange_ctl), and whoever answers before the core does (a command that is
// not permitted), mean the same number as the core.
#pragma once

#include <exchange/core/commands.hpp>

#include <cstdint>

namespace exchange {

/// The number of the product, instrument, account or session; 0 if a command is about none, or about one
/// of a client's orders.
template <class Command>
[[nodiscard]] constexpr std::uint32_t subject_of(const Command& it) noexcept {
    if constexpr (requires { it.client_seq; }) return 0;
    else if constexpr (requires {
                           it.account;
                           it.position;
                       })
        return number(it.account);
    else if constexpr (requires { it.firm; }) return number(it.account);
    else if constexpr (requires { it.on_disconnect; }) return number(it.session);
    else if constexpr (requires { it.instrument; }) return number(it.instrument);
    else if constexpr (requires { it.product; }) return number(it.product);
    else if constexpr (requires { it.account; }) return number(it.account);
    else if constexpr (requires { it.session; }) return number(it.session);
    else if constexpr (requires { it.number; }) return it.number;
    else return 0;
}

}  // namespace exchange
