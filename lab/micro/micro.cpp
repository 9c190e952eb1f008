// SPDX-License-Identifier: BSL-1.0
//
// What the pieces cost by themselves, in nanoseconds and bytes.
//
// The suites say how gyre compares; this says where its time goes, so that a change to one piece can
// be judged alone. Run pinned, and believe differences between two builds, not single figures. The
// numbers of record are in docs/decisions/0006-sizes-and-costs.md.
#include <gyre/coro/launch.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/channel.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using gyre::io_context;
using gyre::task;
using gyre::work;

// Runs `body(state)` as a coroutine on a loop of its own.
template <class Body>
void on_a_loop(benchmark::State& state, const Body& body) {
    io_context loop;
    launch(loop, body(state, loop), gyre::or_terminate{});
    loop.run();
}

// For instructions.py, which counts exactly and so wants to know how often.
void fix_iterations(benchmark::internal::Benchmark* it) {
    const char* const asked = std::getenv("LAB_MICRO_ITERATIONS");
    if (asked != nullptr) it->Iterations(std::atoi(asked));
}

task<> nothing() { co_return; }
task<int> number() { co_return 1; }

void await_a_set_event(benchmark::State& state) {
    on_a_loop(state, [](benchmark::State& in, io_context&) -> task<> {
        gyre::event set;
        set.set();
        for (auto _ : in) static_cast<void>(co_await set.wait());
    });
}
BENCHMARK(await_a_set_event)->Apply(&fix_iterations);

void call_a_task(benchmark::State& state) {
    on_a_loop(state, [](benchmark::State& in, io_context&) -> task<> {
        for (auto _ : in) {
            const int got = co_await number();
            benchmark::DoNotOptimize(got);
        }
    });
}
BENCHMARK(call_a_task)->Apply(&fix_iterations);

void spawn_and_join_a_child(benchmark::State& state) {
    on_a_loop(state, [](benchmark::State& in, io_context&) -> task<> {
        const auto body = [&](gyre::task_group& group) -> task<> {
            for (auto _ : in) {
                group.spawn(nothing());
                co_await group.join();
            }
        };
        co_await gyre::with_group(body);
    });
}
BENCHMARK(spawn_and_join_a_child)->Apply(&fix_iterations);

void yield_to_the_loop(benchmark::State& state) {
    on_a_loop(state, [](benchmark::State& in, io_context&) -> task<> {
        for (auto _ : in) co_await gyre::yield();
    });
}
BENCHMARK(yield_to_the_loop)->Apply(&fix_iterations);

void post_on_the_own_loop(benchmark::State& state) {
    on_a_loop(state, [](benchmark::State& in, io_context& loop) -> task<> {
        constexpr int batch = 100;
        int ran = 0;
        for (auto _ : in) {
            for (int each = 0; each < batch; ++each) loop.post([&ran] { ++ran; });
            co_await gyre::yield();
        }
        in.SetItemsProcessed(in.iterations() * batch);
        in.counters["per item"] =
            benchmark::Counter(static_cast<double>(in.iterations() * batch),
                               benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
    });
}
BENCHMARK(post_on_the_own_loop)->Apply(&fix_iterations);

void post_to_a_loop_that_runs_elsewhere(benchmark::State& state) {
    io_context loop;
    std::atomic<bool> over = false;
    std::thread runner{[&, guard = io_context::work_guard{loop}] {
        // Kept busy, so that what is measured is the post and not the wake-up.
        while (!over) loop.poll();
    }};
    constexpr int batch = 64;
    std::array<work, batch> items;
    std::atomic<int> left = 0;
    static std::atomic<int>* counter;
    counter = &left;
    for (work& each : items) each.run = [](work&) noexcept { counter->fetch_sub(1); };
    for (auto _ : state) {
        left = batch;
        for (work& each : items) loop.post(each);
        state.PauseTiming();
        while (left > 0) std::this_thread::yield();
        state.ResumeTiming();
    }
    over = true;
    runner.join();
    state.counters["per item"] =
        benchmark::Counter(static_cast<double>(state.iterations() * batch),
                           benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(post_to_a_loop_that_runs_elsewhere)->UseRealTime()->Iterations(2000);

void arm_and_disarm_a_timer(benchmark::State& state) {
    on_a_loop(state, [](benchmark::State& in, io_context& loop) -> task<> {
        gyre::timer it{[](gyre::timer&) noexcept {}};
        for (auto _ : in) {
            loop.arm(it, loop.now() + std::chrono::seconds{1});
            loop.disarm(it);
        }
        co_return;
    });
}
BENCHMARK(arm_and_disarm_a_timer)->Apply(&fix_iterations);

void push_a_timer_back(benchmark::State& state) {
    on_a_loop(state, [](benchmark::State& in, io_context& loop) -> task<> {
        gyre::timer it{[](gyre::timer&) noexcept {}};
        gyre::time_point deadline = loop.now() + std::chrono::hours{1};
        loop.arm(it, deadline);
        for (auto _ : in) loop.arm(it, deadline += std::chrono::nanoseconds{1});
        loop.disarm(it);
        co_return;
    });
}
BENCHMARK(push_a_timer_back)->Apply(&fix_iterations);

void await_with_a_timeout(benchmark::State& state) {
    on_a_loop(state, [](benchmark::State& in, io_context&) -> task<> {
        gyre::event set;
        set.set();
        for (auto _ : in) {
            static_cast<void>(co_await gyre::with_timeout(std::chrono::seconds{1}, set.wait()));
        }
    });
}
BENCHMARK(await_with_a_timeout)->Apply(&fix_iterations);

void channel_send_and_receive(benchmark::State& state) {
    on_a_loop(state, [](benchmark::State& in, io_context&) -> task<> {
        gyre::channel<int> values{1};
        for (auto _ : in) {
            static_cast<void>(co_await values.send(1));
            static_cast<void>(co_await values.receive());
        }
    });
}
BENCHMARK(channel_send_and_receive)->Apply(&fix_iterations);

void start_a_loop(benchmark::State& state) {
    for (auto _ : state) {
        io_context loop;
        loop.poll();
    }
}
BENCHMARK(start_a_loop)->Apply(&fix_iterations);

// Frames are asked for through the promise; this one writes down how large they are.
struct measured {
    struct promise_type : gyre::task_node {
        static inline std::size_t last = 0;
        static void* operator new(std::size_t size) {
            last = size;
            return gyre::task_node::operator new(size);
        }
        static void operator delete(void* frame, std::size_t size) noexcept {
            gyre::task_node::operator delete(frame, size);
        }
        measured get_return_object() noexcept {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept {}
    };
    std::coroutine_handle<promise_type> frame;
};

[[gnu::noinline]] measured empty_frame() { co_return; }
[[gnu::noinline]] measured reading_frame(gyre::stream_socket& from, gyre::mutable_buffer into) {
    static_cast<void>(co_await from.read_some(into));
}

void print_sizes() {
    gyre::stream_socket socket;
    const measured empty = empty_frame();
    const std::size_t empty_size = measured::promise_type::last;
    const measured reading = reading_frame(socket, {});
    const std::size_t reading_size = measured::promise_type::last;
    empty.frame.destroy();
    reading.frame.destroy();
    std::printf(
        "bytes: operation header %zu, receive %zu, option %zu, descriptor %zu, stream_socket %zu, "
        "io_context %zu\n",
        sizeof(gyre::operation), sizeof(gyre::receive_operation), sizeof(gyre::option_operation),
        sizeof(gyre::descriptor_slot), sizeof(gyre::stream_socket), sizeof(io_context));
    std::printf(
        "bytes: task promise %zu (task<int> %zu), frame of an empty coroutine %zu, of one read "
        "%zu\n",
        sizeof(task<>::promise_type), sizeof(task<int>::promise_type), empty_size, reading_size);
}

}  // namespace

int main(int count, char** arguments) {
    print_sizes();
    benchmark::Initialize(&count, arguments);
    benchmark::RunSpecifiedBenchmarks();
}
