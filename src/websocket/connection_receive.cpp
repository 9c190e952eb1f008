// SPDX-License-Identifier: BSL-1.0
//
// The receiving side of a connection: see include/gyre/websocket/connection.hpp.
#include <gyre/websocket/connection.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_any.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

namespace gyre::websocket {

namespace {

// What is inflated at once: a peer's few bytes must not hold up a loop.
constexpr std::size_t inflate_bytes_max = std::size_t{64} << 10;
constexpr std::size_t inflate_bytes_min = 512;
// Of the limit for an answer to a ping: the first part, after which it is looked whether bytes move.
constexpr int looks = 8;
// What an idle connection keeps for the next message.
constexpr std::size_t kept_inflated_max = std::size_t{64} << 10;

}  // namespace

// -------- Messages --------

error connection::begin_receive(loop& on) noexcept {
    if (receiving_) return {errc::busy, activity::read};
    if (!silence_) {
        silence_.emplace(on);
        heard();
    }
    // It passed while no caller looked whether the answer had come.
    if (asked_ && silence_->passed()) silence_->expires_after(options_.pong_timeout);
    drop_delivered();
    return {};
}

void connection::drop_delivered() noexcept {
    if (!std::exchange(delivered_, false)) return;
    buffer_.drop_message();
    inflated_.consume(inflated_.size());
    if (inflated_.capacity() > kept_inflated_max) inflated_.shrink_to_fit();
}

const_buffer connection::received() const noexcept {
    return inflated_.empty() ? buffer_.message() : inflated_.data();
}

task<io_result<message>> connection::receive() {
    message one;
    const auto got = co_await receive_batch({&one, 1});
    if (!got.ok()) co_return got.error();
    co_return io_result<message>{one};
}

task<io_result<std::span<const message>>> connection::receive_batch(std::span<message> into) {
    expects(!into.empty(), "room for a message");
    loop& on = co_await this_task::loop();
    if (const error refused = begin_receive(on)) co_return refused;
    const receiving reading{*this};
    for (;;) {
        const io_result<piece> got = co_await next_piece(inflate_bytes_max);
        if (!got.ok()) co_return got.error();
        if (got.value().last) {
            delivered_ = true;
            into.front() = message{got.value().kind, received()};
            const std::size_t more = take_whole(into.subspan(1));
            co_return io_result<std::span<const message>>{into.first(1 + more)};
        }
        if (part_.open) co_await yield();
    }
}

// They stay where they are until there has to be room for more, which is at the next receive.
std::size_t connection::take_whole(std::span<message> into) noexcept {
    std::size_t taken = 0;
    while (taken < into.size() && parser_.begins_with_message(buffer_.raw())) {
        const parsed next = parser_.next(buffer_.raw());
        if (next.what != parsed::kind::payload) break;  // The next receive reports it.
        buffer_.skip(next.skipped + next.bytes.size());
        into[taken] = message{next.message, next.bytes};
        ++taken;
    }
    return taken;
}

task<io_result<fragment>> connection::receive_some() {
    loop& on = co_await this_task::loop();
    if (const error refused = begin_receive(on)) co_return refused;
    const receiving reading{*this};
    const io_result<piece> got = co_await next_piece(inflate_bytes_max);
    if (!got.ok()) co_return got.error();
    delivered_ = true;
    const piece& it = got.value();
    co_return io_result<fragment>{fragment{it.kind, received(), it.first, it.last}};
}

// Adds to what `received` yields. Safe to be stopped: whatever was taken is noted in members.
task<io_result<connection::piece>> connection::next_piece(std::size_t inflated_bytes_max) {
    for (;;) {
        if (failure_) co_return failure_;
        if (part_.open) {
            const std::size_t before = inflated_.size();
            const violation why = inflate_some(inflated_bytes_max);
            if (why != violation::none) {
                const io_result<> broken = co_await break_off(why);
                co_return broken.error();
            }
            const bool last = part_.last && !part_.open;
            if (inflated_.size() == before && !last) continue;
            const bool first = !std::exchange(told_of_inflated_, true);
            co_return io_result<piece>{piece{part_.kind, first, last}};
        }
        const io_result<parsed> next = co_await next_payload();
        if (!next.ok()) co_return next.error();
        const parsed& got = next.value();
        if (!got.compressed) {
            buffer_.keep(got.bytes.size());
            co_return io_result<piece>{piece{got.message, got.first, got.last}};
        }
        if (got.first) {
            message_inflated_ = 0;
            inflated_text_ = {};
            told_of_inflated_ = false;
        }
        part_ = deflated_part{got.bytes.size(), true, got.last, got.message};
    }
}

// RFC 7692, 7.2.2.
violation connection::inflate_some(std::size_t bytes_max) noexcept {
    const std::uint64_t limit = inflated_.max_size() - 1;
    const std::size_t hint = std::clamp(part_.bytes * 4, inflate_bytes_min, bytes_max);
    const mutable_buffer free = inflated_.prepare(hint);
    const auto left = static_cast<std::size_t>(limit + 1 - message_inflated_);
    const mutable_buffer room = free.first(std::min({free.size(), bytes_max, left}));

    const piece_end end = part_.last ? piece_end::message : piece_end::open;
    const inflater::progress made = inflater_->add(buffer_.raw().first(part_.bytes), room, end);
    inflated_.commit(made.produced);
    buffer_.skip(made.consumed);
    part_.bytes -= made.consumed;
    part_.open = made.full;
    message_inflated_ += made.produced;
    if (made.why != violation::none) return made.why;
    if (message_inflated_ > limit) return violation::large_message;
    if (part_.kind != message_kind::text) return violation::none;
    // RFC 6455, 8.1.
    const bool over = part_.last && !part_.open;
    const bool text = inflated_text_.take(room.first(made.produced));
    return text && (!over || inflated_text_.complete()) ? violation::none
                                                        : violation::text_not_utf8;
}

// -------- Frames --------

// Its bytes are at the front of raw() still.
task<io_result<parsed>> connection::next_payload() {
    for (;;) {
        if (failure_) co_return failure_;
        io_result<> went_on;
        if (pong_due_) went_on = co_await answer_ping();
        if (!went_on.ok()) co_return went_on.error();
        const parsed next = parser_.next(buffer_.raw());
        buffer_.skip(next.skipped);
        if (next.what == parsed::kind::payload) co_return io_result<parsed>{next};
        if (next.what == parsed::kind::incomplete) {
            went_on = co_await read_more();
        } else {
            went_on = co_await take_control(next);
        }
        if (!went_on.ok()) co_return went_on.error();
    }
}

// RFC 6455, 5.5.
task<io_result<>> connection::take_control(parsed what) {
    io_result<> outcome;
    if (what.what == parsed::kind::violated) {
        outcome = co_await break_off(what.why);
        co_return outcome;
    }
    if (what.what == parsed::kind::ping) {
        // RFC 6455, 5.5.3: of several pings the newest may be answered alone, so one place is enough.
        std::ranges::copy(what.bytes, pong_.begin());
        pong_bytes_ = what.bytes.size();
        pong_due_ = true;
        buffer_.skip(what.bytes.size());
        co_return outcome;
    }
    if (what.what == parsed::kind::close) {
        close_received_ = true;
        peer_close_ = close_reason{what.code, std::string{text_of(what.bytes)}};
        buffer_.skip(what.bytes.size());
        // RFC 6455, 5.5.1: the answer carries the same number. Whether it arrives is the peer's concern.
        close_reason answer{what.code};
        static_cast<void>(co_await shielded(send_close(std::move(answer)), options_.close_timeout));
        co_return fail({errc::eof, activity::read});
    }
    buffer_.skip(what.bytes.size());  // A pong: that something came has been noted.
    co_return outcome;
}

// RFC 6455, 7.1.7.
task<io_result<>> connection::break_off(violation why) {
    broken_rule_ = why;
    close_reason told{close_code_for(why), describe(why)};
    static_cast<void>(co_await shielded(send_close(std::move(told)), options_.close_timeout));
    co_return fail(error_for(why));
}

// -------- Bytes, and silence --------

std::size_t connection::take_early(mutable_buffer into) noexcept {
    const std::size_t count = std::min(into.size(), early_.size() - early_used_);
    if (count > 0) std::memcpy(into.data(), early_.data() + early_used_, count);
    early_used_ += count;
    if (early_used_ == early_.size()) std::vector<std::byte>{}.swap(early_);
    if (early_.empty()) early_used_ = 0;
    return count;
}

task<io_result<>> connection::read_more() {
    const auto wanted = static_cast<std::size_t>(
        std::min<std::uint64_t>(parser_.missing(), options_.read_bytes_first * 16));
    const mutable_buffer room = buffer_.room(wanted);
    expects(!room.empty(), "room for a message within its limit, and a frame beside it");
    if (!early_.empty()) {
        buffer_.commit(take_early(room));
        co_return io_result<>{};
    }
    auto ended = co_await when_any(stream_.read_some(room), silence_->wait());
    const io_result<std::size_t> got = std::get<0>(ended.results);
    if (got.value() > 0) {
        buffer_.commit(got.value());
        heard();
        co_return io_result<>{};
    }
    if (got.error() == errc::canceled) {
        if (!std::get<1>(ended.results).ok()) co_return got.error();
        const io_result<> went_on = co_await alarmed();
        co_return went_on;
    }
    // RFC 6455, 7.1.5: an end without a close frame is none in order.
    if (got.error() == errc::eof) co_return fail({errc::connection_aborted, activity::read});
    co_return fail(got.error());
}

void connection::heard() noexcept {
    asked_ = false;
    traffic_.reset();
    if (close_sent_) return;  // The deadline is that of the close.
    if (options_.ping_interval <= duration::zero()) return silence_->expires_at(never);
    silence_->expires_after(options_.ping_interval);
}

task<io_result<>> connection::alarmed() {
    if (failure_) co_return failure_;
    if (!silence_->passed()) co_return io_result<>{};  // A close has moved it since.
    if (close_sent_ || (asked_ && !waits_on())) co_return fail({errc::timed_out, activity::read});
    if (asked_) co_return io_result<>{};
    silence_->expires_after(options_.pong_timeout / looks);
    const std::uint64_t before = stream_.traffic();
    const io_result<> asked = co_await shielded(ask_peer(), options_.pong_timeout);
    const bool may_ask_again = asked.error() == errc::timed_out && !torn_ && !failure_;
    if (may_ask_again && stream_.traffic() != before) {
        asked_ = false;
        silence_->expires_after(options_.ping_interval);
        co_return io_result<>{};
    }
    if (!asked.ok()) co_return fail(asked.error());
    if (!asked_) silence_->expires_after(options_.pong_timeout);
    co_return io_result<>{};
}

// No answer has come yet. It may stand behind much that moves slowly, either way.
bool connection::waits_on() noexcept {
    const std::optional<std::uint64_t> before = std::exchange(traffic_, stream_.traffic());
    if (before == traffic_) return false;
    const duration first_look = options_.pong_timeout / looks;
    silence_->expires_after(before ? options_.pong_timeout : options_.pong_timeout - first_look);
    return true;
}

}  // namespace gyre::websocket
