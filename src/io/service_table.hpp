// SPDX-License-Identifier: BSL-1.0
//
// Ports that have names: services(5), and a few that every program expects to find.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gyre {

/// What a services file says. Where there is none, as in many containers, names such as "https" have their
/// ports all the same (IANA's registry, RFC 6335).
class service_table {
public:
    service_table() = default;
    explicit service_table(std::string_view text);

    /// @param  protocol  "tcp" or "udp".
    [[nodiscard]] std::optional<std::uint16_t> port_of(std::string_view name,
                                                       std::string_view protocol) const;

private:
    std::unordered_map<std::string, std::uint16_t> ports_;  // By "name/protocol".
};

}  // namespace gyre
