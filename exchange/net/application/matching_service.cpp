// SPDX-License-Identifier: BSL-1.0
//
// Who may log in, and where each derived message goes.
#include <exchange/net/application/matching_service.hpp>

#include <exchange/net/session/order_entry_session.hpp>

#include <algorithm>
#include <chrono>

namespace exchange {

using gyre::expects;

void participant::cut_who_is_outrun() noexcept {
    if (connection_ != nullptr && connection_->is_outrun(stream_))
        connection_->cut(soup_ending::fell_behind);
    if (leaving_ != nullptr && leaving_->is_writing_stream() && leaving_->is_outrun(stream_))
        leaving_->cut(soup_ending::fell_behind);
    stream_.reader_left();  // What is left of it, nobody is going to get.
}

std::size_t stream_memory_for(const matching_service_options& options) noexcept {
    if (options.stream_memory.bytes_max != 0) return options.stream_memory.bytes_max;
    // All that each may keep, with what its first and its last segment have room for beside that, and one of
    // them that does not read.
    const std::size_t each = options.stream.bytes_max + 2 * options.stream_memory.segment_bytes;
    return options.participants.size() * each + options.stream.unread_bytes_max;
}

matching_service::matching_service(const matching_service_options& options, gyre::time_point now)
    : sequencer_{options.sequencing, *this},
      feed_{options.feed, now},
      streams_{{.bytes_max = stream_memory_for(options),
                .segment_bytes = options.stream_memory.segment_bytes}},
      queries_{sequencer_, feed_, *this, options.queries},
      by_session_(std::size_t{options.sequencing.limits.sessions_max} + 1) {
    touched_.reserve(options.participants.size());
    ending_.reserve(options.participants.size());
    for (const credentials& who : options.participants) {
        expects(number(who.session) < by_session_.size(), "a session that the partition can have");
        for (const participant& other : participants_)
            expects(other.who().username != who.username, "user names differ");
        participant& made = participants_.emplace_back(who, options.stream, streams_, touched_);
        participant*& place = made.is_operator() ? operator_ : by_session_[number(who.session)];
        expects(place == nullptr, "one participant for each session, and one operator");
        place = &made;
    }
}

std::optional<message_rejected> matching_service::take(
    const participant& from, std::span<const std::byte> message) noexcept {
    const command_origin origin{from.who().session, from.epoch_, from.is_operator() ? 1u : 0u};
    const auto sequence = [&](const auto& command) { begin(origin, command); };
    const decode_fault fault = from.is_operator()
                                   ? decode_operator_command(message, sequence)
                                   : decode_client_command(message, from.who().session, sequence);
    if (fault.error == decode_error::none) return std::nullopt;
    ++malformed_;
    return refusal_of(message, fault);
}

std::span<const std::byte> matching_service::answer(const participant& from,
                                                    std::span<const std::byte> message,
                                                    gyre::time_point now,
                                                    timestamp_ns& queries_until) noexcept {
    const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch());
    return queries_.answer(message, {.session = from.who().session,
                                     .next_in_stream = from.stream().messages().next_sequence(),
                                     .now = static_cast<timestamp_ns>(since.count()),
                                     .queries_until = queries_until});
}

participant* matching_service::find(const soup_login& login) noexcept {
    const auto found = std::ranges::find_if(participants_, [&](const participant& each) {
        return each.who().username == login.username && each.who().password == login.password;
    });
    return found == participants_.end() ? nullptr : &*found;
}

void matching_service::attach(participant& whose, order_entry_session& connection) noexcept {
    if (whose.connection_ != nullptr) whose.connection_->cut(soup_ending::replaced);
    // One that has ended and still writes to a participant that has come back elsewhere.
    if (whose.leaving_ != nullptr && whose.leaving_->is_writing_stream())
        whose.leaving_->cut(soup_ending::replaced);
    whose.leaving_ = nullptr;
    whose.connection_ = &connection;
    if (!whose.is_operator()) whose.epoch_ = sequencer_.open_session(whose.who().session);
    whose.stream_.reader_at(connection.next_to_send());
    whose.expected_ = true;
}

void matching_service::detach(participant& whose, order_entry_session& connection) noexcept {
    if (whose.connection_ != &connection) return;
    whose.connection_ = nullptr;
    whose.leaving_ = &connection;
    const soup_ending why = connection.ending();
    whose.expected_ = why != soup_ending::logged_out && why != soup_ending::session_ended;
    if (whose.is_operator() || ended_) return;
    const session_id session = whose.who().session;
    if (!busy()) return begin({}, end_session{session});
    if (std::ranges::find(ending_, session) == ending_.end()) ending_.push_back(session);
}

void matching_service::resume() noexcept {
    sequencer_.resume();
    while (!busy() && !ending_.empty()) {
        const session_id session = ending_.front();
        ending_.erase(ending_.begin());
        // It may be here again, and its orders stay.
        const participant* const whose = by_session_[number(session)];
        if (whose->connection() == nullptr) begin({}, end_session{session});
    }
}

void matching_service::let_go(participant& whose, const order_entry_session& connection) noexcept {
    if (whose.leaving_ != &connection) return;
    whose.leaving_ = nullptr;
    whose.stream_.reader_left();
}

void matching_service::note_sent(participant& whose,
                                 const order_entry_session& connection) noexcept {
    if (whose.connection_ != &connection && whose.leaving_ != &connection) return;
    // Of who was outrun there is nothing to wait for.
    if (!connection.is_outrun(whose.stream_)) whose.stream_.reader_at(connection.next_to_send());
}

void matching_service::announce() noexcept {
    for (participant* const each : touched_) {
        each->touched_ = false;
        if (each->connection() != nullptr) each->connection()->announce_output();
    }
    touched_.clear();
}

void matching_service::end(gyre::time_point now) noexcept {
    if (ended_) return;
    finish_command();
    ended_ = true;
    for (participant& each : participants_) {
        each.stream_.end();
        if (each.connection_ != nullptr) each.connection_->announce_output();
    }
    feed_.end(now);
}

void matching_service::on_timer() noexcept {
    if (!ended_ && !busy() && sequencer_.now() >= sequencer_.next_expiry())
        begin({}, expire_instruments{});
}

void matching_service::take(const event_batch& batch, const command_origin& origin) noexcept {
    struct routes {
        matching_service& of;
        const command_origin& origin;
        participant* session(session_id it) const noexcept { return of.by_session_[number(it)]; }
        mold_sender* feed() const noexcept { return &of.feed_; }
        participant* administrator() const noexcept {
            if (origin.operator_number != 0) return of.operator_;
            ++of.unheard_;
            return nullptr;
        }
    };
    encode_batch(batch, routes{*this, origin});
}

}  // namespace exchange
