// SPDX-License-Identifier: BSL-1.0
//
// One direction of a bad link for datagrams: which of them arrive, how often, and when.
//
// It decides and keeps what is late; bad_datagram_link.hpp has the sockets.
#pragma once

#include <exchange/tests/codec/dice.hpp>
#include <exchange/tests/links/link_faults.hpp>

#include <gyre/base/time.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace exchange::testing {

/// Threads:  One at a time.
class bad_datagram_path {
public:
    static constexpr std::size_t held_max = 4096;
    static constexpr std::uint64_t first_burst_within = 20;  ///< Datagrams, if any burst is wanted.

    bad_datagram_path(std::uint64_t seed, const datagram_faults& faults)
        : dice_{seed}, faults_{faults} {}

    /// A datagram has come: drops it, or keeps it once or twice until its time.
    void take(std::span<const std::byte> datagram, gyre::time_point now);

    /// The next datagram that is due.
    [[nodiscard]] std::optional<std::vector<std::byte>> next(gyre::time_point now);

    /// No faults from here on, and what was kept is due now.
    void calm() noexcept { calm_ = true; }

    [[nodiscard]] const datagram_fault_counts& counts() const noexcept { return counts_; }

private:
    struct held_datagram {
        gyre::time_point due;
        std::uint64_t number;  // In the order of coming.
        std::vector<std::byte> bytes;

        // For a heap whose front is due first.
        [[nodiscard]] bool operator<(const held_datagram& other) const noexcept {
            return due != other.due ? due > other.due : number > other.number;
        }
    };

    void hold(std::span<const std::byte> datagram, gyre::time_point due);
    [[nodiscard]] bool is_dropped();
    [[nodiscard]] bool falls(std::size_t one_in) { return one_in != 0 && dice_.chance(one_in); }

    dice dice_;
    datagram_faults faults_;
    std::vector<held_datagram> held_;
    std::size_t burst_left_ = 0;
    std::uint64_t last_sent_ = 0;  // The highest number that was sent.
    bool calm_ = false;
    datagram_fault_counts counts_;
};

}  // namespace exchange::testing
