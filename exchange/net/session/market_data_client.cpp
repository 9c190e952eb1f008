// SPDX-License-Identifier: BSL-1.0
//
// Logins, subscriptions, and messages as there is room: see market_data_client.hpp.
#include <exchange/net/session/market_data_client.hpp>

#include <exchange/codec/command_codec.hpp>

#include <algorithm>
#include <array>

namespace exchange {
namespace {

// What answers and ends take beside messages of markets.
constexpr std::size_t own_bytes_max = 4096;

}  // namespace

market_data_client::market_data_client(market_data_host& host, client_link& to,
                                       gyre::time_point now)
    : host_{host},
      to_{to},
      liveness_{host.options().sessions, now},
      login_deadline_{gyre::deadline_after(now, host.options().sessions.login_within)},
      progress_at_{now},
      now_{now},
      outbox_{host.options().unsent_bytes_max + own_bytes_max} {}

market_data_client::~market_data_client() { disconnected(); }

// ---------------------------------------------------------------------------------------------
// From the subscriber
// ---------------------------------------------------------------------------------------------

void market_data_client::take(const packet_batch& batch, gyre::time_point now) noexcept {
    packets_ = batch;
    proceed(now);
}

void market_data_client::proceed(gyre::time_point now) noexcept {
    now_ = now;
    while (can_use() && !packets_.packets.empty()) {
        const soup_packet packet = packets_.take_first();
        liveness_.heard(now_);
        on_packet(packet);
    }
    if (can_use() && packets_.ending != soup_ending::none) end(packets_.ending);
}

void market_data_client::on_packet(const soup_packet& packet) noexcept {
    const bool silent = phase_ == phase::silent;
    switch (packet.type) {
        case soup_type::login_request:
            return silent ? on_login(packet.payload) : end(soup_ending::second_login);
        case soup_type::debug: return;
        case soup_type::client_heartbeat:
        case soup_type::logout_request:
            if (!packet.payload.empty()) return end(soup_ending::wrong_size);
            if (packet.type == soup_type::logout_request) return end(soup_ending::logged_out);
            return silent ? end(soup_ending::before_login) : void();
        case soup_type::unsequenced:
            return silent ? end(soup_ending::before_login) : on_message(packet.payload);
        case soup_type::login_accepted:
        case soup_type::login_rejected:
        case soup_type::sequenced:
        case soup_type::server_heartbeat:
        case soup_type::end_of_session: return end(soup_ending::wrong_direction);
    }
    end(soup_ending::unknown_packet);
}

void market_data_client::on_login(std::span<const std::byte> payload) noexcept {
    const auto [wrong, fields] = parse_soup_login(payload);
    if (wrong != soup_ending::none) return end(wrong);
    login_ = fields;
    phase_ = phase::asking;
    if (host_.options().open) return check_login(now_);
    host_.logins().submit(*this, login_.username, to_.peer(), now_);
}

void market_data_client::check_login(gyre::time_point now) noexcept {
    const bool right =
        host_.options().open ||
        host_.users().find(login_.username.view(), login_.password.view()) != nullptr;
    login_.password = {};
    if (!right) {
        const bool known = host_.users().knows(login_.username.view());
        note_refused(known ? login_refusal::wrong_password : login_refusal::unknown_user);
        const gyre::duration late = host_.logins().note_mistake(login_.username, to_.peer(), now);
        if (late == gyre::duration::zero()) return reject(soup_reject::not_authorized);
        refuse_at_ = gyre::deadline_after(now, late);
        return;
    }
    phase_ = phase::waiting;
    host_.enlist(*this);
    if (!host_.life().empty()) let_in();
}

void market_data_client::let_in() noexcept {
    // Nothing of a session is kept, so any that is over is not there.
    if (!login_.session.empty() && login_.session != host_.life()) {
        note_refused(login_refusal::other_life);
        return reject(soup_reject::session_not_available);
    }
    ++host_.counts().logins;
    phase_ = phase::in;
    was_in_ = true;
    static_cast<void>(say(soup_type::login_accepted, format_soup_acceptance({host_.life(), 1})));
    to_.may_read();
}

void market_data_client::note_refused(login_refusal why) noexcept {
    host_.note_refused({.user = login_.username.view(),
                        .why = why,
                        .peer = to_.peer(),
                        .life = login_.session.view(),
                        .sequence = login_.sequence});
}

void market_data_client::reject(soup_reject why) noexcept {
    const std::byte code{static_cast<unsigned char>(why)};
    static_cast<void>(say(soup_type::login_rejected, {&code, 1}));
    end(soup_ending::rejected);
}

void market_data_client::on_message(std::span<const std::byte> message) noexcept {
    const decode_fault fault = decode_subscription(message, *this);
    if (!fault || over()) return;
    std::array<std::byte, message_bytes_of<message_rejected>> bytes;
    encode(refusal_of(message, fault), bytes);
    // A subscriber that sends and does not read: no answer is lost in silence, so it ends.
    if (!say(soup_type::unsequenced, bytes)) end(soup_ending::fell_behind);
}

market_data_client::followed* market_data_client::find(instrument_id which) noexcept {
    const auto found = std::ranges::find_if(
        wanted_, [which](const followed& it) { return it.what.instrument == which; });
    return found != wanted_.end() ? &*found : nullptr;
}

void market_data_client::operator()(const subscribe& it) noexcept {
    const bool all = it.instrument == instrument_id::none;
    const market_book* const book = host_.books().find(it.instrument);
    const auto refuse = [&](subscription_refusal why) {
        answer(subscription_refused{it.request, it.instrument, why});
    };
    if (book == nullptr && !all) return refuse(subscription_refusal::unknown_instrument);
    if (it.depth > subscription_depth_max) return refuse(subscription_refusal::too_deep);
    if (!it.book && !it.trades && !it.summary) return refuse(subscription_refusal::nothing_wanted);
    if (!all && !all_ && find(it.instrument) == nullptr &&
        wanted_.size() >= host_.options().subscriptions_max)
        return refuse(subscription_refusal::too_many);
    if (all) {
        all_ = it;
        follow_all();
    } else {
        follow(*book, it);
    }
    ++host_.counts().subscriptions;
    answer(subscribed{it.request, it.instrument, it.depth, it.book, it.trades, it.summary});
}

market_data_client::followed market_data_client::begun(const market_book& what,
                                                       const subscribe& how) noexcept {
    followed made{how, market_updates::begin(what)};
    made.what.instrument = what.instrument();
    return made;
}

void market_data_client::follow(const market_book& what, const subscribe& how) {
    if (followed* const before = find(what.instrument())) *before = begun(what, how);
    else wanted_.push_back(begun(what, how));
}

// Each is told anew. None is looked for: with many instruments that would take the time of all subscribers.
void market_data_client::follow_all() {
    wanted_.clear();
    for (const market_book& each : host_.books().all()) wanted_.push_back(begun(each, *all_));
    all_known_ = wanted_.size();
}

void market_data_client::follow_all_new() {
    if (!all_) return;
    const auto& books = host_.books().all();
    for (; all_known_ < books.size(); ++all_known_)
        if (find(books[all_known_].instrument()) == nullptr) follow(books[all_known_], *all_);
}

void market_data_client::operator()(const unsubscribe& it) noexcept {
    if (it.instrument == instrument_id::none) {
        wanted_.clear();
        all_.reset();
    }
    std::erase_if(wanted_,
                  [&it](const followed& each) { return each.what.instrument == it.instrument; });
    answer(subscribed{it.request, it.instrument, 0, false, false, false});
}

template <class Answer>
void market_data_client::answer(const Answer& it) noexcept {
    std::array<std::byte, message_bytes_of<Answer>> bytes;
    static_cast<void>(encode_market(it, bytes));
    if (!say(soup_type::unsequenced, bytes)) end(soup_ending::fell_behind);
}

// ---------------------------------------------------------------------------------------------
// To the subscriber
// ---------------------------------------------------------------------------------------------

bool market_data_client::take(std::span<const std::byte> message) noexcept {
    const std::size_t size = soup_header_bytes + message.size();
    if (unsent_ + size > host_.options().unsent_bytes_max) return false;
    if (!outbox_.push(soup_type::unsequenced, message)) return false;
    unsent_ += size;
    ++host_.counts().messages;
    return true;
}

// Made when nothing waits: so what is told is what is true when the transport can take it.
std::span<const std::byte> market_data_client::output() noexcept {
    if (phase_ == phase::in && unsent_ == 0) {
        follow_all_new();
        for (std::size_t each = 0; each < wanted_.size(); ++each) {
            if (turn_ >= wanted_.size()) turn_ = 0;
            followed& it = wanted_[turn_];
            const market_book* const book = host_.books().find(it.what.instrument);
            if (book != nullptr && market_updates::due(*book, it.seen)) {
                const std::uint64_t before = it.seen.dropped;
                const market_seen::part begun = it.seen.snapshot;
                const bool all = host_.updates().tell(*book, it.what, it.seen, *this);
                dropped_ += it.seen.dropped - before;
                host_.counts().dropped += it.seen.dropped - before;
                if (!all) {
                    // A whole book is told to its end; one that is begun anew, or only goes on changing, lets
                    // the others have their turns.
                    const market_seen::part& now = it.seen.snapshot;
                    if (!now.any || (begun.any && begun.begun != now.begun)) ++turn_;
                    break;
                }
            }
            ++turn_;
        }
        if (unsent_ > 0) progress_at_ = now_;
    }
    return outbox_.offer();
}

void market_data_client::sent(std::size_t size, gyre::time_point now) noexcept {
    now_ = now;
    liveness_.sent(now);
    progress_at_ = now;
    outbox_.sent(size);
    unsent_ -= std::min(unsent_, size);
}

bool market_data_client::say(soup_type type, std::span<const std::byte> payload) noexcept {
    if (unsent_ + soup_header_bytes + payload.size() >
        host_.options().unsent_bytes_max + own_bytes_max)
        return false;
    if (!outbox_.push(type, payload)) return false;
    unsent_ += soup_header_bytes + payload.size();
    to_.has_output();
    return true;
}

void market_data_client::note_change() noexcept {
    if (phase_ == phase::in && unsent_ == 0 && (all_ || !wanted_.empty())) to_.has_output();
}

void market_data_client::begin_life(gyre::time_point now) noexcept {
    now_ = now;
    if (phase_ == phase::waiting) let_in();
    else end(soup_ending::life_ended);  // What it knows is of another one.
}

void market_data_client::send_away(gyre::time_point now) noexcept {
    now_ = now;
    end(soup_ending::gateway_goes);
}

void market_data_client::on_timer(gyre::time_point now) noexcept {
    if (over()) return;
    now_ = now;
    if (now >= refuse_at_) return reject(soup_reject::not_authorized);
    // One whose password waits to be checked is not heard, so no other limit ends it.
    const bool waits_for_check = phase_ == phase::asking && refuse_at_ == gyre::never;
    if (phase_ == phase::silent || phase_ == phase::waiting || waits_for_check) {
        const bool waits_for_life = phase_ == phase::waiting;
        if (now >= login_deadline_)
            end(waits_for_life ? soup_ending::unreachable : soup_ending::login_timed_out);
        return;
    }
    if (!can_use()) liveness_.heard(now);
    if (liveness_.peer_is_dead(now)) return end(soup_ending::peer_silent);
    if (unsent_ > 0 && now >= gyre::deadline_after(progress_at_, host_.options().stalled_max)) {
        ++host_.counts().shed;
        return end(soup_ending::fell_behind);
    }
    if (!liveness_.heartbeat_due(now)) return;
    liveness_.sent(now);
    if (phase_ == phase::in && unsent_ == 0) static_cast<void>(say(soup_type::server_heartbeat));
}

// ---------------------------------------------------------------------------------------------
// The end
// ---------------------------------------------------------------------------------------------

void market_data_client::end(soup_ending why) noexcept {
    if (over()) return;
    ending_ = why;
    // Without room for it, the subscriber learns less.
    if (!needs_no_words(why))
        static_cast<void>(say(soup_type::debug, std::as_bytes(std::span{describe(why)})));
    leave();
    to_.has_output();
    to_.may_read();
}

void market_data_client::disconnected() noexcept {
    if (!over()) leave();
}

void market_data_client::leave() noexcept {
    phase_ = phase::over;
    refuse_at_ = gyre::never;
    packets_ = {};
    gyre::list_link<waiting_login>::unlink();
    gyre::list_link<market_data_client>::unlink();
}

}  // namespace exchange
