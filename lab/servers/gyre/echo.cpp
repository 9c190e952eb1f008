// SPDX-License-Identifier: BSL-1.0
//
// An echo server: each connection has a buffer of its own.
#include <lab/servers/gyre/server.hpp>

#include <span>
#include <vector>

namespace {

gyre::task<> echo(gyre::tcp_socket peer, std::size_t buffer_bytes) {
    std::vector<std::byte> space(buffer_bytes);
    for (;;) {
        const auto [ended, size] = co_await peer.read_some(space);
        if (ended) co_return;
        const auto [failed, sent] = co_await gyre::write_all(peer, std::span{space}.first(size));
        if (failed) co_return;
    }
}

}  // namespace

int servers::serve_echo(const job& wanted) { return serve(wanted, echo); }
