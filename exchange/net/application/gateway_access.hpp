// SPDX-License-Identifier: BSL-1.0
//
// Where a facility lets gateways in, if it does; who they are is the host's (known_gateway.hpp).
#pragma once

#include <exchange/codec/link_connection.hpp>

#include <gyre/io/endpoint.hpp>

#include <cstddef>

namespace exchange {

struct gateway_access {
    gyre::endpoint at{};  ///< Port 0 lets the kernel choose; no address: there are no gateways.
    std::size_t links_max = 16;  ///< Those that have not said who they are included.
    link_options link{};

    [[nodiscard]] bool wanted() const noexcept { return at.kind() != gyre::endpoint::family::none; }
};

}  // namespace exchange
