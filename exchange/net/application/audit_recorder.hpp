// SPDX-License-Identifier: BSL-1.0
//
// Makes the entries of the audit trail, and knows who has given the latest command.
//
// audit_trail.hpp keeps them.
#pragma once

#include <exchange/codec/soup_packet.hpp>
#include <exchange/net/application/audit_trail.hpp>
#include <exchange/net/application/login_refusal.hpp>
#include <exchange/net/application/operator_session.hpp>
#include <exchange/net/application/sequencer.hpp>

#include <cstdint>

namespace exchange {

/// Threads:  One at a time, as everything of its host.
/// Cost:     Nothing without a trail but to know who gave the latest command.
class audit_recorder {
public:
    /// @param  clock  Borrowed; outlives this.
    /// @param  trail  Borrowed, or null: nothing is kept.
    audit_recorder(const sequencer& clock, audit_trail* trail) noexcept
        : clock_{clock}, trail_{trail} {}

    /// An operator has come, or gone.
    void note(audit_event what, const operator_session& of) noexcept;
    void note_refusal(const soup_login& login, login_refusal why,
                      const gyre::endpoint& peer) noexcept;

    /// What follows is given by the exchange itself, or by an operator: commands and answers, until the next
    /// word. The operator may be gone before the answer comes.
    void given_by_exchange() noexcept { giver_ = {}; }
    void given_by(const operator_session& whose) noexcept {
        giver_ = {&whose.user(), whose.number(), whose.peer()};
    }

    template <class Command>
    void note_command(const Command& what) noexcept {
        if (trail_ == nullptr) return;
        const command given{what};
        record({.what = audit_event::command, .given = &given});
    }
    /// A command that the role of its operator does not permit.
    void note_not_permitted(command_kind what, std::uint32_t subject) noexcept;
    /// What a batch answers to a command that no client gave.
    ///
    /// @return How many answers.
    std::uint64_t note_answers(const event_batch& batch) noexcept;
    /// A change of who may log in, and what came of it.
    void note_change(audit_participant what, participant_outcome outcome) noexcept;

private:
    void record(audit_entry entry) noexcept;

    const sequencer& clock_;
    audit_trail* trail_;
    struct {
        const operator_user* user = nullptr;
        std::uint32_t number = 0;
        gyre::endpoint peer;
    } giver_;
};

}  // namespace exchange
