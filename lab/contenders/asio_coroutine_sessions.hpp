// SPDX-License-Identifier: BSL-1.0
//
// Both ends of the connections of asio_coroutine in `throughput` and `http`.
//
// What a connection does is the same on the one thread of asio_coroutine.cpp and on the several of
// asio_coroutine_threads.cpp, so that their rows can be compared.
#pragma once

#include <lab/contenders/asio_sockets.hpp>

#include <lab/fail.hpp>
#include <lab/load.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>

namespace asio_lab {

using task = asio::awaitable<void, executor>;

// Unlike `detached`, ends the run when a coroutine ended with an exception.
inline void expect_success(std::exception_ptr error) {
    lab::require(!error, "asio: a coroutine threw");
}

// All parameters of coroutines in this file are borrowed: they outlive the run of the context.

struct direction {
    stream& from;
    stream& to;
    lab::outgoing_stream outgoing;
    lab::incoming_stream incoming;
};

inline task write_stream(direction& each) {
    auto next = each.outgoing.next();
    while (!next.empty()) {
        const std::size_t size =
            co_await each.from.async_write_some(buffer_of(next), asio::deferred);
        each.outgoing.sent(size);
        next = each.outgoing.next();
    }
}

inline task read_stream(direction& each) {
    auto space = each.incoming.space();
    while (!space.empty()) {
        const std::size_t size = co_await each.to.async_read_some(buffer_of(space), asio::deferred);
        each.incoming.received(size);
        space = each.incoming.space();
    }
}

inline void begin(asio::io_context& context, direction& each, std::uint64_t size,
                  lab::verification how) {
    each.outgoing.begin(size);
    each.incoming.begin(size, how);
    asio::co_spawn(context, write_stream(each), expect_success);
    asio::co_spawn(context, read_stream(each), expect_success);
}

struct http_connection {
    explicit http_connection(asio::io_context& context) : sockets{context, lab::transport::tcp} {}

    stream_pair sockets;
    lab::http_inbox requests{lab::http_request};
    lab::http_inbox responses{lab::http_response};
};

inline task ask_requests(http_connection& connection, std::uint64_t requests,
                         lab::histogram& latency) {
    stream& client = connection.sockets.client;
    lab::lap_timer timer{latency};
    for (std::uint64_t request = 0; request < requests; ++request) {
        for (auto left = lab::bytes_of(lab::http_request); !left.empty();) {
            const std::size_t size =
                co_await client.async_write_some(buffer_of(left), asio::deferred);
            left = left.subspan(size);
        }
        for (bool complete = false; !complete;) {
            const auto space = connection.responses.space();
            const std::size_t size =
                co_await client.async_read_some(buffer_of(space), asio::deferred);
            complete = connection.responses.received(size);
        }
        timer.lap();
    }
}

inline task answer_requests(http_connection& connection, std::uint64_t requests) {
    stream& server = connection.sockets.server;
    for (std::uint64_t request = 0; request < requests; ++request) {
        for (bool complete = false; !complete;) {
            const auto space = connection.requests.space();
            const std::size_t size =
                co_await server.async_read_some(buffer_of(space), asio::deferred);
            complete = connection.requests.received(size);
        }
        for (auto left = lab::bytes_of(lab::http_response); !left.empty();) {
            const std::size_t size =
                co_await server.async_write_some(buffer_of(left), asio::deferred);
            left = left.subspan(size);
        }
    }
}

inline void begin(asio::io_context& context, http_connection& connection, std::uint64_t requests,
                  lab::histogram& latency) {
    asio::co_spawn(context, answer_requests(connection, requests), expect_success);
    asio::co_spawn(context, ask_requests(connection, requests, latency), expect_success);
}

}  // namespace asio_lab
