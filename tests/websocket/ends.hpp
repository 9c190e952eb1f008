// SPDX-License-Identifier: BSL-1.0
//
// Two ends of a WebSocket in memory, and one end against a peer that a test plays by hand.
#pragma once

#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/test/world.hpp>
#include <gyre/websocket/connection.hpp>

#include <support/harness.hpp>
#include <websocket/bytes.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

namespace gyre::testing {

/// What both ends keep to; by default nothing is compressed.
[[nodiscard]] inline websocket::agreement deflated(bool context_kept) {
    websocket::deflate_agreement deflate;
    deflate.our_context_kept = deflate.peer_context_kept = context_kept;
    websocket::agreement made;
    made.deflate = deflate;
    return made;
}

/// A client and a server that agree, on a pipe that holds so many bytes each way.
struct both_ends {
    explicit both_ends(std::size_t capacity, const websocket::agreement& agreed = {},
                       const websocket::connection_options& options = {})
        : both_ends{memory_pipe{capacity}, agreed, options} {}

    websocket::connection client;
    websocket::connection server;

private:
    both_ends(memory_pipe pipe, const websocket::agreement& agreed,
              const websocket::connection_options& options)
        : client{any_stream{std::move(pipe.first)}, websocket::role::client, agreed, {}, options},
          server{any_stream{std::move(pipe.second)}, websocket::role::server, agreed, {}, options} {
    }
};

/// A connection, and its peer's end of the pipe.
struct one_end {
    explicit one_end(websocket::role we, const websocket::agreement& agreed = {},
                     const websocket::connection_options& options = {},
                     std::size_t capacity = std::size_t{1} << 20)
        : one_end{memory_pipe{capacity}, we, agreed, options} {}

    websocket::connection ours;
    memory_stream peer;

private:
    one_end(memory_pipe pipe, websocket::role we, const websocket::agreement& agreed,
            const websocket::connection_options& options)
        : ours{any_stream{std::move(pipe.first)}, we, agreed, {}, options},
          peer{std::move(pipe.second)} {}
};

/// Reads up to `size` bytes, fewer at the end of the stream.
[[nodiscard]] inline task<bytes> read_bytes(memory_stream& from, std::size_t size) {
    bytes made(size);
    const io_result<std::size_t> got = co_await read_exactly(from, mutable_buffer{made});
    made.resize(got.value());
    co_return made;
}

/// Runs `body` in a world, where time jumps.
template <class Body>
void in_a_world(Body&& body) {
    test::world world;
    test::machine& here = world.add("here");
    auto outcome = world.run(here, body(world), std::chrono::hours{24});
    CHECK_MESSAGE(outcome.ok(), outcome.text());
    if (outcome.ok()) outcome.take();
}

}  // namespace gyre::testing
