// SPDX-License-Identifier: BSL-1.0
//
// The order entry gateway: listeners for clients, the link to the facility, and time.
//
// The meaning of packets is gateway_host.hpp's and session/gateway_client.hpp's.
#pragma once

#include <exchange/net/application/gateway_host.hpp>
#include <exchange/net/session/gateway_client.hpp>
#include <exchange/server/client_server.hpp>

#include <gyre/coro/task.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/sync/event.hpp>

#include <chrono>

namespace exchange {

struct gateway_options {
    client_server_options clients{};  ///< Where clients connect.
    gyre::endpoint facility;          ///< Where the facility listens for gateways.
    gyre::duration connect_within = std::chrono::seconds{2};         ///< Then it is tried again.
    gyre::duration reconnect_after = std::chrono::milliseconds{10};  ///< Doubles with each failure,
    gyre::duration reconnect_after_max = std::chrono::seconds{1};    ///< up to this.
    /// After another gateway of our name has taken the link: time until we take it back. Doubles each time
    /// in a row, so that two that were given one name by mistake do not go on like that.
    gyre::duration take_back_after = std::chrono::seconds{1};
    gyre::duration take_back_after_max = std::chrono::minutes{1};  ///< Up to this.
    /// True if clients are let in once the facility has welcomed this gateway. For a gateway that is to
    /// replace another one, and listens with the same sockets: until then that one serves all that connect.
    bool opens_with_link = false;
};

/// Threads:  the loop's.
/// Cost:     Memory for each client that connects.
class order_entry_gateway final : private gateway_link_writer {
public:
    /// @param  host  Borrowed; outlives this.
    order_entry_gateway(gateway_host& host, const gateway_options& options);
    order_entry_gateway(const order_entry_gateway&) = delete;
    order_entry_gateway& operator=(const order_entry_gateway&) = delete;

    /// Listens; clients wait until `serve`.
    ///
    /// @param  on  Borrowed; outlives this.
    ///
    /// Errors:  those of the kernel. An absent facility is no error.
    [[nodiscard]] gyre::io_result<> listen(gyre::io_context& on);

    /// Serves clients, and keeps the link.
    ///
    /// Errors:        those of accepting clients.
    /// Cancellation:  a drain lets no client in any more. Those that are here stay as long as the link does,
    ///                which is not made again, so that a gateway that takes our place by its link has our
    ///                clients come to it. It returns when the last one has left. A stop ends all.
    /// Threads:       the loop's. Once.
    /// Cost:          frames for each client; no allocation for a message once warm.
    [[nodiscard]] gyre::task<gyre::io_result<>> serve();

    /// In a drain: clients that are still here are asked to log in again, and leave when they have read that.
    /// The link is cut, since they end with it.
    void send_away() noexcept {
        sent_away_ = true;
        cut_link();
    }

    /// Where clients connect, once it listens.
    [[nodiscard]] const gyre::endpoint& order_entry() const noexcept { return clients_.tcp(); }
    /// Where clients of WebSocket connect; nowhere, if there is no such place.
    [[nodiscard]] const gyre::endpoint& websocket() const noexcept { return clients_.websocket(); }

    /// Clients that are connected, logged in or not.
    [[nodiscard]] std::size_t clients() const noexcept { return clients_.clients(); }
    /// Calls `look(gateway_client)` for each.
    template <class Look>
    void for_each_client(const Look& look) {
        clients_.for_each(look);
    }

private:
    void link_has_output() noexcept override { link_output_.set(); }

    gyre::task<gyre::io_result<>> serve_clients();
    gyre::task<> heed_drain();
    gyre::task<> keep_time();
    gyre::task<> keep_link();
    gyre::task<> serve_link(gyre::stream_socket link);
    gyre::task<> receive_frames(gyre::stream_socket& link);
    gyre::task<> send_frames(gyre::stream_socket& link);
    void end_link_in_time(gyre::time_point now) noexcept;
    void cut_link() noexcept {
        if (link_group_ != nullptr) link_group_->request_stop();
    }

    gateway_host& host_;
    gateway_options options_;
    gyre::io_context* on_ = nullptr;  // Since `listen`.
    client_server<gateway_client> clients_;
    gyre::event opened_;  // Clients may come.
    gyre::event link_output_;
    link_framer link_frames_;
    gyre::task_group* link_group_ = nullptr;  // While there is a link.
    gyre::time_point link_over_since_ = gyre::never;
    bool sent_away_ = false;
};

}  // namespace exchange
