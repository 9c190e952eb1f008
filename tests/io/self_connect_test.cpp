// SPDX-License-Identifier: BSL-1.0
//
// A connect to a port of this machine at which nothing listens, when the kernel gives it just that port.
//
// TCP lets two sides that connect to each other meet (RFC 9293 3.5), and a socket is both of them then. It
// happens once in some ten thousand tries; here the machine has one port to give, in a network of its own.
#include <gyre/io/stream_socket.hpp>

#include <support/harness.hpp>
#include <support/network_namespace.hpp>
#include <support/refusals.hpp>

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::uint16_t only_port = 40'001;

// A network whose loopback interface is up, and whose connects get `only_port`. False if not allowed.
bool enter_narrow_network() {
    if (!enter_new_network()) return false;
    const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq loopback{};
    std::strcpy(loopback.ifr_name, "lo");
    loopback.ifr_flags = IFF_UP | IFF_RUNNING;
    const bool up = ::ioctl(any, SIOCSIFFLAGS, &loopback) == 0;
    ::close(any);
    std::FILE* const range = std::fopen("/proc/sys/net/ipv4/ip_local_port_range", "w");
    if (!up || range == nullptr) return false;
    std::fprintf(range, "%d %d\n", only_port, only_port);
    return std::fclose(range) == 0;
}

using narrow_body = std::function<task<>(child_process&)>;

void check_in_narrow_network(const narrow_body& body) {
    for (const backend_choice backend : backends_under_test()) {
        if (backend == backend_choice::custom) continue;
        INFO(std::string{describe(backend)});
        check_in_child([&](child_process& me) {
            if (!enter_narrow_network()) return me.say("skipped: no network of its own");
            io_context io{require(backend)};
            run_to_end(me, io, body(me));
        });
    }
}

}  // namespace

TEST_CASE("a connect that would meet itself is refused, as at each other port") {
    for (const char* const address : {"127.0.0.1", "0.0.0.0", "::1", "::"}) {
        INFO(std::string{address});
        const endpoint peer{ip_address::parse(address).value(), only_port};
        check_in_narrow_network([peer](child_process& me) -> task<> {
            const auto plain = co_await stream_socket::connect(peer);
            me.check(plain.error() == errc::connection_refused, plain.error().message());
        });
        check_in_narrow_network([peer](child_process& me) -> task<> {
            connect_options reused;
            reused.address_reused = true;
            const auto prepared = co_await stream_socket::connect(peer, reused);
            me.check(prepared.error() == errc::connection_refused, prepared.error().message());
        });
    }
}

TEST_CASE("a connect from the port that it connects to meets itself, as it was asked to") {
    check_in_narrow_network([](child_process& me) -> task<> {
        const endpoint both{ipv4::loopback(), only_port};
        connect_options from;
        from.local = both;
        const auto met = co_await stream_socket::connect(both, from);
        me.check(met.ok(), "it connects: " + met.error().message());
    });
}
