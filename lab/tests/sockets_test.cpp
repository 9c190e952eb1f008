// SPDX-License-Identifier: BSL-1.0
//
// A byte that got lost must not make a contender look fast, nor a port that did not come back make
// the next one look slow.
#include <lab/kit/sockets.hpp>

#include <doctest/doctest.h>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

// Whether `run` ends its process as lab::fail does.
template <class Run>
bool fails(Run run) {
    const pid_t child = ::fork();
    if (child == 0) {
        std::fclose(stderr);  // The complaint is expected.
        run();
        std::_Exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 2;
}

lab::descriptor connect_to(const lab::listener& at) {
    lab::descriptor client{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const auto* const address = reinterpret_cast<const sockaddr*>(&at.address);
    CHECK(::connect(client.get(), address, sizeof(at.address)) == 0);
    return client;
}

}  // namespace

TEST_CASE("bytes may arrive in any order, but all of them must") {
    lab::byte_tally tally;
    const auto first = tally.next();
    const auto second = tally.next();

    tally.received(second);
    CHECK(fails([&] { tally.check(); }));

    tally.received(first);
    tally.check();
}

TEST_CASE("a byte that was changed, or came twice, ends the run") {
    lab::byte_tally tally;
    const auto first = tally.next();
    static_cast<void>(tally.next());
    tally.received(first);

    tally.received(first);

    CHECK(fails([&] { tally.check(); }));
}

TEST_CASE("each listener accepts at a port of its own") {
    const auto all = lab::listen_on_loopback(2);
    REQUIRE(all.size() == 2);
    CHECK(all[0].port() != all[1].port());

    for (const lab::listener& each : all) {
        const lab::descriptor client = connect_to(each);
        const lab::descriptor server = lab::accept_connection(each.socket);
        CHECK(server.get() >= 0);
    }
}

TEST_CASE("nothing remains of a connection that the server closed first") {
    lab::listener at = lab::listen_on_loopback();
    lab::descriptor client = connect_to(at);
    lab::set_reset_on_close(client.get());
    lab::descriptor server = lab::accept_connection(at.socket);

    server = lab::descriptor{-1};
    client = lab::descriptor{-1};
    at.socket = lab::descriptor{-1};

    // Without SO_REUSEADDR, binding to the server's port is what TIME-WAIT would forbid.
    const lab::descriptor again{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const auto* const address = reinterpret_cast<const sockaddr*>(&at.address);
    CHECK(::bind(again.get(), address, sizeof(at.address)) == 0);
}
