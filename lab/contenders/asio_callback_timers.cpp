// SPDX-License-Identifier: BSL-1.0
//
// Asio's timers with handlers.
//
// A wait begins with an expiry and `async_wait` and ends in its handler, cancelled or not; each class
// here is one chain of such handlers, small enough for Asio's recycling allocator. `expires_after` reads
// the clock, so it stands only where the clock has moved: behind a wait that was not cancelled.
#include <lab/contenders/asio_sockets.hpp>
#include <lab/contenders/asio_suites.hpp>

#include <lab/contender.hpp>
#include <lab/fail.hpp>
#include <lab/timer_load.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace {

namespace asio = boost::asio;

using asio_lab::timer;
using error_code = boost::system::error_code;

class canceller {
public:
    explicit canceller(asio::io_context& context) : timer_{context} {}

    void begin(std::uint64_t count, std::uint64_t& done) {
        left_ = count;
        done_ = &done;
        next();
    }

private:
    void next() {
        if (left_-- == 0) return;
        timer_.expires_at(clock_.now() + lab::far_away);
        timer_.async_wait([this](error_code error) {
            lab::require(error == asio::error::operation_aborted, "asio: a timer fired");
            ++*done_;
            next();
        });
        timer_.cancel();
    }

    timer timer_;
    lab::turn_clock clock_;
    std::uint64_t left_ = 0;
    std::uint64_t* done_ = nullptr;
};

class repeater {
public:
    repeater(asio::io_context& context, std::chrono::nanoseconds delay)
        : timer_{context}, delay_{delay} {}

    void begin(std::uint64_t count, std::uint64_t& done) {
        left_ = count;
        done_ = &done;
        next();
    }

private:
    void next() {
        if (left_-- == 0) return;
        timer_.expires_after(delay_);
        timer_.async_wait([this](error_code error) {
            lab::require(!error, "asio: a timer was cancelled");
            ++*done_;
            next();
        });
    }

    timer timer_;
    std::chrono::nanoseconds delay_;
    std::uint64_t left_ = 0;
    std::uint64_t* done_ = nullptr;
};

// What all timers of `fire_together` share.
struct crowd {
    const lab::timers_case& work;
    lab::random_numbers random{};
    lab::histogram lateness{};
};

// One of them. Its moments do not depend on when the last one was noticed.
class member {
public:
    member(asio::io_context& context, crowd& all)
        : timer_{context}, all_{all}, left_{all.work.operations / all.work.timers} {}

    void begin(std::chrono::steady_clock::time_point now) { wait_until(now); }

private:
    void wait_until(std::chrono::steady_clock::time_point last) {
        timer_.expires_at(last + all_.random.delay_of(all_.work));
        timer_.async_wait([this](error_code error) {
            lab::require(!error, "asio: a timer was cancelled");
            lab::record_lateness(all_.lateness, timer_.expiry());
            if (--left_ > 0) wait_until(timer_.expiry());
        });
    }

    timer timer_;
    crowd& all_;
    std::uint64_t left_;
};

lab::measurement fire_together(asio::io_context& context, const lab::timers_case& work) {
    crowd all{work};
    std::deque<member> members;
    for (std::size_t i = 0; i < work.timers; ++i) members.emplace_back(context, all);

    const lab::stopwatch watch;
    const auto now = std::chrono::steady_clock::now();
    for (member& each : members) each.begin(now);
    context.run();
    const lab::cost spent = watch.stop();
    return {spent, all.lateness.count(), all.lateness};
}

// The timeouts of idle connections: setting a new moment cancels the wait for the old one.
class idle_timeouts {
public:
    idle_timeouts(asio::io_context& context, const lab::timers_case& work)
        : work_{work}, ticker_{context} {
        for (std::size_t i = 0; i < work.timers; ++i) timers_.emplace_back(context);
    }

    // Twice, as in the others' files: who keeps the earlier moment may have to look at it again.
    void arm_from(std::size_t first) {
        const auto timeout = static_cast<std::uint64_t>(work_.delay_max.count());
        const std::size_t end = std::min(first + lab::pushes_per_turn, timers_.size());
        for (std::size_t i = first; i < end; ++i) {
            arm(timers_[i], std::chrono::nanoseconds{random_.below(timeout >> 8) << 8});
            arm(timers_[i], work_.delay_max);
        }
        if (end == timers_.size()) return;
        asio::post(ticker_.get_executor(), [this, end] { arm_from(end); });
    }

    void begin(std::uint64_t count, std::uint64_t& done) {
        count_ = count;
        done_ = &done;
        ticker_.expires_after(std::chrono::nanoseconds{0});
        push_some();
    }

    void cancel_all() {
        for (timer& each : timers_) each.cancel();
    }

private:
    void arm(timer& it, std::chrono::nanoseconds delay) {
        it.expires_at(clock_.now() + delay);
        it.async_wait([](error_code error) {
            lab::require(error == asio::error::operation_aborted, "asio: a timer fired");
        });
    }

    void push_some() {
        const bool paced = work_.operations_per_tick > 0;
        const std::uint64_t at_once = paced ? work_.operations_per_tick : lab::pushes_per_turn;
        const std::uint64_t end = std::min(*done_ + at_once, count_);
        for (; *done_ < end; ++*done_) {
            arm(timers_[random_.below(timers_.size())], work_.delay_max);
        }
        if (*done_ == count_) return context().stop();
        if (!paced) return asio::post(ticker_.get_executor(), [this] { push_some(); });

        ticker_.expires_at(ticker_.expiry() + lab::push_tick);
        ticker_.async_wait([this](error_code) { push_some(); });
    }

    asio::io_context& context() { return ticker_.get_executor().context(); }

    const lab::timers_case& work_;
    lab::random_numbers random_;
    lab::turn_clock clock_;
    std::deque<timer> timers_;
    timer ticker_;
    std::uint64_t count_ = 0;
    std::uint64_t* done_ = nullptr;
};

// Calls `start(count, done)` for the warm-up and then for what is measured.
template <class Start>
lab::measurement measure(asio::io_context& context, const lab::timers_case& work, Start start) {
    std::uint64_t done = 0;
    start(work.warm_up_operations, done);
    context.restart();
    context.run();

    done = 0;
    const lab::stopwatch watch;
    start(work.operations, done);
    context.restart();
    context.run();
    return {.spent = watch.stop(), .amount = done};
}

lab::measurement push_back(asio::io_context& context, const lab::timers_case& work) {
    idle_timeouts all{context, work};
    // Neither a wait nor a push ends the run by itself here: a million waits are pending.
    all.arm_from(0);
    context.poll();
    lab::measurement result =
        measure(context, work,
                [&all](std::uint64_t count, std::uint64_t& done) { all.begin(count, done); });
    all.cancel_all();
    context.restart();
    context.run();
    return result;
}

}  // namespace

lab::outcome asio_lab::measure_timers(const lab::timers_case& work) {
    asio::io_context context{single_threaded};
    switch (work.use) {
        case lab::timer_use::cancel_waited: {
            canceller it{context};
            return measure(context, work, [&it](std::uint64_t count, std::uint64_t& done) {
                it.begin(count, done);
            });
        }
        case lab::timer_use::cancel_unwaited:
            return measure(context, work, [&context](std::uint64_t count, std::uint64_t& done) {
                timer it{context};
                for (; done < count; ++done) {
                    it.expires_after(lab::far_away);
                    it.cancel();
                }
            });
        case lab::timer_use::fire_in_a_row: {
            repeater it{context, work.delay_max};
            return measure(context, work, [&it](std::uint64_t count, std::uint64_t& done) {
                it.begin(count, done);
            });
        }
        case lab::timer_use::fire_together: return fire_together(context, work);
        case lab::timer_use::push_back: return push_back(context, work);
    }
    lab::fail("asio: an unknown use of timers");
}
