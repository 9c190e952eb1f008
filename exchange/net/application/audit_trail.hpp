// SPDX-License-Identifier: BSL-1.0
//
// What operators did, told to whoever keeps it.
//
// Streams hold what sessions are owed and forget it with them; an answer whose operator is gone would be
// known to nobody. So every command that no client gave, and its answer, goes here as well, with whoever gave
// it. Where it is kept is not this layer's: management/audit_file.hpp writes a file.
#pragma once

#include <exchange/codec/participant_change.hpp>
#include <exchange/core/commands.hpp>
#include <exchange/core/events.hpp>
#include <exchange/net/application/login_refusal.hpp>
#include <exchange/net/application/operator_role.hpp>

#include <gyre/io/endpoint.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace exchange {

enum class audit_event : std::uint8_t {
    login,          ///< Of an operator.
    login_refused,  ///< Of anybody; `audit_entry::refused` says why.
    logout,         ///< Of an operator, or the loss of its connection.
    command,  ///< Of an operator, or of the exchange itself: preparation, timers, lost clients.
    answer,   ///< To one of these.
};

/// Who does something. The default is the exchange itself.
struct audit_actor {
    std::string_view user{};               ///< Empty: the exchange.
    std::optional<operator_role> role{};   ///< Of an operator.
    std::uint32_t operator_session = 0;    ///< The operator's connection; 0: none.
    const gyre::endpoint* peer = nullptr;  ///< Where the client is, if that is known.
};

/// A change of who may log in, without what it says of the password.
struct audit_participant {
    std::string_view name{};
    session_id session = session_id::none;         ///< As asked for, unless it is removed.
    std::optional<definition_action> action{};     ///< Nothing: the participant is removed.
    std::optional<participant_outcome> outcome{};  ///< Of the answer.
};

/// What was done. All that it refers to is valid during the call.
struct audit_entry {
    audit_event what = audit_event::command;
    timestamp_ns time = 0;
    audit_actor who{};
    const command* given = nullptr;  ///< Of a command.
    const audit_participant* participant =
        nullptr;                ///< Of a command that is none of the core's, or its answer.
    in_sequence in_seq = 0;     ///< Of an answer; 0: it was refused before it got a place.
    std::uint32_t subject = 0;  ///< Of an answer.
    command_kind answered{};    ///< Of an answer.
    std::optional<reject_reason> reason{};        ///< Of an answer that is a refusal.
    login_refusal refused = login_refusal::none;  ///< Of a login that is refused.
};

class audit_trail {
public:
    /// Keeps an entry, or says in its own way that it cannot.
    virtual void record(const audit_entry& entry) noexcept = 0;

protected:
    ~audit_trail() = default;
};

}  // namespace exchange
