// SPDX-License-Identifier: BSL-1.0
//
// Connections of clients by the library's own servers: see server_transport.hpp.
#include <exchange/server/server_transport.hpp>

#include <exchange/transport/stream_packets.hpp>
#include <exchange/transport/websocket_messages.hpp>

#include <gyre/io/socket_options.hpp>
#include <gyre/tls/stream.hpp>
#include <gyre/web/server.hpp>
#include <gyre/websocket/upgrade.hpp>

#include <string>
#include <utility>

namespace exchange {

namespace {

namespace http = gyre::http;
namespace ws = gyre::websocket;

[[nodiscard]] gyre::io_result<gyre::tcp_acceptor> listen_at(gyre::io_context& on,
                                                            const gyre::endpoint& where,
                                                            const client_server_options& how) {
    if (where.kind() == gyre::endpoint::family::none) return gyre::tcp_acceptor{};
    const int there = how.inherited != nullptr ? how.inherited->take(where) : -1;
    auto listening = there >= 0
                         ? gyre::io_result<gyre::tcp_acceptor>{gyre::tcp_acceptor::adopt(on, there)}
                         : gyre::tcp_acceptor::listen(on, where);
    if (!listening.ok() || how.kernel_send_bytes == 0) return listening;
    gyre::tcp_acceptor made = listening.take();
    // Connections have what their listener has.
    if (const auto [unset] = made.set_option(gyre::send_buffer{how.kernel_send_bytes}); unset)
        return unset;
    return made;
}

[[nodiscard]] gyre::endpoint address_of(const gyre::tcp_acceptor& it) {
    return it.is_open() ? it.local_endpoint().value() : gyre::endpoint{};
}

void report(const client_server_options& how, const gyre::endpoint& peer, gyre::error why,
            std::string_view details) {
    if (!how.on_insecure || why == gyre::errc::canceled) return;
    how.on_insecure(peer, details.empty() ? std::string_view{why.message()} : details);
}

[[nodiscard]] session_format format_of(std::string_view subprotocol) noexcept {
    return subprotocol == subprotocol_of(session_format::json) ? session_format::json
                                                               : session_format::sbe;
}

[[nodiscard]] http::response refusal(http::status code, const std::string& why) {
    http::response made{code, why + '\n'};
    made.fields.set("content-type", "text/plain; charset=us-ascii");
    return made;
}

[[nodiscard]] ws::server_handshake_options handshake_of(const websocket_options& how) {
    ws::server_handshake_options made;
    for (const session_format each : {session_format::sbe, session_format::json})
        made.subprotocols.emplace_back(subprotocol_of(each));
    made.origins = how.origins;
    return made;
}

// Requests of a listener become channels.
class websocket_site {
public:
    websocket_site(const client_server_options& how, channel_session session)
        : how_{how}, session_{std::move(session)} {
        upgrade_.handshake = handshake_of(how.websockets);
        upgrade_.connection =
            websocket_bounds(how.transports(), session_format::json, soup_end::server);
        upgrade_.closes_at_drain = false;
    }

    [[nodiscard]] gyre::task<http::response> answer(http::request& asked) {
        if (asked.target() != how_.websockets.path)
            co_return refusal(http::status::not_found,
                              "there is nothing but " + how_.websockets.path);
        const ws::server_handshake offered =
            ws::answer_handshake(asked.method_text(), asked.fields, upgrade_.handshake);
        if (offered.failure == ws::handshake_failure::none && offered.agreed.subprotocol.empty())
            co_return refusal(http::status::bad_request,
                              std::string{"offer one of the subprotocols "} +
                                  subprotocol_of(session_format::sbe) + ", " +
                                  subprotocol_of(session_format::json));
        const gyre::endpoint peer = gyre::endpoint::parse(asked.peer()).value();
        co_return ws::upgrade(asked, upgrade_,
                              [this, peer](ws::connection& on) { return serve(on, peer); });
    }

private:
    gyre::task<> serve(ws::connection& on, gyre::endpoint peer) {
        const session_format format = format_of(on.agreement().subprotocol);
        websocket_messages channel{on, how_.transports(), format, soup_end::server,
                                   how_.tls ? "websocket, TLS" : "websocket"};
        co_await session_(channel, peer);
    }

    const client_server_options& how_;
    channel_session session_;
    ws::upgrade_options upgrade_;
};

}  // namespace

gyre::io_result<client_listeners> client_listeners::open(gyre::io_context& on,
                                                         const client_server_options& how) {
    auto [failed, tcp] = listen_at(on, how.tcp, how);
    if (failed) return failed;
    auto [refused, websocket] = listen_at(on, how.websocket, how);
    if (refused) return refused;
    client_listeners made;
    made.tcp_at = address_of(tcp);
    made.websocket_at = address_of(websocket);
    made.tcp = std::move(tcp);
    made.websocket = std::move(websocket);
    return made;
}

gyre::task<std::unique_ptr<packet_channel>> accept_packets(gyre::stream_socket socket,
                                                           const client_server_options& how,
                                                           gyre::endpoint peer) {
    gyre::any_stream on{std::move(socket)};
    if (how.tls) {
        gyre::tls::stream_options limits;
        limits.handshake_wait = how.handshake_within;
        auto secured = co_await gyre::tls::accept(std::move(on), how.tls, limits);
        if (!secured.ok()) {
            const gyre::tls::stream& failed = secured.value();
            report(how, peer, secured.error(), failed.connection().failure());
            co_return nullptr;
        }
        on = gyre::any_stream{secured.take()};
    }
    co_return std::make_unique<stream_packets>(std::move(on), how.framing,
                                               how.tls ? "soup, TLS" : "soup");
}

gyre::task<gyre::io_result<>> serve_websockets(gyre::tcp_acceptor listener,
                                               const client_server_options& how,
                                               gyre::serve_options intake,
                                               channel_session session) {
    websocket_site site{how, std::move(session)};
    gyre::web::server_options options;
    options.intake = std::move(intake);
    options.connection.head.bytes_max = how.websockets.head_bytes_max;
    options.connection.head_time_max = how.handshake_within;
    options.settings = how.tls;
    options.tls.handshake_wait = how.handshake_within;
    options.drain_time_max = gyre::duration::max();
    options.on_handshake_failed = [&how](gyre::error why, std::string_view details,
                                         const gyre::endpoint& peer) {
        report(how, peer, why, details);
    };
    const http::handler handle = [&site](http::request& asked) { return site.answer(asked); };
    const gyre::io_result<> served =
        co_await gyre::web::serve_http(std::move(listener), handle, std::move(options));
    co_return served;
}

}  // namespace exchange
