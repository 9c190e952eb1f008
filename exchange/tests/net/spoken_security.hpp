// SPDX-License-Identifier: BSL-1.0
//
// Whether connections of a test are secured. A value and no parameter of templates, so that laws are
// compiled once for both.
#pragma once

#include <exchange/net/transport/channel_security.hpp>

#include <gyre/tls/context.hpp>

#include <memory>

namespace exchange::testing {

/// What secures both ends of each connection; null: nothing does.
[[nodiscard]] inline std::shared_ptr<channel_security>& spoken_security() {
    static std::shared_ptr<channel_security> it;
    return it;
}

/// Context of the servers of these connections; false if nothing secures them.
[[nodiscard]] inline gyre::tls::context& spoken_tls() {
    static gyre::tls::context it;
    return it;
}

/// Both ends speak TLS as long as this is there: speaking_tls.cpp makes certificates for it.
class speaking_tls {
public:
    speaking_tls();
    speaking_tls(const speaking_tls&) = delete;
    speaking_tls& operator=(const speaking_tls&) = delete;
    ~speaking_tls() {
        spoken_security().reset();
        spoken_tls() = {};
    }
};

}  // namespace exchange::testing
