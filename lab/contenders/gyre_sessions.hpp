// SPDX-License-Identifier: BSL-1.0
//
// Both ends of gyre's connections in `throughput` and `http`.
//
// What a connection does is the same on the one loop of gyre.cpp and on the several of
// gyre_threads.cpp, so that their rows can be compared.
#pragma once

#include <lab/fail.hpp>
#include <lab/load.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/stream/algorithms.hpp>

#include <cstdint>
#include <span>

namespace gyre_lab {

using gyre::io_context;
using gyre::stream_socket;
using gyre::task;

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.

struct socket_pair {
    socket_pair(io_context& loop, lab::transport via) : socket_pair{loop, lab::connect_pair(via)} {}
    socket_pair(io_context& loop, lab::connected_pair pair)
        : client{stream_socket::adopt(loop, pair.client.release())},
          server{stream_socket::adopt(loop, pair.server.release())} {}

    stream_socket client;
    stream_socket server;
};

struct direction {
    stream_socket& from;
    stream_socket& to;
    lab::outgoing_stream outgoing;
    lab::incoming_stream incoming;
};

inline task<> write_stream(direction& each) {
    auto next = each.outgoing.next();
    while (!next.empty()) {
        const auto sent = co_await each.from.write_some(next);
        lab::require(sent.ok(), "gyre: a write failed");
        each.outgoing.sent(sent.value());
        next = each.outgoing.next();
    }
}

inline task<> read_stream(direction& each) {
    auto space = each.incoming.space();
    while (!space.empty()) {
        const auto got = co_await each.to.read_some(space);
        lab::require(got.ok(), "gyre: a read failed");
        each.incoming.received(got.value());
        space = each.incoming.space();
    }
}

inline void begin(io_context& loop, direction& each, std::uint64_t size, lab::verification how) {
    each.outgoing.begin(size);
    each.incoming.begin(size, how);
    launch(loop, write_stream(each), gyre::or_terminate{});
    launch(loop, read_stream(each), gyre::or_terminate{});
}

struct http_connection {
    explicit http_connection(io_context& loop) : sockets{loop, lab::transport::tcp} {}

    socket_pair sockets;
    lab::http_inbox requests{lab::http_request};
    lab::http_inbox responses{lab::http_response};
};

inline task<> ask_requests(http_connection& connection, std::uint64_t requests,
                           lab::histogram& latency) {
    stream_socket& client = connection.sockets.client;
    lab::lap_timer timer{latency};
    for (std::uint64_t request = 0; request < requests; ++request) {
        const auto asked = co_await gyre::write_all(client, lab::bytes_of(lab::http_request));
        lab::require(asked.ok(), "gyre: a request failed");
        for (bool complete = false; !complete;) {
            const auto got = co_await client.read_some(connection.responses.space());
            lab::require(got.ok(), "gyre: a response failed");
            complete = connection.responses.received(got.value());
        }
        timer.lap();
    }
}

inline task<> answer_requests(http_connection& connection, std::uint64_t requests) {
    stream_socket& server = connection.sockets.server;
    for (std::uint64_t request = 0; request < requests; ++request) {
        for (bool complete = false; !complete;) {
            const auto got = co_await server.read_some(connection.requests.space());
            lab::require(got.ok(), "gyre: a request failed");
            complete = connection.requests.received(got.value());
        }
        const auto answered = co_await gyre::write_all(server, lab::bytes_of(lab::http_response));
        lab::require(answered.ok(), "gyre: a response failed");
    }
}

inline void begin(io_context& loop, http_connection& connection, std::uint64_t requests,
                  lab::histogram& latency) {
    launch(loop, answer_requests(connection, requests), gyre::or_terminate{});
    launch(loop, ask_requests(connection, requests, latency), gyre::or_terminate{});
}

}  // namespace gyre_lab
