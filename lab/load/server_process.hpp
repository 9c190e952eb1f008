// SPDX-License-Identifier: BSL-1.0
//
// A server that is measured from the outside, be it ours or a program that knows nothing of the lab.
//
// All that is asked here is asked of the kernel, the same way for every server: none counts its own costs.
// servers/seam.hpp has the command line that all of them keep to.
#pragma once

#include <lab/kit/kernel_counts.hpp>
#include <lab/kit/sockets.hpp>

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
#include <utility>
#include <variant>
#include <vector>

namespace lab {

/// Which cores server and load run on. Where there are enough of them, the server has one for each of its
/// threads and the load one of its own; where there are not, the server may use all and the load shares the
/// last.
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

/// Of the processors that this process may use.
[[nodiscard]] core_split cores_for(std::size_t server_threads);

/// What processes have used by a moment: each one that lives, and together those that have ended and were
/// waited for.
struct processor_times {
    std::map<pid_t, std::chrono::nanoseconds> of_living{};
    std::chrono::nanoseconds of_ended{};
};

/// What they have used from one reading to the next. The kernel hands over the time of those that have ended
/// in hundredths of a second; of those that were not waited for it forgets it, and that part is missing here.
[[nodiscard]] std::chrono::nanoseconds used_between(const processor_times& before,
                                                    const processor_times& after);

/// A child process, and all processes that it has started. Kills it if it is destroyed before its end
/// was waited for.
class server_process {
public:
    /// @param id  A child of this process. Taken charge of.
    explicit server_process(pid_t id) noexcept : id_{id} {}
    server_process(server_process&& other) noexcept : id_{std::exchange(other.id_, -1)} {}
    server_process& operator=(server_process&&) = delete;
    ~server_process();

    [[nodiscard]] pid_t id() const noexcept { return id_; }

    /// The status with which it ends within this time, -1 if a signal ended it; none if it does not end. All
    /// that it had started is killed.
    [[nodiscard]] std::optional<int> wait(std::chrono::milliseconds patience);

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

    /// Asks it to end with SIGTERM. Fails unless it does so within five seconds, with status 0. What a
    /// program has left running by then is killed.
    void stop();

private:
    [[nodiscard]] std::vector<pid_t> family() const;
    void end_descendants() const noexcept;

    pid_t id_;  // -1: nothing to wait for any more.
};

/// What a server has used between two moments.
struct server_cost {
    std::chrono::nanoseconds wall{};
    std::chrono::nanoseconds processor{};
    std::optional<std::uint64_t> context_switches{};  ///< None where threads ended meanwhile.
    std::optional<std::uint64_t> system_calls{};      ///< Where they are counted.
    double memory_megabytes = 0;                      ///< The peak.
};

/// From its construction on.
class server_watch {
public:
    /// @param server  Borrowed.
    explicit server_watch(const server_process& server);

    [[nodiscard]] server_cost stop() const;

private:
    const server_process* server_;
    system_call_counter calls_;
    switches_by_thread switches_;
    processor_times processor_;
    std::chrono::steady_clock::time_point began_;
};

/// How a server is started.
struct server_start {
    std::vector<std::string> command;  ///< The program and its first arguments; the rest is added.
    std::string_view workload;         ///< `echo` or `http`.
    std::size_t threads = 1;
    cpu_set_t cores;
    std::vector<std::string> environment{};  ///< NAME=VALUE; added to that of this process.
};

/// A program that is ready.
struct started_server {
    server_process process;
    sockaddr_in address;
    descriptor output;  ///< Its standard output, kept open for as long as it may print.

    /// What it has printed since; to be called when it has ended.
    [[nodiscard]] std::string rest_of_output() const;
};

/// Why there is none: the last line that it wrote on standard error.
struct not_started {
    std::string reason;
};

/// Starts a server on a free port, and waits at most 30 s until it is ready. Tries a second port if it ends
/// with 1, as it should if another program has taken the first one.
[[nodiscard]] std::variant<started_server, not_started> start_server(const server_start& wanted);

/// What a server prints when it is asked for its `--version`: library, version and backend, if it is as it
/// should be.
[[nodiscard]] std::vector<std::string> identity_of(std::vector<std::string> command);

}  // namespace lab
