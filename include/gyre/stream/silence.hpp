// SPDX-License-Identifier: BSL-1.0
//
// How long a peer has been silent, by the bytes that moved and not by the operations that ended.
//
// A write of 64 KiB to a peer that takes a kilobyte each tenth of a second ends after six seconds, a record
// of TLS yields nothing before its last byte, and a socket reports room when a third of its buffer is free. A
// limit around one read or write would end such a peer. So a wait looks now and then: `traffic_of`.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/stream/concepts.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace gyre {

/// A limit on silence, for a loop of reads or writes that are each awaited for `patience()`:
///
///     silence_watch silence{30s};
///     while (!rest.empty() && !failed) {
///         const time_point begun = home.now();
///         const auto put = co_await with_timeout(silence.patience(), peer.write_some(rest));
///         rest = rest.subspan(put.value());
///         silence.count(home.now() - begun, put.value() > 0, peer);
///         failed = put.error();
///         if (failed == errc::timed_out && !silence.over()) failed = {};
///     }
///
/// A peer is given up no sooner than the limit after the last byte that moved, and an eighth of it later at
/// most.
class silence_watch {
public:
    explicit silence_watch(duration most) noexcept : most_{most} {}

    /// How long to wait before the next look: an eighth of the limit at most, and above zero. The first one
    /// is soon, since it cannot tell whether what has moved did so before the wait.
    [[nodiscard]] duration patience() const noexcept {
        constexpr int first_part = 64;
        constexpr int part = 8;
        if (most_ == duration::max()) return most_;
        const duration wait = most_ / (looked_ ? part : first_part);
        return std::clamp(wait, duration{1}, std::max(duration{1}, most_ - quiet_));
    }

    /// A wait has ended.
    ///
    /// @param  waited       How long it took.
    /// @param  transferred  True if the awaited operation transferred bytes.
    /// @param  of           The stream, which is asked otherwise.
    template <class Stream>
    void count(duration waited, bool transferred, const Stream& of) noexcept {
        if (transferred || most_ == duration::max()) quiet_ = {};
        else note(waited, traffic_of(of));
    }

    /// The same for what is no stream.
    void note(duration waited, std::uint64_t traffic) noexcept {
        if (std::exchange(traffic_, traffic) != traffic) quiet_ = {};
        else quiet_ += waited;
        looked_ = true;
    }

    /// True if nothing has moved for as long as the limit allows.
    [[nodiscard]] bool over() const noexcept { return quiet_ >= most_; }

    [[nodiscard]] duration limit() const noexcept { return most_; }

    /// What `note` has got last.
    [[nodiscard]] std::uint64_t traffic() const noexcept { return traffic_; }

private:
    duration most_;
    duration quiet_{};
    std::uint64_t traffic_ = 0;  // When it was last looked at.
    bool looked_ = false;
};

}  // namespace gyre
