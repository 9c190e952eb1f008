// SPDX-License-Identifier: BSL-1.0
//
// Timers in the order of their deadlines, without a clock.
//
// Passive: `advance(now)` is told the time, so tests can tell any. A 4-ary heap
// keyed by (deadline, sequence): equal deadlines fire in the order of arming. Pushing a deadline back,
// which every idle timeout does at every read, is a store: the heap keeps the old key and puts the
// timer right when that comes up.
#pragma once

#include <gyre/coro/timer.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gyre {

class timer_queue {
public:
    timer_queue() noexcept = default;
    timer_queue(const timer_queue&) = delete;
    timer_queue& operator=(const timer_queue&) = delete;
    ~timer_queue();

    /// Cost: a store to push back; logarithmic else. Allocates when more are armed than ever before.
    void arm(timer& it, time_point deadline) noexcept;

    void disarm(timer& it) noexcept;

    /// Fires what is due at `now`, in order. Fired timers may arm and disarm others.
    void advance(time_point now) noexcept;

    /// The earliest deadline, or `never`.
    [[nodiscard]] time_point next() noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }

private:
    struct entry {
        time_point key;  // Invariant: not later than the timer's deadline.
        std::uint64_t sequence;
        timer* it;
    };

    static constexpr std::size_t arity = 4;

    [[nodiscard]] static bool before(const entry& left, const entry& right) noexcept {
        return left.key != right.key ? left.key < right.key : left.sequence < right.sequence;
    }
    void settle_first() noexcept;
    void place(std::size_t at, const entry& e) noexcept;
    void sift_up(std::size_t at, entry e) noexcept;
    void sift_down(std::size_t at, entry e) noexcept;
    void remove(std::size_t at) noexcept;

    std::vector<entry> heap_;
    std::uint64_t sequence_ = 0;
};

}  // namespace gyre
