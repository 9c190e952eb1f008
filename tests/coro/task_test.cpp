// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/task.hpp promises. Exceptions are in exception_test.cpp; the flat stack is in
// tests/toolchain/symmetric_transfer_test.cpp.
#include <gyre/coro/task.hpp>

#include <gyre/base/result.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/io/run.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

#include <base/ending.hpp>
#include <coro/manual_loop.hpp>

#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

// Counts the living, so that one that is lost or destroyed twice is noticed.
struct counted {
    explicit counted(int& alive) noexcept : alive_{&alive} { ++*alive_; }
    counted(counted&& other) noexcept : alive_{other.alive_} { ++*alive_; }
    counted(const counted& other) noexcept : alive_{other.alive_} { ++*alive_; }
    counted& operator=(const counted&) = delete;
    ~counted() { --*alive_; }

private:
    int* alive_;
};

// Says when it dies.
struct diary {
    diary(std::vector<std::string>& in, const char* name) : in_{&in}, name_{name} {}
    diary(diary&& other) noexcept : in_{std::exchange(other.in_, nullptr)}, name_{other.name_} {}
    ~diary() {
        if (in_ != nullptr) in_->push_back(name_);
    }

private:
    std::vector<std::string>* in_;
    const char* name_;
};

task<int> answer() { co_return 42; }

// The defect on purpose; clang warns of it, g++ does not.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type"
task<int> answer_if(bool known) {
    co_await yield();
    if (known) co_return 42;
}
#pragma GCC diagnostic pop

task<> note(bool& started, counted) {
    started = true;
    co_return;
}

task<counted> make_counted(int& alive) {
    counted made{alive};
    co_return made;
}

task<std::unique_ptr<int>> make_owned() { co_return std::make_unique<int>(7); }

task<io_result<std::size_t>> fail_after(std::size_t progress) {
    co_return io_result<std::size_t>{errc::eof, progress};
}
task<io_result<std::size_t>> fail_at_once() { co_return errc::closed; }

task<long> sum_down_from(long depth) {
    if (depth == 0) co_return 0;
    const long below = co_await sum_down_from(depth - 1);
    co_return below + depth;
}

// Neither default constructible nor assignable.
struct strict {
    explicit strict(int n) noexcept : number{n} {}
    const int number;
};
task<strict> make_strict() { co_return strict{5}; }

task<> keep_diary(std::vector<std::string>& pages, diary) {
    const diary first{pages, "first local"};
    const diary second{pages, "second local"};
    co_return;
}

// Runs `it` on a loop of its own; everything it awaits must end on the spot.
void run_to_end(task<> it) {
    manual_loop loop;
    bool ended = false;
    launch(loop, std::move(it), [&](task_outcome<void> outcome) {
        outcome.get();
        ended = true;
    });
    loop.run();
    CHECK(ended);
}

}  // namespace

TEST_CASE("a task does nothing before it is awaited, and a dropped one frees its arguments") {
    int alive = 0;
    bool started = false;
    {
        const task<> dropped = note(started, counted{alive});
        CHECK(alive == 1);
    }

    CHECK_FALSE(started);
    CHECK(alive == 0);
}

TEST_CASE("a task runs when it is awaited and yields its value") {
    int value = 0;
    bool started = false;
    int alive = 0;
    const auto body = [&]() -> task<> {
        value = co_await answer();
        task<> later = note(started, counted{alive});
        CHECK_FALSE(started);
        co_await std::move(later);
        CHECK(started);
    };

    run_to_end(body());

    CHECK(value == 42);
    CHECK(alive == 0);
}

TEST_CASE("a result that can only be moved is moved out") {
    int value = 0;
    const auto body = [&]() -> task<> {
        const std::unique_ptr<int> owned = co_await make_owned();
        value = *owned;
    };

    run_to_end(body());

    CHECK(value == 7);
}

TEST_CASE("a result needs neither a default nor an assignment") {
    int value = 0;
    const auto body = [&]() -> task<> {
        const strict it = co_await make_strict();
        value = it.number;
    };

    run_to_end(body());

    CHECK(value == 5);
}

TEST_CASE("a result is destroyed exactly once, taken or not") {
    int alive = 0;
    const auto body = [&]() -> task<> {
        const counted taken = co_await make_counted(alive);
        CHECK(alive == 1);
        static_cast<void>(co_await make_counted(alive));
        CHECK(alive == 1);
    };

    run_to_end(body());

    CHECK(alive == 0);
}

TEST_CASE("an io_result travels with its error and its progress") {
    const auto body = []() -> task<> {
        const io_result<std::size_t> some = co_await fail_after(3);
        const io_result<std::size_t> none = co_await fail_at_once();
        CHECK(some.error() == errc::eof);
        CHECK(some.value() == 3);
        CHECK(none.error() == errc::closed);
    };

    run_to_end(body());
}

TEST_CASE("locals die in reverse order when the body ends, arguments when the awaiting line does") {
    std::vector<std::string> pages;
    const auto body = [&]() -> task<> {
        diary argument{pages, "argument"};
        co_await keep_diary(pages, std::move(argument));
        pages.push_back("next line");
    };

    run_to_end(body());

    CHECK(pages ==
          std::vector<std::string>{"second local", "first local", "argument", "next line"});
}

TEST_CASE("a task moves, and one that was moved from is empty") {
    int value = 0;
    const auto body = [&]() -> task<> {
        task<int> first = answer();
        task<int> second = std::move(first);
        CHECK(first.node() == nullptr);
        first = std::move(second);
        value = co_await std::move(first);
    };

    run_to_end(body());

    CHECK(value == 42);
}

TEST_CASE("awaits may nest a hundred thousand deep") {
    constexpr long depth = 100'000;
    long sum = 0;
    const auto body = [&]() -> task<> { sum = co_await sum_down_from(depth); };

    run_to_end(body());

    CHECK(sum == depth * (depth + 1) / 2);
}

TEST_CASE("a started task that is destroyed in its wait frees everything below it") {
    int alive = 0;
    event never;
    environment env;
    manual_loop loop;
    stop_chain chain;
    env.loop = &loop;
    env.executor = loop;
    env.chain = &chain;
    const auto inner = [&](counted) -> task<> { static_cast<void>(co_await never.wait()); };
    const auto outer = [&](counted argument) -> task<> { co_await inner(std::move(argument)); };
    {
        task<> it = outer(counted{alive});
        gyre::resume(it.await_suspend(std::noop_coroutine(), &env));
        CHECK(chain.pending() != nullptr);
        CHECK(alive > 0);
    }

    CHECK(alive == 0);
    CHECK(chain.pending() == nullptr);
}

TEST_CASE("a coroutine that awaited a worker thread goes on on its own loop's thread") {
    on_every_backend([](io_context& io) -> task<> {
        bool elsewhere = false;
        const auto look = [&] { elsewhere = !io.running_on_this_thread(); };
        const auto nested = [&]() -> task<> {
            static_cast<void>(co_await blocking(look));
            CHECK(io.running_on_this_thread());
        };

        co_await nested();

        CHECK(elsewhere);
        CHECK(io.running_on_this_thread());
    });
}

TEST_CASE("awaiting a task that was moved from is a failed check") {
    const ending how = ending_of([] {
        const auto body = []() -> task<> {
            task<int> first = answer();
            const task<int> second = std::move(first);
            static_cast<void>(co_await std::move(first));
        };
        run_to_end(body());
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a task is awaited once"));
}

TEST_CASE("awaiting a task a second time is a failed check") {
    const ending how = ending_of([] {
        const auto body = []() -> task<> {
            task<int> it = answer();
            static_cast<void>(co_await std::move(it));
            static_cast<void>(co_await std::move(it));
        };
        run_to_end(body());
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a task is awaited once"));
}

TEST_CASE("a task that ends without the value that it owes is a failed check") {
    const ending known = ending_of([] { static_cast<void>(run(answer_if(true))); });
    const ending unknown = ending_of([] { static_cast<void>(run(answer_if(false))); });

    CHECK(known.signal == 0);
    CHECK(unknown.signal == SIGABRT);
    CHECK(unknown.said_that("a task that yields a value ends with co_return"));
}
