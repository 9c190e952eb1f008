// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/timer.hpp promises, and what a loop makes of it. The order of many timers is
// tests/runtime/timer_queue_test.cpp's.
#include <gyre/coro/timer.hpp>

#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct counted : timer {
    counted() noexcept
        : timer{[](timer& it) noexcept {
              auto& self = static_cast<counted&>(it);
              self.armed_when_fired = self.armed();
              ++self.times;
          }} {}
    int times = 0;
    bool armed_when_fired = false;
};

}  // namespace

TEST_CASE("a new timer is idle, and so is the copy of one that is armed") {
    io_context io;
    counted original;
    CHECK_FALSE(original.armed());
    io.arm(original, never);
    CHECK(original.armed());

    const counted copy{original};

    CHECK_FALSE(copy.armed());
    CHECK((copy.fired == original.fired));
    io.disarm(original);
    CHECK_FALSE(original.armed());
}

TEST_CASE("a timer fires once, and is idle by then") {
    on_every_backend([](io_context& io) -> task<> {
        counted soon;
        io.arm(soon, io.now() + 1ms);

        static_cast<void>(co_await sleep_for(3ms));
        static_cast<void>(co_await sleep_for(3ms));

        CHECK(soon.times == 1);
        CHECK_FALSE(soon.armed_when_fired);
        CHECK_FALSE(soon.armed());
    });
}

TEST_CASE("a timer whose deadline has passed fires all the same") {
    on_every_backend([](io_context& io) -> task<> {
        counted late;
        io.arm(late, time_point{});
        CHECK(late.times == 0);

        static_cast<void>(co_await sleep_for(1ms));

        CHECK(late.times == 1);
    });
}

TEST_CASE("a disarmed timer never fires, and disarming twice does no harm") {
    on_every_backend([](io_context& io) -> task<> {
        counted soon;
        io.arm(soon, io.now() + 1ms);

        io.disarm(soon);
        io.disarm(soon);
        static_cast<void>(co_await sleep_for(3ms));

        CHECK(soon.times == 0);
    });
}

TEST_CASE("a timer that is armed again fires at its new deadline only, earlier or later") {
    on_every_backend([](io_context& io) -> task<> {
        counted later;
        counted earlier;
        io.arm(later, io.now() + 1ms);
        io.arm(later, io.now() + 1h);
        io.arm(earlier, io.now() + 1h);
        io.arm(earlier, io.now() + 1ms);

        static_cast<void>(co_await sleep_for(5ms));

        CHECK(later.times == 0);
        CHECK(later.armed());
        CHECK(earlier.times == 1);
        io.disarm(later);
    });
}
