// SPDX-License-Identifier: BSL-1.0
//
// An audit trail in memory, for tests: what was told, as plain values.
#pragma once

#include <exchange/net/application/audit_trail.hpp>

#include <optional>
#include <string>
#include <vector>

namespace exchange::testing {

struct noted_trail final : audit_trail {
    struct entry {
        audit_event what;
        std::string user;
        std::optional<operator_role> role;
        std::uint32_t operator_session;
        std::optional<command> given;
        in_sequence in_seq;
        command_kind answered;
        std::uint32_t subject;
        std::optional<reject_reason> reason;
        std::string participant;  // Whose login is changed; empty: none is.
        std::optional<participant_outcome> outcome;
    };

    void record(const audit_entry& it) noexcept override {
        entries.push_back({it.what, std::string{it.who.user}, it.who.role, it.who.operator_session,
                           it.given == nullptr ? std::nullopt : std::optional{*it.given}, it.in_seq,
                           it.answered, it.subject, it.reason,
                           std::string{it.participant == nullptr ? "" : it.participant->name},
                           it.participant == nullptr ? std::nullopt : it.participant->outcome});
    }
    /// Those of one operator's connection, or of the exchange: 0.
    [[nodiscard]] std::vector<entry> of(std::uint32_t session) const {
        std::vector<entry> found;
        for (const entry& each : entries)
            if (each.operator_session == session) found.push_back(each);
        return found;
    }
    [[nodiscard]] std::vector<entry> of(audit_event what) const {
        std::vector<entry> found;
        for (const entry& each : entries)
            if (each.what == what) found.push_back(each);
        return found;
    }

    std::vector<entry> entries;
};

}  // namespace exchange::testing
