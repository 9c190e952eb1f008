// SPDX-License-Identifier: BSL-1.0
//
// Connecting by name: "happy eyeballs" (RFC 8305).
//
// A host has several addresses, and one that does not answer holds a program up for minutes if they are tried
// one after another. Here each has a quarter of a second before the next one is tried beside it, IPv6 and
// IPv4 in turn, and the first connection that comes about is the one. backoff.hpp says when to try again.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/io/resolver.hpp>
#include <gyre/io/stream_socket.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gyre {

/// How `connect_to` looks a name up, and in which order and time it tries the addresses.
struct connect_to_options {
    connect_to_options() = default;

    resolver names;  ///< Who is asked for addresses; by default what this machine is set up for.
    connect_options socket;  ///< Of each attempt. A source address allows its own family only.
    endpoint::family family = endpoint::family::none;  ///< v4 or v6 alone; none: both.

    /// How long an attempt goes on alone (RFC 8305 5). One that fails makes way at once.
    duration attempt_delay = std::chrono::milliseconds{250};

    /// How long known IPv4 addresses wait for those of IPv6 (RFC 8305 3).
    duration resolution_delay = std::chrono::milliseconds{50};

    /// For all of it, from the name to the connection.
    duration limit = std::chrono::seconds{30};
};

/// Resolves `host` and connects to the first of its addresses that answers.
///
/// @param  host     Owned; a name or an address in numbers, as for `resolver::resolve`.
/// @param  service  A port in numbers, or a name such as "https".
/// @param  options  Owned.
/// @return The connected socket, whose `remote_endpoint` says which address it was; closed unless ok.
///
/// Errors:        of the name, as `resolver::resolve`; of the first attempt that failed, if all did, as
///                `stream_socket::connect`; `errc::timed_out` when `limit` had passed.
/// Cancellation:  `errc::canceled`; no query and no attempt is left. A connection that was there is
/// delivered.
/// Threads:       resumes on the caller's executor.
/// Cost:          frames, what the resolver costs, and four system calls per address to put them in order;
///                attempts are spaced, so few overlap.
[[nodiscard]] task<io_result<stream_socket>> connect_to(std::string host, std::string service,
                                                        connect_to_options options = {});
[[nodiscard]] task<io_result<stream_socket>> connect_to(std::string host, std::uint16_t port,
                                                        connect_to_options options = {});

/// The same with addresses that are known: `peers` in their order, each once, but IPv6 and IPv4 in turn,
/// beginning with the family of the first.
/// @pre  `peers` is not empty.
[[nodiscard]] task<io_result<stream_socket>> connect_to(std::vector<endpoint> peers,
                                                        connect_to_options options = {});

}  // namespace gyre
