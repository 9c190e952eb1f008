// SPDX-License-Identifier: BSL-1.0
//
// What the kernel counts for us: context switches and memory always, system calls where it may be asked.
//
// They explain a time rather than add to it. System calls are counted by a tracepoint, which makes each
// of them a little slower, so they get a run of their own, whose times are thrown away.
#pragma once

#include <lab/kit/sockets.hpp>

#include <sys/types.h>
#include <time.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// User and system time, by a clock of a process's or a thread's. None if it has ended.
[[nodiscard]] std::optional<std::chrono::nanoseconds> processor_time(clockid_t clock) noexcept;

/// Of all threads of this process, wanted and unwanted.
[[nodiscard]] std::uint64_t context_switches() noexcept;

/// Of each thread that is there when they are asked for.
using switches_by_thread = std::map<pid_t, std::uint64_t>;

/// Of the threads that another process has at the moment; of none if it has ended.
[[nodiscard]] switches_by_thread context_switches_of(pid_t process);

/// From one reading to the next, those of threads included that have begun meanwhile. None if a thread has
/// ended: it took with it how often it had been switched since.
[[nodiscard]] std::optional<std::uint64_t> switches_between(const switches_by_thread& before,
                                                            const switches_by_thread& after);

/// The most that a process has had in memory since it became what it is; 0 if it has ended.
///
/// @param process  This one if it is 0.
[[nodiscard]] double peak_memory_megabytes(pid_t process);

/// From now on, counters count.
///
/// @return Why they cannot, for people; empty if they do.
[[nodiscard]] std::string count_system_calls();

/// What to say where a counter that should count cannot be read.
inline constexpr std::string_view unreadable_count =
    "the counter cannot be read: the process had ended before it was counted";

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
