// SPDX-License-Identifier: BSL-1.0
//
// What coroutines do in `timers`: the same text for gyre and for Asio, as in coroutines.hpp.
//
// A `Library` has, beside the words of that file: `alarm`, to sleep with; `gate`, an event that many wait
// for; `timeouts`, which nothing waits for; `yield(context)`; and `cancel_waited` and `cancel_unwaited`,
// coroutines that differ from one library to the other.
#pragma once

#include <lab/in_process/sessions.hpp>

#include <lab/kit/timer_load.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace lab {

template <class Library>
class coroutine_timer : public no_end {
public:
    coroutine_timer(typename Library::context& context, const timers_case& work)
        : context_{context}, work_{work} {}

    void begin(std::uint64_t count, slice& now) { Library::spawn(context_, uses(count, now.done)); }

private:
    using task = typename Library::task;

    task uses(std::uint64_t count, std::uint64_t& done) {
        if (work_.use == timer_use::cancel_waited) {
            return Library::cancel_waited(context_, count, done);
        }
        if (work_.use == timer_use::cancel_unwaited) {
            return Library::cancel_unwaited(context_, count, done);
        }
        return fire_in_a_row(count, done);
    }

    task fire_in_a_row(std::uint64_t count, std::uint64_t& done) {
        typename Library::alarm it{context_};
        for (; done < count; ++done) co_await it.sleep_for(work_.delay_max);
    }

    typename Library::context& context_;
    timers_case work_;
};

/// Timers that fire again and again, each at moments that do not depend on when it was noticed. Making
/// the coroutines is not what is measured: they exist, and wait, when the clock starts.
template <class Library>
class coroutine_crowd final : public loop_session<Library> {
public:
    coroutine_crowd(const typename Library::settings& how, const timers_case& work)
        : loop_session<Library>{how}, work_{work}, gate_{loop_.context()} {}

    void get_ready(slice& now) override {
        gate_.close();
        for (std::size_t i = 0; i < work_.timers; ++i) {
            Library::spawn(loop_.context(), fire_again_and_again(now));
        }
        loop_.poll();
    }

    void play(slice&) override {
        began_ = std::chrono::steady_clock::now();
        gate_.open();
        loop_.run();
    }

private:
    using loop_session<Library>::loop_;

    typename Library::task fire_again_and_again(slice& now) {
        typename Library::alarm it{loop_.context()};
        co_await gate_.wait();
        const std::uint64_t rounds = now.operations / work_.timers;
        auto deadline = began_;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            deadline += random_.between(work_.delay_min, work_.delay_max);
            co_await it.sleep_until(deadline);
            record_lateness(now.latency, deadline);
        }
    }

    timers_case work_;
    random_numbers random_;
    typename Library::gate gate_;
    std::chrono::steady_clock::time_point began_{};
};

/// The timeouts of connections that no coroutine waits on directly; a read moves its own to a later moment.
template <class Library>
class coroutine_pushing final : public loop_session<Library> {
public:
    coroutine_pushing(const typename Library::settings& how, const timers_case& work)
        : loop_session<Library>{how}, work_{work}, timeouts_{loop_.context(), work.timers} {}

    ~coroutine_pushing() override { run(disarm_all()); }

    void get_ready(slice&) override {
        if (freshness_.is_over(work_.delay_max)) run(arm_all());
        loop_.poll();  // What came due while others were playing is looked at without the clock.
    }

    void play(slice& now) override { run(push_back(now)); }

private:
    using loop_session<Library>::loop_;
    using task = typename Library::task;

    void run(task it) {
        Library::spawn(loop_.context(), std::move(it));
        loop_.run();
    }

    // As after a while of operation: moments that have been moved lie anywhere in the next minute. Twice,
    // since a library that keeps the earlier moment may have to look at it again.
    task arm_all() {
        const auto timeout = static_cast<std::uint64_t>(work_.delay_max.count());
        for (std::size_t i = 0; i < work_.timers; ++i) {
            timeouts_.disarm(i);
            timeouts_.arm(i, std::chrono::nanoseconds{random_.below(timeout >> 8) << 8});
            timeouts_.arm(i, work_.delay_max);
            if (i % pushes_per_turn == 0) co_await Library::yield(loop_.context());
        }
        timeouts_.leave_armed();
    }

    task push_back(slice& now) {
        const bool paced = work_.per_tick > 0;
        const std::uint64_t at_once = paced ? work_.per_tick : pushes_per_turn;
        typename Library::alarm ticker{loop_.context()};
        auto tick = std::chrono::steady_clock::now();
        while (now.done < now.operations) {
            const std::uint64_t end = std::min(now.done + at_once, now.operations);
            for (; now.done < end; ++now.done) {
                timeouts_.arm(random_.below(work_.timers), work_.delay_max);
            }
            if (paced) {
                tick += push_tick;
                co_await ticker.sleep_until(tick);
            } else {
                co_await Library::yield(loop_.context());
            }
        }
        timeouts_.leave_armed();
    }

    task disarm_all() {
        for (std::size_t i = 0; i < work_.timers; ++i) timeouts_.disarm(i);
        co_return;
    }

    timers_case work_;
    random_numbers random_;
    freshness freshness_;
    typename Library::timeouts timeouts_;
};

}  // namespace lab
