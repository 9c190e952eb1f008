// SPDX-License-Identifier: BSL-1.0
//
// A server that is measured from the outside, be it ours or a program that knows nothing of the lab.
//
// Whatever is asked of it here is asked of the kernel, the same way for everyone: nobody counts his own
// costs. The seam to foreign programs is four sentences: `--workload W --threads N --port P` on
// 127.0.0.1; the line `ready` on standard output when it accepts; TCP_NODELAY on every connection; it ends
// with status 0 soon after SIGTERM.
#pragma once

#include <lab/kernel_counts.hpp>
#include <lab/load.hpp>

#include <netinet/in.h>
#include <sched.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lab {

/// Which cores are whose. Where there are enough of them, the server has one for each of its threads and
/// the load one of its own; where there are not, the server may use all and the load shares the last.
struct core_split {
    cpu_set_t server;
    cpu_set_t load;
};

/// Which core a processor is of, as a number that two hardware threads of one core share.
using core_of_processor = std::function<int(int)>;

/// As the kernel says; every processor is one of its own if it does not.
[[nodiscard]] int physical_core_of(int processor);

/// Processors that share a core are used last.
[[nodiscard]] core_split split_cores(const cpu_set_t& allowed, std::size_t server_threads,
                                     const core_of_processor& core_of = physical_core_of);

/// What processes have used by a moment: each one that lives, and together those that have ended and were
/// waited for.
struct processor_times {
    std::map<pid_t, std::chrono::nanoseconds> of_living{};
    std::chrono::nanoseconds of_ended{};
};

/// What they have used from one reading to the next. The kernel hands over the time of those that have ended
/// in hundredths of a second; whom nobody has waited for, it forgets, and that part is missing here.
[[nodiscard]] std::chrono::nanoseconds used_between(const processor_times& before,
                                                    const processor_times& after);

/// A child process, and all processes that it has started. Kills it if it is destroyed before its end
/// was waited for.
class server_process {
public:
    /// @param id  A child of this process. Taken charge of.
    explicit server_process(pid_t id) noexcept : id_{id} {}
    server_process(server_process&& other) noexcept;
    server_process& operator=(server_process&&) = delete;
    ~server_process();

    [[nodiscard]] pid_t id() const noexcept { return id_; }

    /// The status with which it ends within a second; none if it does not. Whatever it has started is killed.
    [[nodiscard]] std::optional<int> exit_status();

    /// User and system time of all threads of all its processes. Fails if it has ended.
    [[nodiscard]] processor_times processor_time() const;

    [[nodiscard]] switches_by_thread context_switches() const;

    /// The sum of the peaks of the processes that it has at the moment.
    [[nodiscard]] double peak_memory_megabytes() const;

    /// Fails unless TCP_NODELAY is set on the server's end of each connection.
    ///
    /// @param ports  Of the clients' ends. All have been accepted.
    /// @return Whether it could be seen: the kernel refuses to show the sockets of a process that
    ///         this one may not trace.
    [[nodiscard]] bool require_no_delay(std::span<const std::uint16_t> ports) const;

    /// Waits until it has ended by itself. Fails unless its status is 0.
    void wait_for_end();

    /// Asks it to end with SIGTERM. Fails unless it does so within five seconds, with status 0. What a
    /// program has left running by then is killed.
    void stop();

private:
    [[nodiscard]] std::vector<pid_t> family() const;
    void end_descendants() const noexcept;

    pid_t id_;  // -1: nothing to wait for any more.
};

/// A program that is ready.
struct started_program {
    server_process process;
    sockaddr_in address;
    descriptor output;  ///< Its standard output, kept open for as long as it may print.
};

/// Why there is none: what it said on standard error last.
struct not_started {
    std::string reason;
};

/// Starts a server that keeps to the seam, on a free port, and waits at most 30 s until it is ready. Tries a
/// second port if it ends with 1, as it should if somebody else has taken the first one.
///
/// @param command   The program and its first arguments; those of the seam are added.
/// @param workload  `echo` or `http`.
[[nodiscard]] std::variant<started_program, not_started> start_program(
    const std::vector<std::string>& command, std::string_view workload, std::size_t threads,
    const cpu_set_t& cores);

}  // namespace lab
