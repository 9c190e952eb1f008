// SPDX-License-Identifier: BSL-1.0
//
// A program of the exchange as a process of its own, with a folder for its files, whose memory and processor
// time are its alone.
#pragma once

#include <gyre/io/endpoint.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <sys/types.h>

namespace exchange::bench {

/// How much memory and processor time it has used.
struct process_use {
    std::size_t resident_bytes = 0;
    std::size_t resident_bytes_most = 0;  ///< So far.
    double processor_seconds = 0;
};

/// A file that it is given.
struct process_file {
    std::string name;
    std::string text;
};

/// Runs from construction to destruction. What fails ends the program that measures.
class measured_process {
public:
    /// Returns once it has printed its first line.
    ///
    /// @param  program  Its path.
    /// @param  files    The first is its argument.
    measured_process(const std::string& program, const std::vector<process_file>& files);
    measured_process(const measured_process&) = delete;
    measured_process& operator=(const measured_process&) = delete;
    ~measured_process();

    /// What stands in its first line behind `before`, up to a comma.
    [[nodiscard]] std::string word_behind(const std::string& before) const;
    [[nodiscard]] gyre::endpoint endpoint_behind(const std::string& before) const;
    /// How long it took to print that.
    [[nodiscard]] double seconds_to_ready() const noexcept { return seconds_to_ready_; }
    [[nodiscard]] process_use used() const;

private:
    std::string folder_;
    pid_t child_ = -1;
    std::string ready_;
    double seconds_to_ready_ = 0;
};

}  // namespace exchange::bench
