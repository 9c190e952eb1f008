// SPDX-License-Identifier: BSL-1.0
//
// What the network between the machines of a world does to what it carries.
//
// The defaults are a network that loses nothing and takes no time; a test sets what it is about.
// world.hpp has the machines.
#pragma once

#include <gyre/base/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace gyre::test {

/// One direction between two machines. Within a machine nothing is delayed or lost.
struct link_options {
    link_options() noexcept = default;

    duration latency{};  ///< From one machine to the other.
    duration jitter{};   ///< Up to so much more, drawn for each packet. Streams stay in order.

    /// What a packet takes of the line before the next one begins; 0: nothing.
    std::uint64_t bytes_per_second = 0;

    // Chances from 0 to 1, drawn for each packet.
    double loss = 0;         ///< What is lost of a stream comes 200 ms later, 16 times at most.
    double duplication = 0;  ///< Datagrams only.
    double reordering =
        0;  ///< Datagrams only: it is late by `reordering_delay`, others overtake it.
    duration reordering_delay = std::chrono::milliseconds{10};

    std::size_t mtu = 65'535;  ///< Datagrams of more bytes are lost.
};

/// What a machine has room for.
struct machine_options {
    machine_options() noexcept = default;

    int descriptors_max = 1024;               ///< Then opening fails, as by RLIMIT_NOFILE.
    std::size_t send_buffer = 128 * 1024;     ///< Bytes, of each socket.
    std::size_t receive_buffer = 128 * 1024;  ///< The same.
    int backlog_connections_max = 4096;       ///< As net.core.somaxconn.
    duration connect_limit = std::chrono::seconds{127};  ///< As by six more tries (tcp(7)).
    duration silence_limit = std::chrono::seconds{924};  ///< What was sent and not acknowledged.
};

}  // namespace gyre::test
