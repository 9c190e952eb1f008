// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/destinations.hpp promises to the code that uses it.
#include <gyre/io/destinations.hpp>

#include <support/conformance.hpp>
#include <support/harness.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

ip_address address(std::string_view text) { return ip_address::parse(text).value(); }

destination to(std::string_view peer, std::string_view source) {
    destination made{{address(peer), 80}, std::nullopt};
    if (!source.empty()) made.source = address(source);
    return made;
}

// That the first is tried before the second, in whichever order they are listed.
void check_before(const destination& first, const destination& second) {
    CAPTURE(first.peer.to_string());
    CAPTURE(second.peer.to_string());
    for (std::vector<destination> all : {std::vector{first, second}, std::vector{second, first}}) {
        order_destinations(all);
        CHECK(all.front().peer == first.peer);
        CHECK(all.back().peer == second.peer);
    }
}

std::vector<endpoint> endpoints(std::string_view letters) {
    std::vector<endpoint> made;
    for (const char each : letters) {
        const bool v6 = each >= 'a';
        const auto last = static_cast<std::uint8_t>(each);
        ipv6 six = ipv6::loopback();
        six.bytes[15] = last;
        made.push_back(v6 ? endpoint{six, 1} : endpoint{ipv4{{10, 0, 0, last}}, 1});
    }
    return made;
}

// Small letters are IPv6, large ones IPv4.
std::string letters(const std::vector<endpoint>& of) {
    std::string made;
    for (const endpoint& each : of) {
        made += static_cast<char>(each.kind() == endpoint::family::v6 ? each.v6().bytes[15]
                                                                      : each.v4().bytes[3]);
    }
    return made;
}

}  // namespace

TEST_CASE("destinations are ordered as in the examples of RFC 6724") {
    // 10.2: IPv6 and IPv4 of the same scope as their sources.
    check_before(to("2001:db8:1::1", "2001:db8:1::2"), to("198.51.100.121", "169.254.13.78"));
    check_before(to("198.51.100.121", "198.51.100.117"), to("2001:db8:1::1", "fe80::1"));
    check_before(to("2001:db8:1::1", "2001:db8:1::2"), to("10.1.2.3", "10.1.2.4"));
    check_before(to("fe80::1", "fe80::2"), to("2001:db8:1::1", "2001:db8:1::2"));  // Smaller scope.
    check_before(to("2001:db8:1::1", "2001:db8:3f44::2"),
                 to("2001:db8:8000::1", "2001:db8:3f44::2"));
    check_before(to("2001:db8:1::1", "2001:db8:1::2"),
                 to("2002:c633:6401::1", "2002:c633:6401::2"));
    check_before(to("2002:c633:6401::1", "2002:c633:6401::2"),
                 to("2001:db8:1::1", "2002:c633:6401::2"));
}

TEST_CASE("what has no route comes last, and private IPv6 after IPv4") {
    check_before(to("192.0.2.1", "10.0.0.1"), to("2001:db8::1", ""));
    check_before(to("2001:db8::1", "2001:db8::2"), to("192.0.2.1", ""));
    check_before(to("192.0.2.1", "192.0.2.2"), to("fd00::1", "fd00::2"));
    check_before(to("::1", "::1"), to("127.0.0.1", "127.0.0.1"));
    check_before(to("192.0.2.1", "192.0.2.2"), to("2001::1", "2001::2"));  // Teredo.
    check_before(to("192.0.2.1", "192.0.2.2"), to("::ffff:192.0.2.1", ""));
}

TEST_CASE("equals keep their order, among them IPv4 whatever its prefix") {
    std::vector<destination> all{to("10.0.0.9", "10.0.0.1"), to("192.0.2.1", "10.0.0.1"),
                                 to("10.0.0.2", "10.0.0.1"), to("2001:db8::9", ""),
                                 to("2001:db8::8", "")};

    order_destinations(all);

    std::string order;
    for (const destination& each : all)
        order += std::string{each.peer.address().to_text().view()} + ' ';
    CHECK(order == "10.0.0.9 192.0.2.1 10.0.0.2 2001:db8::9 2001:db8::8 ");
}

TEST_CASE("families alternate, beginning with the first, and the rest follows") {
    CHECK(letters(in_alternation(endpoints("abcdXY"))) == "aXbYcd");
    CHECK(letters(in_alternation(endpoints("XYZa"))) == "XaYZ");
    CHECK(letters(in_alternation(endpoints("abc"))) == "abc");
    CHECK(letters(in_alternation(endpoints("aXYZ"))) == "aXYZ");
    CHECK(letters(in_alternation(endpoints(""))).empty());
}

TEST_CASE("after one family it is the other's turn, if it has any left") {
    const auto after = [](std::string_view all, endpoint::family before) {
        return letters(in_alternation(endpoints(all), before));
    };
    CHECK(after("abXY", endpoint::family::v6) == "XaYb");
    CHECK(after("abXY", endpoint::family::v4) == "aXbY");
    CHECK(after("XYa", endpoint::family::v4) == "aXY");
    CHECK(after("ab", endpoint::family::v6) == "ab");
}

namespace {

const std::vector<conformance_row> on_each_machine{
    {"the kernel knows the source of a destination, and that there may be none",
     [](io_context& io) -> task<> {
         const std::size_t before = open_descriptors();
         const std::vector<endpoint> peers{endpoint{ipv4{{127, 0, 0, 9}}, 0},
                                           endpoint{ipv6::loopback(), 80},
                                           // Link-local without a zone.
                                           endpoint{ipv6::parse("fe80::1").value(), 80}};

         const std::vector<destination> found = find_sources(io, peers);

         REQUIRE(found.size() == 3);
         CHECK(found[0].peer == peers[0]);
         CHECK(found[0].source == address("127.0.0.1"));
         CHECK(found[1].source == address("::1"));
         CHECK_FALSE(found[2].source.has_value());
         CHECK(open_descriptors() == before);
         co_return;
     }},
    {"peers are put in order, each once",
     [](io_context& io) -> task<> {
         const endpoint six{ipv6::loopback(), 80};
         const endpoint four{ipv4::loopback(), 80};
         const endpoint none{ipv6::parse("fe80::1").value(), 80};

         CHECK(in_order_of_preference(io, {none, four, six, four}) ==
               std::vector<endpoint>{six, four, none});
         CHECK(in_order_of_preference(io, {}).empty());
         CHECK(in_order_of_preference(io, {none}) == std::vector<endpoint>{none});
         co_return;
     }},
};

const conformance_suite on_each_machine_suite{"names", on_each_machine};

}  // namespace
