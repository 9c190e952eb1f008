// SPDX-License-Identifier: BSL-1.0
//
// Asio's timers with coroutines.
//
// Asio has no wait that a coroutine could begin and cancel by itself, so `cancel_waited` posts the
// cancellation first. The alternative, `timer.async_wait(...) || something` of
// awaitable_operators, makes coroutines of both sides, which is slower. As in asio_callback_timers.cpp,
// `expires_after`, which reads the clock, stands only where the clock has moved.
#include <lab/contenders/asio_sockets.hpp>
#include <lab/contenders/asio_suites.hpp>

#include <lab/contender.hpp>
#include <lab/fail.hpp>
#include <lab/timer_load.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>

namespace {

namespace asio = boost::asio;

using asio_lab::executor;
using asio_lab::timer;
using task = asio::awaitable<void, executor>;

void expect_success(std::exception_ptr error) { lab::require(!error, "asio: a coroutine threw"); }

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.

task cancel_waited(asio::io_context& context, std::uint64_t count, std::uint64_t& done) {
    timer it{context};
    lab::turn_clock clock;
    for (; done < count; ++done) {
        it.expires_at(clock.now() + lab::far_away);
        asio::post(context, [&it] { it.cancel(); });
        const auto [error] = co_await it.async_wait(asio::as_tuple(asio::deferred));
        lab::require(error == asio::error::operation_aborted, "asio: a timer fired");
    }
}

task cancel_unwaited(asio::io_context& context, std::uint64_t count, std::uint64_t& done) {
    timer it{context};
    for (; done < count; ++done) {
        it.expires_after(lab::far_away);
        it.cancel();
    }
    co_return;
}

task fire_in_a_row(asio::io_context& context, std::chrono::nanoseconds delay, std::uint64_t count,
                   std::uint64_t& done) {
    timer it{context};
    for (; done < count; ++done) {
        it.expires_after(delay);
        co_await it.async_wait(asio::deferred);
    }
}

struct crowd {
    crowd(asio::io_context& context, const lab::timers_case& what)
        : work{what}, begin{context, lab::far_away} {}

    const lab::timers_case& work;
    lab::random_numbers random{};
    timer begin;  // Cancelled to let everybody go: Asio's usual event.
    std::chrono::steady_clock::time_point began{};
    lab::histogram lateness{};
};

task fire_again_and_again(asio::io_context& context, crowd& all) {
    timer it{context};
    co_await all.begin.async_wait(asio::as_tuple(asio::deferred));
    it.expires_at(all.began);
    const std::uint64_t rounds = all.work.operations / all.work.timers;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        it.expires_at(it.expiry() + all.random.delay_of(all.work));
        co_await it.async_wait(asio::deferred);
        lab::record_lateness(all.lateness, it.expiry());
    }
}

// Making the coroutines is not what is measured: they exist, and wait, when the clock starts.
lab::measurement fire_together(asio::io_context& context, const lab::timers_case& work) {
    crowd all{context, work};
    for (std::size_t i = 0; i < work.timers; ++i) {
        asio::co_spawn(context, fire_again_and_again(context, all), expect_success);
    }
    context.poll();

    const lab::stopwatch watch;
    all.began = std::chrono::steady_clock::now();
    all.begin.cancel();
    context.run();
    const lab::cost spent = watch.stop();
    return {spent, all.lateness.count(), all.lateness};
}

// The timeouts of idle connections. Nobody is suspended on them, so they have handlers here too.
class idle_timeouts {
public:
    idle_timeouts(asio::io_context& context, const lab::timers_case& work)
        : context_{context}, work_{work} {
        for (std::size_t i = 0; i < work.timers; ++i) timers_.emplace_back(context);
    }

    task arm_all() {
        const auto timeout = static_cast<std::uint64_t>(work_.delay_max.count());
        for (std::size_t i = 0; i < timers_.size(); ++i) {
            arm(timers_[i], std::chrono::nanoseconds{random_.below(timeout >> 8) << 8});
            arm(timers_[i], work_.delay_max);
            if (i % lab::pushes_per_turn == 0) co_await asio::post(context_, asio::deferred);
        }
    }

    task push_back(std::uint64_t count, std::uint64_t& done) {
        const bool paced = work_.operations_per_tick > 0;
        const std::uint64_t at_once = paced ? work_.operations_per_tick : lab::pushes_per_turn;
        timer ticker{context_, std::chrono::nanoseconds{0}};
        while (done < count) {
            const std::uint64_t end = std::min(done + at_once, count);
            for (; done < end; ++done) {
                arm(timers_[random_.below(timers_.size())], work_.delay_max);
            }
            if (paced) {
                ticker.expires_at(ticker.expiry() + lab::push_tick);
                co_await ticker.async_wait(asio::deferred);
            } else {
                co_await asio::post(context_, asio::deferred);
            }
        }
        context_.stop();  // The timeouts are still waited for.
    }

    void cancel_all() {
        for (timer& each : timers_) each.cancel();
    }

private:
    void arm(timer& it, std::chrono::nanoseconds delay) {
        it.expires_at(clock_.now() + delay);
        it.async_wait([](boost::system::error_code error) {
            lab::require(error == asio::error::operation_aborted, "asio: a timer fired");
        });
    }

    asio::io_context& context_;
    const lab::timers_case& work_;
    lab::random_numbers random_;
    lab::turn_clock clock_;
    std::deque<timer> timers_;
};

// Runs `start(count, done)` for the warm-up and then for what is measured.
template <class Start>
lab::measurement measure(asio::io_context& context, const lab::timers_case& work, Start start) {
    std::uint64_t done = 0;
    asio::co_spawn(context, start(work.warm_up_operations, done), expect_success);
    context.restart();
    context.run();

    done = 0;
    const lab::stopwatch watch;
    asio::co_spawn(context, start(work.operations, done), expect_success);
    context.restart();
    context.run();
    return {.spent = watch.stop(), .amount = done};
}

lab::measurement push_back(asio::io_context& context, const lab::timers_case& work) {
    idle_timeouts all{context, work};
    asio::co_spawn(context, all.arm_all(), expect_success);
    context.poll();
    lab::measurement result = measure(
        context, work,
        [&all](std::uint64_t count, std::uint64_t& done) { return all.push_back(count, done); });
    all.cancel_all();
    context.restart();
    context.run();
    return result;
}

}  // namespace

lab::outcome asio_lab::measure_timers(const lab::timers_case& work) {
    asio::io_context context{single_threaded};
    switch (work.use) {
        case lab::timer_use::cancel_waited:
            return measure(context, work, [&](std::uint64_t count, std::uint64_t& done) {
                return cancel_waited(context, count, done);
            });
        case lab::timer_use::cancel_unwaited:
            return measure(context, work, [&](std::uint64_t count, std::uint64_t& done) {
                return cancel_unwaited(context, count, done);
            });
        case lab::timer_use::fire_in_a_row:
            return measure(context, work, [&](std::uint64_t count, std::uint64_t& done) {
                return fire_in_a_row(context, work.delay_max, count, done);
            });
        case lab::timer_use::fire_together: return fire_together(context, work);
        case lab::timer_use::push_back: return push_back(context, work);
    }
    lab::fail("asio: an unknown use of timers");
}
