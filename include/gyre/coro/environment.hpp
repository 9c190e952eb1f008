// SPDX-License-Identifier: BSL-1.0
//
// Everything ambient a coroutine may use, handed down by every co_await.
//
// An awaitable looks at no global and no thread-local: it is given a pointer to this
// record (`await_suspend(handle, environment const*)`, the shape of the IoAwaitable protocol,
// P4003) and finds there where to resume, what may stop it, and the loop that keeps time.
#pragma once

#include <gyre/base/intrusive.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/backlog.hpp>
#include <gyre/coro/executor.hpp>
#include <gyre/coro/stop.hpp>
#include <gyre/coro/timer.hpp>

#include <algorithm>
#include <cstddef>

namespace gyre {

class local_frame;
class root;

/// What every coroutine on a loop can count on: its clock, its timers, its roots, its fair share.
/// `io_context` is the one implementation.
class loop : public sleeper {
public:
    /// When the clock was last read, which a turn does now and then: cheap, and old by as much as the
    /// items since have taken. For what is only compared with the loop's own timers.
    [[nodiscard]] time_point now() const noexcept { return now_; }

    /// Reads the clock: 20 to 30 ns. The loop's thread only.
    [[nodiscard]] virtual time_point read_clock() noexcept = 0;

    /// Accounts for one completion on the spot, which `received` or `sent` so many bytes and did not go
    /// through the ready queue. False when the caller's share is used up: it then posts itself instead
    /// of going on.
    ///
    /// A coroutine that never has to wait gives way to others that are ready after a few completions, and
    /// to the kernel after a turn's worth of them or of bytes. Senders give way sooner than receivers:
    /// what was sent should be received while it is still in the cache.
    [[nodiscard]] bool spend(std::size_t received = 0, std::size_t sent = 0) noexcept {
        budget_ -= 1 + times(sent, sent_per_unit);
        streak_ -=
            sent > 0 ? 2 + times(sent, sent_per_step) : 1 + times(received, received_per_step);
        if (streak_ > 0) return true;
        if (!ready_.empty()) return false;
        // The caller would only give way to itself: the visit is due now.
        if (others_wait_) budget_ = 0;
        return budget_ > 0;
    }

    /// The same for a connection that was accepted. It comes before what is ready, as often as a turn allows:
    /// what sessions that were begun have used up is not the listener's, or a crowd of busy connections
    /// would let in a handful of others per round.
    [[nodiscard]] bool spend_on_accept() noexcept {
        --budget_;
        return --accepts_left_ > 0;
    }

    /// The same for what was in memory already, as in the window of a reader. It counts against the turn's
    /// share only: short messages are not worth an item each.
    [[nodiscard]] bool spend_in_memory() noexcept { return --budget_ > 0; }

    /// The same for a branch that was begun and now waits: a turn begins so many of them.
    void spend_on_begin() noexcept {
        --budget_;
        --streak_;
    }

    /// Whether an item may begin a branch of a fork, rather than put that off.
    [[nodiscard]] bool may_begin() const noexcept {
        return backlog_.has_room() && (streak_ > 0 || budget_ > 0);
    }

    /// Whether the running item has left over some of what it may do on the spot.
    [[nodiscard]] bool may_go_on() const noexcept { return streak_ > 0; }

    /// Whether the running item may go on with what might have been an item by itself; it counts as one.
    [[nodiscard]] bool begin_another() noexcept {
        if (streak_ <= 0 || budget_ <= 1 || items_left_ <= 1) return false;
        --budget_;
        --items_left_;
        streak_ = steps_per_streak;
        backlog_.begin_step();
        return true;
    }

    /// What the running item puts off. The loop's thread only.
    [[nodiscard]] gyre::backlog& backlog() noexcept { return backlog_; }

    /// Makes `item` ready, before all else that is. The loop's thread only.
    void post_first(work& item) noexcept { ready_.push_first(item); }

    /// Makes `item` ready. Any thread.
    virtual void post(work& item) noexcept = 0;

    /// Takes back an item that was posted and has not run. The loop's thread only. Linear; for destructors.
    virtual void retract(work& item) noexcept = 0;

    /// Fires `t` at `deadline`, which may have passed. Idle or armed; re-arming to a later moment
    /// costs a store. The loop's thread only.
    virtual void arm(timer& t, time_point deadline) noexcept = 0;

    /// After this `t` will not fire. Idle timers are left alone. The loop's thread only.
    virtual void disarm(timer& t) noexcept = 0;

    /// Whether the calling thread may touch what waits on this loop: it runs the loop, or none does. For
    /// checks. Any thread.
    [[nodiscard]] bool may_touch_here() const noexcept {
        return running_here == this || !runs_elsewhere();
    }

    /// Whether the calling thread is inside of a loop, which must not be held up. For checks. Any thread.
    [[nodiscard]] static bool any_runs_here() noexcept { return running_here != nullptr; }

    void wake_for_enqueued() noexcept override {}

    /// The coroutines that nothing awaits; `launch` adds them. The loop's thread only.
    [[nodiscard]] list<root>& roots() noexcept { return roots_; }

    /// Whether `run` waits for one of them: all but those in the background. The loop's thread only.
    [[nodiscard]] bool has_awaited_roots() const noexcept { return awaited_roots_ > 0; }

protected:
    loop() noexcept = default;
    ~loop() = default;
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;

    /// Before each item that it runs.
    void begin_item() noexcept {
        streak_ = steps_per_streak;
        backlog_.begin_item();
    }

    /// Whether another thread is inside of its run.
    [[nodiscard]] virtual bool runs_elsewhere() const noexcept = 0;

    // Invariant: the loop whose run() is innermost on this thread. The second of the library's two
    // thread-locals: posting to one's own loop must not cost an atomic operation, nor a check a call.
    [[gnu::visibility("default")]] static constinit thread_local loop* running_here;

    static constexpr int units_per_turn = 256;
    static constexpr int accepts_per_turn = 128;
    static constexpr int steps_per_streak = 4;
    static constexpr std::size_t sent_per_unit = 512;  // Bytes; docs/decisions/0005-fast-paths.md.
    static constexpr std::size_t sent_per_step = 16 * 1024;
    static constexpr std::size_t received_per_step = 64 * 1024;

    work_queue ready_;
    time_point now_{};
    int budget_ = 0;        // What is left of this turn: an item or a completion is one unit.
    int accepts_left_ = 0;  // Of this turn.
    int items_left_ = 0;  // Until the loop looks at the clock, or returns; the running one counts.
    int streak_ = 0;      // Steps on the spot that the running item may still take.
    bool others_wait_ = false;  // Something will be begun, and may be over, with the next visit.

private:
    friend class root;

    [[nodiscard]] static constexpr int times(std::size_t bytes, std::size_t unit) noexcept {
        constexpr std::size_t counted_max = std::size_t{1} << 30;
        return static_cast<int>(std::min(bytes, counted_max) / unit);
    }

    gyre::backlog backlog_;
    list<root> roots_;
    std::size_t awaited_roots_ = 0;  // Of these.
};

/// Lives at least as long as every coroutine that was given a pointer to it.
struct environment {
    executor_ref executor;                ///< Where the coroutine is resumed.
    gyre::loop* loop = nullptr;           ///< Clock, timers, operations.
    stop_chain* chain = nullptr;          ///< What can stop the coroutine.
    const local_frame* locals = nullptr;  ///< What is bound to it: task_locals.hpp.
};

}  // namespace gyre
