// SPDX-License-Identifier: BSL-1.0
//
// What exchange/management/descriptor_limit.hpp promises: as many descriptors as connections need.
#include <exchange/management/descriptor_limit.hpp>

#include <doctest/doctest.h>

#include <sys/resource.h>

using namespace exchange;

TEST_CASE("each connection needs a descriptor, and the facility some beside them") {
    config it;
    it.facility.connections_max = 100;
    const std::uint64_t few = descriptors_needed(it);
    CHECK(few > 100);
    it.facility.connections_max = 1'100;
    CHECK(descriptors_needed(it) == few + 1'000);
    it.facility.websocket = {gyre::ipv4::loopback(), 7004};  // As many come there.
    CHECK(descriptors_needed(it) == few + 2'100);
    it.facility.gateways.at = gyre::endpoint{gyre::ipv4::loopback(), 0};
    it.facility.gateways.links_max = 5;
    CHECK(descriptors_needed(it) == few + 2'105);
}

TEST_CASE("a gateway needs a descriptor for each client at each door, and some beside them") {
    gateway_config it;
    it.gateway.clients.connections_max = 100;
    const std::uint64_t few = descriptors_needed(it);
    CHECK(few > 100);
    it.gateway.clients.websocket = {gyre::ipv4::loopback(), 7014};
    CHECK(descriptors_needed(it) == few + 100);
}

TEST_CASE(
    "the limit is raised as far as needed and never lowered, and what cannot be had is told") {
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    const auto limit = [] {
        rlimit now{};
        getrlimit(RLIMIT_NOFILE, &now);
        return now.rlim_cur;
    };
    const rlimit low{.rlim_cur = 64, .rlim_max = before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
    CHECK_FALSE(allow_descriptors(100));
    CHECK(limit() == 100);
    CHECK_FALSE(allow_descriptors(10));
    CHECK(limit() == 100);
    const auto refused = allow_descriptors(before.rlim_max + 1);
    const auto elsewhere = allow_descriptors(before.rlim_max + 1, "subscribers");
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    REQUIRE(refused);
    CHECK(refused->where == "order_entry.connections_max");
    REQUIRE(elsewhere);
    CHECK(elsewhere->where == "subscribers.connections_max");
    CHECK(refused->what.find(std::to_string(before.rlim_max)) != std::string::npos);
}
