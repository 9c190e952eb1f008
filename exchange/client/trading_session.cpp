// SPDX-License-Identifier: BSL-1.0
//
// Fences, news and numbers: see trading_session.hpp.
#include <exchange/client/trading_session.hpp>

#include <exchange/codec/mass_quote_codec.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/sync/timeout.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <utility>

namespace exchange {
namespace {

using gyre::errc;

constexpr std::uint64_t first_stride = 1024;
// What a fence claims to cancel: an order id with this in its upper bits, which no partition comes to
// give, and a number of the login in the lower ones. So it is known among what an earlier program left
// in the stream.
constexpr std::uint64_t fence_mark = 0x0f3c'e5ed'0000'0000;
constexpr std::uint64_t fence_mask = 0xffff'ffff'0000'0000;
constexpr auto fence_again_after = std::chrono::milliseconds{500};
// Beside `news_max`: what one loss of a connection tells at once, and what a session says of itself.
constexpr std::size_t news_of_its_own = 16;

order_entry_client_options connection_options(const exchange_client_options& from) {
    order_entry_client_options made;
    made.exchange = from.exchange;
    made.login.username = std::string_view{from.username};
    made.login.password = std::string_view{from.password};
    made.login.session = std::string_view{from.life};
    made.login.sequence = from.sequence;
    made.session.heartbeat_after = from.heartbeat_after;
    made.session.dead_after = from.dead_after;
    made.session.outbox_bytes_max = from.unsent_bytes_max;
    made.websocket.path = from.websocket_path;
    made.websocket.unsent_bytes_max =
        std::max(from.unsent_bytes_max, made.websocket.unsent_bytes_max);
    made.connect_within = from.connect_within;
    made.reconnect_after = from.reconnect_after;
    made.reconnect_after_max = from.reconnect_after_max;
    return made;
}

}  // namespace

trading_session::trading_session(gyre::io_context&, const exchange_client_options& options)
    : options_{options},
      news_{options.news_max + options.unanswered_max + news_of_its_own},
      sent_{options.unanswered_max},
      orders_{options.orders_max} {}

bool trading_session::start(gyre::io_context& on, const exchange_client_options& options,
                            std::shared_ptr<channel_security> security) {
    connection_ = connection_by(options.transport, on, connection_options(options),
                                std::move(security), insecure_, *this);
    if (connection_ == nullptr) return false;
    gyre::launch(on, drive(shared_from_this()), gyre::or_terminate{});
    gyre::launch(on, keep_fence(shared_from_this()), gyre::or_terminate{});
    return true;
}

/// Goes on while everything around it is stopped, as when the loop ends: `keep_fence` hears that and
/// stops the connection, whose coroutines end in order then.
gyre::task<> trading_session::drive(std::shared_ptr<trading_session> it) {
    static_cast<void>(co_await gyre::shielded(it->connection_->run(), gyre::duration::max()));
    it->finish();
}

/// What a gateway has held back it does not say in the stream: a fence of which nothing is heard goes up
/// again.
gyre::task<> trading_session::keep_fence(std::shared_ptr<trading_session> it) {
    while (!it->over_) {
        it->fence_wanted_.reset();
        const auto waited =
            co_await gyre::with_timeout(fence_again_after, it->fence_wanted_.wait());
        if (waited.error() == errc::canceled) break;
        // While nothing is read, nothing can be heard of it.
        if (waited.error() == errc::timed_out && it->fence_ != 0 && !it->paused_)
            it->put_up_fence();
    }
    it->stop();
}

void trading_session::abandon() noexcept {
    stop();
    news_.close();
    changed_.set();
}

void trading_session::stop() noexcept {
    if (over_) return;
    stopped_ = true;
    ready_ = false;
    fence_ = 0;
    connection_->stop();
}

bool trading_session::log_out() noexcept {
    if (over_ || !connection_->log_out()) return false;
    ready_ = false;
    fence_ = 0;
    return true;
}

// -------- Out --------

gyre::error trading_session::why_not(std::size_t commands) const noexcept {
    if (over_ || stopped_) return errc::closed;
    if (!ready_) return errc::not_connected;
    if (full_ || paused_ || !sent_.has_room(commands)) return errc::no_buffer_space;
    return errc::ok;
}

template <class Command>
gyre::io_result<client_sequence> trading_session::send(Command it) {
    if (const gyre::error no = why_not(1)) return no;
    it.client_seq = client_sequence{next_seq_};
    std::array<std::byte, message_bytes_of<Command>> bytes;
    encode(it, bytes);
    full_ = !connection_->send(bytes);
    if (full_) return errc::no_buffer_space;
    sent_.sent(it.client_seq, it.kind, it.client_seq);
    ++next_seq_;
    return it.client_seq;
}

template gyre::io_result<client_sequence> trading_session::send(enter_order);
template gyre::io_result<client_sequence> trading_session::send(enter_advanced_order);
template gyre::io_result<client_sequence> trading_session::send(amend_order);
template gyre::io_result<client_sequence> trading_session::send(amend_stop);
template gyre::io_result<client_sequence> trading_session::send(cancel_order);
template gyre::io_result<client_sequence> trading_session::send(cancel_orders);
template gyre::io_result<client_sequence> trading_session::send(enter_quote);
template gyre::io_result<client_sequence> trading_session::send(set_protection);

gyre::io_result<client_sequence> trading_session::send(const enter_quotes& it) {
    if (it.count == 0 || it.count > mass_quote_entries_max) return errc::invalid_argument;
    if (const gyre::error no = why_not(it.count)) return no;
    enter_quotes numbered = it;
    numbered.client_seq = client_sequence{next_seq_};
    std::array<std::byte, mass_quote_bytes(mass_quote_entries_max)> bytes;
    const std::size_t size = encode(numbered, bytes);
    full_ = !connection_->send(std::span{bytes}.first(size));
    if (full_) return errc::no_buffer_space;
    for (std::uint16_t each = 0; each < it.count; ++each)
        sent_.sent(client_sequence{next_seq_++}, command_kind::enter_quote, numbered.client_seq);
    return numbered.client_seq;
}

gyre::task<gyre::io_result<>> trading_session::room(std::shared_ptr<trading_session> it,
                                                    std::size_t commands) {
    gyre::expects(commands <= it->options_.unanswered_max, "room that there can be");
    for (;;) {
        const gyre::error no = it->why_not(commands);
        if (!no || no == errc::closed) co_return no;
        it->changed_.reset();
        const auto waited = co_await it->changed_.wait();
        if (!waited.ok()) co_return waited;
    }
}

void trading_session::put_up_fence() noexcept {
    const client_sequence at{next_seq_};
    std::array<std::byte, message_bytes_of<cancel_order>> bytes;
    encode(cancel_order{session_id::none, at, {order_id{fence_mark | login_}, {}}}, bytes);
    if (!connection_->send(bytes)) return;  // Tried again by `keep_fence`.
    if (first_fence_ == 0) first_fence_ = next_seq_;
    fence_ = next_seq_++;
}

// -------- In --------

void trading_session::logged_in() noexcept {
    in_ = true;
    told_unreachable_ = false;
    const soup_login& at = connection_->machine().resume();
    tell({.what = exchange::logged_in{at.session, at.sequence}});
    login_ = std::uint32_t{std::random_device{}()};
    first_fence_ = 0;
    stride_ = first_stride;
    fence_ = next_seq_;  // Wanted, whether or not there is room now.
    put_up_fence();
}

template <class Event>
void trading_session::operator()(const event_stamp& stamp, const Event& it) {
    if constexpr (std::is_same_v<Event, order_rejected>) {
        if (is_fence(it)) return;
    }
    const bool tracked = orders_.hear(it);
    if constexpr (requires { it.request_session; }) {
        if (it.request_session == orders_.whose()) sent_.answered(it.request_seq);
    }
    if constexpr (requires { it.client_seq; }) {
        if (it.session == orders_.whose()) sent_.answered(it.client_seq);
    }
    tell({.sequence = sequence_, .stamp = stamp, .what = it});
    if constexpr (requires {
                      it.client_seq;
                      it.order;
                  }) {
        if (!tracked)
            tell({.sequence = sequence_, .what = order_untracked{it.client_seq, it.order}});
    }
}

void trading_session::operator()(const message_rejected& it) {
    const std::uint64_t about = number(it.client_seq);
    if (first_fence_ != 0 && about >= first_fence_ && about <= fence_) {
        // Later, perhaps; but who may only listen is told so, and is as far as it gets.
        if (it.error != decode_error::too_many_messages &&
            it.error != decode_error::exchange_unreachable)
            fence_is_down();
        return;
    }
    sent_.refused(it.client_seq);
    tell({.sequence = sequence_, .what = it});
}

void trading_session::heard(std::uint64_t sequence, std::span<const std::byte> message) noexcept {
    sequence_ = sequence;
    const decode_fault fault = decode_private_event(message, *this);
    if (fault) tell({.sequence = sequence, .what = unreadable_message{fault.error}});
    full_ = false;
    changed_.set();
}

bool trading_session::is_fence(const order_rejected& it) noexcept {
    if ((number(it.order) & fence_mask) != fence_mark || sent_.waits_for(it.client_seq))
        return false;
    if (fence_ == 0 || first_fence_ == 0 || number(it.order) != (fence_mark | login_)) return true;
    orders_.belong_to(it.session);
    if (it.reason != reject_reason::duplicate_client_sequence) {
        fence_is_down();
        return true;
    }
    // A number of a program before us. No step is farther than the exchange lets a number jump.
    if (number(it.client_seq) == fence_) {
        next_seq_ = std::max(next_seq_, fence_ + stride_);
        stride_ = std::min(stride_ * 2, client_sequence_jump_max / 2);
        put_up_fence();
    }
    return true;
}

void trading_session::fence_is_down() noexcept {
    fence_ = 0;
    first_fence_ = 0;
    sent_.settle(
        [this](client_sequence it, command_kind what) { tell({.what = command_lost{it, what}}); });
    ready_ = true;
    tell({.what = caught_up{orders_.whose(), client_sequence{next_seq_}}});
}

void trading_session::not_reached(gyre::error why) noexcept {
    if (std::exchange(told_unreachable_, true)) return;
    tell({.what = unreachable{why}});
}

void trading_session::disconnected(soup_ending why) noexcept {
    ready_ = false;
    fence_ = 0;
    full_ = false;
    sent_.doubt();
    const bool last = stopped_ || connection_->machine().is_over();  // Told by `session_over`.
    const bool was_in = std::exchange(in_, false);
    if (was_in && !last) tell({.what = connection_lost{why}});
    if (connection_->turned_away()) {
        refused_security_ = !insecure_.view().empty();
        refused_upgrade_ = !refused_security_;
        if (refused_security_) tell({.what = security_failed{insecure_}});
        connection_->stop();
    } else if (!was_in && !last) {
        if (const gyre::error none = why_no_answer(why)) not_reached(none);
    }
    insecure_ = {};
    changed_.set();
}

next_life trading_session::life_ended(const soup_session& ended,
                                      const soup_session& next) noexcept {
    orders_.clear();
    sent_.clear();
    next_seq_ = 1;
    tell({.what = life_changed{ended, next}});
    left_life_ = !options_.join_next_life;
    return left_life_ ? next_life::leave : next_life::join;
}

session_over trading_session::ending() const noexcept {
    const soup_client& machine = connection_->machine();
    if (refused_security_) return {session_end::security_refused, soup_reject::none};
    if (refused_upgrade_) return {session_end::upgrade_refused, soup_reject::none};
    if (left_life_) return {session_end::life_ended, soup_reject::none};
    switch (machine.ending()) {
        case soup_ending::logged_out: return {session_end::logged_out, soup_reject::none};
        case soup_ending::session_ended: return {session_end::day_ended, soup_reject::none};
        case soup_ending::not_kept: return {session_end::not_kept, soup_reject::none};
        case soup_ending::rejected: return {session_end::login_refused, machine.rejected()};
        default: return {session_end::stopped, soup_reject::none};
    }
}

void trading_session::finish() noexcept {
    tell({.what = ending()});
    over_ = true;
    ready_ = false;
    fence_ = 0;
    // It belongs to the loop, which may end before the program asks for the last news.
    left_at_ = connection_->machine().resume();
    connection_.reset();
    news_.close();
    changed_.set();
    fence_wanted_.set();
}

// -------- News --------

void trading_session::tell(news it) noexcept {
    if (news_.closed()) return;  // The program is gone.
    gyre::ensures(news_.try_send(it), "reading stops before there is no room for news");
    if (news_.size() < options_.news_max || paused_) return;
    paused_ = true;
    connection_->pause();
}

void trading_session::taken() noexcept {
    if (over_ || !paused_ || news_.size() > options_.news_max / 2) return;
    paused_ = false;
    connection_->go_on();
    changed_.set();
}

bool trading_session::try_next(news& into) {
    const std::optional<news> got = news_.try_receive();
    if (!got) return false;
    into = *got;
    taken();
    return true;
}

gyre::task<gyre::io_result<news>> trading_session::next(std::shared_ptr<trading_session> it) {
    auto got = co_await it->news_.receive();
    if (got.ok()) it->taken();
    co_return got;
}

}  // namespace exchange
