// SPDX-License-Identifier: BSL-1.0
//
// Which of several addresses of a host to try first.
//
// A name server lists them in any order, and what is best depends on this machine: whether it has a route,
// and from which of its own addresses it would speak. The resolver puts its answers in this order;
// connect_to.hpp then takes the families in turn.
#pragma once

#include <gyre/io/endpoint.hpp>
#include <gyre/runtime/io_context.hpp>

#include <optional>
#include <span>
#include <vector>

namespace gyre {

/// Where to go, and the address that this machine would come from: none if there is no route.
struct destination {
    endpoint peer;
    std::optional<ip_address> source;
};

/// The best first, by the rules of RFC 6724 6 but those that ask for states of an address (3, 4, 7); rule 9,
/// the longest common prefix, is for IPv6 alone, where prefixes follow the net. Equals keep their order.
void order_destinations(std::vector<destination>& all);

/// Asks the kernel for the source of each, by sockets that connect and send nothing.
/// Cost: four or five system calls each.
[[nodiscard]] std::vector<destination> find_sources(io_context& on,
                                                    std::span<const endpoint> peers);

/// Both: `peers` in the order in which they should be tried, each once. Of a single one the kernel is not
/// asked.
[[nodiscard]] std::vector<endpoint> in_order_of_preference(io_context& on,
                                                           const std::vector<endpoint>& peers);

/// Takes one of IPv6 and one of IPv4 in turn (RFC 8305 4), each family in the order it has, beginning with
/// the first. For connections that are tried one after another.
/// @param  before  The family of the one that was tried last, which is not to be the first; none if none was.
[[nodiscard]] std::vector<endpoint> in_alternation(
    std::span<const endpoint> peers, endpoint::family before = endpoint::family::none);

}  // namespace gyre
