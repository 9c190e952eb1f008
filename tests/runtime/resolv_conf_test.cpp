// SPDX-License-Identifier: BSL-1.0
//
// What src/runtime/resolv_conf.hpp promises; programs/name_settings.py compares it with glibc and musl.
#include <runtime/resolv_conf.hpp>

#include <support/harness.hpp>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

using strings = std::vector<std::string>;

resolv_conf read_conf(std::string_view text) { return resolv_conf{text, {}}; }

sockaddr_in6 v6_of(const socket_address& it) {
    sockaddr_in6 made{};
    std::memcpy(&made, it.data, sizeof made);
    return made;
}

// "address port" of each server.
strings servers_in(std::string_view text) {
    strings made;
    for (const socket_address& each : read_conf(text).servers) {
        char shown[INET6_ADDRSTRLEN] = {};
        const sockaddr_in6 v6 = v6_of(each);
        sockaddr_in v4{};
        std::memcpy(&v4, each.data, sizeof v4);
        const void* const from =
            v6.sin6_family == AF_INET6 ? static_cast<const void*>(&v6.sin6_addr) : &v4.sin_addr;
        ::inet_ntop(v6.sin6_family, from, shown, sizeof shown);
        made.push_back(shown + " "s + std::to_string(ntohs(v4.sin_port)));
    }
    return made;
}

}  // namespace

TEST_CASE("an empty file means what resolv.conf says of it") {
    const resolv_conf it = read_conf("");

    CHECK(servers_in("") == strings{"127.0.0.1 53"});
    CHECK(it.search.empty());
    CHECK(it.timeout == 5s);
    CHECK(it.tries == 2);
    CHECK(it.dots_min == 1);
    CHECK_FALSE(it.rotate);
}

TEST_CASE("the first three servers that are addresses count") {
    CHECK(servers_in("nameserver 192.0.2.1\nnameserver\t::1\nnameserver 192.0.2.3 # it\n"
                     "nameserver 192.0.2.4\n") ==
          strings{"192.0.2.1 53", "::1 53", "192.0.2.3 53"});
    CHECK(servers_in("nameserver one.test\nnameserver 127.0.0.2:53\nnameserver [::1]\nnameserver\n"
                     "nameserver 192.0.2.5") == strings{"192.0.2.5 53"});
    CHECK(servers_in(" nameserver 192.0.2.1\n;nameserver 192.0.2.1\nNAMESERVER 192.0.2.1\n"
                     "nameservers 192.0.2.1\n") == strings{"127.0.0.1 53"});
    CHECK(servers_in("nameserver 127.1\r\n") == strings{"127.0.0.1 53"});
}

TEST_CASE("a server keeps its zone, by name or by number") {
    const std::string loop = std::to_string(::if_nametoindex("lo"));

    const resolv_conf by_name = read_conf("nameserver fe80::53%lo\n");
    const resolv_conf by_number = read_conf("nameserver fe80::53%" + loop + "\n");
    const resolv_conf unknown = read_conf("nameserver fe80::53%no_such_one\n");

    REQUIRE(by_name.servers.size() == 1);
    CHECK(v6_of(by_name.servers[0]).sin6_scope_id == ::if_nametoindex("lo"));
    CHECK(v6_of(by_number.servers[0]).sin6_scope_id == ::if_nametoindex("lo"));
    // It cannot be reached; the default server, which it is not, must not be asked for it.
    REQUIRE(unknown.servers.size() == 1);
    CHECK(v6_of(unknown.servers[0]).sin6_family == AF_INET6);
}

TEST_CASE("the last of search and domain counts, and an empty one does not") {
    CHECK(read_conf("search a.test b.test\tc.test \n").search ==
          strings{"a.test", "b.test", "c.test"});
    CHECK(read_conf("search a.test\ndomain b.test c.test\n").search == strings{"b.test"});
    CHECK(read_conf("domain b.test\nsearch a.test\nsearch\ndomain \n").search == strings{"a.test"});
    CHECK(read_conf("search .\n").search == strings{"."});
    CHECK(read_conf("search a.test # b.test\n").search == strings{"a.test", "#", "b.test"});
    CHECK(read_conf("search a.test\r\n").search == strings{"a.test"});
}

TEST_CASE("the environment and the host's name have their say") {
    resolv_surroundings around;
    around.host_name = "machine.own.test";
    CHECK(resolv_conf{"", around}.search == strings{"own.test"});
    CHECK(resolv_conf{"search .", around}.search == strings{"."});

    around.local_domain = "a.test b.test\nc.test";
    around.options = "ndots:3 timeout:2";
    const resolv_conf it{"search d.test\noptions timeout:9 attempts:4\n", around};
    CHECK(it.search == strings{"a.test", "b.test"});
    CHECK(it.dots_min == 3);
    CHECK(it.timeout == 2s);
    CHECK(it.tries == 4);

    around.local_domain = "";
    CHECK(resolv_conf{"search d.test\n", around}.search.empty());
}

TEST_CASE("numbers have limits, and what is no number is nought") {
    const auto tries = [](std::string_view text) { return read_conf(text).tries; };
    const auto dots = [](std::string_view text) { return read_conf(text).dots_min; };
    const auto seconds = [](std::string_view text) { return read_conf(text).timeout; };

    CHECK(tries("options attempts:1") == 1);
    CHECK(tries("options attempts:99999999999999999999") == 5);
    CHECK(tries("options attempts:0") == 1);
    CHECK(tries("options attempts:-99999999999999999999") == 1);
    CHECK(seconds("options timeout:1 attempts:1") == 1s);
    CHECK(seconds("options timeout:31") == 30s);
    CHECK(seconds("options timeout:x") == 1s);
    CHECK(seconds("options timeout:") == 1s);
    CHECK(seconds("options retrans:1 retry:1") == 5s);
    CHECK(dots("options ndots:99") == 15);
    CHECK(dots("options ndots:-1") == 15);
    CHECK(dots("options ndots:") == 0);
    CHECK(dots("options ndots: 2") == 2);
    CHECK(dots("options\tunknown ndots:2 ndots:+4\t") == 4);
    CHECK(dots("options NDOTS:2") == 1);
    CHECK(dots("options") == 1);
}

TEST_CASE("each option is heeded, wherever it stands") {
    const resolv_conf it = read_conf(
        "options rotate edns0\tuse-vc  trust-ad\noptions no-aaaa\n"
        "options no-tld-query no-reload single-request-reopen\n");

    CHECK(it.rotate);
    CHECK(it.edns);
    CHECK(it.over_tcp);
    CHECK(it.trust_ad);
    CHECK(it.no_aaaa);
    CHECK(it.no_top_level_names);
    CHECK(it.read_once);
    CHECK(it.one_at_a_time);
}

TEST_CASE("no file does harm: damaged ones are read to their end") {
    const std::string good = "nameserver fe80::1%lo\nsearch a.test .\noptions ndots:2 timeout:1\n";
    for (std::size_t at = 0; at < good.size(); ++at) {
        for (const char other : {'\0', '\n', ' ', '%', ':', '\xff', '-'}) {
            std::string damaged = good;
            damaged[at] = other;
            const resolv_conf it = read_conf(damaged);
            CHECK(it.servers.size() == 1);
            CHECK(it.tries == 2);
        }
        CHECK(read_conf(good.substr(0, at)).servers.size() == 1);
    }
}
