// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/lifeline.hpp>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

namespace exchange {
namespace {

[[nodiscard]] int announced() {
    const char* const text = std::getenv(lifeline_variable);
    if (text == nullptr) return -1;
    int number = -1;
    const char* const end = text + std::strlen(text);
    const auto [rest, failed] = std::from_chars(text, end, number);
    const bool understood = failed == std::errc{} && rest == end;
    ::unsetenv(lifeline_variable);
    return understood ? number : -1;
}

// Nothing is ever written to it, and whether reading waits is its other end's matter.
void wait_for_end(int pipe) {
    pollfd waits{pipe, 0, 0};
    while (::poll(&waits, 1, -1) < 0 && errno == EINTR) {
    }
    ::kill(::getpid(), SIGTERM);
}

}  // namespace

bool follow_lifeline() {
    const int pipe = announced();
    if (pipe < 0 || ::fcntl(pipe, F_SETFD, FD_CLOEXEC) != 0) return false;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // Signals are the other thread's.
    std::thread{[pipe] { wait_for_end(pipe); }}.detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return true;
}

}  // namespace exchange
