// SPDX-License-Identifier: BSL-1.0
//
// Whether a peer does things that are legal more often than its work justifies.
//
// Each kind has a balance that a frame draws on, that time fills up to its burst, and that useful work
// fills as well: a client that cancels one request in two is fine, one that cancels all of them is not.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/http2/breach.hpp>
#include <gyre/http2/limits.hpp>

#include <cstddef>
#include <cstdint>

namespace gyre::http2 {

/// One balance. The time is handed in.
class flood_balance {
public:
    explicit flood_balance(rate_limit limit) noexcept
        : limit_{limit}, left_{std::int64_t{limit.burst} * unit} {}

    /// False if there is nothing left.
    [[nodiscard]] bool draw(time_point now) noexcept {
        if (now > filled_at_) fill(now);
        if (left_ < unit) return false;
        left_ -= unit;
        return true;
    }

    /// Useful work: so many more, up to the burst.
    void earn(std::int64_t count) noexcept {
        left_ += count * unit;
        cap();
    }

private:
    static constexpr std::int64_t unit = 1000;  // So that a millisecond fills a part.

    void fill(time_point now) noexcept;
    void cap() noexcept {
        const std::int64_t most = std::int64_t{limit_.burst} * unit;
        if (left_ > most) left_ = most;
    }

    rate_limit limit_;
    std::int64_t left_;
    time_point filled_at_ = time_point::min();
};

/// All balances of one connection, fed with the heads of frames.
class flood_guard {
public:
    flood_guard(const flood_limits& limits, std::size_t head_bytes_max) noexcept;

    /// A frame of the peer's begins; what it breaches.
    [[nodiscard]] breach frame(std::uint8_t type, std::uint8_t flags, std::size_t length,
                               time_point now) noexcept;

    /// A frame had content that came to nothing, as DATA of padding only.
    [[nodiscard]] breach hollow_frame(time_point now) noexcept;
    [[nodiscard]] breach refused_stream(time_point now) noexcept;
    [[nodiscard]] breach stream_error(time_point now) noexcept;

    /// A request was answered to its end, or sent.
    void request_done() noexcept { resets_.earn(1); }
    void request_opened() noexcept { priorities_.earn(2); }
    void data_sent() noexcept { window_updates_.earn(4); }

    /// Whether a field block has begun and not ended.
    [[nodiscard]] bool in_block() const noexcept { return in_block_; }

private:
    [[nodiscard]] breach block_frame(bool begins, std::uint8_t flags, std::size_t length,
                                     time_point now) noexcept;

    std::size_t continuations_max_;
    std::size_t block_bytes_max_;
    flood_balance resets_;
    flood_balance refused_;
    flood_balance errors_;
    flood_balance pings_;
    flood_balance settings_;
    flood_balance priorities_;
    flood_balance window_updates_;
    flood_balance empty_;
    flood_balance unknown_;
    std::size_t continuations_ = 0;  // Of the present field block.
    std::size_t block_bytes_ = 0;
    bool in_block_ = false;
};

}  // namespace gyre::http2
