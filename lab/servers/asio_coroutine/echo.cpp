// SPDX-License-Identifier: BSL-1.0
//
// The echo server on Boost.Asio with coroutines: what comes on a connection goes back.
#include <lab/servers/asio_coroutine/server.hpp>

#include <vector>

namespace {

using namespace asio_coroutine;

task echo(servers::stream peer, std::size_t buffer_bytes) {
    std::vector<char> space(buffer_bytes);
    for (;;) {
        const auto [ended, size] = co_await peer.async_read_some(asio::buffer(space), result_of);
        if (ended) co_return;
        for (asio::const_buffer rest{space.data(), size}; rest.size() > 0;) {
            const auto [failed, sent] = co_await peer.async_write_some(rest, result_of);
            if (failed) co_return;
            rest += sent;
        }
    }
}

}  // namespace

int servers::serve_echo(const job& wanted) { return serve<accept_all<echo>>(wanted); }
