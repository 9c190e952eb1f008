// SPDX-License-Identifier: BSL-1.0
//
// Threads of the library start with every signal blocked: handlers run on the program's own threads.
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

}  // namespace gyre
