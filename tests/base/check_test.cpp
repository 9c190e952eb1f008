// SPDX-License-Identifier: BSL-1.0
//
// What gyre/base/check.hpp promises. A failed check ends the process, so each one fails in a child.
#include <gyre/base/check.hpp>

#include <base/ending.hpp>
#include <doctest/doctest.h>

#include <csignal>
#include <cstdio>

using namespace gyre;
using namespace gyre::testing;

namespace {

void say_in_hook(const check_failure& failure) noexcept {
    std::fprintf(stderr, "hook: %s: %s\n", failure.kind, failure.text);
}

void fail_in_hook(const check_failure&) noexcept {
    std::fputs("hook runs\n", stderr);
    expects(false, "a second failure");
}

}  // namespace

TEST_CASE("a check that holds does nothing") {
    const ending how = ending_of([] {
        expects(true, "a");
        ensures(true, "b");
        audit([] { return true; }, "c");
    });

    CHECK(how.signal == 0);
    CHECK(how.said.empty());
}

TEST_CASE("a failed precondition says what and where, and aborts") {
    const ending how = ending_of([] { expects(false, "the caller owes a queue"); });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("failed precondition: the caller owes a queue"));
    CHECK(how.said_that("check_test.cpp:"));
}

TEST_CASE("a failed postcondition is called by its name") {
    const ending how = ending_of([] { ensures(false, "sorted"); });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("failed postcondition: sorted"));
}

TEST_CASE("a failed check runs the installed hook before the process ends") {
    const ending how = ending_of([] {
        set_check_hook(&say_in_hook);
        expects(false, "broken");
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("hook: precondition: broken"));
}

TEST_CASE("a check that fails inside the hook does not run the hook again") {
    const ending how = ending_of([] {
        set_check_hook(&fail_in_hook);
        expects(false, "the first failure");
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("the first failure"));
    CHECK(how.said_that("a second failure"));
    CHECK(how.said.find("hook runs") == how.said.rfind("hook runs"));
}

TEST_CASE("installing a hook returns the one before, and null takes it out") {
    const check_hook first = set_check_hook(&say_in_hook);
    const check_hook second = set_check_hook(nullptr);
    const check_hook third = set_check_hook(first);

    CHECK((second == &say_in_hook));
    CHECK((third == nullptr));
}

TEST_CASE("an audit asks its question in debug builds only") {
    int asked = 0;

    audit([&] { return ++asked > 0; });

    CHECK(asked == (audits_run ? 1 : 0));
}

TEST_CASE("an audit that fails in a debug build aborts") {
    const ending how = ending_of([] { audit([] { return false; }, "sizes agree"); });

    CHECK(how.signal == (audits_run ? SIGABRT : 0));
    CHECK(how.said_that("failed audit: sizes agree") == audits_run);
}
