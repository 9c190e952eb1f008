// SPDX-License-Identifier: BSL-1.0
//
// The two files of an order entry gateway: what it does, and which secrets it knows.
//
// exchange/bin/gateway.json is a sample of the first. The second (`credentials_file`) has its own password
// at the facility and hashes of its users' secrets, so nobody else should read it. As in config.hpp, nothing
// is guessed, and all that is wrong is found in one reading.
#pragma once

#include <exchange/management/config_with_credentials.hpp>
#include <exchange/management/door_security.hpp>
#include <exchange/server/order_entry_gateway.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace exchange {

struct gateway_config {
    process_backend backend = process_backend::gyre_uring;
    gateway_options gateway{};
    gateway_host_options host{};   ///< Users and the own password are those of `credentials_file`.
    std::string credentials_file;  ///< As a path from where the configuration is.
    gyre::duration drain_within = std::chrono::seconds{5};  ///< For clients to leave.
    process_options process{};
    door_tls tls{};         ///< Its files are read by `secure_doors`.
    bool replaces = false;  ///< Another process: see `is_replacement`. No part of the file.
};

using gateway_config_reading = secret_reading<gateway_config>;

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

/// Reads the names and secrets of `users`, for this process and others whose users log in the same way.
///
/// @param  more  Reads what else a user may have: called with its section and with the user.
void read_users(json_section& in, gateway_users_options& into,
                const std::function<void(json_section&, gateway_user&)>& more);

/// Reads both files.
[[nodiscard]] gateway_config_reading load_gateway_config(const std::string& path);

}  // namespace exchange
