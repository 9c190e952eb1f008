// SPDX-License-Identifier: BSL-1.0
//
// The same with several loops.
//
// must not compile: a session is a coroutine gyre::task<>.gyre::stream_socket
#include <gyre/io/serve_pool.hpp>

gyre::task<int> talk(gyre::stream_socket peer);

gyre::task<> serve_badly(gyre::io_pool& pool, gyre::stream_acceptor listening) {
    const auto served = co_await gyre::serve(pool, std::move(listening), talk);
    static_cast<void>(served.ok());
}
