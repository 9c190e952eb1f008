// SPDX-License-Identifier: BSL-1.0
#include <exchange/net/application/inherited_listeners.hpp>

#include <support/child.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace exchange;

namespace {

const gyre::endpoint at_7011{gyre::ipv4::loopback(), 7011};
const gyre::endpoint at_7012{gyre::ipv4::loopback(), 7012};

/// A listening socket of plain calls, and where it listens.
struct plain_listener {
    int number = ::socket(AF_INET, SOCK_STREAM, 0);
    gyre::endpoint at;

    plain_listener() {
        sockaddr_in name{};
        name.sin_family = AF_INET;
        name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof name;
        ::bind(number, reinterpret_cast<sockaddr*>(&name), size);
        ::listen(number, 8);
        ::getsockname(number, reinterpret_cast<sockaddr*>(&name), &size);
        at = {gyre::ipv4::loopback(), ntohs(name.sin_port)};
        number = ::fcntl(number, F_DUPFD, 100);  // Out of the way of those that are announced.
    }
};

void announce(const char* count) { ::setenv("LISTEN_FDS", count, 1); }

}  // namespace

TEST_CASE("inherited_listeners: one is taken by its place, once, and is the taker's") {
    inherited_listeners all{{{at_7011, 5}, {at_7012, 6}}};
    CHECK(all.size() == 2);
    CHECK(all.take({gyre::ipv4::loopback(), 7013}) == -1);
    CHECK(all.take({}) == -1);
    CHECK(all.take(at_7012) == 6);
    CHECK(all.take(at_7012) == -1);
    inherited_listeners moved{std::move(all)};
    CHECK(moved.take(at_7011) == 5);
    CHECK(moved.size() == 0);
}

TEST_CASE("inherited_listeners: one that no door is for is found") {
    const inherited_listeners all{{{at_7011, 5}, {at_7012, 6}}};
    CHECK_FALSE(all.stranger_to(std::array{at_7012, at_7011}).has_value());
    CHECK(all.stranger_to(std::array{at_7011, gyre::endpoint{}}) == at_7012);
    CHECK_FALSE(inherited_listeners{}.stranger_to({}).has_value());
}

TEST_CASE("inherited_listeners: what is announced is received with its places") {
    using namespace gyre::testing;
    const child_report report = in_child([](child_process& me) {
        const plain_listener first;
        const plain_listener second;
        ::dup2(first.number, 3);
        ::dup2(second.number, 4);
        announce("2");
        auto received = inherited_listeners::receive();
        me.check(received.ok(), "it is received");
        inherited_listeners all = received.take();
        me.check(all.size() == 2, "both are there");
        const int number = all.take(second.at);
        int listens = 0;
        socklen_t size = sizeof listens;
        ::getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
        me.check(listens == 1, "the second is a listener");
        me.check((::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0, "no child gets it");
        me.check(all.take(first.at) >= 0, "the first is there");
        auto again = inherited_listeners::receive();
        me.check(again.ok() && again.take().size() == 0, "nothing is left");
    });
    CHECK_MESSAGE(report.passed(), report.text);
}

TEST_CASE("inherited_listeners: what cannot be is an error") {
    using namespace gyre::testing;
    const child_report report = in_child([](child_process& me) {
        announce("many");
        me.check(inherited_listeners::receive().error() == gyre::errc::malformed, "no number");
        ::dup2(STDERR_FILENO, 3);
        announce("1");
        me.check(!inherited_listeners::receive().ok(), "no socket");
    });
    CHECK_MESSAGE(report.passed(), report.text);
}
