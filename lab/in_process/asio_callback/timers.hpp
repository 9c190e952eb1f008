// SPDX-License-Identifier: BSL-1.0
//
// Asio's timers with handlers.
//
// A wait begins with an expiry and `async_wait` and ends in its handler, cancelled or not; each class
// here is one chain of such handlers, small enough for Asio's recycling allocator. `expires_after` reads
// the clock: where gyre's loop does not, a clock that is read as seldom takes its place.
#pragma once

#include <lab/in_process/asio/timeouts.hpp>
#include <lab/in_process/sessions.hpp>

#include <lab/kit/fail.hpp>
#include <lab/kit/timer_load.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace asio_lab {

class one_timer : public lab::no_end {
public:
    one_timer(asio::io_context& context, const lab::timers_case& work)
        : work_{work}, timer_{context} {}

    void begin(std::uint64_t, lab::slice& now) {
        switch (work_.use) {
            case lab::timer_use::cancel_waited: return cancel_next(now);
            case lab::timer_use::cancel_unwaited: return cancel_unwaited(now);
            default: return fire_next(now);
        }
    }

private:
    void cancel_next(lab::slice& now) {
        if (now.done == now.operations) return;
        timer_.expires_after(lab::far_away);
        timer_.async_wait([this, &now](error_code error) {
            lab::require(error == asio::error::operation_aborted, "asio: a timer fired");
            ++now.done;
            cancel_next(now);
        });
        timer_.cancel();
    }

    void cancel_unwaited(lab::slice& now) {
        for (; now.done < now.operations; ++now.done) {
            timer_.expires_after(lab::far_away);
            timer_.cancel();
        }
    }

    void fire_next(lab::slice& now) {
        if (now.done == now.operations) return;
        timer_.expires_after(work_.delay_max);
        timer_.async_wait([this, &now](error_code error) {
            lab::require(!error, "asio: a timer was cancelled");
            ++now.done;
            fire_next(now);
        });
    }

    lab::timers_case work_;
    timer timer_;
};

// Timers that fire again and again, at moments that do not depend on when the last one was noticed.
class crowd : public lab::no_end {
public:
    crowd(asio::io_context& context, const lab::timers_case& work) : work_{work} {
        for (std::size_t i = 0; i < work.timers; ++i) members_.push_back({timer{context}, 0});
    }

    void begin(std::uint64_t operations, lab::slice& now) {
        const auto began = std::chrono::steady_clock::now();
        for (member& each : members_) {
            each.left = operations / members_.size();
            wait(each, began, now);
        }
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

class pushing final : public lab::loop_session<library> {
public:
    pushing(layout how, const lab::timers_case& work)
        : loop_session{how},
          work_{work},
          timeouts_{loop_.context(), work.timers},
          ticker_{loop_.context()} {}

    ~pushing() override {
        for (std::size_t i = 0; i < work_.timers; ++i) timeouts_.disarm(i);
        loop_.run();
    }

    void get_ready(lab::slice&) override {
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
    // Twice, as in ../coroutine_timers.hpp.
    void arm_from(std::size_t first) {
        const auto timeout = static_cast<std::uint64_t>(work_.delay_max.count());
        const std::size_t end = std::min(first + lab::pushes_per_turn, work_.timers);
        for (std::size_t i = first; i < end; ++i) {
            timeouts_.arm(i, std::chrono::nanoseconds{random_.below(timeout >> 8) << 8});
            timeouts_.arm(i, work_.delay_max);
        }
        if (end == work_.timers) return;
        asio::post(loop_.context(), [this, end] { arm_from(end); });
    }

    void push_some(lab::slice& now) {
        if (now.done == now.operations) return timeouts_.leave_armed();
        const bool paced = work_.per_tick > 0;
        const std::uint64_t at_once = paced ? work_.per_tick : lab::pushes_per_turn;
        const std::uint64_t end = std::min(now.done + at_once, now.operations);
        for (; now.done < end; ++now.done) {
            timeouts_.arm(random_.below(work_.timers), work_.delay_max);
        }
        if (!paced) return asio::post(loop_.context(), [this, &now] { push_some(now); });

        ticker_.expires_at(ticker_.expiry() + lab::push_tick);
        ticker_.async_wait([this, &now](error_code) { push_some(now); });
    }

    lab::timers_case work_;
    lab::random_numbers random_;
    lab::freshness freshness_;
    timeouts timeouts_;
    timer ticker_;
};

}  // namespace asio_lab
