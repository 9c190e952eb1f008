// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/ip_network.hpp promises to the code that uses it.
#include <gyre/io/ip_network.hpp>

#include <support/harness.hpp>

#include <string_view>
#include <unordered_set>

using namespace gyre;

namespace {

constexpr ip_network network(std::string_view text) { return ip_network::parse(text).value(); }
constexpr ip_address address(std::string_view text) { return ip_address::parse(text).value(); }

static_assert(network("10.0.0.0/8").contains(address("10.255.0.1")));
static_assert(network("2001:db8::/32").to_text().view() == "2001:db8::/32");

}  // namespace

TEST_CASE("a network has no bits behind its length") {
    CHECK(network("192.0.2.77/24").to_text().view() == "192.0.2.0/24");
    CHECK(network("192.0.2.77/25").first() == address("192.0.2.0"));
    CHECK(network("192.0.2.177/25").first() == address("192.0.2.128"));
    CHECK(network("255.255.255.255/31").to_text().view() == "255.255.255.254/31");
    CHECK(network("192.0.2.77").to_text().view() == "192.0.2.77/32");
    CHECK(network("1.2.3.4/0").to_text().view() == "0.0.0.0/0");
    CHECK(network("2001:db8:ffff::1/33").to_text().view() == "2001:db8:8000::/33");
    CHECK(network("::1").length() == 128);
    CHECK(ip_network::around(address("fe80::1%2"), 64).value() == network("fe80::/64"));
    CHECK(network("192.0.2.1/24") == network("192.0.2.2/24"));
    CHECK(network("192.0.2.0/24") != network("192.0.2.0/25"));
}

TEST_CASE("text that is no network, and lengths that no address has, are refused") {
    for (const char* text : {"", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1",
                             "10.0.0.0/8/8", "10.0.0.0/ 8", "10.0.0.0/8 ", "10/8", "10.0.0.0/0x8",
                             "::/129", "::/1000", "fe80::1%2/64", "10.0.0.0/4294967304"}) {
        CAPTURE(text);
        CHECK(ip_network::parse(text).error() == errc::malformed);
    }
    CHECK(ip_network::around(ipv4::any(), 33).error() == errc::invalid_argument);
    CHECK(ip_network::around(ipv6::any(), 128).ok());
    CHECK(ip_network::around(ipv6::any(), 129).error() == errc::invalid_argument);
}

TEST_CASE("a network contains its first and its last address and none beside them") {
    const ip_network it = network("172.16.0.0/12");

    CHECK(it.contains(address("172.16.0.0")));
    CHECK(it.contains(address("172.31.255.255")));
    CHECK_FALSE(it.contains(address("172.15.255.255")));
    CHECK_FALSE(it.contains(address("172.32.0.0")));
    CHECK(network("2001:db8::/47").contains(address("2001:db8:1:ffff::")));
    CHECK_FALSE(network("2001:db8::/47").contains(address("2001:db8:2::")));
    CHECK(network("0.0.0.0/0").contains(address("255.255.255.255")));
    CHECK(network("fe80::/10").contains(address("fe80::1%7")));
}

TEST_CASE("a network of one family contains nothing of the other, but mapped addresses") {
    CHECK_FALSE(network("0.0.0.0/0").contains(address("::1")));
    CHECK_FALSE(network("::/0").contains(address("127.0.0.1")));
    CHECK(network("10.0.0.0/8").contains(address("::ffff:10.1.2.3")));
    CHECK_FALSE(network("10.0.0.0/8").contains(address("::ffff:11.1.2.3")));
    CHECK(network("::ffff:0:0/96").contains(address("::ffff:10.1.2.3")));
    CHECK_FALSE(network("10.0.0.0/8").contains(network("::ffff:10.0.0.0/104")));
}

TEST_CASE("networks contain and overlap each other") {
    CHECK(network("10.0.0.0/8").contains(network("10.2.0.0/16")));
    CHECK(network("10.0.0.0/8").contains(network("10.0.0.0/8")));
    CHECK_FALSE(network("10.2.0.0/16").contains(network("10.0.0.0/8")));
    CHECK(network("10.2.0.0/16").overlaps(network("10.0.0.0/8")));
    CHECK_FALSE(network("10.2.0.0/16").overlaps(network("10.3.0.0/16")));
    CHECK_FALSE(network("::/0").overlaps(network("0.0.0.0/0")));
}

TEST_CASE("networks have an order, the wider first, and hashes") {
    CHECK(network("10.0.0.0/8") < network("10.0.0.0/16"));
    CHECK(network("10.0.0.0/16") < network("10.1.0.0/16"));
    CHECK(network("255.0.0.0/8") < network("::/0"));
    const std::unordered_set<ip_network> set{network("10.0.0.0/8"), network("10.0.0.0/16")};
    CHECK(set.contains(network("10.9.9.9/8")));
    CHECK_FALSE(set.contains(network("10.0.0.0/24")));
}
