// SPDX-License-Identifier: BSL-1.0
//
// From events to entries: see audit_recorder.hpp.
#include <exchange/net/application/audit_recorder.hpp>

namespace exchange {

void audit_recorder::note(audit_event what, const operator_session& of) noexcept {
    if (trail_ == nullptr) return;
    const operator_user& user = of.user();
    trail_->record({.what = what,
                    .time = clock_.now(),
                    .who = {user.username.view(), user.role, of.number(), &of.peer()}});
}

void audit_recorder::note_refusal(const soup_login& login, login_refusal why,
                                  const gyre::endpoint& peer) noexcept {
    if (trail_ == nullptr) return;
    trail_->record({.what = audit_event::login_refused,
                    .time = clock_.now(),
                    .who = {.user = login.username.view(), .peer = &peer},
                    .refused = why});
}

void audit_recorder::note_not_permitted(command_kind what, std::uint32_t subject) noexcept {
    record({.what = audit_event::answer,
            .subject = subject,
            .answered = what,
            .reason = reject_reason::not_permitted});
}

std::uint64_t audit_recorder::note_answers(const event_batch& batch) noexcept {
    std::uint64_t answers = 0;
    for (std::size_t at = 0; at < batch.events.size(); ++at) {
        const event& it = batch.events[at];
        if (audience_of(it.kind) != event_audience::administrator) continue;
        ++answers;
        audit_entry entry{.what = audit_event::answer, .in_seq = batch.stamp(at).in_seq};
        if (it.kind == event_kind::admin_accepted) {
            entry.subject = it.admin_accepted.subject;
            entry.answered = it.admin_accepted.command;
        } else {
            entry.subject = it.admin_rejected.subject;
            entry.answered = it.admin_rejected.command;
            entry.reason = it.admin_rejected.reason;
        }
        record(entry);
    }
    return answers;
}

void audit_recorder::note_change(audit_participant what, participant_outcome outcome) noexcept {
    record({.what = audit_event::command, .participant = &what});
    what.outcome = outcome;
    record({.what = audit_event::answer, .participant = &what});
}

void audit_recorder::record(audit_entry entry) noexcept {
    if (trail_ == nullptr) return;
    entry.time = clock_.now();
    if (giver_.user != nullptr)
        entry.who = {giver_.user->username.view(), giver_.user->role, giver_.number, &giver_.peer};
    trail_->record(entry);
}

}  // namespace exchange
