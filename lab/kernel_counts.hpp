// SPDX-License-Identifier: BSL-1.0
//
// What the kernel counts for us: context switches always, system calls where it may be asked.
//
// Both explain a time rather than add to it. System calls are counted by a tracepoint, which makes each
// of them a little slower, so they get a run of their own, whose times are thrown away.
#pragma once

#include <lab/load.hpp>

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lab {

/// Of all threads of this process, wanted and unwanted.
[[nodiscard]] std::uint64_t context_switches() noexcept;

/// Of the threads that another process has at the moment.
[[nodiscard]] std::uint64_t context_switches_of(pid_t process);

/// From now on, counters count.
///
/// @return Why they cannot, for people; empty if they do.
[[nodiscard]] std::string count_system_calls();

/// Counts from its construction on, if `count_system_calls` was called and succeeded.
class system_call_counter {
public:
    /// @param process  Its threads are counted, or this process's if it is 0; threads and processes that
    ///                 they start from now on as well.
    explicit system_call_counter(pid_t process);

    /// Of the calling thread alone, which must be the one that asks for the count.
    [[nodiscard]] static system_call_counter of_this_thread();

    /// Counts nothing.
    [[nodiscard]] static system_call_counter none() noexcept { return {}; }

    /// None if they are not counted. The call that this makes is the caller's.
    [[nodiscard]] std::optional<std::uint64_t> so_far() const noexcept;

private:
    system_call_counter() noexcept = default;

    std::vector<descriptor> counters_;  // One for each thread.
};

}  // namespace lab
