// SPDX-License-Identifier: BSL-1.0
//
// What lab/kit/descriptor_limit.hpp promises.
#include <lab/kit/descriptor_limit.hpp>

#include <doctest/doctest.h>

TEST_CASE("a process that may have more descriptors than it has gets them, and keeps its maximum") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit few = before;
    few.rlim_cur = 64;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);

    lab::raise_descriptor_limit();

    rlimit after{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &after) == 0);
    CHECK(after.rlim_cur == before.rlim_max);
    CHECK(after.rlim_max == before.rlim_max);
}
