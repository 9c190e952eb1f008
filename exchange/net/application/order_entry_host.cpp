// SPDX-License-Identifier: BSL-1.0
//
// From messages to commands, and connections that come and go: see order_entry_host.hpp.
#include <exchange/net/application/order_entry_host.hpp>

#include <exchange/codec/event_codec.hpp>
#include <exchange/codec/mass_quote_codec.hpp>
#include <exchange/codec/participant_codec.hpp>
#include <exchange/net/session/order_entry_session.hpp>

#include <algorithm>
#include <chrono>

namespace exchange {
namespace {

// A stream whose messages wait for the journal.
template <class Options>
Options held_if(bool journaled, Options stream) noexcept {
    stream.held = journaled;
    return stream;
}

participant_table_options participants_of(const order_entry_host_options& it) {
    return {.sessions_max = it.sequencing.limits.sessions_max,
            .participants_max = it.participants_max,
            .is_secret = it.is_secret,
            .stream = held_if(it.journaled, it.stream),
            .stream_memory = {.bytes_max = stream_memory_for(it),
                              .segment_bytes = it.stream_memory.segment_bytes,
                              .warm_bytes = it.stream_memory.warm_bytes}};
}

query_origin asked_at(gyre::time_point now, const soup_stream& stream,
                      timestamp_ns& queries_until) noexcept {
    const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch());
    return {.next_in_stream = stream.messages().next_sequence(),
            .now = static_cast<timestamp_ns>(since.count()),
            .queries_until = queries_until};
}

}  // namespace

std::size_t stream_memory_for(const order_entry_host_options& options) noexcept {
    if (options.stream_memory.bytes_max != 0) return options.stream_memory.bytes_max;
    // All that each may keep, with what its first and its last segment have room for beside that, and one of
    // them that does not read.
    const std::size_t each = options.stream.bytes_max + 2 * options.stream_memory.segment_bytes;
    const std::size_t participants =
        std::max(options.participants_max, options.participants.size());
    return participants * each + options.stream.unread_bytes_max;
}

order_entry_host::order_entry_host(const order_entry_host_options& options, gyre::time_point now)
    : feed_{held_if(options.journaled, options.feed), now},
      participants_{participants_of(options), options.participants},
      operators_{options.operators, options.operator_connections_max,
                 held_if(options.journaled, options.operator_stream)},
      trail_{sequencer_, options.trail},
      router_{sequencer_, participants_, operators_, feed_, trail_},
      sequencer_{options.sequencing, router_},
      queries_{sequencer_, feed_, participants_, options.queries},
      gateways_{options.gateways},
      life_{options.stream.session},
      passwords_{options.passwords},
      dummy_secret_{options.dummy_secret},
      logins_{options.logins, now},
      journaled_{options.journaled} {}

// ---------------------------------------------------------------------------------------------
// Messages
// ---------------------------------------------------------------------------------------------

std::optional<message_rejected> order_entry_host::take(
    const participant& from, std::span<const std::byte> message) noexcept {
    decode_fault fault{decode_error::unexpected_message, 0};
    if (from.who().what == told::own) [[likely]] {
        const command_origin origin{from.who().session, from.epoch(), 0};
        fault = decode_client_command(message, origin.session,
                                      [&](const auto& command) { begin(origin, command); });
        if (fault.error == decode_error::unexpected_message)
            fault = decode_mass_quote(
                message, [&](const enter_quotes& several) { begin_quotes(origin, several); });
    }
    if (fault.error == decode_error::none) return std::nullopt;
    // A question that could be read was answered before.
    if (may_be_question(message)) {
        const decode_fault asked = decode_question(message, [](const auto&) {});
        if (asked.error != decode_error::unexpected_message) fault = asked;
    }
    ++malformed_;
    return refusal_of(message, fault);
}

void order_entry_host::begin_quotes(const command_origin& from, const enter_quotes& what) noexcept {
    gyre::expects(!ended_, "nothing follows the end of the day");
    quoting_ = from;
    quotes_ = what;
    next_quote_ = 0;
    quote_some();
    if (busy()) wait_for_rest();
}

// As much as a step of one command may take, each of them may: so not many at once.
void order_entry_host::quote_some() noexcept {
    constexpr int at_once = 8;
    for (int each = 0; each < at_once && quotes_left() && !sequencer_.busy(); ++each)
        static_cast<void>(sequencer_.submit(quoting_, quotes_.at(next_quote_++, quoting_.session)));
}

template <class Change>
void order_entry_host::change(operator_session& from, const Change& what) noexcept {
    const std::string_view name = text_of(what.username).value_or("");
    const bool may = from.user().role == operator_role::administrator;
    const participant_outcome outcome =
        may ? check(name, what) : participant_outcome::not_permitted;
    audit_participant noted{.name = name};
    if constexpr (requires { what.session; }) {
        noted.session = what.session;
        noted.action = what.action;
    }
    trail_.given_by(from);
    trail_.note_change(noted, outcome);
    constexpr std::size_t size = message_bytes_of<participant_changed>;
    encode(participant_changed{what.username, outcome}, from.prepare(size).template first<size>());
    from.commit(size);
    if (outcome == participant_outcome::done) participants_.change(name, what);
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
    trail_.note_not_permitted(what, subject);
}

std::span<const std::byte> order_entry_host::answer(const participant& asking,
                                                    std::span<const std::byte> message,
                                                    gyre::time_point now,
                                                    timestamp_ns& queries_until) noexcept {
    if (!may_be_question(message)) return {};  // Of most messages there is nothing more to know.
    query_origin who = asked_at(now, asking.stream(), queries_until);
    who.session = asking.who().session;
    who.account = asking.who().account;
    return queries_.answer(message, who);
}

std::span<const std::byte> order_entry_host::answer(const operator_session& asking,
                                                    std::span<const std::byte> message,
                                                    gyre::time_point now,
                                                    timestamp_ns& queries_until) noexcept {
    return queries_.answer(message, asked_at(now, asking.stream(), queries_until));
}

participant_outcome order_entry_host::check(std::string_view name,
                                            const define_participant& what) noexcept {
    return participants_.check(name, what, operators_.find(name) != nullptr);
}

participant_outcome order_entry_host::check(std::string_view name,
                                            const remove_participant& what) noexcept {
    return participants_.check(name, what);
}

// ---------------------------------------------------------------------------------------------
// Logins and connections
// ---------------------------------------------------------------------------------------------

known_user order_entry_host::find(const soup_login& login) noexcept {
    const std::string_view name = login.username.view();
    const known_user found{participants_.find(name), operators_.find(name)};
    // An unknown name takes as long as a known one.
    const std::string& secret = found.trader != nullptr          ? found.trader->who().secret
                                : found.administrator != nullptr ? found.administrator->secret
                                                                 : dummy_secret_;
    const bool right = passwords_(login.password.view(), secret);
    if (found.none()) return {nullptr, nullptr, login_refusal::unknown_user};
    return right ? found : known_user{nullptr, nullptr, login_refusal::wrong_password};
}

bool order_entry_host::knows(std::string_view name) noexcept {
    return participants_.find(name) != nullptr || operators_.find(name) != nullptr;
}

const known_gateway* order_entry_host::find_gateway(std::string_view name,
                                                    std::string_view password) const noexcept {
    const auto found = std::ranges::find_if(
        gateways_, [name](const known_gateway& it) { return it.name.view() == name; });
    const bool known = found != gateways_.end();
    const bool right = passwords_(password, known ? found->secret : dummy_secret_);
    return known && right ? &*found : nullptr;
}

login_refusal order_entry_host::why_no_gateway(std::string_view name) const noexcept {
    const bool known = std::ranges::any_of(
        gateways_, [name](const known_gateway& it) { return it.name.view() == name; });
    return known ? login_refusal::wrong_link_password : login_refusal::unknown_gateway;
}

void order_entry_host::note_refusal(const soup_login& login, login_refusal why,
                                    const gyre::endpoint& peer) noexcept {
    trail_.note_refusal(login, why, peer);
    ++refused_;
    if (watcher_ == nullptr) return;
    const participant* const whose = participants_.find(login.username.view());
    watcher_->login_refused({.user = login.username.view(),
                             .why = why,
                             .peer = peer,
                             .session = whose != nullptr ? whose->who().session : session_id::none,
                             .life = login.session.view(),
                             .sequence = login.sequence});
}

void order_entry_host::note_shed(std::string_view user, const gyre::endpoint& peer) noexcept {
    ++shed_;
    if (watcher_ != nullptr) watcher_->client_shed(user, peer);
}

operator_session* order_entry_host::open(const operator_user& who, order_entry_session& connection,
                                         const gyre::endpoint& peer) noexcept {
    operator_session* const place = operators_.open(who, connection, peer);
    if (place != nullptr) {
        ++logins_taken_;
        trail_.note(audit_event::login, *place);
    }
    return place;
}

void order_entry_host::detach(operator_session& whose) noexcept {
    if (whose.detach()) trail_.note(audit_event::logout, whose);
}

void order_entry_host::attach(participant& whose, order_entry_session& connection) noexcept {
    ++logins_taken_;
    const session_id session = whose.who().session;
    whose.attach(connection, session == session_id::none ? 0 : sequencer_.open_session(session));
}

void order_entry_host::detach(participant& whose, order_entry_session& connection) noexcept {
    const session_id session = whose.who().session;
    if (!whose.detach(connection) || ended_ || session == session_id::none) return;
    if (!busy()) return begin_own(end_session{session});
    if (std::ranges::find(ending_, session) == ending_.end()) ending_.push_back(session);
    if (runner_ != nullptr) runner_->host_is_busy();
}

void order_entry_host::resume() noexcept {
    if (sequencer_.busy()) return sequencer_.resume();
    if (quotes_left()) return quote_some();
    if (ending_.empty()) return;
    const session_id session = ending_.front();
    ending_.pop_front();
    // It may be here again, and its orders stay.
    if (!participants_.is_logged_in(session)) begin_own(end_session{session});
}

// ---------------------------------------------------------------------------------------------
// What leaves
// ---------------------------------------------------------------------------------------------

void order_entry_host::announce() noexcept {
    if (journaled_) return;
    participants_.touched().announce();
    operators_.touched().announce();
}

std::uint64_t order_entry_host::seal() noexcept {
    gyre::expects(journaled_, "what is not held cannot be sealed");
    participants_.touched().seal();
    operators_.touched().seal();
    feed_.seal();
    return sequencer_.commands();
}

void order_entry_host::release() noexcept {
    participants_.touched().release();
    operators_.touched().release();
    feed_.release();
}

void order_entry_host::end(gyre::time_point now) noexcept {
    if (ended_) return;
    finish_command();
    ended_ = true;
    participants_.end();
    operators_.end();
    feed_.end(now);
}

void order_entry_host::on_timer(gyre::time_point now) noexcept {
    logins_.on_timer(now);
    if (ended_ || busy()) return;
    const timestamp_ns time = sequencer_.now();
    if (time >= sequencer_.next_expiry()) begin_own(expire_instruments{});
    else if (time >= sequencer_.next_phase_change()) begin_own(advance_phases{});
}

}  // namespace exchange
