// SPDX-License-Identifier: BSL-1.0
//
// The parts of a read that is not awaited.
//
// must not compile: co_await is missing
#include <gyre/coro/task.hpp>
#include <gyre/io/stream_socket.hpp>

// snippet: binding_without_co_await
gyre::task<std::size_t> read_once(gyre::stream_socket& peer, gyre::mutable_buffer into) {
    auto [error, size] = peer.read_some(into);
    co_return error ? 0 : size;
}
// end of snippet
