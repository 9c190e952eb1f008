// SPDX-License-Identifier: BSL-1.0
//
// A stranger's program on gyre::tls: says hello to a peer that speaks no TLS.
#include <gyre/gyre.hpp>
#include <gyre/tls/stream.hpp>

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

gyre::task<> refuse(gyre::memory_stream client) {
    std::array<std::byte, 1> first{};
    static_cast<void>(co_await client.read_some(first));
    std::printf("record of type %d, ", std::to_integer<int>(first[0]));
    constexpr std::string_view answer = "HTTP/1.1 400 Bad Request\r\n\r\n";
    static_cast<void>(co_await gyre::write_all(client, gyre::bytes_of(answer)));
}

gyre::task<> ask(gyre::memory_stream server) {
    gyre::tls::client_options options;
    options.system_authorities = false;
    options.servers = gyre::tls::server_check::none;
    const auto settings = gyre::tls::context::client(options);
    if (!settings.ok()) {
        std::printf("no settings: %s\n", settings.error().message().c_str());
        co_return;
    }
    const gyre::tls::context chosen = settings.value();
    auto shaken =
        co_await gyre::tls::connect(gyre::any_stream{std::move(server)}, chosen, "localhost");
    std::printf("%s\n", shaken.error() == gyre::errc::tls_malformed ? "no TLS" : "something else");
}

gyre::task<> both() {
    gyre::memory_pipe pipe{4096};
    co_await gyre::when_all(ask(std::move(pipe.first)), refuse(std::move(pipe.second)));
}

int main() { gyre::run(both()); }
