// SPDX-License-Identifier: BSL-1.0
//
// No thread of the library ever runs a program's signal handler.
#include <runtime/started_thread.hpp>

#include <gyre/runtime/io_pool.hpp>
#include <support/thread_stacks.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>

#include <signal.h>

namespace {

bool blocked_here(int signal) {
    sigset_t now;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
    return ::sigismember(&now, signal) == 1;
}

}  // namespace

TEST_CASE("signals are blocked while the guard lives, and as before afterwards") {
    REQUIRE_FALSE(blocked_here(SIGUSR1));
    {
        const gyre::signals_blocked quiet;
        CHECK(blocked_here(SIGUSR1));
        CHECK(blocked_here(SIGTERM));
    }
    CHECK_FALSE(blocked_here(SIGUSR1));
}

TEST_CASE("threads of a pool have signals blocked, and the thread that made it has not") {
    std::atomic<bool> there = false;
    {
        gyre::io_pool pool;
        pool.post([&there] { there = blocked_here(SIGTERM); });
        pool.wait();
    }

    CHECK(there);
    CHECK_FALSE(blocked_here(SIGTERM));
}

TEST_CASE("a thread that cannot be started is an error, and leaves signals as they were") {
    const auto body = [](void* count) -> void* {
        ++*static_cast<std::atomic<int>*>(count);
        return nullptr;
    };
    std::atomic<int> ran = 0;
    int failed = 0;
    {
        const gyre::testing::thread_stacks none{gyre::testing::thread_stacks::impossible};
        failed = gyre::start_with_signals_blocked(body, &ran).failed;
    }
    const gyre::started_thread made = gyre::start_with_signals_blocked(body, &ran);
    REQUIRE(made.failed == 0);
    ::pthread_join(made.thread, nullptr);

    CHECK(failed == EAGAIN);
    CHECK(ran == 1);
    CHECK_FALSE(blocked_here(SIGUSR1));
}
