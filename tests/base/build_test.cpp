// SPDX-License-Identifier: BSL-1.0
//
// What gyre/base/build.hpp promises, held against what CMake was asked for (GYRE_TEST_...).
// tests/compile_fail/link_guard shows that the guard bites.
#include <gyre/base/build.hpp>

#include <doctest/doctest.h>

#include <string_view>

using namespace gyre;

TEST_CASE("each object file holds on to the symbol of its own kind of build") {
    CHECK(*exceptions_guard == 1);
}

TEST_CASE("exceptions are said to be on exactly when the build asked for them") {
    CHECK(exceptions_enabled == GYRE_TEST_EXCEPTIONS);
}

TEST_CASE("memory is recycled unless a sanitizer watches it") {
    const std::string_view flags = GYRE_TEST_SANITIZERS;
    const bool watched = flags.find("address") != flags.npos || flags.find("thread") != flags.npos;

    CHECK(recycles_memory == !watched);
}
