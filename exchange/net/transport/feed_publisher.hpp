// SPDX-License-Identifier: BSL-1.0
//
// The public feed on its way out: datagrams of a mold_sender to their group, and answers to those who ask.
//
// The session that changed the book sends, what others have caused before included; what they cause
// meanwhile it leaves to a coroutine that is always there, so that no session sends for all others
// for as long as they are faster. There is one writer, and datagrams are as full as the moment
// allows. Those who send again and again do so in their own frames (`begin`, `send`, `sent`): a
// coroutine for each could be needed for the first time, or twice at once for the first time, long
// after the start, and would allocate then.
#pragma once

#include <exchange/codec/mold_sender.hpp>
#include <exchange/net/application/span_watch.hpp>
#include <exchange/net/executor_traits.hpp>
#include <exchange/net/transport/feed_options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace exchange {

/// @tparam  X  A side of the seam.
///
/// Threads:  that of its context.
/// Cost:     Memory is taken at construction.
template <executor_traits X>
class feed_publisher {
public:
    /// @param  feed  Borrowed; outlives this.
    feed_publisher(typename X::context& context, mold_sender& feed, const feed_options& options)
        : context_{context},
          feed_{feed},
          options_{options},
          batch_{options.datagrams_per_send, options.datagram_bytes_max},
          answer_{1, options.datagram_bytes_max},
          allowance_{options.answers},
          rest_{context} {}

    void open(typename X::udp_socket outgoing, typename X::udp_socket requests) noexcept {
        outgoing_ = std::move(outgoing);
        requests_ = std::move(requests);
    }
    /// Tells `watch` when `send_the_rest` is through. Borrowed until that has ended.
    void be_watched(span_watch& watch) noexcept { watch_ = &watch; }
    void close() noexcept {
        static_cast<void>(outgoing_.close());
        static_cast<void>(requests_.close());
        rest_.cancel();
        due_.set();
    }

    /// Has the feed anything that was not given to the kernel?
    [[nodiscard]] bool sending() const noexcept { return sending_; }

    /// Is there a sender so far behind that nothing more should be caused for now?
    [[nodiscard]] bool crowded() const noexcept { return sending_ && feed_.crowded(); }

    /// Waits until that may be over; look again. Yields `io_result<>`.
    ///
    /// Errors:        none.
    /// Cancellation:  closing ends it.
    /// Threads, cost: those of an event's `wait`.
    [[nodiscard]] auto until_less_crowded() noexcept {
        less_crowded_.reset();
        return less_crowded_.wait();
    }

    /// Takes up what was committed and not sent yet; if there is none, the heartbeat or the end that is due.
    ///
    /// @return True if the caller is to send it: `send` is awaited and its result given to `sent`, until that
    ///         returns false. False if there is nothing, or a sender is at work, which will not
    ///         stop before it.
    [[nodiscard]] bool begin() noexcept {
        if (sending_) return false;
        wanted_ = feed_.end_of_sendable();
        sending_ = fill();
        return sending_;
    }
    /// Sends some of what was taken up. Yields `io_result<std::size_t>`.
    ///
    /// Errors, cancellation, threads, cost:  those of the socket's `send` of a batch.
    [[nodiscard]] auto send() noexcept { return outgoing_.send(batch_); }
    /// Takes the result of `send`. What cannot be sent is counted, and stays in the feed for those who ask.
    ///
    /// @return True if there is more to send of what there was at `begin`; never once it is closed.
    [[nodiscard]] bool sent(const gyre::io_result<std::size_t>& what) noexcept {
        note(what);
        const bool enough = batch_.empty() && feed_.next_to_send() >= wanted_;
        take_up();
        if (!enough || !sending_) return sending_;
        handed_over_ = true;
        due_.set();
        return false;
    }

    /// All of these in one, for those who do so rarely.
    ///
    /// Errors:        none.
    /// Cancellation:  closing ends it.
    /// Threads:       that of the context.
    /// Cost:          a frame; as many sends as the batch makes of it.
    typename X::template task<void> flush() {
        for (bool more = begin(); more;) {
            const auto what = co_await send();
            more = sent(what);
        }
    }

    /// Has `send_the_rest` look whether anything is due, in a later turn of the loop.
    void send_what_is_due() noexcept { due_.set(); }

    /// Sends heartbeats, and what others leave to it, until it is closed. Runs once, from the start on:
    /// without it, what was left is never sent.
    ///
    /// Errors:        none.
    /// Cancellation:  closing ends it.
    /// Threads:       that of the context.
    /// Cost:          a frame; as many sends as the batch makes of it.
    typename X::template task<void> send_the_rest() {
        while (outgoing_.is_open()) {
            static_cast<void>(co_await due_.wait());
            due_.reset();
            if (!sending_) {
                take_up();
                handed_over_ = sending_;
            }
            while (handed_over_) {
                if (outgoing_.is_open()) {  // It may have been closed since this was handed over.
                    const auto what = co_await send();
                    note(what);
                }
                take_up();
                handed_over_ = sending_;
            }
            if (watch_ != nullptr && !sending_) watch_->note_written();
        }
    }

    /// Answers requests for retransmission until it is closed.
    typename X::template task<void> answer_requests() {
        std::array<std::byte, mold_header_bytes + 1> request;  // One more: longer ones are none.
        while (requests_.is_open()) {
            const auto [error, received, from] = co_await requests_.receive_from(request);
            if (error == gyre::errc::canceled) co_return;
            if (error == gyre::errc::connection_refused)
                continue;  // No socket was there to take an answer.
            if (error) {   // No memory, a network that is down: as likely the next time.
                ++counts_.failures;
                static_cast<void>(co_await rest_.wait_until(X::now(context_) + options_.pause));
                continue;
            }
            if (!requests_.is_open()) co_return;  // Closed while this one was handed to us.
            const auto answer = feed_.answer(std::span{request}.first(received.size));
            if (answer.fault != mold_fault::none) {
                ++counts_.faults;
                continue;
            }
            if (!allowance_.take(X::now(context_))) {
                ++counts_.unanswered;
                continue;
            }
            // Copied: while it waits for room, new messages may take the place of those that it repeats.
            append(answer.datagram, from, answer_);
            const auto [refused, sent] = co_await requests_.send(answer_);
            answer_.clear();
            ++(refused ? counts_.faults : counts_.answers);
        }
    }

    [[nodiscard]] const feed_counts& counts() const noexcept { return counts_; }

private:
    static void append(const mold_datagram& datagram, const gyre::endpoint& to,
                       typename X::datagram_batch& batch) noexcept {
        const std::array<gyre::const_buffer, 2> parts{datagram.header, datagram.messages};
        gyre::expects(batch.append(parts, to), "a datagram fits into its batch");
    }

    void note(const gyre::io_result<std::size_t>& sent) noexcept {
        counts_.datagrams += sent.value();
        if (sent.ok() || !outgoing_.is_open()) return;
        ++counts_.refused;  // This one only: those behind it may well go out.
        batch_.drop_first();
    }
    void take_up() noexcept {
        sending_ = fill();
        if (!crowded()) less_crowded_.set();
    }

    // Room in the batch is made only once all of it was sent.
    [[nodiscard]] bool fill() noexcept {
        if (!outgoing_.is_open()) return false;
        if (!batch_.empty()) return true;
        const gyre::time_point now = X::now(context_);
        while (!batch_.full()) {
            auto datagram = feed_.next(now);
            if (!datagram) datagram = feed_.on_timer(now);  // What was sent is a sign of life.
            if (!datagram) break;
            append(*datagram, options_.group, batch_);
        }
        return !batch_.empty();
    }

    typename X::context& context_;
    mold_sender& feed_;
    feed_options options_;
    typename X::datagram_batch batch_;
    typename X::datagram_batch answer_;
    answer_allowance allowance_;
    typename X::timer rest_;  // Of who hears requests.
    typename X::udp_socket outgoing_;
    typename X::udp_socket requests_;
    typename X::event less_crowded_;
    typename X::event due_;  // Set when `send_the_rest` is to look.
    feed_counts counts_;
    span_watch* watch_ = nullptr;
    std::uint64_t wanted_ = 0;  // Up to where the caller sends that has begun.
    bool sending_ = false;
    bool handed_over_ = false;  // To `send_the_rest`.
};

}  // namespace exchange
