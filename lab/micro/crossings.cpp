// SPDX-License-Identifier: BSL-1.0
//
// What it costs to cross between callbacks, gyre and Asio, in nanoseconds per crossing.
//
// Beside each crossing stands what Asio's own coroutines pay for the same: `co_spawn` for a coroutine
// called from a callback, `co_await` with `deferred` for an operation. Everything is warm and on one
// thread, but for the futures. Run it pinned (futures on two processors), with
// --benchmark_repetitions=9; the figures of record are in docs/decisions/0013-interop.md.
#include <gyre/gyre.hpp>
#include <gyre/interop/asio.hpp>
#include <gyre/interop/callbacks.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

namespace {

namespace asio = boost::asio;
using gyre::task;
using host_executor = asio::io_context::executor_type;
using host_timer =
    asio::basic_waitable_timer<std::chrono::steady_clock,
                               asio::wait_traits<std::chrono::steady_clock>, host_executor>;
template <class Result>
using asio_task = asio::awaitable<Result, host_executor>;

void ignore(std::exception_ptr) {}

// Runs `body(state, loop)` as a coroutine on a gyre loop.
template <class Body>
void on_gyre(benchmark::State& state, const Body& body) {
    gyre::io_context loop;
    launch(loop, body(state, loop), gyre::or_terminate{});
    loop.run();
}

// Runs `body(state, host)` as a gyre coroutine on the thread of an Asio loop.
template <class Body>
void on_guest(benchmark::State& state, const Body& body) {
    asio::io_context host{1};
    gyre::io_context loop;
    gyre::asio_guest guest{host, loop};
    launch(loop, body(state, host, guest), gyre::or_terminate{});
    host.run();
}

// Runs `body(state, host)` as a coroutine of Asio's.
template <class Body>
void on_asio(benchmark::State& state, const Body& body) {
    asio::io_context host{1};
    asio::co_spawn(host.get_executor(), body(state, host), ignore);
    host.run();
}

// Calls `step(again)`, which calls `again()` when it is over, for as long as the state wants.
template <class Step>
class in_a_row {
public:
    in_a_row(benchmark::State& state, Step step) : state_{state}, step_{std::move(step)} {}
    void operator()() {
        if (state_.KeepRunning()) step_(*this);
    }

private:
    benchmark::State& state_;
    Step step_;
};

// Runs such steps on `loop`, gyre's or Asio's.
template <class Loop, class Step>
void run_in_a_row(benchmark::State& state, Loop& loop, Step step) {
    in_a_row run{state, std::move(step)};
    run();
    loop.run();
}

// ---- callback -> coroutine ------------------------------------------------------------------------

void await_callback_called_at_once(benchmark::State& state) {
    on_gyre(state, [](benchmark::State& in, gyre::io_context&) -> task<> {
        const auto start = [](gyre::callback<int> done) { done(1); };
        for (auto _ : in) static_cast<void>(co_await gyre::from_callback<int>(start));
    });
}
BENCHMARK(await_callback_called_at_once);

void await_callback_called_later(benchmark::State& state) {
    on_gyre(state, [](benchmark::State& in, gyre::io_context& loop) -> task<> {
        const auto start = [&loop](gyre::callback<int> done) {
            loop.post([done = std::move(done)] { done(1); });
        };
        for (auto _ : in) static_cast<void>(co_await gyre::from_callback<int>(start));
    });
}
BENCHMARK(await_callback_called_later);

void asio_await_callback_called_later(benchmark::State& state) {
    on_asio(state, [](benchmark::State& in, asio::io_context& host) -> asio_task<void> {
        const auto start = [&host](auto handler) {
            asio::post(host, [handler = std::move(handler)]() mutable { std::move(handler)(1); });
        };
        for (auto _ : in) {
            co_await asio::async_initiate<const asio::deferred_t&, void(int)>(start,
                                                                              asio::deferred);
        }
    });
}
BENCHMARK(asio_await_callback_called_later);

// ---- callback -> coroutine -> callback ------------------------------------------------------------

gyre::springboard<int> spring() { co_return 1; }
task<int> plain() { co_return 1; }
asio_task<int> asio_plain() { co_return 1; }

void springboard_and_back(benchmark::State& state) {
    gyre::io_context loop;
    run_in_a_row(state, loop, [&](auto& again) { spring().call(loop, [&](int) { again(); }); });
}
BENCHMARK(springboard_and_back);

void launch_and_back(benchmark::State& state) {
    gyre::io_context loop;
    run_in_a_row(state, loop, [&](auto& again) {
        launch(loop, plain(), [&](gyre::task_outcome<int>) { again(); });
    });
}
BENCHMARK(launch_and_back);

void springboard_and_back_on_a_guest(benchmark::State& state) {
    asio::io_context host{1};
    gyre::io_context loop;
    const gyre::asio_guest guest{host, loop};
    // As a handler of Asio's would call it: each time from outside of the gyre loop.
    run_in_a_row(state, host, [&](auto& again) {
        spring().call(loop, [&](int) { asio::post(host, [&] { again(); }); });
    });
}
BENCHMARK(springboard_and_back_on_a_guest);

void asio_co_spawn_and_back(benchmark::State& state) {
    asio::io_context host{1};
    run_in_a_row(state, host, [&](auto& again) {
        asio::co_spawn(host.get_executor(), asio_plain(),
                       [&](std::exception_ptr, int) { again(); });
    });
}
BENCHMARK(asio_co_spawn_and_back);

task<gyre::io_result<int>> plain_result() { co_return 1; }

void async_run_and_back(benchmark::State& state) {
    asio::io_context host{1};
    gyre::io_context loop;
    gyre::asio_guest guest{host, loop};
    run_in_a_row(state, host, [&](auto& again) {
        gyre::async_run(guest, plain_result(), [&](boost::system::error_code, int) { again(); });
    });
}
BENCHMARK(async_run_and_back);

// ---- awaiting an operation of Asio's --------------------------------------------------------------

void await_asio_post_on_a_guest(benchmark::State& state) {
    on_guest(state, [](benchmark::State& in, asio::io_context& host, gyre::asio_guest&) -> task<> {
        for (auto _ : in) static_cast<void>(co_await asio::post(host, gyre::use_io_result));
    });
}
BENCHMARK(await_asio_post_on_a_guest);

void asio_await_asio_post(benchmark::State& state) {
    on_asio(state, [](benchmark::State& in, asio::io_context& host) -> asio_task<void> {
        for (auto _ : in) co_await asio::post(host, asio::deferred);
    });
}
BENCHMARK(asio_await_asio_post);

void await_asio_timer_on_a_guest(benchmark::State& state) {
    on_guest(state, [](benchmark::State& in, asio::io_context& host, gyre::asio_guest&) -> task<> {
        host_timer due{host, std::chrono::steady_clock::time_point{}};
        for (auto _ : in) static_cast<void>(co_await due.async_wait(gyre::use_io_result));
    });
}
BENCHMARK(await_asio_timer_on_a_guest);

void asio_await_asio_timer(benchmark::State& state) {
    on_asio(state, [](benchmark::State& in, asio::io_context& host) -> asio_task<void> {
        host_timer due{host, std::chrono::steady_clock::time_point{}};
        for (auto _ : in) co_await due.async_wait(asio::deferred);
    });
}
BENCHMARK(asio_await_asio_timer);

// ---- Asio's handlers on a gyre loop ---------------------------------------------------------------

template <class Loop, class Executor>
void post_handlers(benchmark::State& state, Loop& loop, const Executor& executor) {
    run_in_a_row(state, loop, [executor](auto& again) { asio::post(executor, [&] { again(); }); });
}

void post_asio_handler_to_gyre(benchmark::State& state) {
    gyre::io_context loop;
    gyre::asio_context context{loop};
    post_handlers(state, loop, context.get_executor());
}
BENCHMARK(post_asio_handler_to_gyre);

void post_asio_handler_to_gyre_erased(benchmark::State& state) {
    gyre::io_context loop;
    gyre::asio_context context{loop};
    post_handlers(state, loop, asio::any_io_executor{context.get_executor()});
}
BENCHMARK(post_asio_handler_to_gyre_erased);

void asio_post_asio_handler(benchmark::State& state) {
    asio::io_context host{1};
    post_handlers(state, host, host.get_executor());
}
BENCHMARK(asio_post_asio_handler);

void asio_post_asio_handler_erased(benchmark::State& state) {
    asio::io_context host{1};
    post_handlers(state, host, asio::any_io_executor{host.get_executor()});
}
BENCHMARK(asio_post_asio_handler_erased);

// ---- a thread that blocks -------------------------------------------------------------------------

void task_to_future(benchmark::State& state) {
    gyre::io_context loop;
    std::thread runner{[&, guard = gyre::io_context::work_guard{loop}] { loop.run(); }};
    for (auto _ : state) gyre::to_future(loop, plain()).get();
    loop.stop();
    runner.join();
}
BENCHMARK(task_to_future)->UseRealTime();

void asio_co_spawn_to_future(benchmark::State& state) {
    asio::io_context host;
    std::thread runner{[&, work = asio::make_work_guard(host)] { host.run(); }};
    for (auto _ : state) {
        asio::co_spawn(host.get_executor(), asio_plain(), asio::use_future).get();
    }
    host.stop();
    runner.join();
}
BENCHMARK(asio_co_spawn_to_future)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
