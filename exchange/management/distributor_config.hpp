// SPDX-License-Identifier: BSL-1.0
//
// The two files of a market data distributor: what it does, and which secrets it knows.
//
// exchange/bin/distributor.json is a sample of the first. The second (`credentials_file`) has the password as
// which it asks the exchange for books, and hashes of its subscribers' secrets. As in config.hpp, nothing is
// guessed, and all that is wrong is found in one reading.
#pragma once

#include <exchange/management/config_with_credentials.hpp>
#include <exchange/management/door_security.hpp>
#include <exchange/server/market_data_distributor.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace exchange {

struct distributor_config {
    process_backend backend = process_backend::gyre_uring;
    distributor_options
        distributor{};  ///< The password at the exchange is that of `credentials_file`.
    market_data_host_options host{};  ///< Users are those of `credentials_file`.
    market_books_options books{};
    std::string credentials_file;  ///< As a path from where the configuration is.
    gyre::duration drain_within = std::chrono::seconds{5};  ///< For subscribers to leave.
    bool replaces = false;  ///< Another process: see `is_replacement`. No part of the file.
    process_options process{};
    door_tls tls{};  ///< Its files are read by `secure_doors`.
};

using distributor_config_reading = secret_reading<distributor_config>;

/// Reads the text of a configuration, without the credentials.
///
/// @param  folder  Where the file of credentials is looked for, unless it has an absolute path.
[[nodiscard]] distributor_config_reading read_distributor_config(std::string_view text,
                                                                 const std::string& folder = ".");

/// Reads the text of a file of credentials, into what has no errors.
///
/// @param  name  The file's, for errors.
void read_distributor_credentials(std::string_view text, const std::string& name,
                                  distributor_config_reading& into);

/// Reads both files.
[[nodiscard]] distributor_config_reading load_distributor_config(const std::string& path);

}  // namespace exchange
