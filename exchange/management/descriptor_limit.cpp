// SPDX-License-Identifier: BSL-1.0
//
// getrlimit(2): see descriptor_limit.hpp.
#include <exchange/management/descriptor_limit.hpp>

#include <algorithm>
#include <string>

#include <sys/resource.h>

namespace exchange {
namespace {

// Of sockets, loop, files and the three of every process, with room for what a library opens.
constexpr std::uint64_t others = 64;

/// Of clients, at each door.
template <class Options>
std::uint64_t connections_of(const Options& it) noexcept {
    const bool websockets = it.websocket.kind() != gyre::endpoint::family::none;
    return it.connections_max * (websockets ? 2 : 1);
}

}  // namespace

std::uint64_t descriptors_needed(const config& of) noexcept {
    const gateway_access& gateways = of.facility.gateways;
    return connections_of(of.facility) + (gateways.wanted() ? gateways.links_max : 0) + others;
}

std::uint64_t descriptors_needed(const gateway_config& of) noexcept {
    return connections_of(of.gateway.clients) + others;
}

std::uint64_t descriptors_needed(const distributor_config& of) noexcept {
    return connections_of(of.distributor.clients) + others;
}

std::optional<config_error> allow_descriptors(std::uint64_t needed, const std::string& section) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return std::nullopt;
    const std::uint64_t most = limit.rlim_max;
    limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, std::min(most, needed));
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0 && most >= needed) return std::nullopt;
    return config_error{section + ".connections_max",
                        "expected less: the process may have " + std::to_string(needed) +
                            " descriptors open, and a limit of the process (ulimit -Hn) allows " +
                            std::to_string(most)};
}

}  // namespace exchange
