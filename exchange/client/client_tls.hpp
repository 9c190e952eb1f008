// SPDX-License-Identifier: BSL-1.0
//
// How a client's connections are secured: what a program says, and what becomes of it.
#pragma once

#include <exchange/net/transport/channel_security.hpp>

#include <gyre/base/result.hpp>

#include <memory>
#include <string>

namespace exchange {

/// TLS of a client. The server's certificate is verified, up to its name, unless `verify` is false.
struct client_tls {
    bool wanted = false;
    /// A file of certificates that are trusted, as PEM; read once, when the client is opened.
    std::string authorities_file;
    bool system_authorities = true;  ///< Are those of the system trusted as well?
    /// Whom the certificate is to be for; empty: the address that is connected to.
    std::string server_name;
    bool verify = true;  ///< False: safe from listeners, and not from one who stands between.
};

/// @return  Null if TLS is not wanted.
///
/// Errors:  `not_supported` in a build without TLS; `certificate_unreadable` for a file that is not there or
///          holds no certificate; `tls_contradiction` if peers are to be verified by no authority;
///          `malformed` for a `server_name` that no host can have.
[[nodiscard]] gyre::io_result<std::shared_ptr<channel_security>> client_security(
    const client_tls& how);

}  // namespace exchange
