// SPDX-License-Identifier: BSL-1.0
//
// Threads that are still inside a call when the loop that they called ends and is freed.
//
// The loops are on the heap, so that AddressSanitizer sees a thread that touches one afterwards, and
// ThreadSanitizer a race with the destructor. GYRE_TEST_ROUNDS raises the number of rounds.
#include <gyre/coro/launch.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

#include <base/ending.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

int rounds() {
    constexpr int every_day = 300;
    const char* const asked = std::getenv("GYRE_TEST_ROUNDS");
    return asked != nullptr ? std::atoi(asked) : every_day;
}

/// A thread that carries out one call per round: starting a thread each time would spread the calls too far.
class caller {
public:
    caller()
        : thread_{[this] {
              for (unsigned seen = 0;;) {
                  begun_.wait(seen);
                  seen = begun_.load();
                  if (function_ == nullptr) return;
                  function_();
                  ended_.store(seen);
                  ended_.notify_one();
              }
          }} {}
    caller(const caller&) = delete;
    caller& operator=(const caller&) = delete;
    ~caller() {
        begin(nullptr);
        thread_.join();
    }

    void begin(std::function<void()> function) {
        function_ = std::move(function);
        begun_.fetch_add(1);
        begun_.notify_one();
    }
    void wait() {
        for (unsigned seen = ended_.load(); seen != begun_.load(); seen = ended_.load()) {
            ended_.wait(seen);
        }
    }

private:
    std::atomic<unsigned> begun_ = 0;
    std::atomic<unsigned> ended_ = 0;
    std::function<void()> function_;
    std::thread thread_;
};

task<> sleep_about(duration wait) { static_cast<void>(co_await sleep_for(wait)); }

task<> wait_until_set(event& it) { static_cast<void>(co_await it.wait()); }

/// Durations of up to 80 us, about what a sleep of the loop takes.
class durations {
public:
    duration next() { return std::chrono::microseconds{random_() % 80}; }
    const unsigned seed = std::random_device{}();

private:
    std::mt19937 random_{seed};
};

/// Calls `round(io, other, lengths)` with a new loop each time, and ends the loop while `other` may be busy.
template <class Round>
void with_ending_loops(const Round& round) {
    with_every_backend([&](io_context_options options) {
        options.ring_submissions = 8;
        options.ring_completions = 16;
        caller other;
        durations lengths;
        INFO("seed ", lengths.seed);
        for (int each = 0; each < rounds(); ++each) {
            auto io = std::make_unique<io_context>(options);
            round(*io, other, lengths);
            io.reset();
            other.wait();
        }
    });
}

/// The same with a pool of two loops.
template <class Round>
void with_ending_pools(const Round& round) {
    with_every_backend([&](const io_context_options& each_loop) {
        io_pool_options options;
        options.threads = 2;
        options.loop = each_loop;
        options.loop.ring_submissions = 8;
        options.loop.ring_completions = 16;
        caller other;
        durations lengths;
        INFO("seed ", lengths.seed);
        for (int each = 0; each < rounds() / 4; ++each) {
            auto pool = std::make_unique<io_pool>(options);
            round(*pool, other, lengths);
            pool.reset();
            other.wait();
        }
    });
}

/// What no stop ends, so that a root waits for ever; but once asked to end it tells how often its loop will
/// have visited the kernel when it sleeps there.
class endless_wait : public stop_target {
public:
    explicit endless_wait(std::atomic<std::uint64_t>& asleep_at) noexcept : asleep_at_{asleep_at} {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>, const environment* given) noexcept {
        io_ = &context_of(*given);
        given->chain->enter(*this);
    }
    void await_resume() const noexcept {}
    void request(stop_level level) noexcept override {
        if (level >= stop_level::stop) asleep_at_ = io_->counters().visits + 1;
    }
    [[nodiscard]] const char* waiting_for() const noexcept override { return "nothing"; }

private:
    std::atomic<std::uint64_t>& asleep_at_;
    io_context* io_ = nullptr;
};

task<> wait_endlessly(std::atomic<std::uint64_t>& asleep_at) { co_await endless_wait{asleep_at}; }

/// In a child: what is expected of another thread does not come, and the loop learns it while it sleeps.
template <class Maker>
void check_finds_out(const Maker& destroy_after) {
    const ending how = ending_of([&] {
        ::alarm(60);  // In place of hanging.
        std::atomic<std::uint64_t> asleep_at = UINT64_MAX;
        std::jthread other;
        destroy_after(asleep_at, [&](io_context& io) {
            const expected_post expected = io.expect_post(true);
            other = std::jthread{[&io, &asleep_at, expected] {
                while (io.counters().visits < asleep_at) std::this_thread::yield();
                io.posted_as_expected(expected);
            }};
        });
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("coroutines remain that nothing will ever resume"));
}

}  // namespace

TEST_CASE("a stop may be requested while a timer ends the loop's last root") {
    with_ending_loops([](io_context& io, caller& other, durations& lengths) {
        const stop_handle handle = launch(io, sleep_about(lengths.next()), or_terminate{});
        other.begin([handle, length = lengths.next()] {
            compute_for(length);
            handle.request_stop();
        });
        io.run();
        CHECK(handle.ended());
    });
}

TEST_CASE("a stop may be requested when the loop is gone") {
    with_every_backend([](const io_context_options& options) {
        auto io = std::make_unique<io_context>(options);
        const stop_handle of_ended = launch(*io, sleep_about(0s), or_terminate{});
        io->run();
        const stop_handle of_stopped = launch(*io, sleep_about(1h), or_terminate{});
        io.reset();
        of_ended.request_stop();
        of_stopped.request_drain();
        CHECK(of_ended.ended());
        CHECK(of_stopped.ended());
    });
}

TEST_CASE("what another thread posts may end the loop before the post returns") {
    with_ending_loops([](io_context& io, caller& other, durations& lengths) {
        event done;
        const stop_handle handle = launch(io, wait_until_set(done), or_terminate{});
        other.begin([&io, &done, length = lengths.next()] {
            compute_for(length);
            io.post([&done] { done.set(); });
        });
        io.run();
        CHECK(handle.ended());
    });
}

TEST_CASE("a thread may stop a loop that ends with that") {
    with_ending_loops([](io_context& io, caller& other, durations& lengths) {
        const stop_handle handle = launch(io, sleep_about(1h), or_terminate{});
        other.begin([&io, length = lengths.next()] {
            compute_for(length);
            io.stop();
        });
        io.run();
        CHECK_FALSE(handle.ended());
    });
}

TEST_CASE("a thread may release the guard that a loop has waited for") {
    with_ending_loops([](io_context& io, caller& other, durations& lengths) {
        auto guard = std::make_shared<io_context::work_guard>(io);
        other.begin([guard = std::move(guard), length = lengths.next()]() mutable {
            compute_for(length);
            guard.reset();
        });
        CHECK(io.run() == 0);
    });
}

TEST_CASE("a stop may be requested while a timer ends a root of a pool that then ends") {
    with_ending_pools([](io_pool& pool, caller& other, durations& lengths) {
        const stop_handle handle = launch(pool, sleep_about(lengths.next()), or_terminate{});
        other.begin([handle, length = lengths.next()] {
            compute_for(length);
            handle.request_stop();
        });
        pool.wait();
        CHECK(handle.ended());
    });
}

TEST_CASE("a thread may ask a pool to stop that ends with that") {
    with_ending_pools([](io_pool& pool, caller& other, durations& lengths) {
        const stop_handle handle = launch(pool, sleep_about(1h), or_terminate{});
        other.begin([&pool, length = lengths.next()] {
            compute_for(length);
            pool.request_stop();
        });
        pool.wait();
        CHECK(handle.ended());
    });
}

TEST_CASE("a loop that ends finds out that no post comes any more, and says what is left") {
    with_every_backend([](const io_context_options& options) {
        check_finds_out([&](std::atomic<std::uint64_t>& asleep_at, const auto& expect_something) {
            io_context io{options};
            launch(io, wait_endlessly(asleep_at), or_terminate{});
            io.run_for(1ms);  // Takes in that it was woken for this.
            expect_something(io);
        });
    });
}

TEST_CASE("a pool that ends finds out that no post comes any more, and says so") {
    with_every_backend([](const io_context_options& options) {
        check_finds_out([&](std::atomic<std::uint64_t>& asleep_at, const auto& expect_something) {
            io_pool_options of_one;
            of_one.threads = 1;
            of_one.loop = options;
            io_pool pool{of_one};
            launch(pool, wait_endlessly(asleep_at), or_terminate{});
            expect_something(pool[0]);
        });
    });
}
