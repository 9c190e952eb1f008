// SPDX-License-Identifier: BSL-1.0
//
// The sockets that a facility opens before it begins, all of them or none.
//
// Pipelines wait on them in their own ways; where they stand and what may go wrong is the same.
#pragma once

#include <exchange/net/application/client_door.hpp>
#include <exchange/net/application/facility_options.hpp>
#include <exchange/net/executor_traits.hpp>

#include <string_view>
#include <utility>

namespace exchange {

/// @tparam  X  A side of the seam.
template <executor_traits X>
struct facility_sockets {
    door_socket<X> order_entry;
    door_socket<X> websocket;
    door_socket<X> gateways;
    typename X::udp_socket feed;      ///< Sends the feed.
    typename X::udp_socket requests;  ///< Hears requests for retransmission.
    gyre::endpoint feed_requests;     ///< Where `requests` is.

    /// Errors:  those of listening and binding, of joining `feed_interface`: what the kernel says.
    [[nodiscard]] static gyre::io_result<facility_sockets> open(typename X::context& on,
                                                                const facility_options& options) {
        auto [listening, order_entry] =
            door_socket<X>::open(on, options.order_entry, options.inherited);
        if (listening) return listening;
        auto [opening, websocket] = door_socket<X>::open(on, options.websocket, options.inherited);
        if (opening) return opening;
        auto [admitting, gateways] =
            door_socket<X>::open(on, options.gateways.at, options.inherited);
        if (admitting) return admitting;
        auto [requesting, requests] = X::bind(on, options.feed_requests, {});
        if (requesting) return requesting;
        auto [binding, feed] = X::bind(on, options.feed_from, {});
        if (binding) return binding;
        if (const auto [routing] = route(feed, options.feed_interface); routing) return routing;
        const auto [naming, requests_at] = requests.local_endpoint();
        if (naming) return naming;
        return facility_sockets{std::move(order_entry), std::move(websocket), std::move(gateways),
                                std::move(feed),        std::move(requests),  requests_at};
    }

private:
    [[nodiscard]] static gyre::io_result<> route(typename X::udp_socket& feed,
                                                 std::string_view through) {
        if (through.empty()) return {};
        const auto [missing, interface] = feed.find_interface(through);
        if (missing) return missing;
        return feed.set_multicast_interface(interface);
    }
};

}  // namespace exchange
