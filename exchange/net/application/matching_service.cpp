// SPDX-License-Identifier: BSL-1.0
//
// Who may log in, and where each derived message goes.
#include <exchange/net/application/matching_service.hpp>

#include <exchange/net/session/order_entry_session.hpp>

#include <algorithm>

namespace exchange {

using gyre::expects;

void participant::cut_if_outrun() noexcept {
    if (connection_ != nullptr && connection_->is_outrun(stream_))
        connection_->cut(soup_ending::fell_behind);
    if (leaving_ != nullptr && leaving_->is_writing_stream() && leaving_->is_outrun(stream_))
        leaving_->cut(soup_ending::fell_behind);
}

matching_service::matching_service(const matching_service_options& options, gyre::time_point now)
    : clock_{options.clocks},
      partition_{options.limits},
      feed_{options.feed, now},
      by_session_(std::size_t{options.limits.sessions_max} + 1) {
    touched_.reserve(options.participants.size());
    for (const credentials& who : options.participants) {
        expects(number(who.session) < by_session_.size(), "a session that the partition can have");
        for (const participant& other : participants_)
            expects(other.who().username != who.username, "user names differ");
        participant& made = participants_.emplace_back(who, options.stream, touched_);
        participant*& place = made.is_operator() ? operator_ : by_session_[number(who.session)];
        expects(place == nullptr, "one participant for each session, and one operator");
        place = &made;
    }
}

std::optional<message_rejected> matching_service::take(
    const participant& from, std::span<const std::byte> message) noexcept {
    const auto sequence = [this](const auto& command) { apply(command); };
    const decode_fault fault = from.is_operator()
                                   ? decode_operator_command(message, sequence)
                                   : decode_client_command(message, from.who().session, sequence);
    if (fault.error == decode_error::none) return std::nullopt;
    ++counts_.malformed;
    return refusal_of(message, fault);
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
    whose.expected_ = true;
}

void matching_service::detach(participant& whose, order_entry_session& connection) noexcept {
    if (whose.connection_ != &connection) return;
    whose.connection_ = nullptr;
    whose.leaving_ = &connection;
    const soup_ending why = connection.ending();
    whose.expected_ = why != soup_ending::logged_out && why != soup_ending::session_ended;
    if (!whose.is_operator() && !ended_) apply(end_session{whose.who().session});
}

void matching_service::let_go(participant& whose, const order_entry_session& connection) noexcept {
    if (whose.leaving_ == &connection) whose.leaving_ = nullptr;
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
    ended_ = true;
    for (participant& each : participants_) {
        each.stream_.end();
        if (each.connection_ != nullptr) each.connection_->announce_output();
    }
    feed_.end(now);
}

timestamp_ns matching_service::next_time() const noexcept {
    expects(!ended_, "nothing follows the end of the day");
    return clock_.now();
}

void matching_service::encoder::operator()(const event_batch& batch) const noexcept {
    struct routes {
        matching_service& of;
        participant* session(session_id it) const noexcept { return of.by_session_[number(it)]; }
        mold_sender* feed() const noexcept { return &of.feed_; }
        participant* administrator() const noexcept { return of.operator_; }
    };
    encode_batch(batch, routes{*of});
}

}  // namespace exchange
