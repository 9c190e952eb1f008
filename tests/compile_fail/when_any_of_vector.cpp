// SPDX-License-Identifier: BSL-1.0
//
// There is `when_all` of a vector, but no `when_any`.
//
// must not compile: spawn each into a group
#include <gyre/coro/task.hpp>
#include <gyre/sync/when_any.hpp>

#include <vector>

gyre::task<> wait_for_first(std::vector<gyre::task<int>> each) {
    const auto first = co_await gyre::when_any(std::move(each));
    static_cast<void>(first.winner);
}
