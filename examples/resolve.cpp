// SPDX-License-Identifier: BSL-1.0
//
// What a name comes to: its addresses in the order in which to try them, whose they are, and their names.
//
//     resolve HOST [SERVICE]
#include <gyre/gyre.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>

using namespace std::chrono_literals;

// snippet: networks
struct known_network {
    gyre::ip_network network;
    const char* whose;
};

const char* whose(const gyre::ip_address& it) {
    // Numbers in the program are read when it is compiled: a wrong one does not compile.
    static constexpr std::array<known_network, 3> known{{
        {gyre::ip_network::parse("192.0.2.0/24").value(), "documentation"},
        {gyre::ip_network::parse("198.51.100.0/24").value(), "documentation"},
        {gyre::ip_network::parse("2001:db8::/32").value(), "documentation"},
    }};
    for (const known_network& each : known) {
        if (each.network.contains(it)) return each.whose;
    }
    if (it.is_loopback()) return "this machine";
    if (it.is_private()) return "a private network";
    if (it.is_link_local()) return "this link";
    if (it.is_multicast()) return "a group";
    return "the internet";
}
// end of snippet

// snippet: resolve
gyre::task<gyre::io_result<>> resolve(std::string host, std::string service) {
    gyre::resolver names;
    const auto found = co_await gyre::with_timeout(10s, names.resolve(host, service));
    if (!found.ok()) co_return found.error();
    for (const gyre::endpoint& each : found.value()) {
        std::printf("%s: %s\n", each.to_string().c_str(), whose(each.address()));
    }
    co_return gyre::io_result<>{};
}
// end of snippet

int main(int count, char** arguments) {
    if (count < 2) {
        std::fprintf(stderr, "usage: resolve HOST [SERVICE]\n");
        return 2;
    }
    return gyre::run_until_signal(resolve(arguments[1], count > 2 ? arguments[2] : "0"));
}
