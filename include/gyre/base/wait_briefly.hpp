// SPDX-License-Identifier: BSL-1.0
//
// Waiting for another thread that is about to be done.
#pragma once

#include <chrono>
#include <thread>

namespace gyre {

/// Returns when `over()` is true, which another thread is to bring about within a few instructions.
///
/// Gives way at first. Where that does not help, since the other thread has a lower real-time priority and
/// shares this one's processor, it sleeps for a moment at a time.
///
/// @param  looks  How often to look before: about as long as the other thread takes if it runs.
template <class Condition>
void wait_briefly(Condition&& over, int looks = 0) noexcept {
    constexpr int yields = 64;
    constexpr std::chrono::microseconds moment{50};
    // Tells the processor that this loop waits, where there is a word for it.
    constexpr auto pause = [] {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    };
    for (int look = 0; look < looks; ++look) {
        if (over()) return;
        pause();
    }
    for (int tries = 0; !over(); ++tries) {
        if (tries < yields) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(moment);
        }
    }
}

}  // namespace gyre
