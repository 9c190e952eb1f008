// SPDX-License-Identifier: BSL-1.0
//
// Phases, the order of what is written, and the cursor in the stream: see soup_server.hpp.
#include <exchange/codec/soup_server.hpp>

#include <utility>

namespace exchange {

using kind = soup_step::kind;

soup_server::soup_server(const soup_options& options, gyre::time_point now)
    : options_{options},
      liveness_{options, now},
      login_deadline_{gyre::deadline_after(now, options.login_within)},
      outbox_{options.outbox_bytes_max} {}

soup_step soup_server::on_packet(const soup_packet& packet, gyre::time_point now) noexcept {
    if (phase_ == phase::over) return {};
    liveness_.heard(now);
    switch (packet.type) {
        case soup_type::login_request:
            if (phase_ != phase::silent) return fail(soup_ending::second_login);
            return on_login(packet.payload);
        case soup_type::debug: return {.what = kind::debug, .payload = packet.payload};
        case soup_type::client_heartbeat:
            if (!packet.payload.empty()) return fail(soup_ending::wrong_size);
            if (phase_ == phase::silent) return fail(soup_ending::before_login);
            return {};
        case soup_type::logout_request:
            if (!packet.payload.empty()) return fail(soup_ending::wrong_size);
            return end(soup_ending::logged_out);
        case soup_type::unsequenced:
            if (phase_ != phase::logged_in) return fail(soup_ending::before_login);
            return {.what = kind::message, .payload = packet.payload};
        case soup_type::login_accepted:
        case soup_type::login_rejected:
        case soup_type::sequenced:
        case soup_type::server_heartbeat:
        case soup_type::end_of_session: return fail(soup_ending::wrong_direction);
    }
    return fail(soup_ending::unknown_packet);
}

soup_step soup_server::on_login(std::span<const std::byte> payload) noexcept {
    const auto [ending, fields] = parse_soup_login(payload);
    if (ending != soup_ending::none) return fail(ending);
    login_ = fields;
    phase_ = phase::asking;
    return {.what = kind::login};
}

soup_step soup_server::on_timer(gyre::time_point now) noexcept {
    if (phase_ == phase::over) return {};
    const bool logging_in = phase_ == phase::silent || phase_ == phase::asking;
    if (logging_in && now >= login_deadline_) return fail(soup_ending::login_timed_out);
    if (liveness_.peer_is_dead(now) && phase_ != phase::silent)
        return fail(soup_ending::peer_silent);
    if (fell_behind()) return fail(soup_ending::fell_behind);
    if (liveness_.heartbeat_due(now)) {
        liveness_.sent(now);
        // What waits to be written speaks for itself, and heartbeats must not pile up behind it.
        if (logged_in() && nothing_to_write()) outbox_.push(soup_type::server_heartbeat);
    }
    return {};
}

gyre::time_point soup_server::deadline() const noexcept {
    if (phase_ == phase::over) return gyre::never;
    if (fell_behind()) return gyre::time_point::min();  // There is nothing to wait for.
    if (phase_ == phase::silent) return login_deadline_;
    if (phase_ == phase::asking) return std::min(login_deadline_, liveness_.deadline());
    return liveness_.deadline();
}

soup_step soup_server::accept(const soup_stream& stream, gyre::time_point now) noexcept {
    gyre::expects(phase_ == phase::asking, "only who asked is accepted");
    const message_log& messages = stream.messages();
    const std::uint64_t first = login_.sequence == 0 ? messages.next_sequence() : login_.sequence;
    const bool here = login_.session.empty() || login_.session == stream.session();
    if (!here || first < messages.first_sequence() || first > messages.next_sequence())
        return reject(soup_reject::session_not_available);
    stream_ = &stream;
    cursor_ = first;
    phase_ = phase::logged_in;
    liveness_.sent(now);
    outbox_.push(soup_type::login_accepted, format_soup_acceptance({stream.session(), first}));
    return {};
}

soup_step soup_server::reject(soup_reject reason) noexcept {
    gyre::expects(phase_ == phase::asking, "only who asked is rejected");
    const std::byte code{static_cast<unsigned char>(reason)};
    outbox_.push(soup_type::login_rejected, {&code, 1});
    return end(soup_ending::rejected);
}

bool soup_server::send_unsequenced(std::span<const std::byte> message) noexcept {
    return phase_ == phase::logged_in && outbox_.push(soup_type::unsequenced, message);
}

bool soup_server::send_debug(std::string_view text) noexcept {
    return phase_ != phase::over && outbox_.push(soup_type::debug, std::as_bytes(std::span{text}));
}

/// Ends with an error, and tells the client in a debug packet which.
soup_step soup_server::fail(soup_ending ending) noexcept {
    send_debug(describe(ending));  // Without room for it, the client learns less.
    return end(ending);
}

soup_step soup_server::end(soup_ending ending) noexcept {
    if (phase_ == phase::over) return {};
    phase_ = phase::over;
    ending_ = ending;
    return {.what = kind::ended, .ending = ending};
}

/// Has the stream forgotten what would have to be written next?
bool soup_server::fell_behind() const noexcept {
    return stream_ != nullptr && cursor_ < stream_->messages().first_sequence();
}

bool soup_server::nothing_to_write() const noexcept {
    return outbox_.empty() && cursor_ >= stream_->messages().end_of_released();
}

const soup_output& soup_server::output() noexcept {
    offered_.clear();
    outbox_offered_ = 0;
    stream_offered_ = false;
    // Most often, behind a write that took all.
    if (partial_ == 0 && logged_in() && nothing_to_write() && !stream_->ended()) return offered_;
    // Once its middle is lost, a torn message cannot be completed, and nothing can follow it.
    const bool behind = fell_behind();
    if (behind && partial_ > 0) return offered_;
    // A packet that was begun comes first: nothing may stand inside it.
    if (partial_ > 0) offered_.add(stream_->messages().framed(cursor_).subspan(partial_));
    if (logged_in() && stream_->ended() && !end_announced_ &&
        cursor_ == stream_->messages().next_sequence())
        end_announced_ = outbox_.push(soup_type::end_of_session);
    const std::span<const std::byte> others = outbox_.offer();
    outbox_offered_ = others.size();
    offered_.add(others);
    offered_end_ = partial_ > 0 ? cursor_ + 1 : cursor_;
    if (logged_in() && !behind) add_stream();
    stream_offered_ = offered_.size() > outbox_offered_;
    return offered_;
}

void soup_server::add_stream() noexcept {
    const message_log& messages = stream_->messages();
    while (!offered_.full() && offered_end_ < messages.end_of_released()) {
        const message_run run = messages.run_from(offered_end_);
        offered_.add(run.bytes);
        offered_end_ += run.messages;
    }
}

void soup_server::sent(std::size_t size, gyre::time_point now) noexcept {
    stream_offered_ = false;
    if (size == 0) return;
    liveness_.sent(now);
    // Most often, and no message needs to be looked at.
    if (size == offered_.size() && !fell_behind()) {
        outbox_.sent(std::exchange(outbox_offered_, 0));
        cursor_ = offered_end_;
        partial_ = 0;
    } else {
        sent_in_part(size);
    }
    offered_.clear();
    if (end_announced_ && outbox_.empty()) end(soup_ending::session_ended);
}

void soup_server::sent_in_part(std::size_t size) noexcept {
    if (partial_ > 0 && !fell_behind()) {
        const std::size_t rest = stream_->messages().framed(cursor_).size() - partial_;
        const std::size_t taken = std::min(size, rest);
        advance(taken);
        size -= taken;
    }
    const std::size_t from_outbox = std::min(size, outbox_offered_);
    outbox_.sent(from_outbox);
    outbox_offered_ -= from_outbox;
    advance(size - from_outbox);
}

/// Moves the cursor over `size` bytes of the stream.
void soup_server::advance(std::size_t size) noexcept {
    while (size > 0 && !fell_behind()) {
        const std::size_t rest = stream_->messages().framed(cursor_).size() - partial_;
        if (size < rest) {
            partial_ += size;
            return;
        }
        size -= rest;
        partial_ = 0;
        ++cursor_;
    }
}

}  // namespace exchange
