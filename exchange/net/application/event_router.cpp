// SPDX-License-Identifier: BSL-1.0
//
// A sink for each message: see event_router.hpp.
#include <exchange/net/application/event_router.hpp>

#include <exchange/codec/event_codec.hpp>

namespace exchange {

void event_router::take(const event_batch& batch, const command_origin& origin) noexcept {
    struct routes {
        event_router& of;
        const command_origin& origin;
        participant* session(session_id it) const noexcept { return of.participants_.find(it); }
        mold_sender* feed() const noexcept { return &of.feed_; }
        operator_session* administrator() const noexcept {
            return of.operators_.find(origin.operator_number);
        }
    };
    if (origin.session == session_id::none) answers_ += trail_.note_answers(batch);
    encode_batch(batch, routes{*this, origin});
    if (!participants_.listeners().empty()) [[unlikely]]
        copy(batch);
}

void event_router::copy(const event_batch& batch) noexcept {
    for (std::size_t at = 0; at < batch.events.size(); ++at) {
        visit(batch.events[at], [&]<class Event>(const Event& event) {
            if constexpr (audience_of(Event::kind) == event_audience::session) {
                for (participant* const each : participants_.listeners())
                    if (is_told(*each, event.session)) append(each, event, batch.stamp(at));
            }
        });
    }
}

bool event_router::is_told(const participant& whose, session_id of) const noexcept {
    if (whose.who().what == told::all) return true;
    // All partitions hear of the same sessions.
    return from_.at(0).state().sessions[number(of)].account == whose.who().account;
}

}  // namespace exchange
