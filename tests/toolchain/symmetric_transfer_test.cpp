// SPDX-License-Identifier: BSL-1.0
//
// A million awaits use one stack frame, in every build. Where the compiler does not make symmetric
// transfer a tail call (g++ 12 below -O2, and under ASan), gyre::transfer has to see to it.
#include <toolchain/verdict.hpp>

#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr int million = 1'000'000;
constexpr std::size_t flat = 64 * 1024;  // A grown stack would take megabytes.

// How far apart the stack has been where `look` was called.
class stack_span {
public:
    // The frame address, not a local's: ASan may put locals elsewhere.
    [[gnu::noinline]] void look() noexcept {
        const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        lowest_ = std::min(lowest_, here);
        highest_ = std::max(highest_, here);
    }
    [[nodiscard]] std::size_t size() const noexcept { return highest_ - lowest_; }

private:
    std::uintptr_t lowest_ = std::numeric_limits<std::uintptr_t>::max();
    std::uintptr_t highest_ = 0;
};

task<int> one(stack_span& stack) {
    stack.look();
    co_return 1;
}

task<int> two(stack_span& stack) {
    const int first = co_await one(stack);
    const int second = co_await one(stack);
    co_return first + second;
}

task<long> down(stack_span& stack, long depth) {
    stack.look();
    if (depth == 0) co_return 0;
    const long below = co_await down(stack, depth - 1);
    stack.look();
    co_return below + 1;
}

// The same without the library: what the compiler alone makes of it.
struct bare {
    struct promise_type {
        std::coroutine_handle<> waiter;
        bare get_return_object() noexcept {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        struct last {
            [[nodiscard]] bool await_ready() const noexcept { return false; }
            [[nodiscard]] std::coroutine_handle<> await_suspend(
                std::coroutine_handle<promise_type> done) const noexcept {
                return done.promise().waiter;
            }
            void await_resume() const noexcept {}
        };
        last final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept {}
    };
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] std::coroutine_handle<> await_suspend(
        std::coroutine_handle<> waiter) const noexcept {
        handle.promise().waiter = waiter;
        return handle;
    }
    void await_resume() const noexcept { handle.destroy(); }
    std::coroutine_handle<promise_type> handle;
};

bare bare_leaf() { co_return; }

bare bare_loop(int rounds, stack_span& stack) {
    for (int i = 0; i < rounds; ++i) {
        const bare leaf = bare_leaf();
        co_await leaf;
        stack.look();
    }
}

bool bare_transfer_is_flat() {
    stack_span stack;
    const bare loop = bare_loop(10'000, stack);  // Few enough for the stack that grows.
    loop.handle.promise().waiter = std::noop_coroutine();
    loop.handle.resume();
    loop.handle.destroy();
    return stack.size() < flat;
}

}  // namespace

TEST_CASE("a million awaits of a task in a loop use one stack frame") {
    stack_span stack;
    long sum = 0;
    const auto body = [&]() -> task<> {
        for (int i = 0; i < million; ++i) {
            const int value = co_await one(stack);
            stack.look();
            sum += value;
        }
    };

    run_task(body());

    CHECK(sum == million);
    CHECK(stack.size() < flat);
}

TEST_CASE("a million awaits that alternate between tasks and leaves use one stack frame") {
    stack_span stack;
    io_context io;
    event ready;
    ready.set();
    long sum = 0;
    const auto body = [&]() -> task<> {
        for (int i = 0; i < million / 4; ++i) {
            const int value = co_await two(stack);
            sum += value;
            static_cast<void>(co_await ready.wait());
            stack.look();
            co_await yield();
            stack.look();
        }
    };

    launch(io, body(), or_terminate{});
    io.run();

    CHECK(sum == million / 2);
    CHECK(stack.size() < flat);
}

TEST_CASE("a hundred thousand awaits that nest use one stack frame on the way down and up") {
    constexpr long depth = 100'000;
    stack_span stack;
    long reached = 0;
    const auto body = [&]() -> task<> { reached = co_await down(stack, depth); };

    run_task(body());

    CHECK(reached == depth);
    CHECK(stack.size() < flat);
}

TEST_CASE("a hundred thousand awaits through combinators use one stack frame") {
    constexpr int rounds = 100'000;
    stack_span stack;
    io_context io;
    event ready;
    ready.set();
    int ended = 0;
    const auto wait = [&]() -> task<io_result<>> {
        stack.look();
        const io_result<> waited = co_await ready.wait();
        co_return waited;
    };
    const auto body = [&]() -> task<> {
        for (int i = 0; i < rounds; ++i) {
            const io_result<> timed = co_await with_timeout(1h, wait());
            stack.look();
            auto [first, second] = co_await when_all(wait(), ready.wait());
            stack.look();
            ended += timed.ok() && first.ok() && second.ok();
        }
    };

    launch(io, body(), or_terminate{});
    io.run();

    CHECK(ended == rounds);
    CHECK(stack.size() < flat);
}

TEST_CASE("on record: symmetric transfer by itself is flat where we say that it is a tail call") {
    const verdict found = judge(bare_transfer_is_flat);

    // g++ makes it one from -O2 on, which nothing tells us; then the trampoline is only superfluous.
    if (symmetric_transfer_is_tail_call) CHECK((found == verdict::right));
    if (found == verdict::wrong) CHECK_FALSE(symmetric_transfer_is_tail_call);
}
