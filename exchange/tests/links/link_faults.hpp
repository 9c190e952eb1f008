// SPDX-License-Identifier: BSL-1.0
//
// What a bad link does to what it carries, how often, and how often it has done so.
//
// All faults of a run are drawn from one seed. EXCHANGE_LINK_SEED=N repeats the draws of the run that
// printed N; what they meet still depends on when bytes come. A fault that never happened proves nothing,
// so each is counted, and tests ask for the counts.
#pragma once

#include <exchange/tests/codec/dice.hpp>

#include <gyre/base/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>

namespace exchange::testing {

/// The seed of this run's faults.
[[nodiscard]] inline std::uint64_t link_seed() {
    static const std::uint64_t seed = [] {
        const char* const given = std::getenv("EXCHANGE_LINK_SEED");
        return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    }();
    return seed;
}

/// Anything up to `at_most`.
[[nodiscard]] inline gyre::duration some_of(gyre::duration at_most, dice& by) {
    return at_most * static_cast<gyre::duration::rep>(by.below(65)) / 64;
}

/// Of a TCP connection. Each strikes one in so many portions of bytes that one read brings.
struct stream_faults {
    std::size_t slice_one_in = 8;   ///< It arrives byte by byte.
    std::size_t stall_one_in = 40;  ///< Nothing follows for up to `stall_max`.
    std::size_t freeze_one_in =
        900;                         ///< Nothing passes any more, for longer than any client waits.
    std::size_t reset_one_in = 300;  ///< Some of it arrives, then the connection is reset.
    std::size_t close_one_in = 500;  ///< The same, but the end looks as if it were meant.
    std::size_t orphan_one_in =
        150;  ///< The client loses the connection, and what it sent comes later.
    gyre::duration stall_max = std::chrono::milliseconds{300};
    gyre::duration freeze_max = std::chrono::milliseconds{2500};
    gyre::duration strike_every =
        std::chrono::milliseconds{200};  ///< A random connection is reset.
};

struct stream_fault_counts {
    std::uint64_t connections = 0;
    std::uint64_t portions = 0;
    std::uint64_t slices = 0;
    std::uint64_t stalls = 0;
    std::uint64_t freezes = 0;
    std::uint64_t resets = 0;
    std::uint64_t closes = 0;
    std::uint64_t orphans = 0;
    std::uint64_t strikes = 0;
};

/// Of datagrams. Each strikes one in so many of them; 0: none.
struct datagram_faults {
    std::size_t drop_one_in = 0;
    std::size_t burst_one_in = 0;  ///< Up to `burst_max` datagrams in a row are dropped.
    std::size_t burst_max = 20;
    std::size_t duplicate_one_in = 0;
    std::size_t delay_one_in = 0;  ///< Others overtake it.
    gyre::duration delay_max = std::chrono::milliseconds{10};
};

struct datagram_fault_counts {
    std::uint64_t taken = 0;
    std::uint64_t dropped = 0;  ///< Those of bursts included.
    std::uint64_t bursts = 0;
    std::uint64_t duplicated = 0;
    std::uint64_t overtaken = 0;  ///< Sent behind one that had come later.
    std::uint64_t crowded = 0;    ///< Dropped because too many were being delayed.

    datagram_fault_counts& operator+=(const datagram_fault_counts& more) noexcept {
        taken += more.taken;
        dropped += more.dropped;
        bursts += more.bursts;
        duplicated += more.duplicated;
        overtaken += more.overtaken;
        crowded += more.crowded;
        return *this;
    }
};

}  // namespace exchange::testing
