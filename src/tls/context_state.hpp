// SPDX-License-Identifier: BSL-1.0
//
// What is behind a context: its options, and the OpenSSL settings that they came to.
//
// OpenSSL's settings must not change while connections are made of them. So they never do: a reload makes new
// ones beside them, and connections keep those that they were made of.
#pragma once

#include "tls/owned.hpp"
#include "tls/session_cache.hpp"
#include "tls/ticket_keys.hpp"

#include <gyre/base/result.hpp>
#include <gyre/base/spin_lock.hpp>
#include <gyre/tls/context.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gyre::tls {

class context_state {
public:
    explicit context_state(client_options options);
    explicit context_state(server_options options);

    [[nodiscard]] bool serves() const noexcept { return server_.has_value(); }
    [[nodiscard]] const common_options& options() const noexcept;
    [[nodiscard]] const client_options& client() const noexcept { return *client_; }
    [[nodiscard]] const server_options& server() const noexcept { return *server_; }

    /// Errors: those of `context::client`, `context::server`.
    [[nodiscard]] error check();

    /// Errors: those of `context::reload`; nothing has changed then.
    [[nodiscard]] error use(const std::vector<identity>& identities);

    /// What new connections are made of.
    [[nodiscard]] owned_settings current() const noexcept;

    /// How the peer of a connection is verified: SSL_set_verify(3).
    [[nodiscard]] int verify_mode() const noexcept;

    [[nodiscard]] session_cache& sessions() noexcept { return sessions_; }
    [[nodiscard]] ticket_keys& tickets() noexcept { return tickets_; }

private:
    [[nodiscard]] error set_versions(SSL_CTX& to) const;
    [[nodiscard]] error set_identities(SSL_CTX& to, const std::vector<identity>& from) const;
    [[nodiscard]] error set_trust(SSL_CTX& to) const;
    void set_server(SSL_CTX& to) const;
    void set_client(SSL_CTX& to) const;

    // One of them, without identities: OpenSSL has those.
    std::optional<client_options> client_;
    std::optional<server_options> server_;
    session_cache sessions_;
    mutable ticket_keys tickets_;
    owned_settings current_;
    mutable spin_lock lock_;  // Of `current_`.
};

}  // namespace gyre::tls
