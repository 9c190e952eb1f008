// SPDX-License-Identifier: BSL-1.0
//
// What stands for client_tls.cpp in a build without TLS.
#include <exchange/client/client_tls.hpp>

namespace exchange {

gyre::io_result<std::shared_ptr<channel_security>> client_security(const client_tls& how) {
    if (how.wanted) return gyre::error{gyre::errc::not_supported};
    return std::shared_ptr<channel_security>{};
}

}  // namespace exchange
