// SPDX-License-Identifier: BSL-1.0
//
// Phases and the numbering of what arrives: see soup_client.hpp.
#include <exchange/codec/soup_client.hpp>

namespace exchange {

using kind = soup_step::kind;

soup_client::soup_client(const soup_options& options, const soup_login& login, gyre::time_point now)
    : liveness_{options, now},
      options_{options},
      outbox_{options.outbox_bytes_max},
      login_{login} {}

void soup_client::connect(gyre::time_point now) noexcept {
    outbox_.clear();
    liveness_ = {options_, now};
    phase_ = phase::asking;
    ending_ = soup_ending::none;
    rejected_ = soup_reject::none;
    const soup_login who_is_there{login_.username, login_.password, {}, 0};
    outbox_.push(soup_type::login_request, format_soup_login(doubtful_ ? who_is_there : login_));
}

soup_step soup_client::on_packet(const soup_packet& packet, gyre::time_point now) noexcept {
    if (phase_ == phase::over || phase_ == phase::idle) return {};
    liveness_.heard(now);
    const bool in = logged_in();
    switch (packet.type) {
        case soup_type::debug: return {.what = kind::debug, .payload = packet.payload};
        case soup_type::login_accepted:
            return in ? end(soup_ending::second_login) : on_accepted(packet.payload);
        case soup_type::login_rejected:
            return in ? end(soup_ending::second_login) : on_rejected(packet.payload);
        case soup_type::sequenced:
            return in ? on_sequenced(packet.payload) : end(soup_ending::before_login);
        case soup_type::unsequenced:
            if (!in) return end(soup_ending::before_login);
            return {.what = kind::message, .payload = packet.payload};
        case soup_type::server_heartbeat:
            if (!packet.payload.empty()) return end(soup_ending::wrong_size);
            return in ? soup_step{} : end(soup_ending::before_login);
        case soup_type::end_of_session:
            if (!packet.payload.empty()) return end(soup_ending::wrong_size);
            return end(in ? soup_ending::session_ended : soup_ending::before_login);
        case soup_type::login_request:
        case soup_type::client_heartbeat:
        case soup_type::logout_request: return end(soup_ending::wrong_direction);
    }
    return end(soup_ending::unknown_packet);
}

soup_step soup_client::on_accepted(std::span<const std::byte> payload) noexcept {
    const auto [ending, accepted] = parse_soup_acceptance(payload);
    if (ending != soup_ending::none) return end(ending);
    if (doubtful_) return on_present_session(accepted);
    if (!login_.session.empty() && accepted.session != login_.session) {
        doubtful_ = true;
        return end(soup_ending::wrong_session);
    }
    // What was wanted must not be skipped. The server may begin earlier: those are dropped one by one.
    if (login_.sequence != 0 && accepted.sequence > login_.sequence)
        return end(soup_ending::sequence_gap);
    login_.session = accepted.session;
    if (login_.sequence == 0) login_.sequence = accepted.sequence;
    arriving_ = accepted.sequence;
    phase_ = phase::logged_in;
    return {.what = kind::started};
}

/// Nothing of this session is taken yet: it is the one that was refused, or one of which all is wanted.
soup_step soup_client::on_present_session(const soup_acceptance& present) noexcept {
    doubtful_ = false;
    // One of our name that has said less than we have heard is another one, too.
    if (present.session == login_.session && present.sequence >= login_.sequence)
        return end(soup_ending::not_kept);
    next_life_ = present.session;
    return end(soup_ending::life_ended);
}

void soup_client::join_next_life() noexcept {
    gyre::expects(!next_life_.empty(), "a life has ended");
    login_.session = next_life_;
    login_.sequence = 1;
}

bool soup_client::is_over() const noexcept {
    switch (ending_) {
        case soup_ending::logged_out:
        case soup_ending::session_ended:
        case soup_ending::not_kept: return true;
        case soup_ending::rejected: return !doubtful_;
        default: return false;
    }
}

soup_step soup_client::on_rejected(std::span<const std::byte> payload) noexcept {
    if (payload.size() != 1) return end(soup_ending::wrong_size);
    rejected_ = static_cast<soup_reject>(payload[0]);
    const bool resuming = !login_.session.empty() && !doubtful_;
    doubtful_ = resuming && rejected_ == soup_reject::session_not_available;
    return end(soup_ending::rejected);
}

soup_step soup_client::on_sequenced(std::span<const std::byte> payload) noexcept {
    const std::uint64_t sequence = arriving_++;
    if (sequence < login_.sequence) return {};  // Had it on a connection before.
    login_.sequence = arriving_;
    return {.what = kind::message, .sequence = sequence, .payload = payload};
}

soup_step soup_client::on_timer(gyre::time_point now) noexcept {
    if (phase_ == phase::over || phase_ == phase::idle) return {};
    if (liveness_.peer_is_dead(now)) return end(soup_ending::peer_silent);
    if (liveness_.heartbeat_due(now)) {
        liveness_.sent(now);
        // What waits to be written speaks for itself, and heartbeats must not pile up behind it.
        if (logged_in() && outbox_.empty()) outbox_.push(soup_type::client_heartbeat);
    }
    return {};
}

gyre::time_point soup_client::deadline() const noexcept {
    const bool connected = phase_ == phase::asking || phase_ == phase::logged_in;
    return connected ? liveness_.deadline() : gyre::never;
}

bool soup_client::send(std::span<const std::byte> message) noexcept {
    return logged_in() && outbox_.push(soup_type::unsequenced, message);
}

bool soup_client::send_debug(std::string_view text) noexcept {
    const bool connected = phase_ == phase::asking || phase_ == phase::logged_in;
    return connected && outbox_.push(soup_type::debug, std::as_bytes(std::span{text}));
}

bool soup_client::log_out() noexcept {
    if (!logged_in() || !outbox_.push(soup_type::logout_request)) return false;
    end(soup_ending::logged_out);
    return true;
}

soup_step soup_client::end(soup_ending ending) noexcept {
    phase_ = phase::over;
    ending_ = ending;
    return {.what = kind::ended, .ending = ending};
}

soup_output soup_client::output() noexcept {
    soup_output out;
    out.add(outbox_.offer());
    return out;
}

void soup_client::sent(std::size_t size, gyre::time_point now) noexcept {
    if (size == 0) return;
    liveness_.sent(now);
    outbox_.sent(size);
}

}  // namespace exchange
