// SPDX-License-Identifier: BSL-1.0
//
// The server of `tls` on Boost.Asio's ssl::stream, with coroutines.
#include <lab/servers/asio_coroutine/server.hpp>
#include <lab/servers/web.hpp>

#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace asio_coroutine;

std::optional<asio::ssl::context> settings;  // Of all threads; set before they begin.

task converse(servers::stream peer, std::size_t) {
    asio::ssl::stream<servers::stream> stream{std::move(peer), *settings};
    const auto [refused] =
        co_await stream.async_handshake(asio::ssl::stream_base::server, result_of);
    if (refused) co_return;
    std::vector<char> space(1'024);
    std::size_t used = 0;
    for (bool closes = false; !closes;) {
        const auto into = asio::buffer(space) + used;
        const auto [ended, size] = co_await stream.async_read_some(into, result_of);
        if (ended) co_return;
        used += size;
        std::string_view arrived{space.data(), used};
        while (const auto asked = servers::next_bytes_request(arrived)) {
            const auto from = asio::buffer(servers::bytes_answer(*asked));
            const auto [failed, sent] = co_await asio::async_write(stream, from, result_of);
            if (failed) co_return;
            arrived.remove_prefix(asked->length);
            closes |= asked->closes;
        }
        used = arrived.size();
        std::char_traits<char>::move(space.data(), arrived.data(), used);
    }
    co_await stream.async_shutdown(result_of);
}

}  // namespace

int servers::serve_tls(const job& wanted) {
    settings.emplace(asio::ssl::context::tls_server);
    settings->use_certificate_chain_file(std::string{wanted.certificate});
    settings->use_private_key_file(std::string{wanted.key}, asio::ssl::context::pem);
    return serve<accept_all<converse>>(wanted);
}
