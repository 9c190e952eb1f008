// SPDX-License-Identifier: BSL-1.0
//
// Timers as gyre's users set them: sleeping where a coroutine waits, `io_context::arm` where none
// does.
#include <lab/contenders/gyre_counters.hpp>
#include <lab/contenders/gyre_suites.hpp>

#include <lab/contender.hpp>
#include <lab/fail.hpp>
#include <lab/timer_load.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/coro/timer.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/when_any.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using gyre::io_context;
using gyre::task;

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.

// A sleep that something else cuts short. The same work as Asio's wait, cancel and handler: the
// sleep is armed and has somebody suspended on it when the second branch ends, as the event is set;
// that disarms the timer, and what waited for it is resumed by the loop with `errc::canceled`.
task<> cancel_waited(std::uint64_t count, std::uint64_t& done) {
    gyre::event woken;
    woken.set();
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto ended = co_await gyre::when_any(gyre::sleep_for(lab::far_away), woken.wait());
        lab::require(ended.winner == 1, "gyre: the sleep was over before it was cancelled");
        lab::require(std::get<0>(ended.results).error() == gyre::errc::canceled,
                     "gyre: the sleeper was not told");
        ++done;
    }
}

[[noreturn]] void fail_on_fire(gyre::timer&) noexcept { lab::fail("gyre: a timer fired"); }

// A coroutine only because timers are armed on the loop's thread; it never waits.
task<> cancel_unwaited(io_context& loop, std::uint64_t count, std::uint64_t& done) {
    gyre::timer it{&fail_on_fire};
    for (std::uint64_t i = 0; i < count; ++i) {
        loop.arm(it, loop.now() + lab::far_away);
        loop.disarm(it);
        ++done;
    }
    co_return;
}

task<> fire_in_a_row(std::chrono::nanoseconds delay, std::uint64_t count, std::uint64_t& done) {
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto slept = co_await gyre::sleep_for(delay);
        lab::require(slept.ok(), "gyre: a sleep failed");
        ++done;
    }
}

// Timers that fire again and again, each at moments that do not depend on when it was noticed.
struct crowd {
    const lab::timers_case& work;
    lab::random_numbers random{};
    gyre::event begin{};
    gyre::time_point began{};
    lab::histogram lateness{};
};

task<> fire_again_and_again(crowd& all) {
    const std::uint64_t rounds = all.work.operations / all.work.timers;
    const auto begun = co_await all.begin.wait();
    lab::require(begun.ok(), "gyre: an event failed");
    gyre::time_point deadline = all.began;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        deadline += all.random.delay_of(all.work);
        const auto slept = co_await gyre::sleep_until(deadline);
        lab::require(slept.ok(), "gyre: a sleep failed");
        lab::record_lateness(all.lateness, deadline);
    }
}

// Making the coroutines is not what is measured: they exist, and wait, when the clock starts.
lab::measurement fire_together(io_context& loop, const lab::timers_case& work) {
    crowd all{work};
    for (std::size_t i = 0; i < work.timers; ++i) {
        launch(loop, fire_again_and_again(all), gyre::or_terminate{});
    }
    loop.poll();

    const gyre_lab::counting_watch watch{loop};
    all.began = std::chrono::steady_clock::now();
    loop.post([&all] { all.begin.set(); });
    loop.run();
    const lab::cost spent = watch.stop();
    return {spent, all.lateness.count(), all.lateness};
}

// The timeouts of connections that nobody waits on directly; a read moves its own to a later moment.
class idle_timeouts {
public:
    idle_timeouts(io_context& loop, const lab::timers_case& work)
        : loop_{loop}, work_{work}, timers_(work.timers, gyre::timer{&fail_on_fire}) {}

    // As after a while of operation: moments that have been moved lie anywhere in the next minute.
    task<> arm_all() {
        const auto timeout = static_cast<std::uint64_t>(work_.delay_max.count());
        for (std::size_t i = 0; i < timers_.size(); ++i) {
            const std::chrono::nanoseconds earlier{random_.below(timeout >> 8) << 8};
            loop_.arm(timers_[i], loop_.now() + earlier);
            loop_.arm(timers_[i], loop_.now() + work_.delay_max);
            if (i % lab::pushes_per_turn == 0) co_await gyre::yield();
        }
    }

    task<> push_back(std::uint64_t count, std::uint64_t& done) {
        const bool paced = work_.operations_per_tick > 0;
        const std::uint64_t at_once = paced ? work_.operations_per_tick : lab::pushes_per_turn;
        gyre::time_point tick = loop_.now();
        while (done < count) {
            const std::uint64_t end = std::min(done + at_once, count);
            for (; done < end; ++done) {
                loop_.arm(timers_[random_.below(timers_.size())], loop_.now() + work_.delay_max);
            }
            if (paced) {
                const auto slept = co_await gyre::sleep_until(tick += lab::push_tick);
                lab::require(slept.ok(), "gyre: a sleep failed");
            } else {
                co_await gyre::yield();
            }
        }
    }

    task<> disarm_all() {
        for (gyre::timer& each : timers_) loop_.disarm(each);
        co_return;
    }

private:
    io_context& loop_;
    const lab::timers_case& work_;
    lab::random_numbers random_;
    std::vector<gyre::timer> timers_;
};

// Runs `start(count, done)` for the warm-up and then for what is measured.
template <class Start>
lab::measurement measure(io_context& loop, const lab::timers_case& work, Start start) {
    std::uint64_t done = 0;
    launch(loop, start(work.warm_up_operations, done), gyre::or_terminate{});
    loop.run();

    done = 0;
    const gyre_lab::counting_watch watch{loop};
    launch(loop, start(work.operations, done), gyre::or_terminate{});
    loop.run();
    return {.spent = watch.stop(), .amount = done};
}

lab::measurement push_back(io_context& loop, const lab::timers_case& work) {
    idle_timeouts all{loop, work};
    launch(loop, all.arm_all(), gyre::or_terminate{});
    loop.run();
    lab::measurement result = measure(loop, work, [&all](std::uint64_t count, std::uint64_t& done) {
        return all.push_back(count, done);
    });
    launch(loop, all.disarm_all(), gyre::or_terminate{});
    loop.run();
    return result;
}

}  // namespace

lab::outcome gyre_lab::measure_timers(const gyre::io_context_options& options,
                                      const lab::timers_case& work) {
    io_context loop{options};
    switch (work.use) {
        case lab::timer_use::cancel_waited: return measure(loop, work, &cancel_waited);
        case lab::timer_use::cancel_unwaited:
            return measure(loop, work, [&](std::uint64_t count, std::uint64_t& done) {
                return cancel_unwaited(loop, count, done);
            });
        case lab::timer_use::fire_in_a_row:
            return measure(loop, work, [&](std::uint64_t count, std::uint64_t& done) {
                return fire_in_a_row(work.delay_max, count, done);
            });
        case lab::timer_use::fire_together: return fire_together(loop, work);
        case lab::timer_use::push_back: return push_back(loop, work);
    }
    lab::fail("gyre: an unknown use of timers");
}
