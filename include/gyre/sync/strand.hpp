// SPDX-License-Identifier: BSL-1.0
//
// An executor that runs one thing at a time, in order, wherever it runs.
//
// On one io_context everything already runs one at a time; a strand adds the order among its own,
// and the right to be posted to from any thread. Coroutines get onto one with `on(strand, task)`.
#pragma once

#include <gyre/coro/branch.hpp>
#include <gyre/coro/executor.hpp>
#include <gyre/coro/resumption.hpp>
#include <gyre/coro/task_function.hpp>

#include <atomic>
#include <utility>

namespace gyre {

/// Runs on the executor below it. Posting is safe from any thread. Must outlive what is posted, of which the
/// last may destroy it.
class strand : private work {
public:
    template <executor Executor>
    explicit strand(Executor& below) noexcept
        : work{&run_some}, below_{below}, home_{below.home()} {}
    strand(const strand&) = delete;
    strand& operator=(const strand&) = delete;
    ~strand() {
        if (destroyed_ != nullptr) {
            *destroyed_ = true;
        } else if (inbox_.load(std::memory_order_relaxed) != nullptr) {
            below_.retract(*this);
        }
    }

    /// Queues `item` behind everything posted before. Cost: one atomic exchange, and a post below for
    /// the first of a burst.
    void post(work& item) noexcept;

    /// The same in two halves; see `executor`.
    [[nodiscard]] sleeper* enqueue(work& item) noexcept;

    /// Takes back what was posted and has not run; on the loop's thread. Linear.
    void retract(work& item) noexcept;

    [[nodiscard]] loop& home() noexcept { return home_; }

private:
    static constexpr int items_per_turn = 64;  // Then others on the executor below have their turn.

    static void run_some(work& item) noexcept;
    [[nodiscard]] bool push(work& item) noexcept;
    void take_inbox() noexcept;

    executor_ref below_;
    loop& home_;
    work_queue ready_;
    bool* destroyed_ = nullptr;           // While it runs: where it is to say so.
    std::atomic<work*> inbox_ = nullptr;  // Newest first; null while nothing is posted below.
    // Ends the list while the strand runs: see post.
    [[gnu::visibility("default")]] static work busy;
};

/// Runs a task on another executor of the same loop; made by `on`.
template <class Result>
class [[nodiscard]] task_on final : private branch_base, private work, public stop_target {
public:
    task_on(executor_ref where, loop& home, task<Result> it) noexcept
        : branch_base{[](callback_frame* frame) {
              static_cast<task_on*>(static_cast<branch_base*>(frame))->come_back();
          }},
          work{[](work& item) noexcept { static_cast<task_on&>(item).begin_there(); }},
          where_{where},
          home_{home},
          it_{std::move(it)} {}
    task_on(task_on&& other) noexcept : task_on{other.where_, other.home_, std::move(other.it_)} {}
    ~task_on() {
        if (!chain.linked()) return;
        // The frame is destroyed while the task is on its way or runs.
        if (!begun_) where_.retract(*this);
        back_.env().chain->leave();
        chain.unlink();
    }

    void request(stop_level level) noexcept override { chain.request(level); }
    [[nodiscard]] const char* waiting_for() const noexcept override { return "another executor"; }
    [[nodiscard]] list<stop_chain>* branches() noexcept override { return &branches_; }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter, const environment* given) noexcept {
        expects(given->loop == &home_, "an executor of the same loop");
        back_.begin(waiter, *given);
        environment there = *given;
        there.executor = where_;
        open(there, given->chain->level());
        branches_.push_back(chain);
        given->chain->enter(*this);
        where_.post(*this);
    }
    Result await_resume() { return it_.await_resume(); }

private:
    void begin_there() noexcept {
        begun_ = true;
        std::coroutine_handle<> first;
        static_cast<void>(begin(it_, first));
        gyre::resume(first);
    }
    void come_back() noexcept {
        back_.env().chain->leave();
        chain.unlink();
        back_.post();
    }

    executor_ref where_;
    loop& home_;
    task<Result> it_;
    list<stop_chain> branches_;
    resumption back_;
    bool begun_ = false;
};

/// Awaits `it`, run on `where`; the caller resumes on its own executor.
///
/// @param  where  Borrowed; an executor of the caller's loop, such as a strand.
///
/// Errors, Cancellation: those of `it`. Threads: `it` on `where`. Cost: two posts.
template <executor Executor, class Result>
[[nodiscard]] task_on<Result> on(Executor& where, task<Result> it) noexcept {
    return {executor_ref{where}, where.home(), std::move(it)};
}

}  // namespace gyre
