// SPDX-License-Identifier: BSL-1.0
//
// A build without gyre::tls: see door_security.hpp.
#include <exchange/management/door_security.hpp>

namespace exchange {

std::vector<config_error> secure_doors(const door_tls& how, const std::string& section,
                                       client_doors_options&) {
    if (how.certificates.empty()) return {};
    return {{section + ".tls", "this build has no TLS"}};
}

}  // namespace exchange
