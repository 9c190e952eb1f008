// SPDX-License-Identifier: BSL-1.0
//
// Who may log in, and where each derived message goes.
#include <exchange/net/application/order_entry_host.hpp>

#include <exchange/net/session/order_entry_session.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace exchange {

using gyre::expects;

void participant::cut_who_is_outrun() noexcept {
    if (connection_ != nullptr && connection_->is_outrun(*stream_))
        connection_->cut(soup_ending::fell_behind);
    if (leaving_ != nullptr && leaving_->is_writing_stream() && leaving_->is_outrun(*stream_))
        leaving_->cut(soup_ending::fell_behind);
    stream_->reader_left();  // What is left of it has no reader.
}

std::size_t stream_memory_for(const order_entry_host_options& options) noexcept {
    if (options.stream_memory.bytes_max != 0) return options.stream_memory.bytes_max;
    // All that each may keep, with what its first and its last segment have room for beside that, and one of
    // them that does not read.
    const std::size_t each = options.stream.bytes_max + 2 * options.stream_memory.segment_bytes;
    const std::size_t participants =
        std::max(options.participants_max, options.participants.size());
    return participants * each + options.stream.unread_bytes_max;
}

void operator_session::cut_if_outrun() noexcept {
    if (connection_ != nullptr && connection_->is_outrun(*stream_))
        connection_->cut(soup_ending::fell_behind);
}

order_entry_host::order_entry_host(const order_entry_host_options& options, gyre::time_point now)
    : sequencer_{options.sequencing, *this},
      feed_{options.feed, now},
      streams_{{.bytes_max = stream_memory_for(options),
                .segment_bytes = options.stream_memory.segment_bytes}},
      queries_{sequencer_, feed_, *this, options.queries},
      participants_max_{std::max(options.participants_max, options.participants.size())},
      stream_{options.stream},
      is_secret_{options.is_secret},
      by_session_(std::size_t{options.sequencing.limits.sessions_max} + 1),
      operator_users_{options.operators},
      operator_stream_{options.operator_stream},
      passwords_{options.passwords},
      dummy_secret_{options.dummy_secret},
      logins_{options.logins, now},
      trail_{options.trail} {
    const std::size_t operators = options.operators.empty() ? 0 : options.operator_connections_max;
    touched_operators_.reserve(operators);
    while (operators_.size() < operators) operators_.emplace_back(touched_operators_);
    touched_.reserve(participants_max_);
    ending_.reserve(participants_max_);
    for (const credentials& who : options.participants) {
        expects(who.session != session_id::none && number(who.session) < by_session_.size(),
                "a session that the partition can have");
        for (const participant& other : participants_)
            expects(other.who().username != who.username, "user names differ");
        expects(by_session_[number(who.session)] == nullptr, "one participant for each session");
        add(who);
    }
}

std::optional<message_rejected> order_entry_host::take(
    const participant& from, std::span<const std::byte> message) noexcept {
    const command_origin origin{from.who().session, from.epoch_, 0};
    const auto sequence = [&](const auto& command) { begin(origin, command); };
    const decode_fault fault = decode_client_command(message, from.who().session, sequence);
    if (fault.error == decode_error::none) return std::nullopt;
    ++malformed_;
    return refusal_of(message, fault);
}

std::span<const std::byte> order_entry_host::answer(session_id session, const soup_stream& stream,
                                                    std::span<const std::byte> message,
                                                    gyre::time_point now,
                                                    timestamp_ns& queries_until) noexcept {
    const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch());
    return queries_.answer(message, {.session = session,
                                     .next_in_stream = stream.messages().next_sequence(),
                                     .now = static_cast<timestamp_ns>(since.count()),
                                     .queries_until = queries_until});
}

std::optional<message_rejected> order_entry_host::take(
    operator_session& from, std::span<const std::byte> message) noexcept {
    if (!decode_participant_change(message, [&](const auto& it) { change(from, it); }))
        return std::nullopt;
    const decode_fault fault =
        decode_operator_command(message, [&](const auto& command) { give(from, command); });
    if (fault.error == decode_error::none) return std::nullopt;
    ++malformed_;
    return refusal_of(message, fault);
}

void order_entry_host::refuse(operator_session& whose, command_kind what,
                              std::uint32_t subject) noexcept {
    ++not_permitted_;
    append(&whose, admin_rejected{subject, what, reject_reason::not_permitted}, event_stamp{});
    record({.what = audit_event::answer,
            .subject = subject,
            .answered = what,
            .reason = reject_reason::not_permitted});
}

known_user order_entry_host::find(const soup_login& login) noexcept {
    known_user found;
    const std::string* secret = &dummy_secret_;
    for (participant& each : participants_) {
        if (each.removed() || each.who().username != login.username) continue;
        found.trader = &each;
        secret = &each.who().secret;
    }
    for (const operator_user& each : operator_users_) {
        if (each.username != login.username) continue;
        found.administrator = &each;
        secret = &each.secret;
    }
    // An unknown name takes as long as a known one.
    return passwords_(login.password.view(), *secret) ? found : known_user{};
}

operator_session* order_entry_host::open(const operator_user& who, order_entry_session& connection,
                                         const gyre::endpoint& peer) noexcept {
    const auto place = std::ranges::find_if(operators_, &operator_session::free);
    if (place == operators_.end()) return nullptr;
    place->user_ = &who;
    place->number_ = ++last_operator_number_;
    place->peer_ = peer;
    place->stream_.emplace(operator_stream_);
    if (ended_) place->stream_->end();
    place->connection_ = &connection;
    note(audit_event::login, *place);
    return &*place;
}

void order_entry_host::detach(operator_session& whose) noexcept {
    if (whose.connection_ == nullptr) return;
    whose.connection_ = nullptr;
    note(audit_event::logout, whose);
}

void order_entry_host::let_go(operator_session& whose) noexcept {
    if (whose.touched_) std::erase(touched_operators_, &whose);
    whose.touched_ = false;
    whose.stream_.reset();
    whose.user_ = nullptr;
}

operator_session* order_entry_host::find_operator(std::uint32_t number) noexcept {
    if (number == 0) return nullptr;
    const auto found = std::ranges::find_if(operators_, [number](const operator_session& each) {
        return each.connection_ != nullptr && each.number_ == number;
    });
    return found == operators_.end() ? nullptr : &*found;
}

void order_entry_host::attach(participant& whose, order_entry_session& connection) noexcept {
    if (whose.connection_ != nullptr) whose.connection_->cut(soup_ending::replaced);
    // One that has ended and still writes to a participant that has come back elsewhere.
    if (whose.leaving_ != nullptr && whose.leaving_->is_writing_stream())
        whose.leaving_->cut(soup_ending::replaced);
    whose.leaving_ = nullptr;
    whose.connection_ = &connection;
    ++whose.readers_;
    whose.epoch_ = sequencer_.open_session(whose.who().session);
    whose.stream_->reader_at(connection.next_to_send());
    whose.expected_ = true;
}

void order_entry_host::detach(participant& whose, order_entry_session& connection) noexcept {
    if (whose.connection_ != &connection) return;
    whose.connection_ = nullptr;
    whose.leaving_ = &connection;
    const soup_ending why = connection.ending();
    whose.expected_ = why != soup_ending::logged_out && why != soup_ending::session_ended;
    if (ended_) return;
    const session_id session = whose.who().session;
    if (!busy()) return begin_own(end_session{session});
    if (std::ranges::find(ending_, session) == ending_.end()) ending_.push_back(session);
}

void order_entry_host::resume() noexcept {
    sequencer_.resume();
    while (!busy() && !ending_.empty()) {
        const session_id session = ending_.front();
        ending_.erase(ending_.begin());
        // It may be here again, and its orders stay.
        const participant* const whose = by_session_[number(session)];
        if (whose == nullptr || whose->connection() == nullptr) begin_own(end_session{session});
    }
}

void order_entry_host::let_go(participant& whose, const order_entry_session& connection) noexcept {
    if (whose.leaving_ == &connection) {
        whose.leaving_ = nullptr;
        whose.stream_->reader_left();
    }
    --whose.readers_;
}

void order_entry_host::note_sent(participant& whose,
                                 const order_entry_session& connection) noexcept {
    if (whose.connection_ != &connection && whose.leaving_ != &connection) return;
    // Of who was outrun there is nothing to wait for.
    if (!connection.is_outrun(*whose.stream_)) whose.stream_->reader_at(connection.next_to_send());
}

void order_entry_host::announce() noexcept {
    for (participant* const each : touched_) {
        each->touched_ = false;
        if (each->connection() != nullptr) each->connection()->announce_output();
    }
    touched_.clear();
    for (operator_session* const each : touched_operators_) {
        each->touched_ = false;
        if (each->connection() != nullptr) each->connection()->announce_output();
    }
    touched_operators_.clear();
}

void order_entry_host::end(gyre::time_point now) noexcept {
    if (ended_) return;
    finish_command();
    ended_ = true;
    for (participant& each : participants_) {
        each.stream_->end();
        if (each.connection_ != nullptr) each.connection_->announce_output();
    }
    for (operator_session& each : operators_) {
        if (each.free()) continue;
        each.stream_->end();
        if (each.connection_ != nullptr) each.connection_->announce_output();
    }
    feed_.end(now);
}

void order_entry_host::on_timer(gyre::time_point now) noexcept {
    logins_.on_timer(now);
    if (!ended_ && !busy() && sequencer_.now() >= sequencer_.next_expiry())
        begin_own(expire_instruments{});
}

void order_entry_host::take(const event_batch& batch, const command_origin& origin) noexcept {
    struct routes {
        order_entry_host& of;
        const command_origin& origin;
        participant* session(session_id it) const noexcept { return of.by_session_[number(it)]; }
        mold_sender* feed() const noexcept { return &of.feed_; }
        operator_session* administrator() const noexcept {
            return of.find_operator(origin.operator_number);
        }
    };
    if (origin.session == session_id::none) note_answers(batch);
    encode_batch(batch, routes{*this, origin});
}

// ---------------------------------------------------------------------------------------------
// Who may log in
// ---------------------------------------------------------------------------------------------

participant* order_entry_host::find_participant(std::string_view name) noexcept {
    const auto found = std::ranges::find_if(participants_, [name](const participant& each) {
        return !each.removed() && each.who().username.view() == name;
    });
    return found == participants_.end() ? nullptr : &*found;
}

bool order_entry_host::is_operator(std::string_view name) const noexcept {
    return std::ranges::any_of(operator_users_, [name](const operator_user& each) {
        return each.username.view() == name;
    });
}

std::size_t order_entry_host::participants_now() const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count(participants_, false, &participant::removed));
}

participant_outcome order_entry_host::check(const operator_session& from,
                                            std::string_view name) noexcept {
    using enum participant_outcome;
    if (from.user().role != operator_role::administrator) return not_permitted;
    if (name.empty()) return invalid_name;
    return find_participant(name) == nullptr ? unknown_participant : done;
}

participant_outcome order_entry_host::check(const operator_session& from, std::string_view name,
                                            const define_participant& what) noexcept {
    using enum participant_outcome;
    const bool creates = what.action == definition_action::create;
    const participant_outcome known = check(from, name);
    if (known == not_permitted || known == invalid_name) return known;
    if (what.action > definition_action::change) return invalid_action;
    const auto hash = text_of(what.hash);
    if (!hash || hash->empty()) return invalid_hash;
    if (is_secret_ != nullptr && !is_secret_(std::string{*hash})) return invalid_hash;
    if (what.session == session_id::none || number(what.session) >= by_session_.size())
        return unknown_session;
    if (creates && (known == done || is_operator(name))) return name_taken;
    if (!creates && known != done) return unknown_participant;
    const participant* const there = by_session_[number(what.session)];
    if (there != nullptr && there->who().username.view() != name) return session_taken;
    if (creates && participants_now() >= participants_max_) return at_capacity;
    const participant* const old = creates ? nullptr : find_participant(name);
    const bool stays = old != nullptr && old->who().session == what.session;
    return stays || has_place_for(old) ? done : at_capacity;
}

// Streams that do not read may have taken all memory; then there is none for the first message of another.
bool order_entry_host::has_place_for(const participant* instead_of) const noexcept {
    if (instead_of != nullptr && instead_of->readers_ == 0) return true;
    return streams_.has_room() || std::ranges::any_of(participants_, &participant::is_free);
}

void order_entry_host::change(operator_session& from, const define_participant& what) noexcept {
    const std::string_view name = text_of(what.username).value_or("");
    const participant_outcome outcome = check(from, name, what);
    answer(from, {what.username, outcome}, {name, what.session, what.action});
    if (outcome != participant_outcome::done) return;
    const std::string secret{*text_of(what.hash)};
    participant* const known = find_participant(name);
    if (known != nullptr && known->who_.session == what.session) {
        known->who_.secret = secret;
        return cut(*known);
    }
    if (known != nullptr) remove(*known);
    add({name, secret, what.session});
}

void order_entry_host::change(operator_session& from, const remove_participant& what) noexcept {
    const std::string_view name = text_of(what.username).value_or("");
    const participant_outcome outcome = check(from, name);
    answer(from, {what.username, outcome}, {.name = name});
    if (outcome == participant_outcome::done) remove(*find_participant(name));
}

void order_entry_host::answer(operator_session& to, const participant_changed& what,
                              audit_participant noted) noexcept {
    giver_ = {&to.user(), to.number(), to.peer()};
    record({.what = audit_event::command, .participant = &noted});
    noted.outcome = what.outcome;
    record({.what = audit_event::answer, .participant = &noted});
    constexpr std::size_t size = message_bytes_of<participant_changed>;
    encode(what, to.prepare(size).first<size>());
    to.commit(size);
}

void order_entry_host::add(const credentials& who) {
    soup_stream_options stream = stream_;
    // A user who comes back resumes behind what was told before, or would take new messages for old ones.
    if (const auto told = told_.find(std::string{who.username.view()}); told != told_.end())
        stream.first_sequence = told->second;
    const auto place = std::ranges::find_if(participants_, &participant::is_free);
    participant& made = place != participants_.end()
                            ? *place
                            : participants_.emplace_back(who, stream, streams_, touched_);
    if (place != participants_.end()) made.become(who, stream);
    by_session_[number(who.session)] = &made;
}

void order_entry_host::remove(participant& whose) noexcept {
    told_[std::string{whose.who().username.view()}] = whose.stream().messages().next_sequence();
    by_session_[number(whose.who_.session)] = nullptr;
    if (std::exchange(whose.touched_, false)) std::erase(touched_, &whose);
    whose.removed_ = true;
    cut(whose);
    whose.expected_ = false;
}

/// Its session ends as if its connection were lost.
void order_entry_host::cut(participant& whose) noexcept {
    order_entry_session* const connection = whose.connection_;
    if (connection == nullptr) return;
    connection->cut(soup_ending::removed);
    connection->disconnected();
}

// ---------------------------------------------------------------------------------------------
// The audit trail
// ---------------------------------------------------------------------------------------------

void order_entry_host::note_answers(const event_batch& batch) noexcept {
    for (std::size_t at = 0; at < batch.events.size(); ++at) {
        const event& it = batch.events[at];
        if (audience_of(it.kind) != event_audience::administrator) continue;
        ++answers_;
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
}

void order_entry_host::note(audit_event what, const operator_session& of) noexcept {
    if (trail_ == nullptr) return;
    const operator_user& user = of.user();
    trail_->record({.what = what,
                    .time = sequencer_.now(),
                    .who = {user.username.view(), user.role, of.number(), &of.peer()}});
}

void order_entry_host::note_refusal(const soup_login& login, const gyre::endpoint& peer) noexcept {
    if (trail_ == nullptr) return;
    trail_->record({.what = audit_event::login_refused,
                    .time = sequencer_.now(),
                    .who = {.user = login.username.view(), .peer = &peer}});
}

void order_entry_host::record(audit_entry entry) noexcept {
    if (trail_ == nullptr) return;
    entry.time = sequencer_.now();
    if (giver_.user != nullptr)
        entry.who = {giver_.user->username.view(), giver_.user->role, giver_.number, &giver_.peer};
    trail_->record(entry);
}

}  // namespace exchange
