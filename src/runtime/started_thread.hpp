// SPDX-License-Identifier: BSL-1.0
//
// How threads of the library start: with every signal blocked, since handlers run on the program's
// own threads, and with a failure that is a value. std::thread would throw it, also where
// exceptions are off.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace gyre {

/// Blocks signals on the calling thread while it lives; what is started meanwhile inherits that.
class signals_blocked {
public:
    signals_blocked() noexcept {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;
    ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

/// What became of starting a thread.
struct started_thread {
    int failed = 0;      // 0, or what pthread_create(3) says.
    pthread_t thread{};  // To be joined, unless it failed.
};

/// Starts a thread that runs `body(argument)`.
[[nodiscard]] inline started_thread start_with_signals_blocked(void* (*body)(void*),
                                                               void* argument) noexcept {
    const signals_blocked blocked;
    started_thread made;
    made.failed = ::pthread_create(&made.thread, nullptr, body, argument);
    return made;
}

}  // namespace gyre
