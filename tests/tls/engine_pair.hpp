// SPDX-License-Identifier: BSL-1.0
//
// Two engines that talk to each other in memory, in pieces of any size.
#pragma once

#include <gyre/tls/engine.hpp>
#include <support/certificates.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::testing {

/// Moves at most `size` bytes of what one says to the other. False if it says nothing.
inline bool move_bytes(tls::engine& from, tls::engine& to, std::size_t size) {
    const const_buffer said = from.output();
    const mutable_buffer space = to.input_space();
    const std::size_t count = std::min({said.size(), space.size(), size});
    if (count == 0) return false;
    std::memcpy(space.data(), said.data(), count);
    to.received(count);
    from.sent(count);
    return true;
}

/// What a handshake came to on each side.
struct handshake_outcomes {
    error client;
    error server;
};

struct engine_pair {
    engine_pair(tls::engine a_client, tls::engine a_server)
        : client{std::move(a_client)}, server{std::move(a_server)} {}

    /// Shakes hands to the end of both, at most `size` bytes at once.
    handshake_outcomes shake(std::size_t size = SIZE_MAX) {
        handshake_outcomes ended{errc::resource_unavailable, errc::resource_unavailable};
        const auto advance = [](tls::engine& it, error& outcome) {
            if (outcome == errc::resource_unavailable) outcome = it.handshake().error();
        };
        for (bool moved = true; moved;) {
            advance(client, ended.client);
            moved = move_bytes(client, server, size);
            advance(server, ended.server);
            moved = move_bytes(server, client, size) || moved;
        }
        return ended;
    }

    tls::engine client;
    tls::engine server;
};

/// A root, a server's identity for "localhost" and 127.0.0.1, and options that agree with them.
struct test_trust {
    test_authority root{"Test Root"};
    tls::identity localhost = root.issue(wish_for_localhost());

    static certificate_wish wish_for_localhost() {
        certificate_wish wish{"localhost"};
        wish.hosts = {"DNS:localhost", "IP:127.0.0.1"};
        return wish;
    }
    [[nodiscard]] tls::client_options client() const {
        tls::client_options options;
        options.system_authorities = false;
        options.authorities = root.certificate();
        options.judged_at = certificate_day;
        return options;
    }
    [[nodiscard]] tls::server_options server() const {
        tls::server_options options;
        options.identities = {localhost};
        return options;
    }
};

/// A pair of these settings, whose client asks for `host`.
inline engine_pair pair_of(const tls::context& client, const tls::context& server,
                           std::string_view host = "localhost") {
    return {tls::engine::client(client, host).take(), tls::engine::server(server).take()};
}

inline engine_pair pair_of(tls::client_options client, tls::server_options server,
                           std::string_view host = "localhost") {
    return pair_of(tls::context::client(std::move(client)).take(),
                   tls::context::server(std::move(server)).take(), host);
}

/// Writes `text` at one end and reads all that arrives at the other.
inline std::string carry(tls::engine& from, tls::engine& to, std::string_view text,
                         std::size_t size = SIZE_MAX) {
    std::string received;
    std::string space(20'000, ' ');
    std::size_t written = 0;
    for (bool moved = true; moved || written < text.size();) {
        written += from.write(bytes_of(text.substr(written))).value();
        moved = move_bytes(from, to, size);
        const io_result<std::size_t> got = to.read(std::as_writable_bytes(std::span{space}));
        received += std::string_view{space}.substr(0, got.value());
        if (!got.ok() && got.error() != errc::resource_unavailable) break;
    }
    return received;
}

}  // namespace gyre::testing
