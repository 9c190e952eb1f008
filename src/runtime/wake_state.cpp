// SPDX-License-Identifier: BSL-1.0
//
// Waking a loop: see wake_state.hpp.
#include <runtime/wake_state.hpp>

#include <gyre/runtime/loop_backend.hpp>

#include <gyre/base/wait_briefly.hpp>

namespace gyre {

bool wake_state::begin_visit(unsigned forks) noexcept {
    constexpr int looks = 128;  // About as long as a visit takes.
    const unsigned own = forks + 1;
    bool begun = false;
    const auto over = [&] {
        unsigned by = 0;
        begun = visited_by_.compare_exchange_strong(by, own, std::memory_order_acquire,
                                                    std::memory_order_relaxed);
        return begun || by != own;
    };
    wait_briefly(over, looks);
    return begun;
}

bool wake_state::visited_by_parent(unsigned forks) const noexcept {
    const unsigned by = visited_by_.load(std::memory_order_relaxed);
    return by != 0 && by != forks + 1;
}

void wake_state::wait_for_threads() noexcept {
    take_inbox([](work&) noexcept {});
    take_cancels([](operation&) noexcept {});
    wait_briefly([this] {
        return firsts_gone_.load(std::memory_order_acquire) == batches_taken_ && !expects_posts() &&
               visitors_.load(std::memory_order_acquire) == 0 &&
               visited_by_.load(std::memory_order_acquire) == 0;
    });
}

void wake_state::forget_threads() noexcept {
    ++life_;
    visitors_ = hook_callers_ = 0;
    expected_ = expected_from_outside_ = 0;
    batches_taken_ = 0;
    firsts_gone_ = std::uint64_t{!inbox_empty()} + std::uint64_t{!no_cancels()};
}

void wake_state::wake_as_first() noexcept {
    wake_if_asleep();
    firsts_gone_.fetch_add(1, std::memory_order_release);
}

void wake_state::stop() noexcept {
    visitors_.fetch_add(1, std::memory_order_relaxed);
    stopped_.store(true, std::memory_order_seq_cst);
    wake_if_asleep();
    visitors_.fetch_sub(1, std::memory_order_release);
}

void wake_state::release_guard() noexcept {
    visitors_.fetch_add(1, std::memory_order_relaxed);
    if (guards_.fetch_sub(1, std::memory_order_seq_cst) == 1) wake_if_asleep();
    visitors_.fetch_sub(1, std::memory_order_release);
}

// After the last one a loop that ends, or whose pool does, has nothing left to wait for.
void wake_state::posted_as_expected(expected_post it) noexcept {
    if (it.life != life_) return;
    visitors_.fetch_add(1, std::memory_order_relaxed);
    const bool last_outside =
        it.outside && expected_from_outside_.fetch_sub(1, std::memory_order_seq_cst) == 1;
    const bool last = expected_.fetch_sub(1, std::memory_order_seq_cst) == 1;
    if (last || last_outside) wake_if_asleep();
    visitors_.fetch_sub(1, std::memory_order_release);
}

void wake_state::wake() noexcept {
    if (!asleep_.exchange(false, std::memory_order_seq_cst)) return;
    wakeups_.fetch_add(1, std::memory_order_relaxed);
    if (!call_hook()) backend().wake();
}

// Either the caller finds the hook gone, or the thread that takes it away finds the caller: both say
// first what they are about to do, and then look, in one order that all threads agree on.
bool wake_state::call_hook() noexcept {
    if (hook_.load(std::memory_order_relaxed) == nullptr) return false;
    hook_callers_.fetch_add(1, std::memory_order_seq_cst);
    wake_hook* const hook = hook_.load(std::memory_order_seq_cst);
    const bool calls = hook != nullptr && !entered();
    if (calls) hook->wake(*hook);
    hook_callers_.fetch_sub(1, std::memory_order_release);
    return calls;
}

void wake_state::set_hook(wake_hook* hook) noexcept {
    hook_.store(hook, std::memory_order_seq_cst);
    // A matter of instructions: what a hook may do is to pass the message on.
    wait_briefly([this] { return hook_callers_.load(std::memory_order_seq_cst) == 0; });
}

}  // namespace gyre
