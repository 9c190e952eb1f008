// SPDX-License-Identifier: BSL-1.0
//
// The scenario player: plays a cell from outside, as its load, and counts what comes of it.
//
// One thread that never sleeps, with plain system calls, the same for every facility. It plays maker and
// taker over TCP, listens to the feed, and knows of each event when it was due and when the last message
// derived from it had arrived. What is late is sent late and still counts from when it was due.
#pragma once

#include <exchange/bench/arrival_log.hpp>
#include <exchange/bench/cells.hpp>
#include <exchange/bench/core_gaps.hpp>
#include <exchange/bench/facility_under_test.hpp>
#include <exchange/bench/feed_client.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace exchange::bench {

/// What the player must know of the host before it begins.
struct scenario_target {
    facility_endpoints endpoints;
    in_sequence first_command = 1;    ///< The number that the next command will get.
    std::uint64_t first_of_feed = 1;  ///< The sequence of the next message of the feed.
    gyre::duration silence_max = std::chrono::seconds{5};  ///< Without any progress.
};

struct scenario_result {
    /// Why there is no result, as a sentence; empty if every event derived what it should.
    std::string fault;

    /// Of all events, those of the warm-up included, in order.
    std::vector<arrival_log::event_arrival> events;
    std::vector<gyre::time_point>
        due;  ///< When each trigger should have been sent. Without a rate: was.
    std::vector<gyre::time_point> sent;  ///< When each trigger was.

    /// When the load itself did not go on for 20 us or more.
    std::vector<core_gap> stalls;

    std::uint64_t datagrams = 0;  ///< Of the feed, answers to requests included.
    std::uint64_t requests = 0;   ///< For lost messages of the feed.
};

/// Plays one cell, the warm-up first, and returns when the last event is complete or something is wrong.
///
/// @param  feed  Borrowed; made beforehand, as the facility must know where to send.
/// @param  play  A scenario of the same kind, which was prepared; is used up.
///
/// Threads: runs on the caller's, at full speed.
[[nodiscard]] scenario_result play(const cell& which, scenario& play, feed_client& feed,
                                   const scenario_target& target);

}  // namespace exchange::bench
