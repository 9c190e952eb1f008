// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/executor.hpp promises: where coroutines run, whatever the type of that place.
#include <gyre/coro/executor.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/strand.hpp>

#include <coro/manual_loop.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using namespace gyre;
using namespace gyre::testing;

namespace {

// Counts what passes through it on its way to a loop.
struct counting_executor {
    explicit counting_executor(loop& below) noexcept : below_{below} {}
    void post(work& item) noexcept {
        ++posted;
        below_.post(item);
    }
    void retract(work& item) noexcept { below_.retract(item); }
    [[nodiscard]] loop& home() noexcept { return below_; }

    int posted = 0;

private:
    loop& below_;
};

struct homeless {
    void post(work&) noexcept {}
};
struct might_throw {
    void post(work&);
    void retract(work&) noexcept {}
    loop& home() noexcept;
};

static_assert(executor<counting_executor> && executor<manual_loop>);
static_assert(executor<io_context> && executor<strand>);
static_assert(!executor<homeless> && !executor<might_throw> && !executor<executor_ref>);

task<> wait_twice(event& until) {
    const io_result<> first = co_await until.wait();
    until.reset();
    const io_result<> second = co_await until.wait();
    CHECK(first.ok());
    CHECK(second.ok());
}

}  // namespace

TEST_CASE("a reference posts to the executor that it refers to") {
    manual_loop loop;
    counting_executor one{loop};
    counting_executor other{loop};
    work item{[](work&) noexcept {}};

    executor_ref{other}.post(item);

    CHECK(one.posted == 0);
    CHECK(other.posted == 1);
    CHECK(loop.run() == 1);
}

TEST_CASE("what knows no post in two halves is posted to in one") {
    manual_loop io;
    counting_executor counting{io};
    const executor_ref to{counting};
    work item{[](work&) noexcept {}};

    sleeper* const asleep = to.enqueue(item);

    CHECK(asleep == nullptr);
    CHECK(counting.posted == 1);
    CHECK(io.run() == 1);
}

TEST_CASE("of a post in two halves the second wakes the loop, and the first one hands over") {
    io_context io;
    strand order{io};
    static int ran = 0;
    const work::function count = [](work&) noexcept { ++ran; };
    for (const executor_ref to : {executor_ref{io}, executor_ref{order}}) {
        ran = 0;
        work first{count}, second{count}, third{count}, taken_back{count};
        const std::uint64_t wakeups = io.counters().wakeups;

        sleeper* const asleep = to.enqueue(first);
        sleeper* const told_already = to.enqueue(second);
        static_cast<void>(to.enqueue(taken_back));
        to.retract(taken_back);
        CHECK(asleep == &io);
        CHECK(told_already == nullptr);
        CHECK(io.counters().wakeups == wakeups);
        asleep->wake_for_enqueued();
        CHECK(io.counters().wakeups == wakeups + 1);
        CHECK(ran == 0);
        io.poll();
        CHECK(ran == 2);

        // From its own thread nothing sleeps.
        io.post([&] {
            CHECK(to.enqueue(third) == nullptr);
            CHECK(ran == 2);
        });
        io.poll();
        CHECK(ran == 3);
    }
}

TEST_CASE("references are equal when they mean the same object") {
    manual_loop loop;
    counting_executor one{loop};
    counting_executor twin{loop};
    const executor_ref ref{one};
    const executor_ref copy = ref;

    CHECK(copy == executor_ref{one});
    CHECK(copy != executor_ref{twin});
    CHECK(ref.refers_to(&one));
    CHECK_FALSE(ref.refers_to(&twin));
}

TEST_CASE("a reference to nothing is false") {
    manual_loop loop;

    CHECK_FALSE(executor_ref{});
    CHECK(executor_ref{loop});
    CHECK(executor_ref{} == executor_ref{});
    CHECK(executor_ref{} != executor_ref{loop});
}

TEST_CASE("a coroutine is started and resumed through the executor it was launched on") {
    manual_loop loop;
    counting_executor place{loop};
    event ready;

    launch(place, wait_twice(ready), or_terminate{});
    CHECK(place.posted == 1);
    loop.run();
    ready.set();
    CHECK(place.posted == 2);
    loop.run();
    ready.set();
    loop.run();

    CHECK(place.posted == 3);
    CHECK(loop.roots().empty());
}

TEST_CASE("a request to stop goes to the loop, and the end that it leads to through the executor") {
    manual_loop loop;
    counting_executor place{loop};
    event never;
    const auto waits = [&]() -> task<> { static_cast<void>(co_await never.wait()); };
    const stop_handle stop = launch(place, waits(), or_terminate{});
    loop.run();

    stop.request_stop();

    CHECK(place.posted == 1);  // The start.
    loop.run();
    CHECK(place.posted == 2);  // The end of the wait.
    CHECK(stop.ended());
}
