// SPDX-License-Identifier: BSL-1.0
//
// What src/runtime/timer_queue.hpp promises, told the time by hand.
#include <runtime/timer_queue.hpp>

#include <support/harness.hpp>

#include <algorithm>
#include <random>
#include <vector>

using namespace gyre;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1h};

// Writes down in which order timers fire.
struct noted : timer {
    noted(std::vector<int>& in, int called) noexcept
        : timer{[](timer& it) noexcept {
              auto& self = static_cast<noted&>(it);
              self.order->push_back(self.name);
          }},
          order{&in},
          name{called} {}

    std::vector<int>* order;
    int name;
};

}  // namespace

TEST_CASE("timers fire at their deadline, not before, in the order of deadlines") {
    std::vector<int> order;
    noted late{order, 2};
    noted early{order, 1};
    timer_queue queue;
    queue.arm(late, start + 2ms);
    queue.arm(early, start + 1ms);
    CHECK(queue.next() == start + 1ms);

    queue.advance(start + 999us);
    CHECK(order.empty());
    queue.advance(start + 1ms);
    CHECK(order == std::vector{1});
    CHECK_FALSE(early.armed());
    queue.advance(start + 1h);

    CHECK(order == std::vector{1, 2});
    CHECK(queue.next() == never);
}

TEST_CASE("equal deadlines fire in the order of arming") {
    std::vector<int> order;
    std::vector<noted> timers;
    timers.reserve(20);
    timer_queue queue;
    for (int name = 0; name < 20; ++name) {
        timers.emplace_back(order, name);
        queue.arm(timers.back(), start);
    }

    queue.advance(start);

    CHECK(std::is_sorted(order.begin(), order.end()));
    CHECK(order.size() == 20);
}

TEST_CASE("a disarmed timer neither fires nor delays the next one") {
    std::vector<int> order;
    noted first{order, 1};
    noted second{order, 2};
    timer_queue queue;
    queue.arm(first, start + 1ms);
    queue.arm(second, start + 5ms);

    queue.disarm(first);
    queue.disarm(first);

    CHECK(queue.next() == start + 5ms);
    queue.advance(start + 4ms);
    CHECK(order.empty());
}

TEST_CASE("pushing a deadline back moves it, and pulling it forward too") {
    std::vector<int> order;
    noted pushed{order, 1};
    noted pulled{order, 2};
    timer_queue queue;
    queue.arm(pushed, start + 1ms);
    queue.arm(pulled, start + 9ms);

    queue.arm(pushed, start + 5ms);
    queue.arm(pulled, start + 3ms);

    CHECK(queue.next() == start + 3ms);
    queue.advance(start + 4ms);
    CHECK(order == std::vector{2});
    queue.advance(start + 5ms);
    CHECK(order == std::vector{2, 1});
}

TEST_CASE("a timer that fires may arm itself and disarm others") {
    timer_queue queue;
    struct busy : timer {
        busy(timer_queue& in, timer& victim) noexcept
            : timer{[](timer& it) noexcept {
                  auto& self = static_cast<busy&>(it);
                  self.queue->disarm(*self.other);
                  if (++self.fires < 3) self.queue->arm(self, self.deadline + 1ms);
              }},
              queue{&in},
              other{&victim} {}
        timer_queue* queue;
        timer* other;
        int fires = 0;
    };
    std::vector<int> order;
    noted victim{order, 1};
    busy it{queue, victim};
    queue.arm(it, start + 1ms);
    queue.arm(victim, start + 1ms);

    queue.advance(start + 10ms);

    CHECK(it.fires == 3);
    CHECK(order.empty());
}

TEST_CASE("advancing to the end of time ends") {
    std::vector<int> order;
    noted only{order, 1};
    timer_queue queue;
    queue.arm(only, never);

    queue.advance(never);

    CHECK(order.size() <= 1);
    CHECK(queue.size() == 0);
}

TEST_CASE("ten thousand random arms, moves and disarms agree with a sorted list") {
    const unsigned seed = std::random_device{}();
    INFO("seed ", seed);
    std::mt19937 random{seed};
    std::vector<int> order;
    std::vector<noted> timers;
    constexpr int count = 200;
    timers.reserve(count);
    for (int name = 0; name < count; ++name) timers.emplace_back(order, name);
    timer_queue queue;
    time_point now = start;

    for (int step = 0; step < 10'000; ++step) {
        noted& it = timers[random() % count];
        switch (random() % 4) {
            case 0:
            case 1: queue.arm(it, now + std::chrono::microseconds{random() % 1000}); break;
            case 2: queue.disarm(it); break;
            default: {
                now += std::chrono::microseconds{random() % 50};
                std::vector<time_point> due;
                for (const noted& each : timers) {
                    if (each.armed() && each.deadline <= now) due.push_back(each.deadline);
                }
                std::sort(due.begin(), due.end());
                order.clear();
                queue.advance(now);
                std::vector<time_point> fired;
                for (const int name : order) {
                    fired.push_back(timers[static_cast<std::size_t>(name)].deadline);
                }
                CHECK(fired == due);
            }
        }
        const auto armed = std::count_if(timers.begin(), timers.end(),
                                         [](const noted& each) { return each.armed(); });
        REQUIRE(queue.size() == static_cast<std::size_t>(armed));
    }
}

TEST_CASE("timers that outlive their queue are idle") {
    std::vector<int> order;
    noted it{order, 1};
    {
        timer_queue queue;
        queue.arm(it, start);
    }
    CHECK_FALSE(it.armed());
}
