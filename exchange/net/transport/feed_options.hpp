// SPDX-License-Identifier: BSL-1.0
//
// What a publisher of the feed is told, what it counts, and how many answers it gives.
//
// The address of a request can be forged: 20 bytes make an answer of 1,400, sent to whatever
// address the request named. So answers are limited, over all requesters.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/io/endpoint.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace exchange {

/// So many answers at most within so long: with these numbers some 14 MB/s. A listener that gets
/// none asks again later and for less (codec/mold_requests.hpp), so listeners share it.
struct answer_limit {
    std::uint32_t answers_max = 512;
    gyre::duration within = std::chrono::milliseconds{50};
};

/// Threads:  One at a time.
class answer_allowance {
public:
    explicit answer_allowance(const answer_limit& limit) noexcept
        : limit_{limit}, left_{limit.answers_max} {}

    /// May one more be given? Counts it.
    [[nodiscard]] bool take(gyre::time_point now) noexcept {
        if (now >= full_again_at_) {
            full_again_at_ = gyre::deadline_after(now, limit_.within);
            left_ = limit_.answers_max;
        }
        if (left_ == 0) return false;
        --left_;
        return true;
    }

private:
    answer_limit limit_;
    std::uint32_t left_;
    gyre::time_point full_again_at_{};
};

struct feed_options {
    gyre::endpoint group;  ///< Where datagrams go: a group, or one receiver.
    std::size_t datagrams_per_send = 64;
    std::size_t datagram_bytes_max = 1400;  ///< That of the feed's mold_sender.
    gyre::duration pause =
        std::chrono::milliseconds{50};  ///< Behind a failed receive that may fail again at once.
    answer_limit answers{};
};

struct feed_counts {
    std::uint64_t datagrams = 0;   ///< Sent to the group.
    std::uint64_t refused = 0;     ///< That the kernel would not send; receivers will ask for them.
    std::uint64_t answers = 0;     ///< Sent to those who asked.
    std::uint64_t faults = 0;      ///< Requests that were none, or for what there is not.
    std::uint64_t unanswered = 0;  ///< Requests beyond the limit of answers.
    std::uint64_t failures = 0;    ///< Receives that failed and were followed by a pause.
};

}  // namespace exchange
