// SPDX-License-Identifier: BSL-1.0
//
// Which transport a test's clients speak: that of their side.
//
// Laws name a side and a facility and no transport. A side whose traits have another name
// (websocket_side.hpp) can have another transport, and all that is judged on it is then judged over that.
#pragma once

#include <exchange/codec/soup_framer.hpp>
#include <exchange/net/session/order_entry_client.hpp>
#include <exchange/net/transport/packet_stream.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace exchange::testing {

/// A raw client's bytes over TCP: packets as they are.
class soup_wire {
public:
    explicit soup_wire(const gyre::endpoint&) {}

    /// What is said before there is a connection for packets, and whether there is one.
    [[nodiscard]] static std::vector<std::byte> first_words() { return {}; }
    [[nodiscard]] static bool open() { return true; }

    /// What `packets` look like, whole ones, torn ones, or none.
    [[nodiscard]] static std::vector<std::byte> encoded(std::span<const std::byte> packets) {
        return {packets.begin(), packets.end()};
    }

    [[nodiscard]] std::span<std::byte> space() { return framer_.space(); }
    void received(std::size_t size) { framer_.received(size); }
    [[nodiscard]] soup_framed next() { return framer_.next(); }
    /// Has the other side said that nothing follows?
    [[nodiscard]] static bool ended() { return false; }

private:
    soup_framer framer_;
};

template <class X>
struct transport_of {
    using type = packet_stream<X>;
    using wire = soup_wire;

    [[nodiscard]] static order_entry_client_options adapt(const order_entry_client_options& from) {
        return from;
    }
};

}  // namespace exchange::testing
