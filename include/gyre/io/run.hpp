// SPDX-License-Identifier: BSL-1.0
//
// main() in one line: a loop, a task, and an orderly end.
//
// `run` is for programs that end by themselves, `run_until_signal` for servers. Both make the loop, so
// small programs never see one; larger ones launch on loops of their own (coro/launch.hpp).
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/io/signals.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/io_pool.hpp>

#include <chrono>
#include <concepts>
#include <type_traits>
#include <utility>

namespace gyre {

/// How `run_until_signal` ends a program, and what it prints meanwhile.
struct run_options {
    run_options() noexcept = default;

    /// How long sessions may go on after the first signal before they are stopped.
    duration grace = std::chrono::seconds{5};

    /// How long after the first signal a further one says the same, and does not end the process at once:
    /// timeout(1) and npm send one to the process and one to its group.
    duration signal_gap = std::chrono::milliseconds{200};

    /// The signal, such as SIGUSR1, at which `run_until_signal` prints which coroutine waits for what
    /// (task_dump.hpp) to standard error, each time. None by default: programs may use any themselves. One
    /// that cannot be waited for is reported there, and changes nothing else.
    /// Of the program's own loop, then of `dump_pool`: what was sent to other loops is "waiting for another
    /// loop" there, and told by a task that is sent after it and yields `dump_tasks(*io_context::current())`.
    int dump_signal = 0;

    /// A pool whose loops `dump_signal` tells of as well (runtime/pool_dump.hpp), a second after the signal
    /// at the latest. Borrowed: outlives the call of `run_until_signal`.
    io_pool* dump_pool = nullptr;
    io_context_options loop;
};

/// Where and how the one task of a program runs; the untyped part of `run`.
class program {
public:
    explicit program(const run_options& options) noexcept;

    [[nodiscard]] io_context& loop() noexcept { return loop_; }

    /// Whether the loop has a backend; if not, the reason is printed to standard error.
    [[nodiscard]] bool can_run() const noexcept;

    /// Runs until `target` has ended and nothing is left. SIGINT and SIGTERM drain it, stop it after
    /// the grace, and on their second arrival after the gap end the process at once.
    void run_watched(stop_handle target);

    /// To be called when the target has ended.
    void target_ended() noexcept {
        watcher_.request_stop();
        dumper_.request_stop();
    }

    /// The status a process ends with after `failed`, which is reported to standard error.
    [[nodiscard]] static int exit_status(error failed) noexcept;

private:
    [[nodiscard]] task<> watch(stop_handle target);
    [[nodiscard]] task<> dump_at_signals();

    run_options options_;
    io_context loop_;
    signal_set signals_;
    signal_set dump_signals_;
    error signals_status_;
    error dump_signals_status_;
    stop_handle watcher_;
    stop_handle dumper_;
};

/// What a program's task may yield: nothing, its exit status, or an error.
template <class Result>
concept program_result =
    std::same_as<Result, void> || std::same_as<Result, int> || std::same_as<Result, io_result<>>;

/// Runs `main` on a loop of its own and returns what it yields. A user's exception is rethrown.
template <class Result>
Result run(task<Result> main, const io_context_options& options = {});

/// Runs `main` until it ends or a signal ends it.
///
/// The first SIGINT or SIGTERM drains: accepts end, and so do waits marked idle. After `grace` what is
/// left is stopped. A second signal ends the process at once, with status 128 + signal, unless it comes
/// within `signal_gap` of the first: timeout(1) and others send two, to the process and to its group.
///
/// @return The exit status: 0, what `main` yields, or 1 after an error, which is printed. 1 also if the loop
///         has no backend: `main` is not begun then.
///         `errc::canceled` counts as success: it is how a signal ends a program.
template <program_result Result>
int run_until_signal(task<Result> main, const run_options& options = {});

// Implementation

template <class Result>
Result run(task<Result> main, const io_context_options& options) {
    kept_outcome<Result> kept;
    io_context loop{options};
    launch(loop, std::move(main),
           [&kept](task_outcome<Result> outcome) noexcept { kept(outcome); });
    loop.run();
    return kept.take();
}

template <program_result Result>
int run_until_signal(task<Result> main, const run_options& options) {
    kept_outcome<Result> kept;
    program it{options};
    if (!it.can_run()) return 1;
    const auto on_end = [&](task_outcome<Result> outcome) noexcept {
        kept(outcome);
        it.target_ended();
    };
    it.run_watched(launch(it.loop(), std::move(main), on_end));
    if constexpr (std::same_as<Result, int>) {
        return kept.take();
    } else if constexpr (std::is_void_v<Result>) {
        kept.take();
        return 0;
    } else {
        return program::exit_status(kept.take().error());
    }
}

}  // namespace gyre
