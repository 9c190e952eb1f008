// SPDX-License-Identifier: BSL-1.0
//
// HTTP over TLS by the two layers themselves, without the one above them (gyre::web).
//
//     secure_quotes 127.0.0.1:8443 CHAIN.pem KEY.pem
//     curl --cacert AUTHORITY.pem https://localhost:8443/quotes/north
//
// SIGTERM ends the intake; answers that are under way are finished, and other connections are closed.
// docs/guide/http.md explains.
#include <gyre/gyre.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http/serve_connection.hpp>
#include <gyre/tls/stream.hpp>

#include <cstdio>
#include <string>
#include <utility>

namespace http = gyre::http;

gyre::task<http::response> show_quote(http::request& what) {
    const std::string place = what.parameter("place").value_or("");
    if (place != "north") co_return http::response{http::status::not_found};
    co_return http::response{http::status::ok, "text/plain", http::static_text{"101\n"}};
}

http::handler service() {
    http::router routes;
    routes.add(http::method::get, "/quotes/{place}", show_quote);
    return std::move(routes).build();
}

// snippet: secure_session
// What all connections share.
struct secure_site {
    gyre::tls::context settings;  // Its `protocols` are {"http/1.1"}.
    http::handler serves;
    http::connection_options options;
    http::connection_hooks hooks;
};

gyre::task<> talk(gyre::tcp_socket peer, const secure_site& here) {
    http::connection_options options = here.options;
    options.scheme = "https";
    if (const auto remote = peer.remote_endpoint(); remote.ok()) {
        options.peer = remote.value().to_string();
    }
    // Idle: a drain does not wait for a client that has not shaken hands.
    auto accepted =
        co_await gyre::idle(gyre::tls::accept(gyre::any_stream{std::move(peer)}, here.settings));
    if (!accepted.ok()) co_return;
    gyre::any_stream stream{accepted.take()};
    static_cast<void>(
        co_await http::serve_connection(std::move(stream), here.serves, options, here.hooks));
}
// end of snippet

gyre::task<gyre::io_result<>> secure_quotes(gyre::endpoint local, gyre::tls::identity paths) {
    auto certificates = co_await gyre::read_file(paths.certificates);
    if (!certificates.ok()) co_return certificates.error();
    auto key = co_await gyre::read_file(paths.private_key);
    if (!key.ok()) co_return key.error();
    gyre::tls::server_options options;
    options.identities.emplace_back(certificates.take(), key.take());
    options.protocols = {"http/1.1"};
    const auto made = gyre::tls::context::server(options);
    if (!made.ok()) co_return made.error();
    secure_site here;
    here.settings = made.value();
    here.serves = service();

    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();
    auto acceptor = listening.take();
    const auto bound = acceptor.local_endpoint();
    if (!bound.ok()) co_return bound.error();
    std::printf("listening on %s\n", bound.value().to_string().c_str());
    std::fflush(stdout);

    const auto session = [&here](gyre::tcp_socket peer) { return talk(std::move(peer), here); };
    const auto ended = co_await gyre::serve(std::move(acceptor), session);
    co_return ended;
}

int main(int count, char** arguments) {
    const auto local = gyre::endpoint::parse(count == 4 ? arguments[1] : "");
    if (!local.ok()) {
        std::fputs("usage: secure_quotes ADDRESS:PORT CHAIN.pem KEY.pem\n", stderr);
        return 2;
    }
    return gyre::run_until_signal(secure_quotes(local.value(), {arguments[2], arguments[3]}));
}
