// SPDX-License-Identifier: BSL-1.0
//
// What a program may want to know of the certificate that a peer has shown.
//
// Plain values, copied out once when asked for: no program depends on OpenSSL's types to look at a name.
// tls/engine.hpp hands it out.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace gyre::tls {

/// One certificate, taken apart.
struct certificate {
    std::string subject;  ///< As RFC 2253 writes names: "CN=example.org,O=Example".
    std::string issuer;   ///< The same.
    std::string serial;   ///< Hexadecimal, without leading zeros.
    std::vector<std::string>
        names;  ///< Hosts it is for: DNS names as they stand there, then addresses.
    std::chrono::system_clock::time_point not_before;
    std::chrono::system_clock::time_point not_after;
    std::array<std::byte, 32> sha256{};  ///< Of the whole certificate, for pinning.
    std::vector<std::byte> der;          ///< The whole certificate.
};

}  // namespace gyre::tls
