// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/endpoint.hpp promises to the code that uses it.
#include <gyre/io/endpoint.hpp>

#include <gyre/io/acceptor.hpp>
#include <support/harness.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::string_literals;
using namespace std::string_view_literals;

namespace {

void check_round_trip(std::string_view text) {
    CAPTURE(text);
    const io_result<endpoint> parsed = endpoint::parse(text);
    REQUIRE(parsed.ok());

    CHECK(parsed.value().to_string() == text);
    CHECK(endpoint::parse(parsed.value().to_string()).value() == parsed.value());
}

void check_refused(std::string_view text, errc expected = errc::malformed) {
    CAPTURE(text);

    const io_result<endpoint> parsed = endpoint::parse(text);

    CHECK(parsed.error() == expected);
    CHECK(parsed.error().during() == activity::endpoint);
    CHECK(parsed.value().kind() == endpoint::family::none);
}

}  // namespace

TEST_CASE("an endpoint prints what it was parsed from") {
    for (const char* text :
         {"0.0.0.0:0", "127.0.0.1:7000", "192.0.2.1:80", "255.255.255.255:65535", "[::]:0",
          "[::1]:443", "[2001:db8::1]:80", "[fe80::1%2]:80", "[fe80::1%4294967295]:65535",
          "[2001:db8:1:2:3:4:5:6]:1", "[::ffff:192.0.2.1]:8080", "unix:/run/it.sock",
          "unix:relative", "unix:./@file", "unix:@abstract", "unix:@"}) {
        check_round_trip(text);
    }
}

TEST_CASE("an IPv4 endpoint holds its address and port") {
    const endpoint it{ipv4{{192, 0, 2, 1}}, 8080};

    CHECK(it.kind() == endpoint::family::v4);
    CHECK(it.address_family() == AF_INET);
    CHECK(it.v4() == ipv4{{192, 0, 2, 1}});
    CHECK(it.port() == 8080);
    CHECK(it.path().empty());
    CHECK(it == endpoint::parse("192.0.2.1:8080").value());
}

TEST_CASE("an IPv6 endpoint holds its address, port and zone") {
    ipv6 address = ipv6::loopback();
    address.zone = 7;

    const endpoint it{address, 443};

    CHECK(it.kind() == endpoint::family::v6);
    CHECK(it.address_family() == AF_INET6);
    CHECK(it.v6() == address);
    CHECK(it.v6().zone == 7);
    CHECK(it.port() == 443);
    CHECK(it.to_string() == "[::1%7]:443");
}

TEST_CASE("addresses are printed in their canonical form") {
    CHECK(endpoint::parse("[2001:0DB8:0:0:0:0:0:1]:080").value().to_string() == "[2001:db8::1]:80");
    CHECK(endpoint::parse("[::1%0]:80").value().to_string() == "[::1]:80");
    CHECK(endpoint::parse("[::ffff:c000:201]:1").value().to_string() == "[::ffff:192.0.2.1]:1");
}

TEST_CASE("an endpoint made from nothing has no family, no port and no text") {
    const endpoint none;

    CHECK(none.kind() == endpoint::family::none);
    CHECK(none.address_family() == AF_UNSPEC);
    CHECK(none.port() == 0);
    CHECK(none.path().empty());
    CHECK(none.to_string().empty());
    CHECK(none == endpoint{});
    CHECK_FALSE(none == endpoint{ipv4::any(), 0});
}

TEST_CASE("endpoints differ by family, address, zone, port and path") {
    const endpoint it{ipv4::loopback(), 80};

    CHECK(it == endpoint{ipv4::loopback(), 80});
    CHECK_FALSE(it == endpoint{ipv4::loopback(), 81});
    CHECK_FALSE(it == endpoint{ipv4::any(), 80});
    CHECK_FALSE(it == endpoint{ipv6::loopback(), 80});
    CHECK_FALSE(endpoint::parse("[fe80::1%1]:80").value() ==
                endpoint::parse("[fe80::1%2]:80").value());
    CHECK_FALSE(endpoint::local("/run/a").value() == endpoint::local("/run/b").value());
    CHECK_FALSE(endpoint::local("/run/a").value() == endpoint::local("/run/aa").value());
    CHECK_FALSE(endpoint::local("it").value() == endpoint::local("\0it"sv).value());
}

TEST_CASE("endpoints have an order, by family, address, port or path, and hashes") {
    std::vector<endpoint> all;
    for (const char* text : {"unix:/b", "[::1]:80", "10.0.0.2:9", "unix:/a", "10.0.0.10:1",
                             "10.0.0.2:256", "[::]:80", "unix:/aa"}) {
        all.push_back(endpoint::parse(text).value());
    }
    const std::unordered_set<endpoint> set{all.begin(), all.end()};

    std::ranges::sort(all);

    std::string order;
    for (const endpoint& each : all) order += each.to_string() + ' ';
    CHECK(order ==
          "10.0.0.2:9 10.0.0.2:256 10.0.0.10:1 [::]:80 [::1]:80 unix:/a unix:/aa unix:/b ");
    CHECK(set.size() == all.size());
    CHECK(set.contains(endpoint::parse("10.0.0.2:9").value()));
    CHECK_FALSE(set.contains(endpoint::parse("10.0.0.2:10").value()));
}

TEST_CASE("an endpoint is made of an address of either kind, and has it") {
    const ip_address v4 = ipv4::loopback();
    const ip_address v6 = ip_address::parse("fe80::1%2").value();

    CHECK(endpoint{v4, 80} == endpoint{ipv4::loopback(), 80});
    CHECK(endpoint{v6, 80}.to_string() == "[fe80::1%2]:80");
    CHECK(endpoint{v4, 80}.address() == v4);
    CHECK(endpoint{v6, 80}.address() == v6);
}

TEST_CASE("text that is no endpoint is malformed") {
    for (const char* text : {"",
                             ":",
                             ":80",
                             "80",
                             "127.0.0.1",
                             "127.0.0.1:",
                             "127.0.0.1:65536",
                             "127.0.0.1:-1",
                             "127.0.0.1:+1",
                             "127.0.0.1: 80",
                             "127.0.0.1:80 ",
                             " 127.0.0.1:80",
                             "127.0.0.1:8o",
                             "127.0.0.1:0x50",
                             "127.0.0.1:99999999999999999999",
                             "127.0.0:80",
                             "127.0.0.1.1:80",
                             "256.0.0.1:80",
                             "1.2.3.:80",
                             "localhost:80",
                             "127.0.0.1:80:80",
                             "*:80",
                             "::1:80",
                             "2001:db8::1",
                             "UNIX:/run/it"}) {
        check_refused(text);
    }
}

TEST_CASE("text that is no IPv6 endpoint is malformed") {
    for (const char* text : {"[",
                             "[]",
                             "[]:80",
                             "[:80",
                             "[::1",
                             "[::1]",
                             "[::1]:",
                             "[::1]80",
                             "[::1]:65536",
                             "[::1]:80]",
                             "[[::1]]:80",
                             "[::1]:[::1]:80",
                             "[::1%]:80",
                             "[::1%lo]:80",
                             "[::1%1%2]:80",
                             "[::1%-1]:80",
                             "[::1%4294967296]:80",
                             "[%1]:80",
                             "[1:2:3:4:5:6:7]:80",
                             "[1:2:3:4:5:6:7:8:9]:80",
                             "[12345::]:80",
                             "[::1::]:80",
                             "[127.0.0.1]:80",
                             "[g::]:80"}) {
        check_refused(text);
    }
}

TEST_CASE("text with a NUL in it is no address") {
    check_refused("127.0.0.1\0:80"sv);
    check_refused("127.0.0.1:80\0"sv);
    check_refused("[::1\0]:80"sv);
    check_refused("[::1\0%1]:80"sv);
    CHECK(ipv4::parse("127.0.0.1\0"sv).error() == errc::malformed);
    CHECK(ipv6::parse("::1\0"sv).error() == errc::malformed);
}

TEST_CASE("text longer than any address is malformed, however long") {
    const std::string digits(10'000, '1');

    check_refused(digits);
    check_refused(digits + ":80");
    check_refused('[' + digits + "]:80");
    check_refused("127.0.0.1:" + digits);
    check_refused("[::1%" + digits + "]:80");
}

TEST_CASE("addresses alone are parsed by their types") {
    CHECK(ipv4::parse("192.0.2.1").value() == ipv4{{192, 0, 2, 1}});
    CHECK(ipv4::parse("127.0.0.1").value() == ipv4::loopback());
    CHECK(ipv4::parse("0.0.0.0").value() == ipv4::any());
    CHECK(ipv4::parse("").error() == errc::malformed);
    CHECK(ipv4::parse("::1").error() == errc::malformed);
    CHECK(ipv6::parse("::1").value() == ipv6::loopback());
    CHECK(ipv6::parse("::").value() == ipv6::any());
    CHECK(ipv6::parse("fe80::1%2").value().zone == 2);
    CHECK(ipv6::parse("").error() == errc::malformed);
    CHECK(ipv6::parse("127.0.0.1").error() == errc::malformed);
}

TEST_CASE("a local endpoint takes paths of up to 108 bytes") {
    const std::string longest(108, 'p');

    CHECK(endpoint::local(longest.substr(1)).value().path() == longest.substr(1));
    CHECK(endpoint::local(longest).value().path() == longest);
    CHECK(endpoint::local(longest + 'p').error() == errc::name_too_long);
    CHECK(endpoint::local("").error() == errc::invalid_argument);
    check_refused("unix:", errc::invalid_argument);
    check_refused("unix:" + longest + 'p', errc::name_too_long);
    check_round_trip("unix:" + longest);
}

TEST_CASE("an abstract name may be 108 bytes and contain anything") {
    const std::string name = "\0with\0zeros and @"s + std::string(91, '\xff');
    REQUIRE(name.size() == 108);

    const endpoint it = endpoint::local(name).value();

    CHECK(it.kind() == endpoint::family::local);
    CHECK(it.path() == name);
    CHECK(endpoint::parse(it.to_string()).value() == it);
    CHECK(endpoint::local(name + 'x').error() == errc::name_too_long);
    CHECK_FALSE(it == endpoint::local(name.substr(0, 107)).value());
}

TEST_CASE("a path with a NUL in it is refused instead of being cut off by the kernel") {
    CHECK(endpoint::local("/run/it\0.sock"sv).error() == errc::invalid_argument);
    CHECK(endpoint::local("/run/it\0"sv).error() == errc::invalid_argument);
    check_refused("unix:/run/it\0.sock"sv, errc::invalid_argument);
}

TEST_CASE("a path that begins with @ is not mistaken for an abstract name when printed") {
    const endpoint file = endpoint::local("@file").value();

    CHECK(file.path() == "@file");
    CHECK(file.to_string() == "unix:./@file");
    CHECK(endpoint::parse(file.to_string()).value().path() == "./@file");
}

TEST_CASE("an endpoint that the kernel reports equals the one that was bound") {
    on_every_backend([](io_context& io) -> task<> {
        for (const char* text : {"unix:@gyre endpoint test", "127.0.0.1:0", "[::1]:0"}) {
            const endpoint wanted = endpoint::parse(text).value();
            io_result<tcp_acceptor> listening = tcp_acceptor::listen(io, wanted);
            CAPTURE(text);
            REQUIRE(listening.ok());
            const tcp_acceptor acceptor = listening.take();

            const endpoint bound = acceptor.local_endpoint().value();

            CHECK(bound.kind() == wanted.kind());
            CHECK(bound.path() == wanted.path());
            if (bound.kind() == endpoint::family::local) CHECK(bound == wanted);
            if (bound.kind() == endpoint::family::v4)
                CHECK(bound == endpoint{wanted.v4(), bound.port()});
            if (bound.kind() == endpoint::family::v6)
                CHECK(bound == endpoint{wanted.v6(), bound.port()});
        }
        co_return;
    });
}

TEST_CASE("an unnamed local endpoint, as of a socket pair, has no path") {
    on_every_backend([](io_context& io) -> task<> {
        const socket_pair pair = local_pair(io);

        const io_result<endpoint> peer = pair.client.remote_endpoint();

        REQUIRE(peer.ok());
        CHECK(peer.value().kind() == endpoint::family::local);
        CHECK(peer.value().path().empty());
        CHECK(peer.value().to_string() == "unix:");
        co_return;
    });
}
