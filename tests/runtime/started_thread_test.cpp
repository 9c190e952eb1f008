// SPDX-License-Identifier: BSL-1.0
//
// Signals that come from outside leave the library's threads alone; those that a thread's own fault
// raises are handled on it.
#include <runtime/started_thread.hpp>

#include <gyre/runtime/io_pool.hpp>
#include <support/child.hpp>
#include <support/thread_stacks.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

bool blocked_here(int signal) {
    sigset_t now;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
    return ::sigismember(&now, signal) == 1;
}

void crash() {
    void* const unreadable = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *static_cast<volatile char*>(unreadable) = 1;
}

constexpr int crash_reported = 42;

}  // namespace

TEST_CASE("signals are blocked while the guard lives, and as before afterwards") {
    REQUIRE_FALSE(blocked_here(SIGUSR1));
    {
        const gyre::signals_blocked quiet;
        CHECK(blocked_here(SIGUSR1));
        CHECK(blocked_here(SIGTERM));
        CHECK_FALSE(blocked_here(SIGSEGV));
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

TEST_CASE("what a fault raises, and what profilers send, is not blocked on a pool's threads") {
    std::atomic<int> blocked = 0;
    {
        gyre::io_pool pool;
        pool.post([&blocked] {
            for (const int each :
                 {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
                blocked += blocked_here(each) ? 1 : 0;
            }
        });
        pool.wait();
    }

    CHECK(blocked.load() == 0);
}

TEST_CASE("a program's crash handler runs for a fault on a thread of a pool") {
    const int id = gyre::testing::start_child([] {
        struct sigaction action{};
        action.sa_handler = [](int) { ::_exit(crash_reported); };
        ::sigaction(SIGSEGV, &action, nullptr);
        gyre::io_pool pool;
        pool.post([] { crash(); });
        pool.wait();
        return 0;
    });

    CHECK(gyre::testing::wait_for_child(id) == crash_reported);
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
