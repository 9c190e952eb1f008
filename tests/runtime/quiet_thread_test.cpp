// SPDX-License-Identifier: BSL-1.0
//
// No thread of the library ever runs a program's signal handler.
#include <runtime/quiet_thread.hpp>

#include <gyre/runtime/io_pool.hpp>

#include <doctest/doctest.h>

#include <atomic>

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
