// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/interval.hpp promises. Only a clock ends a wait for a tick, so time is told by hand here.
#include <gyre/sync/interval.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/conformance.hpp>
#include <support/waiting_laws.hpp>

#include <coro/manual_loop.hpp>

#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct waits_for_tick : needs_no_loop {
    static constexpr const char* name = "tick";
    using needs_no_loop::needs_no_loop;

    auto wait() { return it.tick(); }

    interval it{std::chrono::hours{24}};
};

/// When ticks were taken and when they were due, both from the start on.
struct ticks {
    std::vector<duration> taken;
    std::vector<duration> due;
};

task<> take_ticks(manual_loop& loop, interval& every, ticks& seen) {
    const time_point start = loop.now();
    for (;;) {
        const io_result<time_point> tick = co_await every.tick();
        if (!tick.ok()) co_return;
        seen.taken.push_back(loop.now() - start);
        seen.due.push_back(tick.value() - start);
    }
}

/// Ticks of 10 ms: one on time, then nobody looks until 35 ms, then each millisecond until 62 ms.
ticks with_a_pause(missed_ticks policy) {
    manual_loop loop;
    interval every{10ms, policy};
    ticks seen;
    const stop_handle stop = launch(loop, take_ticks(loop, every, seen), or_terminate{});
    loop.run();
    loop.advance(10ms);
    loop.advance(25ms);
    for (int each = 35; each < 62; ++each) loop.advance(1ms);
    stop.request_stop();
    loop.run();
    return seen;
}

}  // namespace

TEST_CASE("ticks come at fixed points, however late each was taken") {
    manual_loop loop;
    interval every{10ms};
    ticks seen;
    const stop_handle stop = launch(loop, take_ticks(loop, every, seen), or_terminate{});
    loop.run();

    loop.advance(12ms);
    loop.advance(8ms);
    loop.advance(19ms);
    loop.advance(1ms);

    CHECK(seen.taken == std::vector<duration>{12ms, 20ms, 39ms, 40ms});
    CHECK(seen.due == std::vector<duration>{10ms, 20ms, 30ms, 40ms});
    stop.request_stop();
    loop.run();
}

TEST_CASE("missed ticks follow at once where they come in a burst") {
    const ticks seen = with_a_pause(missed_ticks::burst);

    CHECK(seen.taken == std::vector<duration>{10ms, 35ms, 35ms, 40ms, 50ms, 60ms});
    CHECK(seen.due == std::vector<duration>{10ms, 20ms, 30ms, 40ms, 50ms, 60ms});
}

TEST_CASE("where missed ticks delay, the next is a period after the late one") {
    const ticks seen = with_a_pause(missed_ticks::delay);

    CHECK(seen.taken == std::vector<duration>{10ms, 35ms, 45ms, 55ms});
    CHECK(seen.due == std::vector<duration>{10ms, 20ms, 45ms, 55ms});
}

TEST_CASE("where missed ticks are skipped, the next is at the first fixed point to come") {
    const ticks seen = with_a_pause(missed_ticks::skip);

    CHECK(seen.taken == std::vector<duration>{10ms, 35ms, 40ms, 50ms, 60ms});
    CHECK(seen.due == std::vector<duration>{10ms, 20ms, 40ms, 50ms, 60ms});
}

TEST_CASE("a tick that is taken at the moment of the next one has missed that") {
    manual_loop loop;
    interval every{10ms, missed_ticks::skip};
    ticks seen;
    const stop_handle stop = launch(loop, take_ticks(loop, every, seen), or_terminate{});
    loop.run();

    loop.advance(20ms);
    loop.advance(9ms);
    loop.advance(1ms);

    CHECK(seen.taken == std::vector<duration>{20ms, 30ms});
    CHECK(seen.due == std::vector<duration>{10ms, 30ms});
    stop.request_stop();
    loop.run();
}

TEST_CASE("the first tick is when it was said to be, or a period after the first wait") {
    manual_loop loop;
    interval said{loop.now() + 3ms, 10ms};
    interval unsaid{10ms};
    ticks of_said;
    ticks of_unsaid;
    loop.advance(1ms);
    const stop_handle first = launch(loop, take_ticks(loop, said, of_said), or_terminate{});
    const stop_handle second = launch(loop, take_ticks(loop, unsaid, of_unsaid), or_terminate{});
    loop.run();

    for (int each = 0; each < 14; ++each) loop.advance(1ms);

    CHECK(of_said.taken == std::vector<duration>{2ms, 12ms});
    CHECK(of_unsaid.taken == std::vector<duration>{10ms});
    first.request_stop();
    second.request_stop();
    loop.run();
}

TEST_CASE("an interval that began before all time has missed ticks, and goes on") {
    manual_loop loop;
    const time_point start = loop.now();
    interval every{time_point::min(), 10ms, missed_ticks::skip};
    std::vector<duration> taken;
    const auto takes = [&]() -> task<> {
        for (;;) {
            const io_result<time_point> due = co_await every.tick();
            if (!due.ok()) co_return;
            taken.push_back(loop.now() - start);
        }
    };
    const stop_handle stop = launch(loop, takes(), or_terminate{});
    loop.run();
    for (int each = 0; each < 25; ++each) loop.advance(1ms);

    REQUIRE(taken.size() >= 3);
    CHECK(taken[2] - taken[1] == 10ms);
    stop.request_stop();
    loop.run();
}

TEST_CASE("a wait that is canceled leaves its tick to the next one, and a reset begins anew") {
    manual_loop loop;
    interval every{10ms};
    const time_point start = loop.now();
    std::vector<duration> due;
    const auto body = [&]() -> task<> {
        const io_result<time_point> late = co_await with_timeout(4ms, every.tick());
        CHECK(late.error() == errc::timed_out);
        const io_result<time_point> tick = co_await every.tick();
        due.push_back(tick.value() - start);
        every.reset();
        const io_result<> slept = co_await sleep_for(7ms);
        CHECK(slept.ok());
        const io_result<time_point> anew = co_await every.tick();
        due.push_back(anew.value() - start);
    };
    launch(loop, body(), or_terminate{});
    loop.run();

    for (int each = 0; each < 30; ++each) loop.advance(1ms);

    CHECK(due == std::vector<duration>{10ms, 27ms});
    CHECK(loop.roots().empty());
}

TEST_CASE("a wait for a tick is stopped as any other, and not by a drain") {
    check_stopped_before_start<waits_for_tick>();
    check_stopped_while_pending<waits_for_tick>();
}

TEST_CASE("an interval ticks on every backend") {
    on_each_backend_of("timers", [](io_context& io) -> task<> {
        interval every{2ms};
        const time_point begin = io.now();
        for (int each = 0; each < 3; ++each) {
            const io_result<time_point> tick = co_await every.tick();
            CHECK(tick.ok());
        }
        CHECK(io.now() - begin >= 6ms);
    });
}
