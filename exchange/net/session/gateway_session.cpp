// SPDX-License-Identifier: BSL-1.0
//
// Frames to sessions, and what they say into frames: see gateway_session.hpp.
#include <exchange/net/session/gateway_session.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace exchange {
namespace {

/// Of a session without a connection of its own.
[[nodiscard]] soup_options without_timers() noexcept {
    soup_options made;
    made.heartbeat_after = made.dead_after = made.login_within = gyre::duration::max();
    return made;
}

/// How much of `part` is whole packets within `room`.
[[nodiscard]] std::size_t whole_packets(std::span<const std::byte> part,
                                        std::size_t room) noexcept {
    if (part.size() <= room) return part.size();
    std::span<const std::byte> rest = part;
    std::size_t fits = 0;
    while (take_packet(rest).complete && part.size() - rest.size() <= room)
        fits = part.size() - rest.size();
    return fits;
}

}  // namespace

// ---------------------------------------------------------------------------------------------
// A client
// ---------------------------------------------------------------------------------------------

void gateway_channel::open(const link_open& how, participant* whose) {
    taken_ = 0;
    cut_ = false;
    session_.emplace(of_.host_, *this, of_.sessions_, of_.now_);
    ++of_.clients_;
    session_->admit(how.login, whose, of_.now_);
}

void gateway_channel::carry_out(const soup_packet& packet, std::size_t bytes) noexcept {
    session_->on_packet(packet, of_.now_);
    taken_ += static_cast<std::uint32_t>(bytes);
    has_output();  // An answer, or only that it was taken.
}

void gateway_channel::finish() noexcept {
    if (!session_) return;
    session_->disconnected();
    session_.reset();
    --of_.clients_;
}

link_pull gateway_channel::pull(std::span<std::byte> room) noexcept {
    link_pull made;
    if (!cut_) made.more = !copy_output(room, made.bytes);
    if (cut_ || (!made.more && session_->over())) {
        ++of_.left_;
        made.over = true;
        made.why = session_->ending();
        return made;
    }
    if (taken_ == 0 || session_->owes_answers()) return made;
    of_.link_.take(*this, std::exchange(taken_, 0));
    of_.link_.give_back(*this);
    return made;
}

/// Whether nothing is left that it wants to say.
bool gateway_channel::copy_output(std::span<std::byte> room, std::size_t& filled) noexcept {
    for (;;) {
        const soup_output& output = session_->output();
        if (output.size() == 0) return true;
        const std::size_t before = filled;
        for (const std::span<const std::byte> part : output.buffers()) {
            const std::size_t fits = whole_packets(part, room.size() - filled);
            if (fits > 0) std::memcpy(room.data() + filled, part.data(), fits);
            filled += fits;
            if (fits < part.size()) break;
        }
        const std::size_t offered = output.size();
        session_->sent(filled - before, of_.now_);
        if (filled - before < offered) return false;
    }
}

void gateway_channel::has_output() noexcept {
    if (!is_open()) return;
    of_.link_.announce(*this);
    of_.to_.has_output();
}

void gateway_channel::cut() noexcept {
    cut_ = true;
    has_output();
}

gyre::endpoint gateway_channel::peer() const noexcept { return of_.to_.peer(); }

// ---------------------------------------------------------------------------------------------
// The gateway
// ---------------------------------------------------------------------------------------------

gateway_session::gateway_session(order_entry_host& host, gateway_session_link& to,
                                 const link_options& options, list& all, gyre::time_point now)
    : host_{host},
      to_{to},
      all_{all},
      link_{link_role::facility, options, now},
      sessions_{without_timers()},
      now_{now} {
    all_.push_back(*this);
}

gateway_session::~gateway_session() {
    disconnected();
    gyre::list_link<gateway_session>::unlink();
}

std::size_t gateway_session::take_frames(link_framer& from, std::size_t packets_max,
                                         gyre::time_point now, span_watch& spans) noexcept {
    now_ = now;
    std::size_t taken = 0;
    host_.begin_turn();
    for (; taken < packets_max && !over() && !login_pending(); ++taken) {
        if (taken > 0 && (host_.busy() || host_.feed().crowded())) break;
        if (!rest_.empty()) {
            take_one();
            spans.carried_out();
            continue;
        }
        const link_framed framed = from.next();
        if (framed.ending != link_ending::none) on_step(link_.on_framing_error(framed.ending));
        else if (framed.complete) on_step(link_.on_frame(framed.frame, now));
        else break;
    }
    host_.end_turn();
    return taken;
}

void gateway_session::take_one() noexcept {
    const std::size_t before = rest_.size();
    const soup_framed framed = take_packet(rest_);
    if (!framed.complete) {
        rest_ = {};
        on_step(link_.on_framing_error(link_ending::malformed_frame));
    } else if (at_->is_open()) {
        at_->carry_out(framed.packet, before - rest_.size());
    } else {
        rest_ = {};  // It has been closed since the frame came.
    }
}

void gateway_session::on_step(const link_step& step) noexcept {
    using kind = link_step::kind;
    switch (step.what) {
        case kind::hello:
            pending_ = true;
            return host_.logins().submit(*this, link_.hello().name, to_.peer(), now_);
        case kind::open: return open(step.number, step.open);
        case kind::packets:
            at_ = static_cast<gateway_channel*>(step.channel);
            rest_ = step.payload;
            return;
        case kind::closed: return static_cast<gateway_channel*>(step.channel)->finish();
        case kind::ended: lose_channels(); return to_.has_output();
        case kind::nothing:
        case kind::welcome: return;  // Gateways only.
    }
}

void gateway_session::open(std::uint32_t number, const link_open& how) noexcept {
    const std::string_view user = how.login.username.view();
    participant* const whose = who_->may_speak_for(user) ? host_.find_participant(user) : nullptr;
    // It has logged in elsewhere since, and knows better than the gateway which connection is alive.
    if (how.resumed && whose != nullptr && whose->connection() != nullptr)
        return link_.refuse(number, soup_ending::replaced);
    gateway_channel& it = find_free();
    it.open(how, whose);
    link_.admit(number, it);
    link_.announce(it);
}

gateway_channel& gateway_session::find_free() noexcept {
    const auto found = std::ranges::find_if(channels_, &gateway_channel::is_free);
    return found != channels_.end() ? *found : channels_.emplace_back(*this);
}

void gateway_session::check_login(gyre::time_point now) noexcept {
    pending_ = false;
    const link_hello& hello = link_.hello();
    who_ = host_.find_gateway(hello.name.view(), hello.password.view());
    if (who_ != nullptr) {
        link_.keep_waiting(now);  // It had nothing to say before it was let in.
        take_place_of_link_before();
        link_.welcome(host_.life());
    } else {
        host_.note_refusal({hello.name, {}, {}, 0}, host_.why_no_gateway(hello.name.view()),
                           to_.peer());
        const gyre::duration late = host_.logins().note_mistake(hello.name, to_.peer(), now);
        pending_ = late > gyre::duration::zero();
        if (pending_) refuse_at_ = gyre::deadline_after(now, late);
        else end(link_ending::refused);
    }
    to_.has_output();
}

/// A gateway that connects again knows that its link before is dead.
void gateway_session::take_place_of_link_before() noexcept {
    gateway_session* const before = all_.find([this](const gateway_session& it) {
        return &it != this && it.logged_in() && it.name() == name();
    });
    if (before != nullptr) before->end(link_ending::replaced);
}

void gateway_session::on_timer(gyre::time_point now) noexcept {
    now_ = now;
    if (now >= refuse_at_) {
        pending_ = false;
        refuse_at_ = gyre::never;
        return end(link_ending::refused);
    }
    on_step(link_.on_timer(now));
    if (wants_to_write()) to_.has_output();
}

bool gateway_session::sweep() noexcept {
    if (left_ == 0) return false;
    left_ = 0;
    for (gateway_channel& each : channels_)
        if (each.is_left()) each.finish();
    return true;
}

void gateway_session::end(link_ending why) noexcept {
    link_.end(why);
    lose_channels();
    to_.has_output();
}

void gateway_session::disconnected() noexcept {
    link_.disconnected();
    lose_channels();
}

void gateway_session::lose_channels() noexcept {
    gyre::list_link<waiting_login>::unlink();
    pending_ = false;
    refuse_at_ = gyre::never;
    rest_ = {};
    link_.lose_channels([this](link_channel&, std::uint32_t) { ++left_; });
    static_cast<void>(sweep());
}

}  // namespace exchange
