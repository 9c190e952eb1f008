// SPDX-License-Identifier: BSL-1.0
//
// Who may log in, changed while the exchange runs.
//
// These are no commands of the core, which knows sessions and not users: they have no place in its sequence,
// and are answered in the operator's stream alone. participant_codec.hpp writes and reads them.
#pragma once

#include <exchange/core/commands.hpp>

#include <array>
#include <cstdint>

namespace exchange {

using user_name = std::array<char, 6>;        ///< Filled up with blanks.
using password_hash = std::array<char, 128>;  ///< As crypt(5) writes it, filled up with blanks.

/// Lets somebody log in, or changes a password and a session, which cuts the present connection.
struct define_participant {
    user_name username;
    password_hash hash;
    session_id session;
    definition_action action = definition_action::create;
};

/// Lets somebody log in no more, and cuts the present connection.
struct remove_participant {
    user_name username;
};

enum class participant_outcome : std::uint8_t {
    done = 1,
    not_permitted = 2,  ///< It takes an administrator.
    invalid_name = 3,
    invalid_hash = 4,     ///< Or one that takes too long.
    invalid_action = 5,   ///< Neither create nor change.
    unknown_session = 6,  ///< 0, or beyond what the exchange can have.
    name_taken = 7,
    session_taken = 8,  ///< By another participant.
    at_capacity = 9,
    unknown_participant = 10,
};

/// The answer to either.
struct participant_changed {
    user_name username;
    participant_outcome outcome;

    bool operator==(const participant_changed&) const = default;
};

}  // namespace exchange
