// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/received_listeners.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

using namespace exchange;

namespace {

const gyre::endpoint somewhere{gyre::ipv4::loopback(), 7011};

}  // namespace

// With listeners it is run as a program: programs/replacement_test.cpp.

TEST_CASE("received_listeners: a program that was started alone has none") {
    ::unsetenv("LISTEN_FDS");
    inherited_listeners it;
    CHECK_FALSE(receive_listeners(it, std::array{somewhere}).has_value());
    CHECK(it.size() == 0);
}

TEST_CASE("received_listeners: an announcement that cannot be is said") {
    ::setenv("LISTEN_FDS", "some", 1);
    inherited_listeners it;
    const auto wrong = receive_listeners(it, std::array{somewhere});
    ::unsetenv("LISTEN_FDS");
    REQUIRE(wrong.has_value());
    CHECK(wrong->message().starts_with("the listeners that LISTEN_FDS announces cannot be used: "));
}

TEST_CASE("received_listeners: whether another process does the work is told once") {
    CHECK_FALSE(is_replacement());
    const std::vector<std::string> told = environment_of_replacement();
    CHECK(std::ranges::count(told, std::string{replaces_variable} + "=1") == 1);
    CHECK(std::ranges::count(told, std::string{"PATH="} + std::getenv("PATH")) == 1);
    ::setenv(replaces_variable, "1", 1);
    CHECK(is_replacement());
    CHECK_FALSE(is_replacement());
    CHECK(std::getenv(replaces_variable) == nullptr);
}
