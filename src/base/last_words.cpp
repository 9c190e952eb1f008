// SPDX-License-Identifier: BSL-1.0
//
// The list of last words: see include/gyre/base/last_words.hpp.
#include <gyre/base/last_words.hpp>

#include <gyre/base/spin_lock.hpp>
#include <gyre/base/wait_briefly.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

namespace gyre {
namespace {

// Used by objects that may end after main.
spin_lock& words_lock() noexcept {
    static auto* const it = new spin_lock;
    return *it;
}

last_words* all_words = nullptr;   // Under that lock.
thread_local bool speaks = false;  // True while this thread holds that lock and may fork.

}  // namespace

bool last_words::speaks_here() noexcept { return speaks; }

void last_words::lock_all() noexcept {
    if (!speaks) words_lock().lock();
}

void last_words::unlock_all() noexcept {
    if (!speaks) words_lock().unlock();
}

last_words::last_words(void (*speak)(void*) noexcept, void* argument) noexcept
    : speak_{speak}, argument_{argument} {
    const std::lock_guard hold{words_lock()};
    next_ = std::exchange(all_words, this);
    before_ = &all_words;
    if (next_ != nullptr) next_->before_ = &next_;
}

last_words::~last_words() {
    const std::lock_guard hold{words_lock()};
    *before_ = next_;
    if (next_ != nullptr) next_->before_ = before_;
}

void last_words::say() noexcept {
    // A check that fails in here, or in another thread by now, has nothing to add.
    static std::atomic<bool> said = false;
    if (said.exchange(true, std::memory_order_relaxed)) return;
    // None of them ends meanwhile. A thread that forks has it, and may wait for a lock that this one holds.
    bool held = false;
    const auto patience_ends = std::chrono::steady_clock::now() + std::chrono::seconds{1};
    wait_briefly([&held, patience_ends] {
        held = words_lock().try_lock();
        return held || std::chrono::steady_clock::now() > patience_ends;
    });
    if (!held) return;
    const std::lock_guard hold{words_lock(), std::adopt_lock};
    speaks = true;
    for (const last_words* each = all_words; each != nullptr; each = each->next_)
        each->speak_(each->argument_);
    speaks = false;
}

}  // namespace gyre
