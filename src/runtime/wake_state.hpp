// SPDX-License-Identifier: BSL-1.0
//
// What other threads touch of a loop: how they give it something to do, and how they wake it.
//
// Sleeping and being woken follow Dekker: the loop says that it sleeps and then looks into the inbox, a
// poster fills the inbox and then looks whether the loop sleeps, so one of them sees the other. A thread
// may still be on its way out when what it posted has run and the loop is destroyed: the loop's destructor
// waits for these threads, a matter of instructions.
#pragma once

#include <gyre/base/mpsc_stack.hpp>
#include <gyre/coro/work.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/operation.hpp>

#include <atomic>
#include <cstdint>

namespace gyre {

/// The text of the check that fails in a child where io_context's `held_by_parent` or `begin_visit` says so.
inline constexpr const char* left_by_parent =
    "in a forked child, a loop that another thread was inside of is only destroyed";

class wake_state {
public:
    wake_state() noexcept = default;
    wake_state(const wake_state&) = delete;
    wake_state& operator=(const wake_state&) = delete;
    // Any thread.

    /// Adds `item` to the inbox. Of the posters between two takings one wakes the loop, and only that one
    /// touches anything here after its item may have run.
    void post(work& item) noexcept {
        if (inbox_.push(item)) wake_as_first();
    }

    /// The same in two halves. True if the caller is to call `wake_as_first`, until when this lives.
    [[nodiscard]] bool push(work& item) noexcept { return inbox_.push(item); }
    void wake_as_first() noexcept;

    /// The same for a message that asks for the end of `op`.
    void post_cancel(operation& op) noexcept {
        if (cancels_.push(op)) wake_as_first();
    }

    /// Ends a sleep, or makes the loop's poller poll.
    void wake_if_asleep() noexcept {
        if (asleep_.load(std::memory_order_seq_cst)) wake();
    }

    /// Makes `run` return. The loop may be destroyed by the thread that sees that.
    void stop() noexcept;
    void restart() noexcept { stopped_.store(false, std::memory_order_release); }
    [[nodiscard]] bool stopped() const noexcept { return stopped_.load(std::memory_order_seq_cst); }

    void add_guard() noexcept { guards_.fetch_add(1, std::memory_order_relaxed); }
    void release_guard() noexcept;
    [[nodiscard]] bool guarded() const noexcept {
        return guards_.load(std::memory_order_seq_cst) > 0;
    }

    /// See io_context::expect_post.
    [[nodiscard]] expected_post expect_post(bool outside) noexcept {
        if (outside) expected_from_outside_.fetch_add(1, std::memory_order_relaxed);
        expected_.fetch_add(1, std::memory_order_relaxed);
        return {.life = life_, .outside = outside};
    }
    void posted_as_expected(expected_post it) noexcept;
    [[nodiscard]] bool expects_posts() const noexcept {
        return expected_.load(std::memory_order_seq_cst) > 0;
    }
    [[nodiscard]] bool expects_posts_from_outside() const noexcept {
        return expected_from_outside_.load(std::memory_order_seq_cst) > 0;
    }

    [[nodiscard]] bool nothing_posted() const noexcept { return inbox_.empty() && no_cancels(); }
    [[nodiscard]] bool inbox_empty() const noexcept { return inbox_.empty(); }
    [[nodiscard]] bool no_cancels() const noexcept { return cancels_.empty(); }
    [[nodiscard]] bool asleep() const noexcept { return asleep_.load(std::memory_order_relaxed); }

    /// Whether a thread is inside of the loop.
    [[nodiscard]] bool entered() const noexcept { return entered_.load(std::memory_order_acquire); }

    // Any thread, while none is inside.

    /// Begins a visit, in which the thread acts in the loop's name. One visits at a time, the others wait.
    /// @param  forks  The process's fork_count.
    /// @return  False in a forked child, if a thread of the parent's was visiting: that never ends there.
    [[nodiscard]] bool begin_visit(unsigned forks) noexcept;
    void end_visit() noexcept { visited_by_.store(0, std::memory_order_release); }

    /// True in a forked child, if a thread of the parent's was visiting.
    [[nodiscard]] bool visited_by_parent(unsigned forks) const noexcept;

    /// The backend that a sleep ends by.
    [[nodiscard]] loop_backend& backend() const noexcept {
        return *backend_.load(std::memory_order_acquire);
    }
    [[nodiscard]] std::uint64_t wakeups() const noexcept {
        return wakeups_.load(std::memory_order_relaxed);
    }

    // The loop's own thread.

    /// Enters the loop; false if another thread, or this one, is inside already.
    [[nodiscard]] bool enter() noexcept {
        return !entered_.exchange(true, std::memory_order_acquire);
    }
    void leave() noexcept {
        // In this order: a poster that finds the loop asleep sees it left as well.
        entered_.store(false, std::memory_order_release);
        fall_asleep();
    }

    void fall_asleep() noexcept { asleep_.store(true, std::memory_order_seq_cst); }
    void wake_up() noexcept { asleep_.store(false, std::memory_order_relaxed); }

    /// Hands what was posted to `visit(work&)`, oldest first.
    template <class Visitor>
    void take_inbox(Visitor&& visit) noexcept {
        if (inbox_.take_all(visit)) ++batches_taken_;
    }

    /// The same for the messages, to `visit(operation&)`.
    template <class Visitor>
    void take_cancels(Visitor&& visit) noexcept {
        if (cancels_.take_all(visit)) ++batches_taken_;
    }

    void set_backend(loop_backend& it) noexcept { backend_.store(&it, std::memory_order_release); }

    /// Returns when no thread is inside of a call any more, nor will be: the loop ends. What was posted all
    /// the same is forgotten.
    void wait_for_threads() noexcept;

    /// In a forked child: the parent's other threads are not there, and never leave.
    void forget_threads() noexcept;

    /// See io_context::set_wake_hook.
    void set_hook(wake_hook* hook) noexcept;

private:
    void wake() noexcept;
    [[nodiscard]] bool call_hook() noexcept;

    mpsc_stack<work, &work::next> inbox_;
    mpsc_stack<operation, &operation::cancel_next> cancels_;
    std::atomic<loop_backend*> backend_ = nullptr;
    std::atomic<wake_hook*> hook_ = nullptr;
    std::atomic<int> hook_callers_ = 0;  // Threads that may be inside of it.
    std::atomic<int> visitors_ = 0;      // Threads that may be waking it without a post.
    std::atomic<bool> asleep_ = true;    // True while no thread looks into the inbox.
    std::atomic<bool> entered_ = false;  // A thread is inside `run` or `poll`.
    std::atomic<bool> stopped_ = false;
    std::atomic<unsigned> visited_by_ = 0;  // The visitor's fork_count and 1; 0: none visits.
    std::atomic<int> guards_ = 0;
    std::atomic<int> expected_ = 0;
    std::atomic<int> expected_from_outside_ = 0;  // Of these.
    std::atomic<std::uint64_t> wakeups_ = 0;

    // Each batch was begun by one poster, which found nothing, and counts when it touches this no more.
    std::atomic<std::uint64_t> firsts_gone_ = 0;
    std::uint64_t batches_taken_ = 0;
    unsigned life_ = 1;  // Changes in a forked child, while it has one thread.
};

}  // namespace gyre
