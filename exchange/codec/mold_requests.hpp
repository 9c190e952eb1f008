// SPDX-License-Identifier: BSL-1.0
//
// Which missing messages of a MoldUDP64 session have been asked for, and when to ask again.
//
// A request is answered by one datagram, so a listener with one request under way gets one datagram for
// each round trip, and never catches up with a feed that is faster than that. Several may be under way
// here, each for other messages and each with a time of its own. mold_receiver.hpp says what is missing
// and what has come.
//
// Where requests or answers are lost because there are too many of them, asking more makes it worse. So
// each request in vain waits twice as long as the one before, and halves how many may be under way; each
// answer lets one more of them go out.
#pragma once

#include <exchange/codec/mold_packet.hpp>

#include <gyre/base/time.hpp>

#include <chrono>
#include <vector>

namespace exchange {

/// Messages [first, last) that are missing.
struct mold_gap {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    [[nodiscard]] bool empty() const noexcept { return first == last; }
    [[nodiscard]] std::uint64_t size() const noexcept { return last - first; }
};

struct mold_requests_options {
    std::size_t outstanding_max = 16;  ///< Requests under way; at least 1.
    gyre::duration again_after = std::chrono::milliseconds{50};  ///< Doubles with each attempt,
    gyre::duration again_after_max = std::chrono::milliseconds{400};  ///< up to this.
    std::size_t attempts_max = 20;  ///< For the same messages; at least 1.
};

/// Requests under way, the nearest first. How many messages one of them asks for is learned from what one
/// answer brings, so that each can be answered by one datagram.
///
/// Threads:  One at a time.
/// Cost:     All memory is taken at construction; each call is linear in `outstanding_max`.
class mold_requests {
public:
    explicit mold_requests(const mold_requests_options& options);

    /// Asks for the first messages of `missing` that were not requested yet. If as many requests
    /// are under way as may be, what is nearer comes before what is further ahead.
    ///
    /// @param  missing      Not empty, at or behind the last `forget_before`.
    /// @param  nearer_max   How many requests for nearer messages there may be.
    /// @return What to ask for; empty if all of it was asked for, or there may be no further request.
    [[nodiscard]] mold_gap ask(mold_gap missing, std::size_t nearer_max,
                               gyre::time_point now) noexcept;

    /// The nearest request whose time has run out, if it may be made again: it is, now.
    [[nodiscard]] mold_gap ask_again(gyre::time_point now) noexcept;

    /// A datagram has brought these messages. What a request for them still lacks is to be asked for anew:
    /// the answer was too short for it, or something else came first.
    ///
    /// @param  bytes  The datagram's size, which tells whether there was room for more.
    void arrived(mold_gap messages, std::size_t bytes) noexcept;

    /// Nothing before `sequence` is wanted any more.
    void forget_before(std::uint64_t sequence) noexcept;

    /// Nothing that was asked for is wanted any more, and the next answers come from another publisher.
    void forget_all() noexcept;

    /// Has the message `sequence` been asked for as often as may be, in vain?
    [[nodiscard]] bool hopeless(std::uint64_t sequence) const noexcept;

    /// When `ask_again` has something to say; `never` if it will not.
    [[nodiscard]] gyre::time_point deadline() const noexcept;

    /// Nothing at or behind `sequence` can be asked for.
    [[nodiscard]] bool full_before(std::uint64_t sequence) const noexcept {
        return under_way_.size() >= window_ && under_way_[window_ - 1].messages.first < sequence;
    }

private:
    struct request {
        mold_gap messages;
        gyre::time_point due;
        std::size_t attempts = 1;
        bool hopeless = false;
    };

    [[nodiscard]] gyre::time_point due_after(std::size_t attempts,
                                             gyre::time_point now) const noexcept;
    void learn(mold_gap asked, mold_gap answered, std::size_t bytes) noexcept;

    mold_requests_options options_;
    std::uint64_t answer_messages_ = 16;  // That one datagram is thought to hold.
    std::size_t largest_bytes_ = 0;       // Of all datagrams so far.
    std::size_t window_;                  // How many may be made, or made again; the others wait.
    std::vector<request> under_way_;      // In order; no message is in two of them.
};

}  // namespace exchange
