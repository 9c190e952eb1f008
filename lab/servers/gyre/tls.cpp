// SPDX-License-Identifier: BSL-1.0
//
// The server of `tls`: bytes over the library's own TLS.
#include <lab/servers/gyre/server.hpp>
#include <lab/servers/web.hpp>

#include <gyre/tls/stream.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace gyre;

tls::context settings;  // Of all threads; set before they begin.

task<> converse(tcp_socket peer, std::size_t) {
    auto accepted = co_await tls::accept(any_stream{std::move(peer)}, settings);
    if (!accepted.ok()) co_return;
    tls::stream stream = accepted.take();
    std::array<std::byte, 1024> space;
    std::size_t used = 0;
    for (;;) {
        const auto [ended, size] = co_await stream.read_some(mutable_buffer{space}.subspan(used));
        if (ended) break;
        used += size;
        std::string_view arrived = text_of(const_buffer{space}.first(used));
        bool closes = false;
        while (const auto asked = servers::next_bytes_request(arrived)) {
            const auto [failed, sent] =
                co_await write_all(stream, bytes_of(servers::bytes_answer(*asked)));
            if (failed) co_return;
            arrived.remove_prefix(asked->length);
            closes |= asked->closes;
        }
        if (closes) break;
        if (arrived.size() == space.size()) co_return;  // No request is so long.
        std::char_traits<char>::move(reinterpret_cast<char*>(space.data()), arrived.data(),
                                     arrived.size());
        used = arrived.size();
    }
    static_cast<void>(co_await stream.finish());
}

}  // namespace

int servers::serve_tls(const job& wanted) {
    tls::server_options options;
    options.identities.emplace_back(text_of_file(wanted.certificate).value_or(""),
                                    text_of_file(wanted.key).value_or(""));
    auto made = tls::context::server(options);
    if (!made.ok()) {
        std::fprintf(stderr, "gyre: %s\n", made.error().message().c_str());
        return 1;
    }
    settings = made.take();
    return serve(wanted, converse);
}
