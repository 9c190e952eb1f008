// SPDX-License-Identifier: BSL-1.0
//
// Asio's timers with coroutines.
//
// Asio has no wait that a coroutine could begin and cancel by itself, so `cancel_waited` posts the
// cancellation first. The alternative, `timer.async_wait(...) || something` of
// awaitable_operators, makes coroutines of both sides, which is slower. As in ../asio_callback/timers.cpp,
// `expires_after`, which reads the clock, stands only where the clock has moved.
#include <lab/in_process/asio_coroutine/library.hpp>
#include <lab/in_process/sessions.hpp>

#include <lab/kit/fail.hpp>
#include <lab/kit/timer_load.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace {

namespace asio = boost::asio;

using asio_lab::layout;
using asio_lab::task;
using asio_lab::timer;
using library = asio_lab::coroutine_library;
using loop_session = lab::loop_session<library>;

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.

class one_timer_session final : public loop_session {
public:
    one_timer_session(layout how, const lab::timers_case& work)
        : loop_session{how}, work_{work}, timer_{loop_.context()} {}

    void play(lab::slice& now) override {
        library::spawn(loop_.context(), uses(now));
        loop_.run();
    }

private:
    task uses(lab::slice& now) {
        if (work_.use == lab::timer_use::cancel_waited) return cancel_waited(now);
        if (work_.use == lab::timer_use::cancel_unwaited) return cancel_unwaited(now);
        return fire_in_a_row(now);
    }

    task cancel_waited(lab::slice& now) {
        constexpr auto result_of = asio::as_tuple(asio::deferred);
        for (; now.done < now.operations; ++now.done) {
            timer_.expires_at(clock_.now() + lab::far_away);
            asio::post(loop_.context(), [this] { timer_.cancel(); });
            const auto [error] = co_await timer_.async_wait(result_of);
            lab::require(error == asio::error::operation_aborted, "asio: a timer fired");
        }
    }

    task cancel_unwaited(lab::slice& now) {
        for (; now.done < now.operations; ++now.done) {
            timer_.expires_after(lab::far_away);
            timer_.cancel();
        }
        co_return;
    }

    task fire_in_a_row(lab::slice& now) {
        for (; now.done < now.operations; ++now.done) {
            timer_.expires_after(work_.delay_max);
            co_await timer_.async_wait(asio::deferred);
        }
    }

    lab::timers_case work_;
    timer timer_;
    lab::turn_clock clock_;
};

// Making the coroutines is not what is measured: they exist, and wait, when the clock starts.
class crowd_session final : public loop_session {
public:
    crowd_session(layout how, const lab::timers_case& work)
        : loop_session{how}, work_{work}, begin_{loop_.context()} {}

    void get_ready(lab::slice& now) override {
        begin_.expires_after(lab::far_away);
        for (std::size_t i = 0; i < work_.timers; ++i) {
            library::spawn(loop_.context(), fire_again_and_again(now));
        }
        loop_.poll();
    }

    void play(lab::slice& now) override {
        began_ = std::chrono::steady_clock::now();
        begin_.cancel();
        loop_.run();
        now.done = now.latency.count();
    }

private:
    task fire_again_and_again(lab::slice& now) {
        timer it{loop_.context()};
        constexpr auto result_of = asio::as_tuple(asio::deferred);
        co_await begin_.async_wait(result_of);
        it.expires_at(began_);
        const std::uint64_t rounds = now.operations / work_.timers;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            it.expires_at(it.expiry() + random_.between(work_.delay_min, work_.delay_max));
            co_await it.async_wait(asio::deferred);
            lab::record_lateness(now.latency, it.expiry());
        }
    }

    lab::timers_case work_;
    lab::random_numbers random_;
    timer begin_;  // Cancelled to let all of them go: Asio's usual event.
    std::chrono::steady_clock::time_point began_{};
};

// The timeouts of idle connections. No coroutine is suspended on them, so they have handlers here too.
class push_back_session final : public loop_session {
public:
    push_back_session(layout how, const lab::timers_case& work) : loop_session{how}, work_{work} {
        for (std::size_t i = 0; i < work.timers; ++i) timers_.emplace_back(loop_.context());
    }

    ~push_back_session() override {
        for (timer& each : timers_) each.cancel();
        loop_.run();
    }

    void get_ready(lab::slice&) override {
        clock_.begin_turn();
        if (freshness_.is_over(work_.delay_max)) library::spawn(loop_.context(), arm_all());
        loop_.poll();
    }

    void play(lab::slice& now) override {
        library::spawn(loop_.context(), push_back(now));
        loop_.run();
    }

private:
    task arm_all() {
        const auto timeout = static_cast<std::uint64_t>(work_.delay_max.count());
        for (std::size_t i = 0; i < timers_.size(); ++i) {
            arm(timers_[i], std::chrono::nanoseconds{random_.below(timeout >> 8) << 8});
            arm(timers_[i], work_.delay_max);
            if (i % lab::pushes_per_turn == 0) co_await asio::post(loop_.context(), asio::deferred);
        }
    }

    task push_back(lab::slice& now) {
        const bool paced = work_.per_tick > 0;
        const std::uint64_t at_once = paced ? work_.per_tick : lab::pushes_per_turn;
        timer ticker{loop_.context(), std::chrono::nanoseconds{0}};
        while (now.done < now.operations) {
            const std::uint64_t end = std::min(now.done + at_once, now.operations);
            for (; now.done < end; ++now.done) {
                arm(timers_[random_.below(timers_.size())], work_.delay_max);
            }
            if (paced) {
                ticker.expires_at(ticker.expiry() + lab::push_tick);
                co_await ticker.async_wait(asio::deferred);
            } else {
                co_await asio::post(loop_.context(), asio::deferred);
            }
        }
        loop_.context().stop();  // The timeouts are still waited for.
    }

    void arm(timer& it, std::chrono::nanoseconds delay) {
        it.expires_at(clock_.now() + delay);
        it.async_wait([](asio_lab::error_code error) {
            lab::require(error == asio::error::operation_aborted, "asio: a timer fired");
        });
    }

    lab::timers_case work_;
    lab::random_numbers random_;
    lab::freshness freshness_;
    lab::turn_clock clock_;
    std::deque<timer> timers_;
};

}  // namespace

lab::preparation asio_lab::prepare(layout how, const lab::timers_case& work) {
    switch (work.use) {
        case lab::timer_use::fire_together: return lab::prepared<crowd_session>(how, work);
        case lab::timer_use::push_back: return lab::prepared<push_back_session>(how, work);
        default: return lab::prepared<one_timer_session>(how, work);
    }
}
