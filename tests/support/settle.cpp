// SPDX-License-Identifier: BSL-1.0
//
// See settle.hpp.
#include <support/settle.hpp>

#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

#include <poll.h>

#include <chrono>
#include <cstdint>

namespace gyre::testing {

task<> settle() {
    // The first hands the kernel what was begun, the second takes what it answered, and in the third nothing
    // has come of that.
    constexpr int quiet_turns = 3;
    // Two that settle at the same time keep each other from being alone.
    constexpr std::uint64_t turns_max = 16;
    const io_context& io = *io_context::current();
    const std::uint64_t first = io.counters().turns;
    std::uint64_t turn = first;
    int quiet = 0;
    while (quiet < quiet_turns && turn < first + turns_max) {
        co_await yield();
        const std::uint64_t now = io.counters().turns;
        if (io.busy()) {
            quiet = 0;
        } else if (now != turn) {
            ++quiet;
        }
        turn = now;
    }
}

bool eventually(const std::function<bool()>& happened) {
    const time_point until = std::chrono::steady_clock::now() + patience;
    while (!happened()) {
        if (std::chrono::steady_clock::now() >= until) return false;
        ::poll(nullptr, 0, 1);
    }
    return true;
}

}  // namespace gyre::testing
