// SPDX-License-Identifier: BSL-1.0
//
// What a program must be able to do to be measured.
//
// Each file in contenders/ implements `contender` and `make_contender` and is linked with
// driver.cpp into one executable. The contender decides what lies inside the `stopwatch`; the
// driver turns what it returns into metrics, the same way for everyone.
#pragma once

#include <lab/histogram.hpp>
#include <lab/kernel_counts.hpp>
#include <lab/load.hpp>
#include <lab/scenario.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lab {

/// Something that a library counts of its own accord, such as how often it asked the kernel for events:
/// it explains a row, and is nothing to win by.
struct counter {
    std::string_view name;  ///< Of the metric; a literal.
    double count = 0;       ///< Meanwhile.
};

struct cost {
    std::chrono::nanoseconds wall{};
    std::chrono::nanoseconds processor{};  ///< User and system time of all threads.
    std::uint64_t allocations = 0;         ///< Made by the thread that holds the stopwatch.
    std::optional<std::uint64_t> context_switches{};  ///< Of all threads; where all are known.
    std::optional<std::uint64_t> system_calls{};  ///< Where they are counted (kernel_counts.hpp).
    std::vector<counter> counted{};

    // Of `echo` alone.
    std::chrono::nanoseconds load_processor{};  ///< What the load itself has used.
    bool no_delay_seen = false;   ///< Whether the server's sockets could be looked at.
    double memory_megabytes = 0;  ///< The peak of the server.
};

/// Runs from its construction. Must be stopped by the thread that made it.
class stopwatch {
public:
    stopwatch() noexcept;

    [[nodiscard]] cost stop() const noexcept;

private:
    std::chrono::steady_clock::time_point started_;
    std::chrono::nanoseconds processor_before_;
    std::uint64_t allocations_before_;
    std::uint64_t switches_before_;
    system_call_counter calls_;
};

struct measurement {
    cost spent;
    std::uint64_t amount = 0;  ///< What was done: items, bytes, rounds, requests, timers.
    histogram latency{};       ///< Nanoseconds; empty where there is none.
};

/// Why a row stays empty; printed under the table, so write it for its reader.
struct cannot_run {
    std::string reason;
};

/// What a server of one thread says to a case of `echo`.
[[nodiscard]] inline std::string refuse_threads(const echo_case& work) {
    return work.threads == 1 ? "" : "takes no part in rows of several threads";
}

using outcome = std::variant<measurement, cannot_run>;

struct identity {
    std::string name;  ///< As in the tables: `asio_callback`.
    std::string library;
    std::string version;
    std::string backend;  ///< What it waits with: `epoll`, `io_uring`, `none`.
};

/// One way to do the lab's work. Overrides what it can do.
///
/// A run makes one contender, calls one of the verbs once, and exits: nothing warms up the
/// next case, and nothing of an earlier one remains.
class contender {
public:
    virtual ~contender() = default;

    [[nodiscard]] virtual identity about() const = 0;

    virtual outcome dispatch(const dispatch_case& work);
    virtual outcome throughput(const throughput_case& work);
    virtual outcome latency(const latency_case& work);
    virtual outcome http(const http_case& work);
    virtual outcome shared_dispatch(const shared_dispatch_case& work);
    virtual outcome threads_throughput(const threads_throughput_case& work);
    virtual outcome threads_http(const threads_http_case& work);
    virtual outcome timers(const timers_case& work);
    virtual outcome churn(const churn_case& work);
    virtual outcome fan_out(const fan_out_case& work);

    /// Accepts `work.connections` connections from `listener`, sends back what each sends, and
    /// returns when all of them have ended. Called in a process of its own, only if nothing is said
    /// against it and there is no program to do so.
    virtual void echo(const echo_case& work, descriptor listener);

    /// Why it takes no part in this case, for people; empty if it does.
    [[nodiscard]] virtual std::string refusal_to_echo(const echo_case& work) const;

    /// The program and its arguments that serve in its place, see server_process.hpp; none if `echo` does.
    [[nodiscard]] virtual std::vector<std::string> echo_program() const { return {}; }

    /// What it counted during the `echo` that has just ended.
    [[nodiscard]] virtual std::vector<counter> counted_in_echo() const { return {}; }
};

/// Defined by each file in contenders/.
///
/// @param backend  The driver's `--backend`, empty if absent. A contender with only one backend
///                 accepts only the empty one; others fail on a name they do not know.
[[nodiscard]] std::unique_ptr<contender> make_contender(std::string_view backend);

}  // namespace lab
