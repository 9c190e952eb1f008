// SPDX-License-Identifier: BSL-1.0
//
// Timers as gyre's users set them: sleeping where a coroutine waits, `io_context::arm` where none
// does.
#pragma once

#include <lab/in_process/gyre/library.hpp>

#include <lab/kit/fail.hpp>

#include <gyre/coro/timer.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/when_any.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace gyre_lab {

[[noreturn]] inline void fail_on_fire(gyre::timer&) noexcept { lab::fail("gyre: a timer fired"); }

// A wait that must not fail.
template <class Awaiter>
class surely {
public:
    explicit surely(Awaiter it) noexcept : it_{std::move(it)} {}

    [[nodiscard]] bool await_ready() const noexcept { return it_.await_ready(); }
    auto await_suspend(std::coroutine_handle<> handle, const gyre::environment* given) noexcept {
        return it_.await_suspend(handle, given);
    }
    void await_resume() { lab::require(it_.await_resume().ok(), "gyre: a wait failed"); }

private:
    Awaiter it_;
};

struct words : library {
    // All parameters of coroutines are borrowed: they outlive the run of the loop.

    // A sleep that something else cuts short. The same work as Asio's wait, cancel and handler: the
    // sleep is armed and has a coroutine suspended on it when the second branch ends, as the event is set;
    // that disarms the timer, and what waited for it is resumed by the loop with `errc::canceled`.
    static task cancel_waited(context&, std::uint64_t count, std::uint64_t& done) {
        gyre::event woken;
        woken.set();
        for (; done < count; ++done) {
            const auto ended =
                co_await gyre::when_any(gyre::sleep_for(lab::far_away), woken.wait());
            lab::require(ended.winner == 1, "gyre: the sleep was over before it was cancelled");
            lab::require(std::get<0>(ended.results).error() == gyre::errc::canceled,
                         "gyre: the sleeper was not told");
        }
    }

    // A coroutine only because timers are armed on the loop's thread; it never waits. The clock is read each
    // time, as Asio's `expires_after` does it: the loop's own time would be less work.
    static task cancel_unwaited(context& loop, std::uint64_t count, std::uint64_t& done) {
        gyre::timer it{&fail_on_fire};
        for (; done < count; ++done) {
            loop.arm(it, std::chrono::steady_clock::now() + lab::far_away);
            loop.disarm(it);
        }
        co_return;
    }

    struct alarm {
        explicit alarm(context&) {}

        static auto sleep_for(gyre::duration delay) { return surely{gyre::sleep_for(delay)}; }
        static auto sleep_until(gyre::time_point end) { return surely{gyre::sleep_until(end)}; }
    };

    class gate {
    public:
        explicit gate(context& loop) : loop_{loop} {}

        void close() { opened_.reset(); }
        void open() {
            loop_.post([this] { opened_.set(); });
        }
        auto wait() { return surely{opened_.wait()}; }

    private:
        context& loop_;
        gyre::event opened_;
    };

    class timeouts {
    public:
        timeouts(context& loop, std::size_t count)
            : loop_{loop}, all_(count, gyre::timer{&fail_on_fire}) {}

        void begin_turn() {}
        void arm(std::size_t which, gyre::duration delay) {
            loop_.arm(all_[which], loop_.now() + delay);
        }
        void disarm(std::size_t which) { loop_.disarm(all_[which]); }
        void leave_armed() {}  // They keep no loop running.

    private:
        context& loop_;
        std::vector<gyre::timer> all_;
    };

    static auto yield(context&) { return gyre::yield(); }
};

}  // namespace gyre_lab
