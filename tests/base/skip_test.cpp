// SPDX-License-Identifier: BSL-1.0
//
// That a test which skips itself is not taken for one that has passed.
//
// The test program calls itself for that, with tests that run only when they are asked for.
#include <support/skip.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <string>

using namespace gyre::testing;

namespace {

// The exit status of this program when it runs what `filter` chooses.
int status_of(const std::string& filter) {
    const int child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const std::string chosen = "--test-case=" + filter;
        ::execl("/proc/self/exe", "base_tests", "--no-skip", "--out=/dev/null", chosen.c_str(),
                static_cast<char*>(nullptr));
        ::_exit(1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("planted: skips itself" * doctest::skip()) { skip("it was asked to"); }
TEST_CASE("planted: passes" * doctest::skip()) { CHECK(true); }
TEST_CASE("planted: fails" * doctest::skip()) { CHECK(false); }

TEST_CASE("a program whose tests all skip themselves says so by its exit status") {
    CHECK(status_of("planted: skips*") == skipped_status);
}

TEST_CASE("a test that passed or failed beside one that was skipped decides the exit status") {
    CHECK(status_of("planted: skips*,planted: passes") == 0);
    CHECK(status_of("planted: skips*,planted: fails") == 1);
    CHECK(status_of("planted: passes") == 0);
}
