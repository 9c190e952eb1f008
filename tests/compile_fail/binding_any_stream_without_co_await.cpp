// SPDX-License-Identifier: BSL-1.0
//
// The parts of a read of an erased stream that is not awaited.
//
// must not compile: co_await is missing
#include <gyre/coro/task.hpp>
#include <gyre/stream/any_stream.hpp>

gyre::task<std::size_t> read_once(gyre::any_stream& peer, gyre::mutable_buffer into) {
    const auto [error, size] = peer.read_some(into);
    co_return error ? 0 : size;
}
