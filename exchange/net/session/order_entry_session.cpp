// SPDX-License-Identifier: BSL-1.0
//
// What each step of the protocol means to the application.
#include <exchange/net/session/order_entry_session.hpp>

#include <utility>

namespace exchange {

using kind = soup_step::kind;

order_entry_session::order_entry_session(order_entry_host& host, session_link& link,
                                         const soup_options& options, gyre::time_point now)
    : host_{host}, link_{link}, server_{options, now} {}

order_entry_session::~order_entry_session() {
    disconnected();
    if (owner_ != nullptr) owner_->let_go(*this);
    if (place_ != nullptr) place_->let_go();
}

void order_entry_session::on_packet(const soup_packet& packet, gyre::time_point now) noexcept {
    on_step(server_.on_packet(packet, now), now);
}

void order_entry_session::admit(const soup_login& login, participant* whose,
                                gyre::time_point now) noexcept {
    static_cast<void>(server_.on_packet({soup_type::login_request, format_soup_login(login)}, now));
    if (whose != nullptr) {
        log_in(*whose, now);
    } else {
        const bool known = host_.knows(login.username.view());
        note_refusal(known ? login_refusal::not_for_gateway : login_refusal::unknown_user);
        refuse(soup_reject::not_authorized);
    }
    link_.has_output();
}

void order_entry_session::on_framing_error(soup_ending ending) noexcept {
    static_cast<void>(server_.on_framing_error(ending));
    disconnected();
}

void order_entry_session::on_timer(gyre::time_point now) noexcept {
    if (refuse_at_ != gyre::never) server_.keep_waiting(now);  // It has done its part.
    else if (pending_) server_.keep_alive(now);
    on_step(server_.on_timer(now), now);
    if (now >= refuse_at_) refuse(soup_reject::not_authorized);
}

void order_entry_session::sent(std::size_t size, gyre::time_point now) noexcept {
    server_.sent(size, now);
    if (owner_ != nullptr) owner_->note_sent(*this);
    if (over()) disconnected();
}

void order_entry_session::on_step(const soup_step& step, gyre::time_point now) noexcept {
    switch (step.what) {
        case kind::login: return log_in(now);
        case kind::message: return carry_out(step.payload, now);
        case kind::ended: return disconnected();
        case kind::nothing:
        case kind::started:  // Clients only.
        case kind::debug: return;
    }
}

void order_entry_session::log_in(gyre::time_point now) noexcept {
    pending_ = true;
    host_.logins().submit(*this, server_.login().username, link_.peer(), now);
}

void order_entry_session::check_login(gyre::time_point now) noexcept {
    pending_ = false;
    const known_user whose = host_.find(server_.login());
    if (whose.trader != nullptr) {
        log_in(*whose.trader, now);
    } else if (whose.administrator != nullptr) {
        log_in(*whose.administrator, now);
    } else {
        // Noted now: who guesses need not wait to be told.
        note_refusal(whose.why);
        const gyre::duration late =
            host_.logins().note_mistake(server_.login().username, link_.peer(), now);
        if (late == gyre::duration::zero()) return refuse(soup_reject::not_authorized);
        pending_ = true;
        refuse_at_ = gyre::deadline_after(now, late);
    }
    link_.has_output();
}

void order_entry_session::log_in(participant& whose, gyre::time_point now) noexcept {
    static_cast<void>(server_.accept(whose.stream(), now));
    if (!server_.logged_in())  // It asked for what there is not, and was told so.
        return note_refusal(why_not(whose.stream()));
    who_ = owner_ = &whose;
    was_logged_in_ = true;
    host_.attach(whose, *this);
}

// Its stream is new, so all that it can ask for is the first message, or the next, which is the same.
void order_entry_session::log_in(const operator_user& whose, gyre::time_point now) noexcept {
    place_ = host_.open(whose, *this, link_.peer());
    if (place_ == nullptr) {
        note_refusal(login_refusal::no_place);
        return refuse(soup_reject::session_not_available);
    }
    static_cast<void>(server_.accept(place_->stream(), now));
    if (!server_.logged_in()) {
        note_refusal(why_not(place_->stream()));
        return host_.detach(*place_);
    }
    operator_ = place_;
    was_logged_in_ = true;
}

void order_entry_session::note_refusal(login_refusal why) noexcept {
    host_.note_refusal(server_.login(), why, link_.peer());
}

/// What it asked for that this stream has not.
login_refusal order_entry_session::why_not(const soup_stream& stream) const noexcept {
    const soup_login& asked = server_.login();
    if (!asked.session.empty() && asked.session != stream.session())
        return login_refusal::other_life;
    const bool forgotten = asked.sequence < stream.messages().first_sequence();
    return forgotten ? login_refusal::not_kept : login_refusal::not_there_yet;
}

void order_entry_session::refuse(soup_reject reason) noexcept {
    pending_ = false;
    refuse_at_ = gyre::never;
    static_cast<void>(server_.reject(reason));
}

void order_entry_session::carry_out(std::span<const std::byte> message,
                                    gyre::time_point now) noexcept {
    if (host_.ended()) return;  // The end of the session, which is on its way, is the answer.
    const auto answer = operator_ != nullptr
                            ? host_.answer(*operator_, message, now, queries_until_)
                            : host_.answer(*who_, message, now, queries_until_);
    if (!answer.empty()) return say(answer);
    const std::optional<message_rejected> refusal =
        operator_ != nullptr ? host_.take(*operator_, message) : host_.take(*who_, message);
    if (!refusal) return;
    std::array<std::byte, message_bytes_of<message_rejected>> bytes;
    encode(*refusal, bytes);
    say(bytes);
}

void order_entry_session::say(std::span<const std::byte> answer) noexcept {
    // A client that asks, or sends nonsense, and does not read: no answer is lost in silence, so it ends.
    if (server_.send_unsequenced(answer)) return;
    host_.note_shed(server_.login().username.view(), peer());
    on_framing_error(soup_ending::fell_behind);
}

void order_entry_session::disconnected() noexcept {
    gyre::list_link<waiting_login>::unlink();
    pending_ = false;
    refuse_at_ = gyre::never;
    if (participant* const whose = std::exchange(who_, nullptr)) host_.detach(*whose, *this);
    if (operator_session* const whose = std::exchange(operator_, nullptr)) host_.detach(*whose);
}

void order_entry_session::cut(soup_ending why) noexcept {
    if (std::exchange(cut_, true))
        return;  // An event may outrun a client with each of its messages.
    if (why == soup_ending::fell_behind) host_.note_shed(server_.login().username.view(), peer());
    static_cast<void>(server_.on_framing_error(why));
    link_.cut();
}

}  // namespace exchange
