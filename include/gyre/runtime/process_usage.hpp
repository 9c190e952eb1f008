// SPDX-License-Identifier: BSL-1.0
//
// What a process has cost, as its end tells: io/process.hpp.
#pragma once

#include <gyre/base/time.hpp>

#include <cstdint>

namespace gyre {

/// What a process has used, and those of its children that it has waited for (getrusage(2)).
struct process_usage {
    duration user_time{};
    duration system_time{};
    /// In memory at a time; of the one that had most. At least what this program had when it started it, for
    /// Linux counts the memory that a process has in front of its exec.
    std::uint64_t memory_bytes_max = 0;
    std::uint64_t page_faults = 0;    ///< That no device was read for.
    std::uint64_t page_reads = 0;     ///< Page faults that one was read for.
    std::uint64_t bytes_read = 0;     ///< From devices, in blocks of 512.
    std::uint64_t bytes_written = 0;  ///< To devices, likewise.
    std::uint64_t waits = 0;          ///< Times that it gave way to wait for something.
    std::uint64_t preemptions = 0;    ///< Times that it had to give way to others.
};

}  // namespace gyre
