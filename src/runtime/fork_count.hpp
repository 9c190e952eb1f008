// SPDX-License-Identifier: BSL-1.0
//
// How a forked child is told from its parent.
#pragma once

#include <atomic>

namespace gyre {

/// Counted by a handler of fork(2), in the child.
struct fork_counter {
    static std::atomic<unsigned> forks;  // Not inline: its source registers the handler.
};

/// How many forks lie between this process and the one that began the program. What notes the number when
/// it is made knows by it whether it is used in a child. Any thread. A load.
[[nodiscard]] inline unsigned fork_count() noexcept {
    return fork_counter::forks.load(std::memory_order_relaxed);
}

}  // namespace gyre
