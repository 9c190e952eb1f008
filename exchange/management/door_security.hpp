// SPDX-License-Identifier: BSL-1.0
//
// What secures the doors of a gateway or a distributor: the section `tls` of its configuration, and the
// files that it names.
//
// tls_doors.cpp reads them where gyre::tls is; no_tls_doors.cpp says that there is none.
#pragma once

#include <exchange/management/config.hpp>
#include <exchange/management/event_log.hpp>
#include <exchange/management/json_section.hpp>
#include <exchange/server/server_transport.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace exchange {

/// The oldest version that is spoken.
enum class tls_version : std::uint8_t { tls_1_2, tls_1_3 };

struct door_tls {
    std::string certificates;  ///< A file of PEM: our own first, then each issuer's. Empty: no TLS.
    std::string private_key;   ///< A file of PEM.
    tls_version oldest = tls_version::tls_1_2;
};

/// Reads the section `tls` of a section about clients, if it is there.
///
/// @param  folder  Where files are looked for, unless they have absolute paths.
void read_door_tls(json_section& in, door_tls& into, const std::string& folder);

/// Reads the files, and has all doors secured with them.
///
/// @param  section  Of the configuration, for errors.
/// @param  into     Unchanged if there is no TLS.
/// @return What is wrong: a file that cannot be read, or holds no certificate or key; a key that does not
///         match; what this build does not have.
[[nodiscard]] std::vector<config_error> secure_doors(const door_tls& how,
                                                     const std::string& section,
                                                     client_server_options& into);

/// Logs connections that could not be secured, ten a second at most: strangers decide how often.
///
/// @param  log  Borrowed; outlives the function.
[[nodiscard]] insecure_report insecure_connections_in(event_log& log);

}  // namespace exchange
