// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/lifeline.hpp>

#include <doctest/doctest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace exchange;

namespace {

// A child that follows what `announce` says, and would end with 7 by itself when `leave` is closed.
struct child {
    int id = -1;
    int lifeline = -1;
    int leave = -1;
};

child start(const char* said) {
    std::array<int, 2> lifeline{};
    std::array<int, 2> leave{};
    REQUIRE(::pipe2(lifeline.data(), O_NONBLOCK) == 0);  // As gyre makes them.
    REQUIRE(::pipe(leave.data()) == 0);
    const int id = ::fork();
    REQUIRE(id >= 0);
    if (id == 0) {
        std::signal(SIGTERM, SIG_DFL);  // The test program's own handler would tell of a failure.
        ::close(lifeline[1]);
        ::close(leave[1]);
        const std::string text = said != nullptr ? said : std::to_string(lifeline[0]);
        ::setenv(lifeline_variable, text.c_str(), 1);
        follow_lifeline();
        if (std::getenv(lifeline_variable) != nullptr) ::_exit(8);
        char byte = 0;
        while (::read(leave[0], &byte, 1) < 0) {
        }
        ::_exit(7);
    }
    ::close(lifeline[0]);
    ::close(leave[0]);
    return {id, lifeline[1], leave[1]};
}

int status_of(const child& it) {
    int status = 0;
    REQUIRE(::waitpid(it.id, &status, 0) == it.id);
    return status;
}

}  // namespace

TEST_CASE("lifeline: a process is asked to end when the pipe that it was started with ends") {
    const child it = start(nullptr);
    ::close(it.lifeline);
    const int status = status_of(it);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGTERM);
    ::close(it.leave);
}

TEST_CASE("lifeline: as long as the pipe is there, nothing happens, nor where there is none") {
    for (const char* const said : {static_cast<const char*>(nullptr), "", "x", "3x", "9999"}) {
        const child it = start(said);
        ::close(it.leave);
        const int status = status_of(it);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 7);
        ::close(it.lifeline);
    }
}
