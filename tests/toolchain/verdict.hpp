// SPDX-License-Identifier: BSL-1.0
//
// Whether a compiler gets a small program right, and whether that is news.
//
// docs/STYLE.md lists what g++ 12 miscompiles in coroutines. The tests here run one program per line
// of that list and compare with what is on record, so that we hear of it when a compiler changes, for
// better or worse. Programs run in a child process: being wrong may mean to crash.
#pragma once

#include <gyre/coro/launch.hpp>
#include <gyre/coro/task.hpp>

#include <coro/manual_loop.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace gyre::testing {

enum class verdict { right, wrong };

/// What is on record for the compilers that we build with.
struct record {
    verdict clang_19;
    verdict gcc_12;
};

inline constexpr bool is_gcc_12 = __GNUC__ == 12;  // clang says 4 here.
inline constexpr bool is_clang = __GNUC__ == 4;

/// Runs `program`, which returns whether everything went as the language says, in a child.
template <class Program>
[[nodiscard]] verdict judge(const Program& program) {
    std::fflush(nullptr);  // Or the child writes what the parent has buffered once more.
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        for (const int fatal : {SIGABRT, SIGSEGV, SIGILL, SIGBUS, SIGFPE})
            std::signal(fatal, SIG_DFL);
        ::alarm(60);                                           // Wrong may also mean endless.
        ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);  // A sanitizer's report is expected.
        ::_exit(program() ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? verdict::right : verdict::wrong;
}

/// Fails if the compiler's verdict is not the one on record. Of other compilers nothing is on
/// record; theirs is only told.
template <class Program>
void compare_with_record(const record& expected, const Program& program) {
    const verdict found = judge(program);
    INFO("compiler ", __VERSION__);
    if (is_gcc_12) {
        CHECK((found == expected.gcc_12));
    } else if (is_clang) {
        CHECK((found == expected.clang_19));
    } else {
        MESSAGE((found == verdict::right ? "right" : "wrong"));
    }
}

/// Runs a task to its end on a loop of its own.
inline void run_task(task<> it) {
    manual_loop loop;
    launch(loop, std::move(it), or_terminate{});
    loop.run();
}

/// Awaits nothing and yields `value`.
template <class Value>
class ready {
public:
    explicit ready(Value value) noexcept : value_{std::move(value)} {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<>, const environment*) noexcept {
        return false;
    }
    [[nodiscard]] Value await_resume() noexcept { return std::move(value_); }

private:
    Value value_;
};

}  // namespace gyre::testing
