// SPDX-License-Identifier: BSL-1.0
//
// What each packet means between a client and its channel: see gateway_client.hpp.
#include <exchange/net/session/gateway_client.hpp>

#include <exchange/codec/event_codec.hpp>

#include <algorithm>
#include <utility>

namespace exchange {

gateway_client::gateway_client(gateway_host& host, client_link& to, gyre::time_point now)
    : host_{host},
      to_{to},
      liveness_{host.options().sessions, now},
      login_deadline_{gyre::deadline_after(now, host.options().sessions.login_within)},
      outbox_{host.options().link.window_bytes + host.options().sessions.outbox_bytes_max},
      progress_at_{now} {}

gateway_client::~gateway_client() { disconnected(); }

// ---------------------------------------------------------------------------------------------
// From the client
// ---------------------------------------------------------------------------------------------

void gateway_client::take(const packet_batch& batch, gyre::time_point now) noexcept {
    packets_ = batch;
    proceed(now);
}

void gateway_client::proceed(gyre::time_point now) noexcept {
    host_.note_time(now);
    look();
    if (held_) host_.announce(*this);
}

/// Looks at packets up to one that is for the facility.
void gateway_client::look() noexcept {
    if (early_ && phase_ == phase::in) on_message(*std::exchange(early_, {}));
    while (can_use() && !packets_.packets.empty()) {
        const soup_packet packet = packets_.take_first();
        liveness_.heard(host_.now());
        on_packet(packet);
    }
    if (can_use() && packets_.ending != soup_ending::none) end(packets_.ending);
}

void gateway_client::on_packet(const soup_packet& packet) noexcept {
    const bool silent = phase_ == phase::silent;
    switch (packet.type) {
        case soup_type::login_request:
            return silent ? on_login(packet.payload) : end(soup_ending::second_login);
        case soup_type::debug: return;
        case soup_type::client_heartbeat:
            if (!packet.payload.empty()) return end(soup_ending::wrong_size);
            return silent ? end(soup_ending::before_login) : void();
        case soup_type::logout_request:
            return packet.payload.empty() ? on_logout(packet) : end(soup_ending::wrong_size);
        case soup_type::unsequenced:
            return silent ? end(soup_ending::before_login) : on_message(packet);
        case soup_type::login_accepted:
        case soup_type::login_rejected:
        case soup_type::sequenced:
        case soup_type::server_heartbeat:
        case soup_type::end_of_session: return end(soup_ending::wrong_direction);
    }
    end(soup_ending::unknown_packet);
}

void gateway_client::on_login(std::span<const std::byte> payload) noexcept {
    const auto [wrong, fields] = parse_soup_login(payload);
    if (wrong != soup_ending::none) return end(wrong);
    login_ = fields;
    phase_ = phase::asking;
    host_.logins().submit(*this, login_.username, to_.peer(), host_.now());
}

void gateway_client::check_login(gyre::time_point now) noexcept {
    user_ = host_.users().find(login_.username.view(), login_.password.view());
    login_.password = {};
    if (user_ == nullptr) {
        const bool known = host_.users().knows(login_.username.view());
        host_.note_refused(
            {.user = login_.username.view(),
             .why = known ? login_refusal::wrong_password : login_refusal::unknown_user,
             .peer = to_.peer(),
             .life = login_.session.view(),
             .sequence = login_.sequence});
        const gyre::duration late = host_.logins().note_mistake(login_.username, to_.peer(), now);
        if (late == gyre::duration::zero()) return reject();
        refuse_at_ = gyre::deadline_after(now, late);
        return;
    }
    ++host_.counts().logins;
    phase_ = phase::opening;
    patient_until_ = gyre::deadline_after(now, host_.options().grace);
    host_.want_channel(*this);
}

void gateway_client::reject() noexcept {
    const std::byte code{static_cast<unsigned char>(soup_reject::not_authorized)};
    static_cast<void>(say(soup_type::login_rejected, {&code, 1}));
    end(soup_ending::rejected);
}

void gateway_client::on_logout(const soup_packet& packet) noexcept {
    if (phase_ == phase::in && is_open()) held_ = packet;  // The facility ends the session.
    else end(soup_ending::logged_out);
}

void gateway_client::on_message(const soup_packet& packet) noexcept {
    if (phase_ != phase::in) {
        early_ = packet;
        return;
    }
    const auto what = is_cancel(packet.payload) ? message_class::cancel : message_class::entry;
    if (!host_.users().let_through(*user_, what, host_.now())) {
        ++host_.counts().held_back;
        return refuse(packet.payload, decode_error::too_many_messages);
    }
    if (is_open()) held_ = packet;
    else refuse(packet.payload, decode_error::exchange_unreachable);
}

/// Answers a message that goes no further.
void gateway_client::refuse(std::span<const std::byte> message, decode_error why) noexcept {
    if (why == decode_error::exchange_unreachable) ++host_.counts().unreachable;
    std::array<std::byte, message_bytes_of<message_rejected>> bytes;
    encode(refusal_of(message, {why, 0}), bytes);
    // A client that sends and does not read: no answer is lost in silence, so it ends.
    if (!say(soup_type::unsequenced, bytes)) end(soup_ending::fell_behind);
}

link_pull gateway_client::pull(std::span<std::byte> room) noexcept {
    link_pull made;
    pulling_ = true;
    for (; held_; look()) {
        const std::span<const std::byte> payload = held_->payload;
        const std::span<std::byte> free = room.subspan(made.bytes);
        if (soup_header_bytes + payload.size() > free.size()) {
            made.more = true;
            break;
        }
        write_soup_header(free.first<soup_header_bytes>(), held_->type, payload.size());
        std::ranges::copy(payload, free.subspan(soup_header_bytes).begin());
        made.bytes += soup_header_bytes + payload.size();
        ++host_.counts().forwarded;
        held_.reset();
    }
    pulling_ = false;
    made.over = over();
    made.why = ending_;
    if (!held_) to_.may_read();
    return made;
}

// ---------------------------------------------------------------------------------------------
// From the facility
// ---------------------------------------------------------------------------------------------

link_open gateway_client::request() noexcept {
    resuming_ = phase_ == phase::in;
    link_open made{login_, resuming_};
    if (resuming_) {
        made.login.session = life_;
        made.login.sequence = next_;
    }
    return made;
}

bool gateway_client::deliver(std::span<const std::byte> packets, gyre::time_point now) noexcept {
    if (of_facility_ + own_ == 0) progress_at_ = now;
    std::span<const std::byte> rest = packets;
    const std::byte* begin = packets.data();  // Of what is to be passed on in one piece.
    while (!rest.empty() && !over()) {
        const std::byte* const at = rest.data();
        const soup_framed framed = take_packet(rest);
        if (!framed.complete) return false;
        const verdict found = judge(framed.packet);
        if (found == verdict::wrong) return false;
        if (found == verdict::pass) continue;
        if (!pass_on({begin, at})) return false;
        begin = rest.data();
        if (is_open()) host_.take(*this, static_cast<std::size_t>(rest.data() - at));
    }
    return pass_on({begin, rest.data()});
}

bool gateway_client::pass_on(std::span<const std::byte> packets) noexcept {
    if (packets.empty()) return true;
    if (!outbox_.append(packets)) return false;
    of_facility_ += packets.size();
    to_.has_output();
    return true;
}

gateway_client::verdict gateway_client::judge(const soup_packet& packet) noexcept {
    const bool in = phase_ == phase::in && !resuming_;
    switch (packet.type) {
        case soup_type::sequenced: ++next_; return in ? verdict::pass : verdict::wrong;
        case soup_type::unsequenced:
        case soup_type::end_of_session: return in ? verdict::pass : verdict::wrong;
        case soup_type::debug: return in ? verdict::pass : verdict::drop;
        case soup_type::server_heartbeat: return verdict::drop;
        case soup_type::login_accepted: return on_accepted(packet.payload);
        case soup_type::login_rejected: return on_rejected();
        default: return verdict::wrong;
    }
}

gateway_client::verdict gateway_client::on_accepted(std::span<const std::byte> payload) noexcept {
    const auto [wrong, accepted] = parse_soup_acceptance(payload);
    if (wrong != soup_ending::none) return verdict::wrong;
    patient_until_ = gyre::never;
    if (phase_ == phase::opening) {
        life_ = accepted.session;
        next_ = accepted.sequence;
        phase_ = phase::in;
        to_.may_read();
        return verdict::pass;
    }
    if (!resuming_ || accepted.session != life_ || accepted.sequence != next_)
        return verdict::wrong;
    resuming_ = false;
    return verdict::drop;  // The client was let in long ago.
}

/// The client that asks reads why itself; one that was in is told.
gateway_client::verdict gateway_client::on_rejected() noexcept {
    if (phase_ == phase::opening) return verdict::pass;
    if (!resuming_) return verdict::wrong;
    end(soup_ending::not_kept);
    return verdict::drop;
}

void gateway_client::channel_closed(soup_ending why) noexcept {
    if (why == soup_ending::fell_behind) host_.note_shed(*this);
    end(why == soup_ending::none ? soup_ending::unreachable : why);
}

void gateway_client::channel_lost(std::uint32_t in_flight) noexcept {
    if (over()) return;
    // Whether these were carried out only its stream can tell: it has to log in again, and to look.
    if (in_flight > 0) return end(soup_ending::link_lost);
    if (phase_ == phase::in) {
        patient_until_ =
            std::min(patient_until_, gyre::deadline_after(host_.now(), host_.options().grace));
        if (const std::optional<soup_packet> packet = std::exchange(held_, {})) {
            if (packet->type == soup_type::logout_request) return end(soup_ending::logged_out);
            refuse(packet->payload, decode_error::exchange_unreachable);
        }
    }
    if (over()) return;
    // A new channel has a whole window, for which there must be room.
    drains_first_ = of_facility_ > 0;
    if (!drains_first_) host_.want_channel(*this);
    look();
    to_.may_read();
}

void gateway_client::leave_unless_of(const soup_session& life) noexcept {
    if (phase_ == phase::in && life_ != life) end(soup_ending::life_ended);
}

// ---------------------------------------------------------------------------------------------
// To the client
// ---------------------------------------------------------------------------------------------

void gateway_client::sent(std::size_t size, gyre::time_point now) noexcept {
    liveness_.sent(now);
    progress_at_ = now;
    outbox_.sent(size);
    const std::size_t of_facility = std::min(size, of_facility_);
    of_facility_ -= of_facility;
    own_ -= std::min(own_, size - of_facility);
    if (is_open() && of_facility > 0) {
        host_.take(*this, of_facility);
        if (of_facility_ == 0) host_.give_back(*this);
    }
    if (drains_first_ && of_facility_ == 0 && !over()) {
        drains_first_ = false;
        host_.want_channel(*this);
    }
}

bool gateway_client::say(soup_type type, std::span<const std::byte> payload) noexcept {
    const std::size_t size = soup_header_bytes + payload.size();
    if (own_ + size > host_.options().sessions.outbox_bytes_max) return false;
    if (!outbox_.push(type, payload)) return false;
    own_ += size;
    to_.has_output();
    return true;
}

/// Has it left half a window or more unread, and taken nothing of it for long?
bool gateway_client::is_stalled(gyre::time_point now) const noexcept {
    return of_facility_ + own_ >= host_.options().link.window_bytes / 2 &&
           now >= gyre::deadline_after(progress_at_, host_.options().stalled_max);
}

void gateway_client::on_timer(gyre::time_point now) noexcept {
    if (over()) return;
    host_.note_time(now);
    if (now >= refuse_at_) return reject();
    if (now >= patient_until_)
        return end(drains_first_ ? soup_ending::fell_behind : soup_ending::unreachable);
    // One whose password waits to be checked is not heard, so no other limit ends it.
    const bool waits_for_check = phase_ == phase::asking && refuse_at_ == gyre::never;
    if (phase_ == phase::silent || waits_for_check) {
        if (now >= login_deadline_) end(soup_ending::login_timed_out);
        return;
    }
    // What it has sent is not looked at, or it has not been let in, so its silence says nothing.
    if (!can_use() || phase_ != phase::in) liveness_.heard(now);
    if (liveness_.peer_is_dead(now)) return end(soup_ending::peer_silent);
    if (is_stalled(now)) {
        host_.note_shed(*this);
        return end(soup_ending::fell_behind);
    }
    if (!liveness_.heartbeat_due(now)) return;
    liveness_.sent(now);
    if (phase_ == phase::in && outbox_.empty())
        static_cast<void>(say(soup_type::server_heartbeat, {}));
}

// ---------------------------------------------------------------------------------------------
// The end
// ---------------------------------------------------------------------------------------------

void gateway_client::end(soup_ending why) noexcept {
    if (over()) return;
    ending_ = why;
    // Without room for it, the client learns less.
    if (!needs_no_words(why))
        static_cast<void>(say(soup_type::debug, std::as_bytes(std::span{describe(why)})));
    leave_lists();
    to_.has_output();
    to_.may_read();
}

void gateway_client::disconnected() noexcept {
    if (!over()) leave_lists();
}

void gateway_client::leave_lists() noexcept {
    phase_ = phase::over;
    refuse_at_ = patient_until_ = gyre::never;
    held_.reset();
    early_.reset();
    packets_ = {};
    gyre::list_link<waiting_login>::unlink();
    gyre::list_link<gateway_client>::unlink();
    if (is_open() && !pulling_) host_.close_channel(*this, ending_);
}

}  // namespace exchange
