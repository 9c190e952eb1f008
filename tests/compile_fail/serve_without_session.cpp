// SPDX-License-Identifier: BSL-1.0
//
// A session takes its connection by value; one that borrows is told so.
//
// must not compile: a session is a coroutine gyre::task<>.gyre::stream_socket
#include <gyre/io/serve.hpp>

gyre::task<> talk(gyre::stream_socket& peer);

gyre::task<> serve_badly(gyre::stream_acceptor listening) {
    const auto served = co_await gyre::serve(std::move(listening), talk);
    static_cast<void>(served.ok());
}
