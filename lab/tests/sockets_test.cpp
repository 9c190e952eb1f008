// SPDX-License-Identifier: BSL-1.0
//
// A port that did not come back must not make the next contender look slow.
#include <lab/kit/sockets.hpp>

#include <doctest/doctest.h>

#include <sys/socket.h>
#include <unistd.h>

TEST_CASE("each listener accepts at a port of its own") {
    const auto all = lab::listen_on_loopback(2);
    REQUIRE(all.size() == 2);
    CHECK(all[0].port() != all[1].port());

    for (const lab::listener& each : all) {
        const lab::descriptor client = lab::connect_to(each.address);
        const lab::descriptor server = lab::accept_connection(each.socket);
        CHECK(server.get() >= 0);
    }
}

TEST_CASE("nothing remains of a connection that the server closed first") {
    lab::listener at = lab::listen_on_loopback();
    lab::descriptor client = lab::connect_to(at.address);
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

TEST_CASE("the two ends of a pair are connected") {
    for (const auto via : {lab::transport::tcp, lab::transport::unix_stream}) {
        const lab::connected_pair pair = lab::connect_pair(via);
        char received = 0;

        CHECK(::write(pair.client.get(), "x", 1) == 1);
        CHECK(::read(pair.server.get(), &received, 1) == 1);
        CHECK(received == 'x');
    }
}
