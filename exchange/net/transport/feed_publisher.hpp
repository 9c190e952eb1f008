// SPDX-License-Identifier: BSL-1.0
//
// The public feed on its way out: datagrams of a mold_sender to their group, and answers to those who ask.
//
// The session that changed the book sends; if one is sending already, it goes on until nothing is
// left. So datagrams are as full as the moment allows, and there is one writer. Those who send
// again and again do so in their own frames (`begin`, `send`, `sent`): a coroutine of its own could
// be needed for the first time, or twice at once for the first time, long after the start, and
// would allocate then.
#pragma once

#include <exchange/codec/mold_sender.hpp>
#include <exchange/net/executor_traits.hpp>
#include <exchange/net/transport/feed_options.hpp>

#include <array>
#include <cstddef>

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
    void close() noexcept {
        static_cast<void>(outgoing_.close());
        static_cast<void>(requests_.close());
        rest_.cancel();
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
        sending_ = fill();
        return sending_;
    }
    /// Sends some of what was taken up. Yields `io_result<std::size_t>`.
    ///
    /// Errors, cancellation, threads, cost:  those of the socket's `send` of a batch.
    [[nodiscard]] auto send() noexcept { return outgoing_.send(batch_); }
    /// Takes the result of `send`. What cannot be sent is counted, and stays in the feed for those who ask.
    ///
    /// @return True if there is more to send; never once it is closed.
    [[nodiscard]] bool sent(const gyre::io_result<std::size_t>& what) noexcept {
        counts_.datagrams += what.value();
        if (!what.ok() && outgoing_.is_open()) {
            ++counts_.refused;  // This one only: those behind it may well go out.
            batch_.drop_first();
        }
        sending_ = fill();
        if (!crowded()) less_crowded_.set();
        return sending_;
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
    feed_counts counts_;
    bool sending_ = false;
};

}  // namespace exchange
