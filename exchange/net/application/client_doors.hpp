// SPDX-License-Identifier: BSL-1.0
//
// The doors of a gateway or a distributor: one for each transport that its clients speak.
#pragma once

#include <exchange/net/application/client_door.hpp>
#include <exchange/net/session/served_client.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace exchange {

struct client_doors_options {
    gyre::endpoint tcp;        ///< Where clients connect; port 0 lets the kernel choose.
    gyre::endpoint websocket;  ///< Where clients of WebSocket do; nowhere, if there are none.
    std::size_t connections_max = 1024;  ///< At each door.
    soup_framer_options framing{.payload_bytes_max = 2048, .buffer_bytes_max = 16 * 1024};
    websocket_options websockets{};
    std::shared_ptr<channel_security>
        security{};  ///< Of all connections; null: nothing secures them.
    /// Where texts are kept that many clients are told alike; null: nowhere.
    std::shared_ptr<said_texts> said{};
    /// Of what is written to a client, so many bytes wait in the kernel (SO_SNDBUF, which Linux doubles); 0:
    /// as many as the system likes, which grows to megabytes for a client that reads late.
    int kernel_send_bytes = 0;
    gyre::duration timer_tick = std::chrono::milliseconds{50};  ///< How exact heartbeats are.
    gyre::duration linger = std::chrono::seconds{2};  ///< For a client to read our last words.
    inherited_listeners* inherited =
        nullptr;  ///< For doors that are among these. Borrowed, or null.

    [[nodiscard]] transport_options transports() const {
        return {.framing = framing, .websocket = websockets, .said = said, .security = security};
    }
};

/// @tparam  X           A side of the seam.
/// @tparam  Client      A client_machine.
/// @tparam  Websockets  What carries sessions of WebSocket: a frame_transport<X>; void if nothing does.
///
/// Threads:  that of the context.
/// Cost:     Memory for each client that connects.
template <executor_traits X, class Client, class Websockets = void>
class client_doors {
public:
    /// @param  context  Borrowed; outlives this.
    /// @param  host     Borrowed; outlives this.
    client_doors(typename X::context& context, typename Client::host_type& host,
                 const client_doors_options& options)
        : context_{context},
          options_{options},
          shared_{context, host, options.transports(), options.linger},
          tcp_{context, shared_, options.connections_max, options.timer_tick},
          websockets_{context, shared_, options.connections_max, options.timer_tick} {}
    client_doors(const client_doors&) = delete;
    client_doors& operator=(const client_doors&) = delete;

    /// The sockets of both doors.
    struct listening {
        door_socket<X> tcp;
        door_socket<X> websocket;
    };

    /// Listens: clients wait for `open`.
    ///
    /// Errors:  what the kernel says; `not_supported`, if WebSocket is not spoken, or cannot be secured.
    [[nodiscard]] gyre::io_result<listening> listen() const {
        if (std::is_void_v<Websockets> && options_.websocket.kind() != gyre::endpoint::family::none)
            return gyre::error{gyre::errc::not_supported, gyre::activity::listen};
        if (options_.security != nullptr && !can_secure_websockets() &&
            options_.websocket.kind() != gyre::endpoint::family::none)
            return gyre::error{gyre::errc::not_supported, gyre::activity::listen};
        auto [failed, tcp] = door_socket<X>::open(context_, options_.tcp, options_.inherited);
        if (failed) return failed;
        auto [refused, websocket] =
            door_socket<X>::open(context_, options_.websocket, options_.inherited);
        if (refused) return refused;
        for (door_socket<X>* each : {&tcp, &websocket})
            if (const auto [unset] = bound_what_waits(*each); unset) return unset;
        return listening{std::move(tcp), std::move(websocket)};
    }

    /// Lets clients in from here on.
    void open(listening at) {
        tcp_.open(std::move(at.tcp));
        websockets_.open(std::move(at.websocket));
    }

    /// Lets no client in any more; those that are here stay.
    void close() noexcept {
        tcp_.close();
        websockets_.close();
    }

    /// Ends everything. The context runs out of work.
    void stop() noexcept {
        tcp_.stop();
        websockets_.stop();
    }

    /// Does what is due.
    ///
    /// @return When to call again; `never` if no door was opened.
    [[nodiscard]] gyre::time_point on_tick(gyre::time_point now) noexcept {
        return std::min(tcp_.on_tick(now), websockets_.on_tick(now));
    }

    /// Where clients connect, once open.
    [[nodiscard]] const gyre::endpoint& tcp() const noexcept { return tcp_.at(); }
    /// Where clients of WebSocket do; nowhere, if there is no such place.
    [[nodiscard]] const gyre::endpoint& websocket() const noexcept { return websockets_.at(); }
    /// How many are here, logged in or not.
    [[nodiscard]] std::size_t serving() const noexcept {
        return tcp_.serving() + websockets_.serving();
    }
    /// Has all ended that they began? Behind `stop`; then this may be destroyed.
    [[nodiscard]] bool over() const noexcept { return tcp_.over() && websockets_.over(); }
    /// Calls `look(client)` for each that is here.
    template <class Look>
    void for_each(const Look& look) const {
        const auto look_behind = [&look](const auto& each) { look(each.client()); };
        tcp_.for_each(look_behind);
        websockets_.for_each(look_behind);
    }

    /// Can the transport of WebSockets be secured? (The one of SoupBinTCP always can.)
    [[nodiscard]] static constexpr bool can_secure_websockets() noexcept {
        if constexpr (std::is_void_v<Websockets>) return false;
        else return Websockets::can_be_secured;
    }

private:
    /// Connections have what their listener has.
    [[nodiscard]] gyre::io_result<> bound_what_waits(door_socket<X>& of) const {
        if (options_.kernel_send_bytes == 0 || !of.acceptor.is_open()) return {};
        return of.acceptor.set_option(gyre::send_buffer{options_.kernel_send_bytes});
    }

    template <class Of, class Transport>
    using connection = served_client<Of, Client, Transport>;

    typename X::context& context_;
    client_doors_options options_;
    served_clients_state<X, Client> shared_;
    client_door<X, served_client<X, Client>> tcp_;
    typename door_of<X, connection, Websockets>::type websockets_;
};

}  // namespace exchange
