// SPDX-License-Identifier: BSL-1.0
//
// How a child process ended: the only way to look at a failed check, which ends its process.
#pragma once

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

namespace gyre::testing {

struct ending {
    std::string said;  ///< What the child wrote to its standard error.
    int signal = 0;    ///< What ended it; 0 if it came to its end.

    [[nodiscard]] bool said_that(std::string_view text) const noexcept {
        return said.find(text) != std::string::npos;
    }
};

/// Runs `body` in a child process, which makes loops and threads of its own if it needs any.
template <class Body>
[[nodiscard]] ending ending_of(const Body& body) {
    int ends[2] = {-1, -1};
    REQUIRE(::pipe(ends) == 0);
    std::fflush(nullptr);  // Or the child writes what the parent has buffered once more.
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL);  // The test runner's handler would report in our place.
        ::dup2(ends[1], STDERR_FILENO);
        ::close(ends[0]);
        body();
        ::_exit(0);
    }
    ::close(ends[1]);
    ending how;
    std::array<char, 512> space;
    for (ssize_t size = 0; (size = ::read(ends[0], space.data(), space.size())) > 0;) {
        how.said.append(space.data(), static_cast<std::size_t>(size));
    }
    ::close(ends[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) how.signal = WTERMSIG(status);
    return how;
}

}  // namespace gyre::testing
