// SPDX-License-Identifier: BSL-1.0
//
// A join waits for all children whatever is stopped, so a limit around it would end nothing.
//
// must not compile: join_unless_stopped
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>

#include <chrono>

gyre::task<> wait_a_while(gyre::task_group& group) {
    const auto joined = co_await gyre::with_timeout(std::chrono::seconds{1}, group.join());
    static_cast<void>(joined);
}
