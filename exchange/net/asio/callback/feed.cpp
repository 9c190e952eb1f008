// SPDX-License-Identifier: BSL-1.0
//
// One datagram after the other: see feed.hpp.
#include <exchange/net/asio/callback/feed.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace exchange {

using boost::system::error_code;

namespace {

[[nodiscard]] std::span<const std::byte> copied(const mold_datagram& from,
                                                std::span<std::byte> into) noexcept {
    const auto behind = std::ranges::copy(from.header, into.begin()).out;
    std::ranges::copy(from.messages, behind);
    return into.first(from.header.size() + from.messages.size());
}

}  // namespace

callback_feed::callback_feed(asio_loop& loop, mold_sender& feed, const feed_options& options,
                             callback_style style)
    : feed_{feed},
      group_{to_asio_endpoint<address>(options.group)},
      pause_{options.pause},
      allowance_{options.answers},
      style_{style},
      rest_{loop.executor()},
      datagram_(options.datagram_bytes_max),
      answer_(options.datagram_bytes_max) {}

void callback_feed::open(asio_udp_socket outgoing, asio_udp_socket requests) {
    outgoing_ = std::move(outgoing);
    requests_ = std::move(requests);
    error_code
        impossible;  // Where it stays blocking, sends block no longer than the kernel copies.
    if (style_ == callback_style::tried_first) outgoing_.open().non_blocking(true, impossible);
    await_request();
}

void callback_feed::close() noexcept {
    static_cast<void>(outgoing_.close());
    static_cast<void>(requests_.close());
    rest_.cancel();
}

bool callback_feed::flush(feed_waiter* waiter) {
    if (waiter != nullptr && crowded()) {
        held_back_.push_back(*waiter);
        return false;
    }
    if (sending_ || !outgoing_.is_open()) return true;
    sending_ = true;
    now_ = std::chrono::steady_clock::now();
    wanted_ = feed_.end_of_sendable();
    if (send_rest()) return true;
    waiter_ = waiter;
    return false;
}

void callback_feed::on_timer(gyre::time_point now) {
    // What is being sent is a sign of life.
    if (sending_ || !outgoing_.is_open() || now < feed_.deadline()) return;
    const auto datagram = feed_.on_timer(now);
    if (!datagram) return;
    sending_ = true;
    now_ = now;
    if (send(*datagram)) static_cast<void>(send_rest());
}

/// False if a handler will go on.
bool callback_feed::send_rest() {
    while (outgoing_.is_open()) {
        const auto datagram = feed_.next(now_);
        if (!datagram) break;
        if (!send(*datagram)) return false;
    }
    sending_ = false;
    return true;
}

bool callback_feed::send(const mold_datagram& datagram) {
    if (style_ == callback_style::tried_first && sent_at_once(datagram)) return true;
    const auto bytes = copied(datagram, datagram_);
    outgoing_.open().async_send_to(
        asio_buffer(bytes), group_,
        sending_memory_.lend_to(
            [this](const error_code& failure, std::size_t) { on_sent(failure); }));
    return false;
}

/// Straight from where the messages stand. False if the kernel has no room.
bool callback_feed::sent_at_once(const mold_datagram& datagram) {
    const std::array<gyre::const_buffer, 2> parts{datagram.header, datagram.messages};
    error_code failure;
    outgoing_.open().send_to(asio_buffers{parts}, group_, 0, failure);
    if (failure == boost::asio::error::would_block) return false;
    note(failure);
    return true;
}

void callback_feed::on_sent(const error_code& failure) {
    note(failure);
    // Others may cause more for ever: who began need not wait for that.
    const bool enough = feed_.next_to_send() >= wanted_;
    if (send_rest() || enough)
        if (feed_waiter* const waiter = std::exchange(waiter_, nullptr)) waiter->feed_sent();
    tell_waiters();
    if (watch_ != nullptr && !sending_) watch_->note_written();
}

/// They may cause more, and be held back again.
void callback_feed::tell_waiters() {
    while (!held_back_.empty() && !crowded()) held_back_.pop_front().feed_sent();
}

void callback_feed::note(const error_code& failure) noexcept {
    ++(failure ? counts_.refused : counts_.datagrams);
}

void callback_feed::await_request() {
    if (!requests_.is_open()) return;
    requests_.open().async_receive_from(
        asio_buffer(gyre::mutable_buffer{request_}), asker_,
        request_memory_.lend_to(
            [this](const error_code& failure, std::size_t size) { on_request(failure, size); }));
}

/// Behind a failure that the next receive would meet as well.
void callback_feed::await_request_later() {
    ++counts_.failures;
    rest_.expires_after(pause_);
    rest_.async_wait(request_memory_.lend_to([this](const error_code&) { await_request(); }));
}

void callback_feed::on_request(const error_code& failure, std::size_t size) {
    if (failure == boost::asio::error::operation_aborted) return;
    // No socket was there to take an answer.
    if (failure == boost::asio::error::connection_refused) return await_request();
    if (failure) return await_request_later();
    if (!requests_.is_open()) return;  // Closed while this one was handed to us.
    const auto answer = feed_.answer(std::span{request_}.first(size));
    if (answer.fault != mold_fault::none) {
        ++counts_.faults;
        return await_request();
    }
    if (!allowance_.take(std::chrono::steady_clock::now())) {
        ++counts_.unanswered;
        return await_request();
    }
    const auto bytes = copied(answer.datagram, answer_);
    requests_.open().async_send_to(
        asio_buffer(bytes), asker_,
        request_memory_.lend_to(
            [this](const error_code& refused, std::size_t) { on_answered(refused); }));
}

void callback_feed::on_answered(const error_code& failure) {
    ++(failure ? counts_.faults : counts_.answers);
    await_request();
}

}  // namespace exchange
