// SPDX-License-Identifier: BSL-1.0
//
// How threads of the library start: without the signals that come from outside, whose handlers run on
// the program's own threads, and with a failure that is a value. std::thread would throw it, also
// where exceptions are off.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace gyre {

/// The signals that are blocked on the calling thread.
[[nodiscard]] inline sigset_t signal_mask() noexcept {
    sigset_t now;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
    return now;
}

/// Blocks signals on the calling thread while it lives; what is started meanwhile inherits that. Those
/// that a thread brings on itself stay as they are: blocked, a fault ends the process without its crash
/// handler. So does SIGPROF, by which profilers find out where a thread is.
class signals_blocked {
public:
    signals_blocked() noexcept {
        sigset_t from_outside;
        ::sigfillset(&from_outside);
        for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
            ::sigdelset(&from_outside, own);
        }
        ::pthread_sigmask(SIG_BLOCK, &from_outside, &before_);
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
