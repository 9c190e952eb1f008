// SPDX-License-Identifier: BSL-1.0
//
// An echo server for connections that are silent most of the time: a read borrows a buffer from the loop when
// something has arrived, so silent connections hold none (docs/decisions/0007-leases.md).
#include <lab/servers/gyre/server.hpp>

namespace {

gyre::task<> echo(gyre::tcp_socket peer, std::size_t) {
    for (;;) {
        auto arrived = co_await peer.read();
        if (!arrived.ok()) co_return;
        const gyre::buffer_lease message = arrived.take();
        const auto [failed, sent] = co_await gyre::write_all(peer, message.bytes());
        if (failed) co_return;
    }
}

}  // namespace

int servers::serve_echo(const job& wanted) { return serve(wanted, echo); }
