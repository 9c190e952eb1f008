// SPDX-License-Identifier: BSL-1.0
//
// The listeners of a gateway or a distributor, and a session for each client: SoupBinTCP at one address,
// WebSocket at another, both secured or neither.
#pragma once

#include <exchange/net/application/inherited_listeners.hpp>
#include <exchange/server/client_session.hpp>
#include <exchange/server/server_transport.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/serve.hpp>
#include <gyre/sync/task_group.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

namespace exchange {

/// @tparam  Machine  A client_machine.
///
/// Threads:  the loop's.
/// Cost:     Memory for each client that connects.
template <client_machine Machine>
class client_server {
public:
    /// @param  host  Borrowed; outlives this.
    client_server(typename Machine::host_type& host, const client_server_options& options)
        : host_{host}, options_{options} {
        options_.handshake_within = host.options().sessions.login_within;
    }
    client_server(const client_server&) = delete;
    client_server& operator=(const client_server&) = delete;

    /// Listens: clients wait for `serve`.
    ///
    /// @param  on  Borrowed; outlives this.
    ///
    /// Errors:  those of the kernel.
    [[nodiscard]] gyre::io_result<> listen(gyre::io_context& on) {
        on_ = &on;
        auto [failed, listening] = client_listeners::open(on, options_);
        if (failed) return failed;
        listening_ = std::move(listening);
        return {};
    }

    /// Serves clients until it is drained and the last one has left, or it is stopped.
    ///
    /// Errors:        those of accepting.
    /// Cancellation:  a drain lets no client in any more; a stop ends all sessions, too.
    /// Threads:       the loop's.
    /// Cost:          as `gyre::serve`.
    [[nodiscard]] gyre::task<gyre::io_result<>> serve() {
        gyre::error failed;
        const auto body = [this, &failed](gyre::task_group& group) -> gyre::task<> {
            if (listening_.tcp.is_open())
                group.spawn(
                    gyre::serve(std::move(listening_.tcp), plain_session(), intake(streams_)));
            if (listening_.websocket.is_open())
                group.spawn(serve_websockets(std::move(listening_.websocket), options_,
                                             intake(websockets_), channel_sessions()));
            co_await group.join();
            failed = group.first_error();
        };
        co_await gyre::with_group(body, gyre::group_options{gyre::group_mode::stop_on_first_error});
        co_return failed;
    }
    /// Closes listeners that `serve` has not begun to serve.
    void leave() noexcept { listening_ = {}; }

    /// Has sessions do what is due.
    ///
    /// @return When to call again.
    [[nodiscard]] gyre::time_point on_tick(gyre::time_point now) noexcept {
        return std::min(streams_.on_tick(now, options_.timer_tick),
                        websockets_.on_tick(now, options_.timer_tick));
    }

    /// Where clients connect, once it listens.
    [[nodiscard]] const gyre::endpoint& tcp() const noexcept { return listening_.tcp_at; }
    /// Where clients of WebSocket connect; nowhere, if there is no such place.
    [[nodiscard]] const gyre::endpoint& websocket() const noexcept {
        return listening_.websocket_at;
    }
    /// Clients that are connected, logged in or not.
    [[nodiscard]] std::size_t clients() const noexcept {
        return streams_.size() + websockets_.size();
    }
    /// Calls `look(machine)` for each.
    template <class Look>
    void for_each(const Look& look) {
        const auto look_behind = [&look](connected_client& each) {
            look(static_cast<client_session<Machine>&>(each).machine());
        };
        streams_.for_each(look_behind);
        websockets_.for_each(look_behind);
    }

private:
    [[nodiscard]] gyre::serve_options intake(client_registry& among) {
        gyre::serve_options made;
        made.connections_max = options_.connections_max;
        made.exhausted_pause = options_.timer_tick;
        made.on_full = [&among, tick = options_.timer_tick]() -> gyre::duration {
            among.make_room();
            return tick;
        };
        return made;
    }
    [[nodiscard]] auto plain_session() {
        return [this](gyre::stream_socket socket) -> gyre::task<> {
            return serve_stream(std::move(socket));
        };
    }
    [[nodiscard]] channel_session channel_sessions() {
        return [this](packet_channel& on, const gyre::endpoint& peer) -> gyre::task<> {
            return serve_channel(on, peer);
        };
    }
    gyre::task<> serve_stream(gyre::stream_socket socket) {
        const auto [unknown, where] = socket.remote_endpoint();
        const gyre::endpoint peer = unknown ? gyre::endpoint{} : where;
        client_session<Machine> session{streams_, *on_, host_, peer, options_.linger};
        const auto open = [&]() -> gyre::task<std::unique_ptr<packet_channel>> {
            return accept_packets(std::move(socket), options_, peer);
        };
        co_await session.serve(open);
    }
    gyre::task<> serve_channel(packet_channel& channel, gyre::endpoint peer) {
        client_session<Machine> session{websockets_, *on_, host_, peer, options_.linger};
        co_await session.serve(channel);
    }

    typename Machine::host_type& host_;
    client_server_options options_;
    gyre::io_context* on_ = nullptr;  // Since `listen`.
    client_listeners listening_;
    client_registry streams_;     // Clients make room at their own listener only.
    client_registry websockets_;  // Those that have sent their request.
};

}  // namespace exchange
