// SPDX-License-Identifier: BSL-1.0
//
// A write that is awaited later, of a string that is gone by then; g++ has no warning of it.
//
// must not compile: will be destroyed at the end of the full-expression
#include <gyre/coro/task.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/stream/algorithms.hpp>

#include <string>

// snippet: keep_write_of_temporary
gyre::task<> send(gyre::stream_socket& peer, int number) {
    auto later = gyre::write_all(peer, gyre::bytes_of("number " + std::to_string(number)));
    static_cast<void>(co_await later);
}
// end of snippet
