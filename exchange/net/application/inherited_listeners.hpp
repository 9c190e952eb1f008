// SPDX-License-Identifier: BSL-1.0
//
// Listening sockets that were open before the program, by where they are.
//
// A supervisor listens for its children, so that connections wait while one process of a child follows
// another. A configuration still says where a program listens: at a place for which there is a listener,
// that is taken instead of opening one. client_door.hpp asks.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/io/endpoint.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace exchange {

/// Listeners that no door has taken yet. Moves. What is never taken stays open to the end of the program.
///
/// Threads:  One at a time.
class inherited_listeners {
public:
    struct listener {
        gyre::endpoint at;
        int number = -1;  ///< Of the descriptor.
    };

    /// Takes over what LISTEN_FDS announces (sd_listen_fds(3)); none, if there is no announcement. Once, and
    /// before there are threads: it changes the environment.
    ///
    /// Errors:  those of gyre::take_inherited_descriptors, and of asking a descriptor where it listens, as of
    ///          one that is no socket. Then all are left to the end of the program.
    [[nodiscard]] static gyre::io_result<inherited_listeners> receive();

    inherited_listeners() noexcept = default;
    explicit inherited_listeners(std::vector<listener> all) noexcept : all_{std::move(all)} {}
    inherited_listeners(const inherited_listeners&) = delete;
    inherited_listeners& operator=(const inherited_listeners&) = delete;
    inherited_listeners(inherited_listeners&&) noexcept = default;
    inherited_listeners& operator=(inherited_listeners&&) noexcept = default;
    ~inherited_listeners() = default;

    /// The number of the one that listens at `where`, which is the caller's from here on; -1 if there is
    /// none.
    [[nodiscard]] int take(const gyre::endpoint& where) noexcept;

    /// A place at which one listens, and which is none of `places`: clients would connect there, and wait
    /// for ever.
    [[nodiscard]] std::optional<gyre::endpoint> stranger_to(
        std::span<const gyre::endpoint> places) const;

    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

private:
    std::vector<listener> all_;
};

}  // namespace exchange
