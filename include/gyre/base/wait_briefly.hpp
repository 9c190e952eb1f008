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
template <class Condition>
void wait_briefly(Condition&& over) noexcept {
    constexpr int yields = 64;
    constexpr std::chrono::microseconds moment{50};
    for (int tries = 0; !over(); ++tries) {
        if (tries < yields) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(moment);
        }
    }
}

}  // namespace gyre
