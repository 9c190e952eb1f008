// SPDX-License-Identifier: BSL-1.0
//
// What scanners and other judges talk to: a server that answers requests of HTTP, and a client of one.
//
//     tls_testee server 127.0.0.1:9443 CHAIN.pem KEY.pem
//     tls_testee client 127.0.0.1:9443 HOST AUTHORITY.pem REVOCATIONS.pem
//
// Both have the default settings, but for files and the name of HTTP. Requests are read by hand, so that what
// is judged is this layer alone; each ends its connection.
#include <gyre/gyre.hpp>
#include <gyre/tls/stream.hpp>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace gyre;
using namespace std::chrono_literals;

constexpr std::size_t head_bytes_max = 16 * 1024;

std::string text_of_file(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

task<> answer(tls::stream& stream) {
    buffered_reader<tls::stream> reader{stream, head_bytes_max};
    const auto got = co_await with_timeout(10s, reader.read_until("\r\n\r\n"));
    if (!got.ok()) co_return;
    const std::string text =
        "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n";
    static_cast<void>(co_await write_all(stream, bytes_of(text)));
}

task<> serve_one(stream_socket peer, tls::context settings) {
    auto accepted = co_await tls::accept(any_stream{std::move(peer)}, settings);
    auto [refused, stream] = std::move(accepted);
    if (refused) {
        const std::string details{stream.connection().failure()};
        std::printf("%s: %s\n", refused.message().c_str(), details.c_str());
        co_return;
    }
    co_await answer(stream);
    const auto ended = co_await stream.finish();
    if (!ended.ok()) std::printf("at the end: %s\n", ended.error().message().c_str());
}

task<io_result<>> serve_all(endpoint local, tls::identity files) {
    tls::server_options options;
    options.identities.push_back(std::move(files));
    options.protocols = {"http/1.1"};
    const auto made = tls::context::server(options);
    if (!made.ok()) co_return made.error();
    const tls::context settings = made.value();
    auto listening = co_await tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();
    const auto session = [&settings](stream_socket peer) {
        return serve_one(std::move(peer), settings);
    };
    const auto ended = co_await serve(listening.take(), session);
    co_return ended;
}

task<io_result<>> ask(tls::stream& stream, std::string host) {
    const std::string request = "GET / HTTP/1.0\r\nHost: " + host + "\r\n\r\n";
    auto [unsent, sent] = co_await write_all(stream, bytes_of(request));
    if (unsent) co_return unsent;
    std::array<std::byte, 4096> space;
    for (;;) {
        auto [end, size] = co_await stream.read_some(space);
        if (end == errc::eof) co_return io_result<>{};
        if (end) co_return end;
    }
}

task<io_result<>> fetch(endpoint server, std::string host, tls::client_options options) {
    const auto made = tls::context::client(std::move(options));
    if (!made.ok()) co_return made.error();
    auto connected = co_await stream_socket::connect(server);
    if (!connected.ok()) co_return connected.error();
    auto shaken = co_await tls::connect(any_stream{connected.take()}, made.value(), host);
    auto [failed, stream] = std::move(shaken);
    error ended = failed;
    if (!ended) {
        const auto asked = co_await ask(stream, host);
        ended = asked.error();
    }
    const std::string details{stream.connection().failure()};
    if (!details.empty()) std::fprintf(stderr, "%s\n", details.c_str());
    co_return ended;
}

}  // namespace

int main(int count, char** arguments) {
    const std::vector<std::string> words(arguments + 1, arguments + count);
    const auto where = gyre::endpoint::parse(words.size() > 1 ? words[1] : "");
    if (where.ok() && words.size() == 4 && words[0] == "server") {
        gyre::tls::identity files{text_of_file(words[2]), text_of_file(words[3])};
        return gyre::run_until_signal(serve_all(where.value(), std::move(files)));
    }
    if (where.ok() && words.size() == 5 && words[0] == "client") {
        gyre::tls::client_options options;
        options.system_authorities = false;
        options.authorities = text_of_file(words[3]);
        options.revocations = text_of_file(words[4]);
        options.revoked = gyre::tls::revocation::of_chain;
        return gyre::run_until_signal(fetch(where.value(), words[2], std::move(options)));
    }
    std::fprintf(stderr,
                 "usage: tls_testee server ADDRESS:PORT CHAIN KEY\n"
                 "       tls_testee client ADDRESS:PORT HOST AUTHORITY REVOCATIONS\n");
    return 2;
}
