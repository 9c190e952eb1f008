// SPDX-License-Identifier: BSL-1.0
//
// How tests see that something ends its process as `lab::fail` does, and what it says.
#pragma once

#include <lab/kit/fail.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

/// What `run` says on standard error when it fails; empty if it does not.
template <class Run>
std::string failure_of(Run run) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) std::abort();
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(pipe[1], STDERR_FILENO);
        run();
        std::_Exit(0);
    }
    ::close(pipe[1]);
    std::string said;
    std::array<char, 512> space{};
    for (ssize_t size = 1; size > 0;) {
        size = ::read(pipe[0], space.data(), space.size());
        if (size > 0) said.append(space.data(), static_cast<std::size_t>(size));
    }
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    const bool failed = WIFEXITED(status) && WEXITSTATUS(status) == lab::failed;
    return failed ? said : "";
}

template <class Run>
bool fails(Run run) {
    return !failure_of(run).empty();
}
