// SPDX-License-Identifier: BSL-1.0
//
// An echo server under load, each on cores of its own.
//
// In other suites both ends of a connection share one loop, so what a contender costs is mixed with what its
// peer costs. Here the server is a process of its own and the load is this one, the same for every server;
// what the server has used is read from outside.
#pragma once

#include <lab/kit/histogram.hpp>
#include <lab/load/echo_clients.hpp>
#include <lab/load/server_process.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lab {

struct echo_result {
    server_cost spent;
    std::chrono::nanoseconds load_processor{};  ///< What the load itself has used.
    histogram latency;                          ///< Nanoseconds, one value for each answer.
    bool no_delay_seen = false;  ///< Whether the server's sockets could be looked at.
    std::optional<std::uint64_t> allocations{};  ///< Of the server, where they are counted.
    double resident_megabytes = 0;               ///< Of the server, at the end.
    std::vector<std::pair<std::string, double>> counted{};  ///< By the server itself, per answer.
};

/// What is asked of one measurement beside its case.
struct echo_options {
    std::vector<std::string> server;  ///< Its command.
    std::string
        allocation_counter;  ///< The library that counts allocations; empty: none are counted.
};

/// Starts the server, plays the case and waits for the server's end.
///
/// The server runs on the first cores this process may use, as many as it has threads, the load on the
/// next one (see `split_cores`). Every byte is verified, while warming up and later; that TCP_NODELAY
/// is set is looked up in between.
[[nodiscard]] std::variant<echo_result, not_started> measure_echo(const echo_case& work,
                                                                  const echo_options& how);

}  // namespace lab
