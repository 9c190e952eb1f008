// SPDX-License-Identifier: BSL-1.0
//
// Timers as gyre's users set them: sleeping where a coroutine waits, `io_context::arm` where none
// does.
#include <lab/in_process/gyre/library.hpp>

#include <lab/in_process/sessions.hpp>

#include <lab/kit/fail.hpp>
#include <lab/kit/timer_load.hpp>

#include <gyre/coro/timer.hpp>
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
using gyre_lab::library;

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.

// A sleep that something else cuts short. The same work as Asio's wait, cancel and handler: the
// sleep is armed and has a coroutine suspended on it when the second branch ends, as the event is set;
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

// A coroutine only because timers are armed on the loop's thread; it never waits. The clock is read each
// time, as Asio's `expires_after` does it: the loop's own time would be less work.
task<> cancel_unwaited(io_context& loop, std::uint64_t count, std::uint64_t& done) {
    gyre::timer it{&fail_on_fire};
    for (std::uint64_t i = 0; i < count; ++i) {
        loop.arm(it, std::chrono::steady_clock::now() + lab::far_away);
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

class one_timer_session final : public lab::loop_session<library> {
public:
    one_timer_session(const library::settings& how, const lab::timers_case& work)
        : loop_session{how}, work_{work} {}

    void play(lab::slice& now) override {
        library::spawn(loop_.context(), uses(now));
        loop_.run();
    }

private:
    task<> uses(lab::slice& now) {
        if (work_.use == lab::timer_use::cancel_waited) {
            return cancel_waited(now.operations, now.done);
        }
        if (work_.use == lab::timer_use::cancel_unwaited) {
            return cancel_unwaited(loop_.context(), now.operations, now.done);
        }
        return fire_in_a_row(work_.delay_max, now.operations, now.done);
    }

    lab::timers_case work_;
};

// Timers that fire again and again, each at moments that do not depend on when it was noticed. Making
// the coroutines is not what is measured: they exist, and wait, when the clock starts.
class crowd_session final : public lab::loop_session<library> {
public:
    crowd_session(const library::settings& how, const lab::timers_case& work)
        : loop_session{how}, work_{work} {}

    void get_ready(lab::slice& now) override {
        begin_.reset();
        for (std::size_t i = 0; i < work_.timers; ++i) {
            library::spawn(loop_.context(), fire_again_and_again(now));
        }
        loop_.poll();
    }

    void play(lab::slice& now) override {
        began_ = std::chrono::steady_clock::now();
        loop_.context().post([this] { begin_.set(); });
        loop_.run();
        now.done = now.latency.count();
    }

private:
    task<> fire_again_and_again(lab::slice& now) {
        const auto begun = co_await begin_.wait();
        lab::require(begun.ok(), "gyre: an event failed");
        const std::uint64_t rounds = now.operations / work_.timers;
        gyre::time_point deadline = began_;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            deadline += random_.between(work_.delay_min, work_.delay_max);
            const auto slept = co_await gyre::sleep_until(deadline);
            lab::require(slept.ok(), "gyre: a sleep failed");
            lab::record_lateness(now.latency, deadline);
        }
    }

    lab::timers_case work_;
    lab::random_numbers random_;
    gyre::event begin_;
    gyre::time_point began_{};
};

// The timeouts of connections that no coroutine waits on directly; a read moves its own to a later
// moment.
class push_back_session final : public lab::loop_session<library> {
public:
    push_back_session(const library::settings& how, const lab::timers_case& work)
        : loop_session{how}, work_{work}, timers_(work.timers, gyre::timer{&fail_on_fire}) {}

    ~push_back_session() override { run(disarm_all()); }

    void get_ready(lab::slice&) override {
        if (freshness_.is_over(work_.delay_max)) run(arm_all());
        loop_.poll();  // What came due while others were playing is looked at without the clock.
    }

    void play(lab::slice& now) override { run(push_back(now)); }

private:
    void run(task<> it) {
        library::spawn(loop_.context(), std::move(it));
        loop_.run();
    }

    // As after a while of operation: moments that have been moved lie anywhere in the next minute.
    task<> arm_all() {
        const auto timeout = static_cast<std::uint64_t>(work_.delay_max.count());
        for (std::size_t i = 0; i < timers_.size(); ++i) {
            const std::chrono::nanoseconds earlier{random_.below(timeout >> 8) << 8};
            loop_.context().disarm(timers_[i]);
            loop_.context().arm(timers_[i], loop_.context().now() + earlier);
            loop_.context().arm(timers_[i], loop_.context().now() + work_.delay_max);
            if (i % lab::pushes_per_turn == 0) co_await gyre::yield();
        }
    }

    task<> push_back(lab::slice& now) {
        const bool paced = work_.per_tick > 0;
        const std::uint64_t at_once = paced ? work_.per_tick : lab::pushes_per_turn;
        gyre::time_point tick = std::chrono::steady_clock::now();
        while (now.done < now.operations) {
            const std::uint64_t end = std::min(now.done + at_once, now.operations);
            for (; now.done < end; ++now.done) {
                loop_.context().arm(timers_[random_.below(timers_.size())],
                                    loop_.context().now() + work_.delay_max);
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
        for (gyre::timer& each : timers_) loop_.context().disarm(each);
        co_return;
    }

    lab::timers_case work_;
    lab::random_numbers random_;
    lab::freshness freshness_;
    std::vector<gyre::timer> timers_;
};

}  // namespace

lab::preparation gyre_lab::prepare(const library::settings& how, const lab::timers_case& work) {
    switch (work.use) {
        case lab::timer_use::fire_together: return lab::prepared<crowd_session>(how, work);
        case lab::timer_use::push_back: return lab::prepared<push_back_session>(how, work);
        default: return lab::prepared<one_timer_session>(how, work);
    }
}
