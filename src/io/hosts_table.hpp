// SPDX-License-Identifier: BSL-1.0
//
// The hosts that an administrator has written down: hosts(5).
#pragma once

#include <gyre/io/ip_address.hpp>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gyre {

/// What a hosts file says. Lines that make no sense are skipped, as everything else does that reads it.
class hosts_table {
public:
    hosts_table() = default;
    explicit hosts_table(std::string_view text);

    /// In the order of the file. @param  name  In small letters, without a dot at its end.
    [[nodiscard]] std::vector<ip_address> addresses_of(const std::string& name) const;

    /// The names on the lines of `address`, in the order of the file.
    [[nodiscard]] std::vector<std::string> names_of(const ip_address& address) const;

private:
    std::unordered_map<std::string, std::vector<ip_address>> addresses_;
    std::unordered_map<ip_address, std::vector<std::string>> names_;
};

}  // namespace gyre
