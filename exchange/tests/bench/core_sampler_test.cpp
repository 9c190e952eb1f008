// SPDX-License-Identifier: BSL-1.0
//
// What exchange/bench/core_sampler.hpp promises. Other programs may have the core at any time, so that only
// what must be seen is asked for.
#include <exchange/bench/core_sampler.hpp>
#include <exchange/bench/loopback.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <latch>
#include <thread>

using namespace exchange::bench;
using namespace std::chrono_literals;
using gyre::duration;
using clock_type = std::chrono::steady_clock;

namespace {

duration spent_by_this_thread() {
    timespec spent{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds{spent.tv_sec} + std::chrono::nanoseconds{spent.tv_nsec};
}

void spend(duration it) {
    const duration begun = spent_by_this_thread();
    while (spent_by_this_thread() - begun < it) {
    }
}

/// Wants the core for so much of its time, once it is let.
class busy_thread {
public:
    busy_thread(int processor, duration busy)
        : thread_{[this, processor, busy] {
              stay_on_processor(processor);
              there_.count_down();
              let_.wait();
              spend(busy);
              done_.count_down();
              end_.wait();  // A thread that has ended has no clock.
          }} {
        there_.wait();
    }
    busy_thread(const busy_thread&) = delete;
    busy_thread& operator=(const busy_thread&) = delete;
    ~busy_thread() {
        end_.count_down();
        thread_.join();
    }

    void run() {
        let_.count_down();
        done_.wait();
    }

private:
    std::latch there_{1};
    std::latch let_{1};
    std::latch end_{1};
    std::latch done_{1};
    std::thread thread_;
};

}  // namespace

TEST_CASE("what is measured is told apart from the host") {
    const int core = choose_processors().served;
    busy_thread measured{core, 25ms};
    busy_thread another{core, 25ms};
    core_sampler sampler{core, core_sampler::beside::measured};

    measured.run();
    spend(20ms);  // The load, which is none of what is measured.
    another.run();
    sampler.stop();

    duration ours{};
    gyre::time_point last{};
    for (const core_gap& each : sampler.gaps()) {
        CHECK(each.begin < each.end);
        CHECK(each.begin >= last);
        last = each.end;
        ours += each.ours;
    }
    // The rest of it stands in gaps that are no gaps, or before the first look.
    CHECK(ours > 40ms);
    CHECK(ours < 55ms);
    CHECK(sampler.sampled() > 0ms);
}

TEST_CASE("a sampler by itself sees that its core was away, and none of that is measured") {
    const int core = choose_processors().served;
    busy_thread other{core, 50ms};
    core_sampler sampler{core, core_sampler::beside::nothing};

    other.run();
    sampler.stop();

    const auto& gaps = sampler.gaps();
    CHECK(std::ranges::all_of(gaps, [](const core_gap& each) { return each.ours == 0ms; }));
    // Both want the same core, unless there is but one.
    if (core >= 0) CHECK(floor_of(gaps, sampler.sampled()).longest >= 500us);
}

TEST_CASE("a sampler that is stopped has stopped, and can be stopped again") {
    core_sampler sampler{-1, core_sampler::beside::nothing};
    const auto begun = clock_type::now();
    sampler.stop();
    const std::size_t seen = sampler.gaps().size();
    sampler.stop();

    CHECK(sampler.gaps().size() == seen);
    CHECK(sampler.sampled() <= clock_type::now() - begun + 1s);
}
