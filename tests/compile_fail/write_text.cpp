// SPDX-License-Identifier: BSL-1.0
//
// Text is no buffer by itself; the message names what makes it one.
//
// must not compile: gyre::bytes_of.text.
#include <gyre/coro/task.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/memory_pipe.hpp>

#include <string>

gyre::task<> greet(gyre::memory_stream& peer, std::string name) {
    const auto sent = co_await gyre::write_all(peer, name);
    static_cast<void>(sent.ok());
}
