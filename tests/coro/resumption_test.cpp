// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/resumption.hpp promises, and each awaiter that holds one: a frame that is destroyed while
// its resumption is posted is not resumed, whichever executor has it.
#include <gyre/coro/resumption.hpp>

#include <gyre/runtime/submit.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/strand.hpp>
#include <gyre/sync/when_all.hpp>

#include <coro/manual_loop.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <optional>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct hand_made_frame : callback_frame {
    hand_made_frame() noexcept
        : callback_frame{
              [](callback_frame* self) { ++static_cast<hand_made_frame*>(self)->resumptions; }} {}

    int resumptions = 0;
};

/// Awaits what `make()` returns on `place`, calls `wake()`, and has the loop take `items_before` steps before
/// the awaiter dies.
template <class Executor, class Make, class Wake>
void check_is_taken_back(manual_loop& loop, Executor& place, Make make, Wake wake,
                         std::size_t items_before) {
    hand_made_frame frame;
    stop_chain chain;
    const environment given{executor_ref{place}, &loop, &chain};
    std::optional<std::invoke_result_t<Make&>> it;
    it.emplace(make());
    std::coroutine_handle<> next;
    const bool waits = begin_await(*it, frame.handle(), &given, next);
    if (next) resume(next);
    wake();
    CHECK(waits);
    CHECK(loop.run(items_before) == items_before);

    it.reset();
    loop.run();

    CHECK(frame.resumptions == 0);
    CHECK(chain.pending() == nullptr);
    CHECK(loop.idle());
}

/// The same on a loop and on a strand above it.
template <class Make, class Wake>
void check_is_taken_back(manual_loop& loop, Make make, Wake wake) {
    check_is_taken_back(loop, loop, make, wake, 0);
    strand one_at_a_time{loop};
    check_is_taken_back(loop, one_at_a_time, make, wake, 0);
}

const auto nothing_else = [] {};

// What follows has to give way.
void use_up_share(loop& of) noexcept {
    while (of.spend()) {
    }
}

}  // namespace

TEST_CASE("a frame that is destroyed while it yields is not resumed") {
    manual_loop loop;
    check_is_taken_back(loop, [] { return yield(); }, nothing_else);
}

TEST_CASE("a frame that is destroyed after its sleep has ended is not resumed") {
    manual_loop loop;
    check_is_taken_back(loop, [] { return sleep_for(0s); }, nothing_else);
}

TEST_CASE("a frame that is destroyed after it was woken is not resumed") {
    manual_loop loop;
    event ready;
    const auto wake = [&ready] {
        ready.set();
        ready.reset();
    };
    check_is_taken_back(loop, [&ready] { return ready.wait(); }, wake);
}

TEST_CASE("a frame that is destroyed while it gives way is not resumed") {
    manual_loop loop;
    event ready;
    ready.set();
    const auto make = [&] {
        use_up_share(loop);
        return ready.wait();
    };
    check_is_taken_back(loop, make, nothing_else);
}

TEST_CASE("a frame that is destroyed while it gives way after an empty message is not resumed") {
    manual_loop loop;
    memory_pipe pipe{8};
    const auto make = [&] {
        use_up_share(loop);
        return read_exactly(pipe.first, mutable_buffer{});
    };
    check_is_taken_back(loop, make, nothing_else);
}

TEST_CASE("a frame that is destroyed behind something done at once is not resumed") {
    manual_loop loop;
    const auto make = [&loop] {
        use_up_share(loop);
        return immediate{[](io_context&) noexcept { return 7; }};
    };
    check_is_taken_back(loop, make, nothing_else);
}

TEST_CASE("a frame that is destroyed after all its branches have ended is not resumed") {
    manual_loop loop;
    event ready;
    const auto wake = [&ready] {
        ready.set();
        ready.reset();
    };
    const auto make = [&ready] { return when_all(ready.wait(), ready.wait()); };
    check_is_taken_back(loop, loop, make, wake, 2);
    strand one_at_a_time{loop};
    check_is_taken_back(loop, one_at_a_time, make, wake, 1);
}

TEST_CASE(
    "a frame that is destroyed while its task is on its way to another executor is not resumed") {
    manual_loop loop;
    strand there{loop};
    int ran = 0;
    const auto note = [&ran]() -> task<> {
        ++ran;
        co_return;
    };
    check_is_taken_back(loop, [&] { return on(there, note); }, nothing_else);

    CHECK(ran == 0);
}

TEST_CASE("a frame that is destroyed while its task is on its way back is not resumed") {
    manual_loop loop;
    strand there{loop};
    int ran = 0;
    const auto note = [&ran]() -> task<> {
        ++ran;
        co_return;
    };
    check_is_taken_back(loop, loop, [&] { return on(there, note); }, nothing_else, 1);

    CHECK(ran == 1);
}

TEST_CASE("a frame that is destroyed while its task waits on another executor takes it along") {
    manual_loop loop;
    strand there{loop};
    event never;
    const auto wait = [&never]() -> task<> { static_cast<void>(co_await never.wait()); };
    check_is_taken_back(loop, loop, [&] { return on(there, wait); }, nothing_else, 1);

    never.set();
    loop.run();
}

TEST_CASE("a strand whose items were all taken back may die before the loop runs") {
    manual_loop loop;
    {
        strand short_lived{loop};
        hand_made_frame frame;
        stop_chain chain;
        const environment given{executor_ref{short_lived}, &loop, &chain};
        yield_awaiter it;
        it.await_suspend(frame.handle(), &given);
    }

    CHECK(loop.run() == 0);
}

TEST_CASE("a resumption that was not taken back resumes once") {
    manual_loop loop;
    strand there{loop};
    hand_made_frame frame;
    stop_chain chain;
    const environment given{executor_ref{there}, &loop, &chain};
    resumption back;

    back.post(frame.handle(), given);
    CHECK(frame.resumptions == 0);
    loop.run();

    CHECK(frame.resumptions == 1);
}
