// SPDX-License-Identifier: BSL-1.0
//
// An executor has to say whose timers and operations its coroutines use.
//
// must not compile: home
#include <gyre/coro/launch.hpp>

struct homeless {
    void post(gyre::work&) noexcept {}
};

void start(homeless& where, gyre::task<> it) {
    gyre::launch(where, std::move(it), gyre::or_terminate{});
}
