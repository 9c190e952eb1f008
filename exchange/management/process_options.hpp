// SPDX-License-Identifier: BSL-1.0
//
// What the configuration of every process says of the process itself: its admin port, and its log.
//
//     "admin": {"at": "127.0.0.1:7021"},   "log": {"level": "info"}
#pragma once

#include <exchange/management/event_log.hpp>

#include <gyre/base/time.hpp>
#include <gyre/io/endpoint.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace exchange {

class json_section;

/// The admin port: see admin_server.hpp.
struct admin_options {
    gyre::endpoint at;  ///< Where it listens; nowhere, if it is not to.
    std::size_t connections_max = 64;
    gyre::duration answer_within = std::chrono::seconds{1};  ///< Else the process counts as stuck.
    gyre::duration fresh_for = std::chrono::milliseconds{100};  ///< Of an answer, for others.
    bool commands = false;  ///< May they tell the process to do something, too?
    /// Where the place is taken: begin all the same, and answer from when it is free. For a process that
    /// works beside the one whose place it takes. No part of the file.
    bool waits_for_place = false;

    [[nodiscard]] bool wanted() const noexcept { return at.kind() != gyre::endpoint::family::none; }
};

struct process_options {
    admin_options admin{};
    log_level log = log_level::warning;  ///< What is told on standard error, from this level on.
};

/// Whether there is anything that the process can be told over its admin port.
enum class admin_commands : std::uint8_t { none, some };

/// Reads the sections `admin` and `log` of a whole configuration. An admin port that other machines can reach
/// is an error, unless the section says so: "to_others": 1. One that takes commands ("commands": 1) is for
/// this machine alone, whatever the section says.
void read_process(json_section& top, process_options& into,
                  admin_commands known = admin_commands::none);

}  // namespace exchange
