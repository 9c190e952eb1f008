// SPDX-License-Identifier: BSL-1.0
//
// The configuration of a supervisor: which programs an exchange consists of, and in which order.
//
// exchange/bin/supervisor.json is a sample. As in config.hpp, nothing is guessed, and all that is wrong is
// found in one reading.
#pragma once

#include <exchange/management/config.hpp>
#include <exchange/management/process_options.hpp>

#include <gyre/io/endpoint.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace exchange {

/// One program that is kept running.
struct supervised_child {
    std::string name{};     ///< Unique; in lower case, as "gateway".
    std::string program{};  ///< With a slash a path; else a program beside the supervisor's own.
    std::vector<std::string> arguments{};
    std::vector<std::size_t> after{};  ///< Those that must be ready before it is started: indices.
    /// Where the supervisor listens for it, as long as itself runs. Each of its processes is given these
    /// listeners, and takes those at the places that its own configuration names.
    std::vector<gyre::endpoint> listen{};
    /// May two of its processes run beside each other, so that one takes the other's place?
    bool replaceable = false;
    /// For it to print a line that begins with "ready: ". Else it is killed, and counts as failed.
    gyre::duration ready_within = std::chrono::seconds{10};
    /// For it to end when it is asked to. Else it is killed.
    gyre::duration drain_within = std::chrono::seconds{10};
    /// Before it is started again; doubles with each failure in a row,
    gyre::duration restart_after = std::chrono::milliseconds{100};
    gyre::duration restart_after_max = std::chrono::seconds{5};  ///< up to this.
    /// One that was ready for so long has no failures any more.
    gyre::duration healthy_after = std::chrono::seconds{30};
    unsigned failures_max = 10;  ///< In a row. With one more the whole exchange is ended.
};

struct supervisor_config {
    std::vector<supervised_child> children;  ///< Each behind those that it is `after`.
    std::string folder{};                    ///< In which children run.
    process_options process{};
};

struct supervisor_config_reading {
    supervisor_config value;  ///< Meaningful if there are no errors.
    std::vector<config_error> errors;
};

/// Reads the text of a configuration.
///
/// @param  folder  Where it is, and where children run.
[[nodiscard]] supervisor_config_reading read_supervisor_config(std::string_view text,
                                                               const std::string& folder = ".");
/// Reads a file; that it cannot be read is an error like any other.
[[nodiscard]] supervisor_config_reading load_supervisor_config(const std::string& path);

}  // namespace exchange
