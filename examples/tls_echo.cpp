// SPDX-License-Identifier: BSL-1.0
//
// Echo over TLS, both ends.
//
//     tls_echo server 127.0.0.1:7443 CHAIN.pem KEY.pem
//     tls_echo client localhost 7443 AUTHORITY.pem hello
//
// The server reads its certificate and key again at SIGHUP, without a refused connection; SIGTERM ends it in
// order. docs/guide/tls.md explains.
#include <gyre/gyre.hpp>
#include <gyre/tls/stream.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

void complain(const char* of, gyre::error why, std::string_view details = {}) {
    std::fprintf(stderr, "%s: %s%s%.*s\n", of, why.message().c_str(), details.empty() ? "" : ": ",
                 static_cast<int>(details.size()), details.data());
}

// snippet: offload
gyre::task<> on_a_worker(std::function<void()> step) {
    static_cast<void>(co_await gyre::blocking(std::move(step)));
}

gyre::tls::stream_options careful() {
    gyre::tls::stream_options options;
    options.handshake_wait = 5s;
    options.handshake_steps = on_a_worker;  // The loop serves others meanwhile.
    return options;
}
// end of snippet

// snippet: session
gyre::task<> echo(gyre::tcp_socket peer, gyre::tls::context settings) {
    auto accepted =
        co_await gyre::tls::accept(gyre::any_stream{std::move(peer)}, settings, careful());
    auto [refused, stream] = std::move(accepted);
    if (refused) {
        complain("a client was refused", refused, stream.connection().failure());
        co_return;
    }
    std::array<std::byte, 4096> space;
    for (;;) {
        auto [end, size] = co_await stream.read_some(space);
        if (end) break;  // The peer has finished, or was cut off, or we are stopping.

        auto [failure, sent] = co_await gyre::write_all(stream, std::span(space).first(size));
        if (failure) co_return;
    }
    static_cast<void>(co_await gyre::shielded(stream.finish(), 10s));
}
// end of snippet

// snippet: reload
gyre::task<gyre::io_result<gyre::tls::identity>> read_identity(gyre::tls::identity paths) {
    auto certificates = co_await gyre::read_file(paths.certificates);
    if (!certificates.ok()) co_return certificates.error();
    auto key = co_await gyre::read_file(paths.private_key);
    if (!key.ok()) co_return key.error();
    co_return gyre::tls::identity{certificates.take(), key.take()};
}

gyre::task<> reload_on_hangup(gyre::signal_set& hangup, gyre::tls::context settings,
                              gyre::tls::identity paths) {
    for (;;) {
        auto [failed, signal] = co_await gyre::idle(hangup.wait());
        if (failed) co_return;

        auto read = co_await read_identity(paths);
        gyre::io_result<> reloaded = read.error();
        if (read.ok()) reloaded = settings.reload({read.take()});
        if (reloaded.ok()) {
            std::puts("new certificate");
        } else {
            complain("the old certificate stays", reloaded.error());
        }
        std::fflush(stdout);
    }
}
// end of snippet

gyre::task<gyre::io_result<>> tls_echo_server(gyre::endpoint local, gyre::tls::identity paths) {
    // snippet: server
    auto identity = co_await read_identity(paths);
    if (!identity.ok()) co_return identity.error();
    gyre::tls::server_options options;
    options.identities.push_back(identity.take());
    options.protocols = {"echo"};
    const auto made = gyre::tls::context::server(options);
    if (!made.ok()) co_return made.error();
    const gyre::tls::context settings = made.value();
    // end of snippet

    auto hangups = gyre::signal_set::open(*gyre::io_context::current(), {SIGHUP});
    if (!hangups.ok()) co_return hangups.error();
    gyre::signal_set hangup = hangups.take();
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();
    auto acceptor = listening.take();
    const auto bound = acceptor.local_endpoint();
    if (!bound.ok()) co_return bound.error();
    std::printf("listening on %s\n", bound.value().to_string().c_str());
    std::fflush(stdout);

    const auto session = [&settings](gyre::tcp_socket peer) {
        return echo(std::move(peer), settings);
    };
    const auto body = [&](gyre::task_group& group) -> gyre::task<gyre::io_result<>> {
        group.spawn(reload_on_hangup(hangup, settings, paths));
        const auto ended = co_await gyre::serve(std::move(acceptor), session);
        group.request_stop();
        co_return ended;
    };
    const auto ended = co_await gyre::with_group(body);
    co_return ended;
}

// snippet: client
gyre::task<gyre::io_result<>> tls_echo_client(std::string host, std::string service,
                                              std::string authority, std::string text) {
    auto trusted = co_await gyre::read_file(authority);
    if (!trusted.ok()) co_return trusted.error();
    gyre::tls::client_options options;
    options.authorities = trusted.take();
    options.system_authorities = false;
    options.protocols = {"echo"};
    const auto made = gyre::tls::context::client(options);
    if (!made.ok()) co_return made.error();

    auto connected = co_await gyre::connect_to(host, service);
    if (!connected.ok()) co_return connected.error();
    auto shaken =
        co_await gyre::tls::connect(gyre::any_stream{connected.take()}, made.value(), host);
    auto [failed, stream] = std::move(shaken);
    if (failed) {
        complain(host.c_str(), failed, stream.connection().failure());
        co_return failed;
    }
    auto [unsent, sent] = co_await gyre::write_all(stream, gyre::bytes_of(text));
    if (unsent) co_return unsent;
    const auto said = stream.shutdown_send();
    if (!said.ok()) co_return said;

    std::array<std::byte, 4096> space;
    for (;;) {
        auto [end, size] = co_await stream.read_some(space);
        if (end == gyre::errc::eof) break;  // Not tls_truncated: this is all of it.
        if (end) co_return end;
        std::fwrite(space.data(), 1, size, stdout);
    }
    const auto ended = co_await stream.finish();
    co_return ended;
}
// end of snippet

int main(int count, char** arguments) {
    const std::vector<std::string> words(arguments + 1, arguments + count);
    if (words.size() == 4 && words[0] == "server") {
        const auto local = gyre::endpoint::parse(words[1]);
        if (local.ok())
            return gyre::run_until_signal(tls_echo_server(local.value(), {words[2], words[3]}));
    } else if (words.size() == 5 && words[0] == "client") {
        return gyre::run_until_signal(tls_echo_client(words[1], words[2], words[3], words[4]));
    }
    std::fputs(
        "usage: tls_echo server ADDRESS:PORT CHAIN.pem KEY.pem\n"
        "       tls_echo client HOST PORT AUTHORITY.pem TEXT\n",
        stderr);
    return 2;
}
