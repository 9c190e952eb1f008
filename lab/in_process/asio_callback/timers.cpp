// SPDX-License-Identifier: BSL-1.0
//
// Asio's timers with handlers.
//
// A wait begins with an expiry and `async_wait` and ends in its handler, cancelled or not; each class
// here is one chain of such handlers, small enough for Asio's recycling allocator. `expires_after` reads
// the clock, so it stands only where the clock has moved: behind a wait that was not cancelled.
#include <lab/in_process/asio/library.hpp>
#include <lab/in_process/sessions.hpp>

#include <lab/kit/fail.hpp>
#include <lab/kit/timer_load.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace {

namespace asio = boost::asio;

using asio_lab::error_code;
using asio_lab::layout;
using asio_lab::timer;
using loop_session = lab::loop_session<asio_lab::library>;

class cancel_session final : public loop_session {
public:
    cancel_session(layout how, const lab::timers_case&)
        : loop_session{how}, timer_{loop_.context()} {}

    void play(lab::slice& now) override {
        next(now);
        loop_.run();
    }

private:
    void next(lab::slice& now) {
        if (now.done == now.operations) return;
        timer_.expires_at(clock_.now() + lab::far_away);
        timer_.async_wait([this, &now](error_code error) {
            lab::require(error == asio::error::operation_aborted, "asio: a timer fired");
            ++now.done;
            next(now);
        });
        timer_.cancel();
    }

    timer timer_;
    lab::turn_clock clock_;
};

class cancel_unwaited_session final : public loop_session {
public:
    cancel_unwaited_session(layout how, const lab::timers_case&)
        : loop_session{how}, timer_{loop_.context()} {}

    void play(lab::slice& now) override {
        for (; now.done < now.operations; ++now.done) {
            timer_.expires_after(lab::far_away);
            timer_.cancel();
        }
    }

private:
    timer timer_;
};

class repeat_session final : public loop_session {
public:
    repeat_session(layout how, const lab::timers_case& work)
        : loop_session{how}, timer_{loop_.context()}, delay_{work.delay_max} {}

    void play(lab::slice& now) override {
        next(now);
        loop_.run();
    }

private:
    void next(lab::slice& now) {
        if (now.done == now.operations) return;
        timer_.expires_after(delay_);
        timer_.async_wait([this, &now](error_code error) {
            lab::require(!error, "asio: a timer was cancelled");
            ++now.done;
            next(now);
        });
    }

    timer timer_;
    std::chrono::nanoseconds delay_;
};

// Timers that fire again and again, at moments that do not depend on when the last one was noticed.
class crowd_session final : public loop_session {
public:
    crowd_session(layout how, const lab::timers_case& work) : loop_session{how}, work_{work} {
        for (std::size_t i = 0; i < work.timers; ++i)
            members_.push_back({timer{loop_.context()}, 0});
    }

    void play(lab::slice& now) override {
        const auto began = std::chrono::steady_clock::now();
        for (member& each : members_) {
            each.left = now.operations / members_.size();
            wait(each, began, now);
        }
        loop_.run();
        now.done = now.latency.count();
    }

private:
    struct member {
        timer it;
        std::uint64_t left;
    };

    void wait(member& each, std::chrono::steady_clock::time_point last, lab::slice& now) {
        each.it.expires_at(last + random_.between(work_.delay_min, work_.delay_max));
        each.it.async_wait([this, &each, &now](error_code error) {
            lab::require(!error, "asio: a timer was cancelled");
            lab::record_lateness(now.latency, each.it.expiry());
            if (--each.left > 0) wait(each, each.it.expiry(), now);
        });
    }

    lab::timers_case work_;
    lab::random_numbers random_;
    std::deque<member> members_;
};

// The timeouts of idle connections: setting a new moment cancels the wait for the old one.
class push_back_session final : public loop_session {
public:
    push_back_session(layout how, const lab::timers_case& work)
        : loop_session{how}, work_{work}, ticker_{loop_.context()} {
        for (std::size_t i = 0; i < work.timers; ++i) timers_.emplace_back(loop_.context());
    }

    ~push_back_session() override {
        for (timer& each : timers_) each.cancel();
        loop_.run();
    }

    void get_ready(lab::slice&) override {
        clock_.begin_turn();
        if (freshness_.is_over(work_.delay_max)) arm_from(0);
        loop_.poll();
    }

    // Neither a wait nor a push ends the run by itself here: all waits are pending.
    void play(lab::slice& now) override {
        ticker_.expires_after(std::chrono::nanoseconds{0});
        asio::post(loop_.context(), [this, &now] { push_some(now); });
        loop_.run();
    }

private:
    // Twice, as in the others' files: a library that keeps the earlier moment may have to look at it again.
    void arm_from(std::size_t first) {
        const auto timeout = static_cast<std::uint64_t>(work_.delay_max.count());
        const std::size_t end = std::min(first + lab::pushes_per_turn, timers_.size());
        for (std::size_t i = first; i < end; ++i) {
            arm(timers_[i], std::chrono::nanoseconds{random_.below(timeout >> 8) << 8});
            arm(timers_[i], work_.delay_max);
        }
        if (end == timers_.size()) return;
        asio::post(loop_.context(), [this, end] { arm_from(end); });
    }

    void arm(timer& it, std::chrono::nanoseconds delay) {
        it.expires_at(clock_.now() + delay);
        it.async_wait([](error_code error) {
            lab::require(error == asio::error::operation_aborted, "asio: a timer fired");
        });
    }

    void push_some(lab::slice& now) {
        if (now.done == now.operations) return loop_.context().stop();
        const bool paced = work_.per_tick > 0;
        const std::uint64_t at_once = paced ? work_.per_tick : lab::pushes_per_turn;
        const std::uint64_t end = std::min(now.done + at_once, now.operations);
        for (; now.done < end; ++now.done) {
            arm(timers_[random_.below(timers_.size())], work_.delay_max);
        }
        if (!paced) return asio::post(loop_.context(), [this, &now] { push_some(now); });

        ticker_.expires_at(ticker_.expiry() + lab::push_tick);
        ticker_.async_wait([this, &now](error_code) { push_some(now); });
    }

    lab::timers_case work_;
    lab::random_numbers random_;
    lab::freshness freshness_;
    lab::turn_clock clock_;
    std::deque<timer> timers_;
    timer ticker_;
};

}  // namespace

lab::preparation asio_lab::prepare(layout how, const lab::timers_case& work) {
    switch (work.use) {
        case lab::timer_use::cancel_waited: return lab::prepared<cancel_session>(how, work);
        case lab::timer_use::cancel_unwaited:
            return lab::prepared<cancel_unwaited_session>(how, work);
        case lab::timer_use::fire_in_a_row: return lab::prepared<repeat_session>(how, work);
        case lab::timer_use::fire_together: return lab::prepared<crowd_session>(how, work);
        case lab::timer_use::push_back: return lab::prepared<push_back_session>(how, work);
    }
    lab::fail("asio: an unknown use of timers");
}
