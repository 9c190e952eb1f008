// SPDX-License-Identifier: BSL-1.0
//
// One cell, once: facility, load, and what they say about each other.
#pragma once

#include <exchange/bench/cells.hpp>
#include <exchange/bench/core_gaps.hpp>
#include <exchange/bench/facility_under_test.hpp>
#include <exchange/bench/feed_client.hpp>
#include <exchange/bench/latency_summary.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace exchange::bench {

struct measurement_options {
    int facility_processor = -1;  ///< The core of the facility's thread; -1: any.
    int load_processor = -1;      ///< The core of the calling thread.
    feed_transport feed = feed_transport::multicast;
    measurement_edges* edges = nullptr;  ///< Borrowed; told on the facility's thread.
    gyre::duration silence_max =
        std::chrono::seconds{5};  ///< Without any progress, a run has failed.
    bool samples_core = false;    ///< Look at the facility's core meanwhile: see core_sampler.hpp.
};

struct cell_result {
    /// Why there is nothing else, as a sentence; empty if every event derived what it should, as seen by
    /// its client and by the facility.
    std::string fault;

    latency_summary internal;  ///< Received completely -> the kernel has taken the last byte.
    latency_summary wire;      ///< Due -> the client has received the last message.
    latency_summary way_in;    ///< Due -> received completely: what of `wire` precedes `internal`.
    latency_summary way_out;   ///< What follows it. Negative if the client has read before.
    latency_summary core;      ///< The same messages without any I/O, before the run.
    latency_summary lateness;  ///< Of the load: due -> sent. Includes waiting for what precedes.

    /// One for each second of the run, or one in all if it took less than two.
    std::vector<latency_summary> wire_by_second;

    double achieved_per_second = 0;  ///< Events, by the clock of the client.
    double events_per_second = 0;    ///< By the time in which the facility had an event inside.
    double orders_per_second = 0;    ///< Inbound messages, by the clock of the client.
    bool saturated = false;  ///< It did not keep the cell's share of the rate that was asked for.

    double processor_ns = 0;  ///< Of the facility, its gateway included, per inbound message.
    noise_floor host;         ///< Of the facility's core, if it was looked at.
    std::vector<explained_delay> worst;  ///< To the client's last message; likewise.

    std::uint64_t inbound = 0;     ///< Messages, the warm-up included.
    std::uint64_t receptions = 0;  ///< Reads that brought such messages.
    std::uint64_t flushes = 0;     ///< Times that everything had been written.
    std::uint64_t datagrams = 0;   ///< Received from the feed.
    std::uint64_t requests = 0;    ///< For lost messages of the feed.
    facility_counts counted;
};

/// Starts the facility, plays the cell, stops the facility.
[[nodiscard]] cell_result measure(facility_under_test& facility, const cell& which,
                                  const measurement_options& options);

}  // namespace exchange::bench
