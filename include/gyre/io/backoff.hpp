// SPDX-License-Identifier: BSL-1.0
//
// When to try again.
//
// A server that comes back is knocked over once more if all of its clients return at the same moment, so each
// waits for longer after each failure, and for a length of time that is drawn at random.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/sync/sleep.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace gyre {

/// How delays are drawn.
enum class jitter : std::uint8_t {
    full,          ///< Anything between nothing and a span that doubles with each failure.
    decorrelated,  ///< Between `first` and three times the delay before: seldom very short ones.
    none           ///< The span itself, for one client alone.
};

/// How long a `backoff` waits between attempts, and how much of that is left to chance.
struct backoff_options {
    backoff_options() noexcept = default;

    duration first = std::chrono::milliseconds{100};  ///< The span after one failure; above 0.
    duration most = std::chrono::seconds{30};         ///< No delay is longer; at least `first`.
    jitter how = jitter::full;

    /// What the delays are drawn from, so that a test has the same ones each time. Else it is unpredictable,
    /// and the first delay must be asked for on a loop.
    std::optional<std::uint64_t> seed;
};

/// The delays between attempts. A value:
///
///     backoff retry;
///     for (;;) {
///         auto connected = co_await connect_to("feed.example.org", "7000");
///         if (connected.ok()) {
///             co_await session(connected.take());  // Which calls retry.reset() when it has got on well.
///         }
///         auto [stopped] = co_await retry.pause();
///         if (stopped) co_return;
///     }
///
/// An attempt has succeeded when the peer has done something: one that accepts and closes at once should not
/// be asked again without a delay.
class backoff {
public:
    explicit backoff(const backoff_options& options = {}) noexcept;

    /// An attempt has failed: how long to wait before the next one.
    [[nodiscard]] duration next() noexcept;

    /// Waits for `next()`.
    ///
    /// Errors:        none but cancellation.
    /// Cancellation:  `errc::canceled`, at once.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          as `sleep_for`.
    [[nodiscard]] sleep_awaiter pause() noexcept { return sleep_for(next()); }

    /// An attempt has succeeded: delays begin anew.
    void reset() noexcept;

    /// Failures since the last success, or since it was made.
    [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }

private:
    [[nodiscard]] duration draw(duration least, duration most) noexcept;
    [[nodiscard]] static duration times(duration span, int factor, duration most) noexcept;

    backoff_options options_;
    std::uint64_t state_ = 0;
    bool seeded_ = false;
    std::uint64_t failures_ = 0;
    duration span_;  // Of the next delay; decorrelated: the last delay.
};

}  // namespace gyre
