// SPDX-License-Identifier: BSL-1.0
//
// What gyre/base/last_words.hpp promises. A failed check ends the process, so each one fails in a child.
#include <gyre/base/last_words.hpp>

#include <base/ending.hpp>
#include <doctest/doctest.h>
#include <gyre/base/check.hpp>

#include <csignal>
#include <cstdio>
#include <optional>

using namespace gyre;
using namespace gyre::testing;

namespace {

void say(void* text) noexcept { std::fputs(static_cast<const char*>(text), stderr); }

void fail(void*) noexcept { expects(false, "of the last words"); }

void* words(const char* text) { return const_cast<char*>(text); }

}  // namespace

TEST_CASE("a failed check says the last words of all that live, behind its hook") {
    const ending how = ending_of([] {
        set_check_hook([](const check_failure&) noexcept { std::fputs("hook\n", stderr); });
        const last_words first{&say, words("first\n")};
        std::optional<last_words> gone{std::in_place, &say, words("gone\n")};
        const last_words third{&say, words("third\n")};
        gone.reset();
        expects(false, "broken");
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said.ends_with("hook\nthird\nfirst\n"));
}

TEST_CASE("last words that fail a check are the last") {
    const ending how = ending_of([] {
        const last_words first{&say, words("unsaid\n")};
        const last_words second{&fail, nullptr};
        expects(false, "broken");
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("failed precondition: broken"));
    CHECK(how.said_that("failed precondition: of the last words"));
    CHECK_FALSE(how.said_that("unsaid"));
}
