// SPDX-License-Identifier: BSL-1.0
//
// How a test gets a loop, on every backend there is.
//
// `on_every_backend(body)` runs one coroutine on epoll and on each io_uring tier, each on a loop of
// its own, and fails with a dump of who waits for what if the coroutine has not ended in time.
// GYRE_TEST_BACKENDS=epoll,uring-c narrows the list; its fifth name, `world`, is for conformance.hpp.
#pragma once

#include <gyre/coro/launch.hpp>
#include <gyre/coro/task_dump.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace gyre::testing {

/// The kernel's backends that tests run on, in a fixed order. Empty if worlds are wanted only.
[[nodiscard]] const std::vector<backend_choice>& backends_under_test();

/// How long a body may take before it counts as hanging; generous, since sanitizers are slow.
inline constexpr duration patience = std::chrono::seconds{60};

/// Reports the current test as skipped if there is none of these.
void skip_without_backends();

/// Runs `body(io)` to its end on a loop of `choice`. True if it ended.
template <class Body>
bool run_on(backend_choice choice, const Body& body) {
    io_context_options options;
    options.backend = choice;
    bool ended = false;  // A body that hangs ends with the loop.
    io_context io{options};
    INFO("backend ", std::string{describe(choice)});
    REQUIRE(io.backend().kind == choice);
    REQUIRE_FALSE(io.status());

    const auto note_end = [&ended](task_outcome<void> outcome) {
        outcome.get();
        ended = true;
    };
    launch(io, body(io), note_end);
    io.run_for(patience);
    INFO("pending:\n", dump_tasks(io));
    CHECK(ended);
    return ended;
}

/// Runs `body(io)`, a callable that returns task<>, once per backend under test.
template <class Body>
void on_every_backend(const Body& body) {
    skip_without_backends();
    for (const backend_choice each : backends_under_test()) run_on(each, body);
}

/// Calls `body(options)` once per backend under test, for tests that make their own loops.
template <class Body>
void with_every_backend(const Body& body) {
    skip_without_backends();
    for (const backend_choice each : backends_under_test()) {
        INFO("backend ", std::string{describe(each)});
        io_context_options options;
        options.backend = each;
        body(options);
    }
}

/// Two ends of one connection.
struct socket_pair {
    stream_socket client;
    stream_socket server;
};

/// Connected over TCP on the loopback interface.
[[nodiscard]] socket_pair connected_pair(io_context& io);

/// Connected over a Unix-domain socket.
[[nodiscard]] socket_pair local_pair(io_context& io);

/// Open descriptors of this process: what a test compares to see that none was lost.
[[nodiscard]] std::size_t open_descriptors();

/// Keeps this thread busy, as a long computation would.
void compute_for(duration length);

/// CPU time this thread has used.
[[nodiscard]] duration thread_cpu_time();

/// How much CPU time something takes by itself. What a hypervisor or an interrupt takes meanwhile is charged
/// to the thread, too, so what takes too much is tried again: a loop that spins takes it each time.
///
///     cpu_trials cpu{20ms};
///     while (cpu.again()) co_await something_that_waits();
///     CHECK(cpu.least() < 20ms);
class cpu_trials {
public:
    /// \param enough  a trial that takes less is the last
    explicit cpu_trials(duration enough) : enough_{enough} {}

    /// Ends one trial and says whether there is another, which begins now. There are three at most.
    [[nodiscard]] bool again();

    /// Of the trials that have ended.
    [[nodiscard]] duration least() const { return least_; }

private:
    duration enough_;
    duration least_ = duration::max();
    duration begun_{};
    int trials_ = 0;
};

}  // namespace gyre::testing
