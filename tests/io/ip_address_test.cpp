// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/ip_address.hpp promises to the code that uses it.
#include <gyre/io/ip_address.hpp>

#include <support/harness.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

using namespace gyre;
using namespace std::string_view_literals;

namespace {

constexpr ip_address address(std::string_view text) { return ip_address::parse(text).value(); }

// All of it happens at compile time, too.
static_assert(address("192.0.2.1") == ip_address{ipv4{{192, 0, 2, 1}}});
static_assert(address("2001:DB8:0:0:1:0:0:1").to_text().view() == "2001:db8::1:0:0:1");
static_assert(address("::ffff:10.0.0.1").is_private());
static_assert(!ip_address::parse("1.2.3").ok());

void check_printed(std::string_view text, std::string_view printed) {
    CAPTURE(text);
    const io_result<ip_address> parsed = ip_address::parse(text);
    REQUIRE(parsed.ok());

    CHECK(parsed.value().to_text().view() == printed);
    CHECK(ip_address::parse(printed).value() == parsed.value());
}

void check_refused(std::string_view text) {
    CAPTURE(text);

    const io_result<ip_address> parsed = ip_address::parse(text);

    CHECK(parsed.error() == errc::malformed);
    CHECK(parsed.error().during() == activity::endpoint);
    CHECK(parsed.value() == ip_address{});
}

// What the C library makes of the text; it knows no zones.
bool known_to_the_library(const std::string& text) {
    std::array<std::uint8_t, 16> bytes{};
    return ::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
           ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

}  // namespace

TEST_CASE("addresses are printed as RFC 5952 recommends") {
    check_printed("192.0.2.1", "192.0.2.1");
    check_printed("255.255.255.255", "255.255.255.255");
    check_printed("::", "::");
    check_printed("::1", "::1");
    check_printed("1::", "1::");
    check_printed("2001:0db8:0000:0000:0000:0000:0002:0001", "2001:db8::2:1");  // 4.1, 4.2.1
    check_printed("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1");              // 4.2.2
    check_printed("2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1");
    check_printed("2001:0:0:1:0:0:0:1", "2001:0:0:1::1");  // 4.2.3
    check_printed("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1");
    check_printed("2001:DB8::ABCD", "2001:db8::abcd");     // 4.3
    check_printed("::ffff:c000:201", "::ffff:192.0.2.1");  // 5
    check_printed("::ffff:0.0.0.0", "::ffff:0.0.0.0");
    check_printed("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8");
    check_printed("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304");
    check_printed("::1.2.3.4", "::102:304");
    check_printed("0:0:0:0:0:0:7:8", "::7:8");
    check_printed("1:2:0:0:0:0:0:0", "1:2::");
    check_printed("fe80::1%2", "fe80::1%2");
    check_printed("fe80::%4294967295", "fe80::%4294967295");
}

TEST_CASE("text that is no address is malformed") {
    for (const std::string_view text : {""sv,
                                        "."sv,
                                        "1"sv,
                                        "1.2.3"sv,
                                        "1.2.3.4.5"sv,
                                        "1.2.3.256"sv,
                                        "1.2.3.04"sv,
                                        "1.2.3.00"sv,
                                        "1.2.3.-4"sv,
                                        " 1.2.3.4"sv,
                                        "1.2.3.4 "sv,
                                        "1..3.4"sv,
                                        "1.2.3."sv,
                                        "0x1.2.3.4"sv,
                                        "1.2.3.4\0"sv,
                                        "1.2.3.1000"sv,
                                        ":"sv,
                                        ":::"sv,
                                        "1"sv,
                                        "1:"sv,
                                        ":1"sv,
                                        "1:2:3:4:5:6:7"sv,
                                        "1:2:3:4:5:6:7:8:9"sv,
                                        "1:2:3:4:5:6:7:"sv,
                                        "::2:3:4:5:6:7:8:9"sv,
                                        "1::2::3"sv,
                                        "1:::2"sv,
                                        "12345::"sv,
                                        "g::"sv,
                                        "::1%"sv,
                                        "::1%lo"sv,
                                        "::1%4294967296"sv,
                                        "::1%1%2"sv,
                                        "::1%-1"sv,
                                        "%1"sv,
                                        "1.2.3.4%1"sv,
                                        "::1.2.3"sv,
                                        "::1.2.3.4:5"sv,
                                        "1:2:3:4:5:6:7:1.2.3.4"sv,
                                        "[::1]"sv,
                                        "::1\0"sv,
                                        "1:%1"sv,
                                        "1:2:3:4::5:6:7:8"sv}) {
        check_refused(text);
    }
    check_refused(std::string(10'000, '1'));
    check_refused(std::string(10'000, ':'));
}

TEST_CASE("what is read as an address is what the C library reads as one") {
    constexpr std::string_view letters = "0123456789afAF::::...";
    const std::uint32_t seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937 dice{seed};
    const std::vector<std::string> begins{"", "::", "1:2:3:4:5:6:", "1.2.", "::ffff:", "fe80::"};

    for (int round = 0; round < 20'000; ++round) {
        std::string text = begins[dice() % begins.size()];
        for (std::size_t left = dice() % 9; left > 0; --left)
            text += letters[dice() % letters.size()];
        CAPTURE(text);

        const io_result<ip_address> parsed = ip_address::parse(text);

        REQUIRE(parsed.ok() == known_to_the_library(text));
        if (!parsed.ok()) continue;
        const std::string printed{parsed.value().to_text().view()};
        REQUIRE(known_to_the_library(printed));
        REQUIRE(ip_address::parse(printed).value() == parsed.value());
    }
}

TEST_CASE("any IPv6 address is read back as it was printed") {
    const std::uint32_t seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937 dice{seed};

    for (int round = 0; round < 10'000; ++round) {
        ipv6 made;
        for (std::uint8_t& each : made.bytes) {  // Many zeros, of which the text depends.
            each = dice() % 3 == 0 ? static_cast<std::uint8_t>(dice()) : std::uint8_t{0};
        }
        std::array<char, INET6_ADDRSTRLEN> library{};
        ::inet_ntop(AF_INET6, made.bytes.data(), library.data(), library.size());

        const address_text text = made.to_text();

        REQUIRE(ipv6::parse(text).value() == made);
        const bool dotted = std::string_view{library.data()}.find('.') != std::string_view::npos;
        if (!dotted) REQUIRE(text.view() == library.data());
    }
}

TEST_CASE("addresses tell what they are for") {
    CHECK(address("0.0.0.0").is_unspecified());
    CHECK(address("::").is_unspecified());
    CHECK_FALSE(address("::1").is_unspecified());

    CHECK(address("127.0.0.1").is_loopback());
    CHECK(address("127.255.255.255").is_loopback());
    CHECK(address("::1").is_loopback());
    CHECK_FALSE(address("128.0.0.1").is_loopback());
    CHECK_FALSE(address("::2").is_loopback());

    for (const char* text : {"10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255",
                             "192.168.0.0", "192.168.255.255", "fc00::", "fdff::1"}) {
        CAPTURE(text);
        CHECK(address(text).is_private());
    }
    for (const char* text : {"9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0",
                             "192.167.255.255", "192.169.0.0", "fbff::", "fe00::"}) {
        CAPTURE(text);
        CHECK_FALSE(address(text).is_private());
    }

    CHECK(address("169.254.1.1").is_link_local());
    CHECK(address("fe80::1%3").is_link_local());
    CHECK(address("febf::1").is_link_local());
    CHECK_FALSE(address("169.253.1.1").is_link_local());
    CHECK_FALSE(address("fec0::1").is_link_local());

    CHECK(address("224.0.0.1").is_multicast());
    CHECK(address("239.255.255.255").is_multicast());
    CHECK(address("ff02::1").is_multicast());
    CHECK_FALSE(address("223.255.255.255").is_multicast());
    CHECK_FALSE(address("240.0.0.1").is_multicast());
    CHECK_FALSE(address("fe02::1").is_multicast());
}

TEST_CASE("a mapped address is what the IPv4 address in it is") {
    CHECK(address("::ffff:127.0.0.1").is_loopback());
    CHECK(address("::ffff:10.1.2.3").is_private());
    CHECK(address("::ffff:169.254.0.1").is_link_local());
    CHECK(address("::ffff:224.0.0.1").is_multicast());
    CHECK(address("::ffff:0.0.0.0").is_unspecified());
    CHECK_FALSE(address("::ffff:8.8.8.8").is_private());

    CHECK(address("::ffff:192.0.2.1").is_v4_mapped());
    CHECK(address("::ffff:192.0.2.1").unmapped() == address("192.0.2.1"));
    CHECK(ip_address{ipv6::mapped({{192, 0, 2, 1}})} == address("::ffff:192.0.2.1"));
    CHECK_FALSE(address("::fffe:192.0.2.1").is_v4_mapped());
    CHECK_FALSE(address("192.0.2.1").is_v4_mapped());
    CHECK(address("2001:db8::1").unmapped() == address("2001:db8::1"));
}

TEST_CASE("addresses have an order, IPv4 first, and equal ones have one hash") {
    std::vector<ip_address> all{address("::"),      address("fe80::1%2"), address("10.0.0.2"),
                                address("fe80::1"), address("9.9.9.9"),   address("10.0.0.10")};

    std::ranges::sort(all);

    CHECK(all == std::vector<ip_address>{address("9.9.9.9"), address("10.0.0.2"),
                                         address("10.0.0.10"), address("::"), address("fe80::1"),
                                         address("fe80::1%2")});
    CHECK(address("10.0.0.1") != address("::ffff:10.0.0.1"));
    std::unordered_set<ip_address> set{all.begin(), all.end()};
    CHECK(set.size() == all.size());
    CHECK(set.contains(address("fe80::1%2")));
    CHECK_FALSE(set.contains(address("fe80::1%3")));
    CHECK(std::hash<ipv4>{}(ipv4::loopback()) ==
          std::hash<ip_address>{}(ip_address{ipv4::loopback()}));
}

TEST_CASE("neighbouring addresses fall into different buckets") {
    std::unordered_set<std::size_t> low_bits;
    for (std::uint8_t last = 0; last < 128; ++last) {
        low_bits.insert(ip_address{ipv4{{10, 0, 0, last}}}.hash() % 1024);
    }
    CHECK(low_bits.size() > 100);
}
