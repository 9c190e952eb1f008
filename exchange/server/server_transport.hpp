// SPDX-License-Identifier: BSL-1.0
//
// Transports that a gateway and a distributor share (TCP, TLS, WebSocket): options, listeners, and channels
// of packets to clients.
#pragma once

#include <exchange/net/application/inherited_listeners.hpp>
#include <exchange/net/transport/transport_options.hpp>
#include <exchange/transport/packet_channel.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/io/serve.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/tls/context.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace exchange {

/// Receives a peer whose connection could not be secured, with the reason for people. Must not throw.
using insecure_report = std::function<void(const gyre::endpoint& peer, std::string_view reason)>;

struct client_server_options {
    gyre::endpoint tcp;        ///< Where clients connect; port 0 lets the kernel choose.
    gyre::endpoint websocket;  ///< Where clients of WebSocket connect; nowhere, if there are none.
    std::size_t connections_max = 1024;  ///< At each of the two.
    soup_framer_options framing{.payload_bytes_max = 2048, .buffer_bytes_max = 16 * 1024};
    websocket_options websockets{};
    gyre::tls::context tls{};  ///< Secures all connections, if there is one.
    gyre::duration handshake_within = std::chrono::seconds{10};  ///< Set to the time for a login.
    insecure_report on_insecure{};                               ///< If it is not empty.
    /// Texts that are sent to many clients alike; null: none are kept.
    std::shared_ptr<said_texts> said{};
    /// Bytes to a client that wait in the kernel (SO_SNDBUF, which Linux doubles); 0: as many as the system
    /// likes, which grows to megabytes for a client that reads late.
    int kernel_send_bytes = 0;
    gyre::duration timer_tick = std::chrono::milliseconds{50};  ///< How exact heartbeats are.
    gyre::duration linger = std::chrono::seconds{2};  ///< For a client to read our last words.
    inherited_listeners* inherited =
        nullptr;  ///< Listeners to be used if they are at these addresses. Borrowed, or null.

    [[nodiscard]] transport_options transports() const {
        return {.framing = framing, .websocket = websockets, .said = said};
    }
};

/// Both listeners of a server.
struct client_listeners {
    gyre::tcp_acceptor tcp;
    gyre::tcp_acceptor websocket;
    gyre::endpoint tcp_at;
    gyre::endpoint websocket_at;

    /// Errors:  those of the kernel.
    [[nodiscard]] static gyre::io_result<client_listeners> open(gyre::io_context& on,
                                                                const client_server_options& how);
};

/// A channel to a client that has connected, secured if `how` says so.
///
/// @param  how  Borrowed until completion.
/// @return Null if it could not be secured, which was reported.
///
/// Cancellation:  null.
[[nodiscard]] gyre::task<std::unique_ptr<packet_channel>> accept_packets(
    gyre::stream_socket socket, const client_server_options& how, gyre::endpoint peer);

/// Session of a client. The channel is borrowed.
using channel_session = std::function<gyre::task<>(packet_channel&, const gyre::endpoint& peer)>;

/// Serves clients of WebSocket, at the path of `how` and in one of its subprotocols.
///
/// @param  how      Borrowed until completion.
/// @param  session  Called for each client.
///
/// Errors, cancellation, threads:  those of `web::serve_http`. A drain leaves sessions alone.
[[nodiscard]] gyre::task<gyre::io_result<>> serve_websockets(gyre::tcp_acceptor listener,
                                                             const client_server_options& how,
                                                             gyre::serve_options intake,
                                                             channel_session session);

}  // namespace exchange
