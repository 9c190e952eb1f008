// SPDX-License-Identifier: BSL-1.0
//
// A lock for a few instructions between threads.
//
// What several loops share is touched for so short a time that falling asleep over it would cost more
// than waiting. One byte, and what resumes a coroutine never happens under it.
#pragma once

#include <gyre/base/wait_briefly.hpp>

#include <atomic>

namespace gyre {

/// A BasicLockable, for `std::lock_guard` and `std::unique_lock`. Not recursive, and not fair: it is held for
/// a moment, and queues behind it are what is fair. Gives way to a holder that has lost its processor.
///
/// Destroying it waits for the thread that is on its way out. So a thread that was told something under the
/// lock may destroy what it protects: let it be the last member, so that it is the first to go.
class spin_lock {
public:
    spin_lock() noexcept = default;
    spin_lock(const spin_lock&) = delete;
    spin_lock& operator=(const spin_lock&) = delete;
    ~spin_lock() { lock(); }

    void lock() noexcept {
        while (locked_.exchange(true, std::memory_order_acquire)) wait_until_free();
    }
    [[nodiscard]] bool try_lock() noexcept {
        return !locked_.exchange(true, std::memory_order_acquire);
    }
    void unlock() noexcept { locked_.store(false, std::memory_order_release); }

private:
    // Apart, so that taking a free lock stays small.
    [[gnu::noinline]] void wait_until_free() noexcept {
        constexpr int looks = 128;  // About as long as the holder takes if it runs.
        wait_briefly([this] { return !locked_.load(std::memory_order_relaxed); }, looks);
    }

    std::atomic<bool> locked_ = false;
};

}  // namespace gyre
