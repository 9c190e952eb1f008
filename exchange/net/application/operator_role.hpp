// SPDX-License-Identifier: BSL-1.0
//
// What each kind of operator may do: one table of roles and commands.
//
// Whoever may halt a market need not be able to raise an account's limits, and who only looks can break
// nothing. order_entry_host.hpp asks here before it sequences an operator's command; what its role may not
// give is answered with `not_permitted`.
#pragma once

#include <exchange/core/commands.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace exchange {

/// The numbers are those of an audit trail's readers; each role may do what `viewer` may.
enum class operator_role : std::uint8_t {
    viewer = 1,         ///< Asks, and changes nothing.
    market = 2,         ///< Phases, auctions, settlement prices, ends of days, expiry.
    risk = 3,           ///< States and limits of accounts, ends of sessions, busts.
    administrator = 4,  ///< Everything, participants included.
};

// Implementation

/// A command that others than administrators may give.
struct permission {
    command_kind command;
    definition_action action;
    operator_role role;
};

inline constexpr auto permissions = std::to_array<permission>({
    {command_kind::set_phase, definition_action::create, operator_role::market},
    {command_kind::set_settlement_price, definition_action::create, operator_role::market},
    {command_kind::end_day, definition_action::create, operator_role::market},
    {command_kind::expire_instruments, definition_action::create, operator_role::market},
    {command_kind::uncross, definition_action::create, operator_role::market},
    {command_kind::set_interruption, definition_action::create, operator_role::market},
    {command_kind::advance_phases, definition_action::create, operator_role::market},
    {command_kind::schedule_phase, definition_action::create, operator_role::market},
    {command_kind::set_account_state, definition_action::create, operator_role::risk},
    {command_kind::bust_trade, definition_action::create, operator_role::risk},
    {command_kind::define_account, definition_action::change, operator_role::risk},
    {command_kind::end_session, definition_action::create, operator_role::risk},
});

// End of implementation

/// Whether an operator may give a command.
///
/// @param  action  Of a definition; of any other command, whatever it is by default.
[[nodiscard]] constexpr bool may_give(operator_role role, command_kind command,
                                      definition_action action) noexcept {
    if (role == operator_role::administrator) return true;
    for (const permission& each : permissions)
        if (each.command == command && each.action == action) return each.role == role;
    return false;
}

template <class Command>
[[nodiscard]] constexpr bool may_give(operator_role role, const Command& what) noexcept {
    if constexpr (requires { what.action; }) return may_give(role, Command::kind, what.action);
    else return may_give(role, Command::kind, definition_action::create);
}

/// "viewer", "market", "risk", "administrator"; static storage.
[[nodiscard]] constexpr std::string_view describe(operator_role role) noexcept {
    switch (role) {
        case operator_role::viewer: return "viewer";
        case operator_role::market: return "market";
        case operator_role::risk: return "risk";
        case operator_role::administrator: return "administrator";
    }
    return "unknown";
}

[[nodiscard]] constexpr std::optional<operator_role> find_role(std::string_view name) noexcept {
    for (const operator_role each : {operator_role::viewer, operator_role::market,
                                     operator_role::risk, operator_role::administrator})
        if (describe(each) == name) return each;
    return std::nullopt;
}

}  // namespace exchange
