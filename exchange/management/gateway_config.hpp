// SPDX-License-Identifier: BSL-1.0
//
// The two files of an order entry gateway: what it does, and which secrets it knows.
//
// exchange/bin/gateway.json is a sample of the first. The second (`credentials_file`) has its own password
// at the facility and hashes of its users' secrets, so nobody else should read it. As in config.hpp, nothing
// is guessed, and all that is wrong is found in one reading.
#pragma once

#include <exchange/management/config.hpp>
#include <exchange/net/application/order_entry_gateway.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace exchange {

struct gateway_config {
    facility_backend backend = facility_backend::gyre_uring;
    gateway_options gateway{};
    gateway_host_options host{};   ///< Users and the own password are those of `credentials_file`.
    std::string credentials_file;  ///< As a path from where the configuration is.
    gyre::duration drain_within = std::chrono::seconds{5};  ///< For clients to leave.
    process_options process{};
};

/// A configuration, or everything that is wrong with it.
struct gateway_config_reading {
    gateway_config value;  ///< Meaningful if there are no errors.
    std::vector<config_error> errors;
    bool open_to_others =
        false;  ///< Others than its owner may read the credentials, or write them.
};

/// Reads the text of a configuration, without the credentials.
///
/// @param  folder  Where the file of credentials is looked for, unless it has an absolute path.
[[nodiscard]] gateway_config_reading read_gateway_config(std::string_view text,
                                                         const std::string& folder = ".");

/// Reads the text of a file of credentials, into what has no errors.
///
/// @param  name  The file's, for errors.
void read_gateway_credentials(std::string_view text, const std::string& name,
                              gateway_config_reading& into);

/// Reads both files.
[[nodiscard]] gateway_config_reading load_gateway_config(const std::string& path);

}  // namespace exchange
