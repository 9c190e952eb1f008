// SPDX-License-Identifier: BSL-1.0
//
// Servers and clients of https that trust each other.
#pragma once

#include <gyre/tls/context.hpp>
#include <gyre/web/client.hpp>
#include <gyre/web/server.hpp>
#include <support/certificates.hpp>

#include <string>
#include <utility>

namespace gyre::testing {

/// Contexts that trust each other; made once, since keys take a while.
struct trust {
    trust() {
        certificate_wish wish{"localhost"};
        wish.hosts = {"DNS:localhost", "IP:127.0.0.1", "DNS:server"};
        tls::server_options serving;
        identity = root.issue(wish);
        serving.identities = {identity};
        serving.protocols = web::protocols_spoken();
        server = tls::context::server(std::move(serving)).take();
        client = client_of(root.certificate());
    }
    [[nodiscard]] static tls::context client_of(const std::string& authority) {
        tls::client_options asking;
        asking.system_authorities = false;
        asking.authorities = authority;
        asking.judged_at = certificate_day;
        asking.protocols = {"http/1.1"};
        return tls::context::client(std::move(asking)).take();
    }
    [[nodiscard]] static const trust& get() {
        static const trust it;
        return it;
    }

    test_authority root{"Test Root"};
    tls::identity identity;  ///< The server's.
    tls::context server;
    tls::context client;
};

inline web::server_options over_tls() {
    web::server_options options;
    options.settings = trust::get().server;
    return options;
}

inline web::client_options trusting() {
    web::client_options options;
    options.settings = trust::get().client;
    return options;
}

}  // namespace gyre::testing
