// SPDX-License-Identifier: BSL-1.0
//
// The opening handshake of both ends, as functions from fields to fields.
//
// Who reads and writes the request is not their business: HTTP/1.1 today, a test, a stored trace. Each way
// in which a handshake fails has its own name, because "it does not connect" is what operators hear most
// often.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/websocket/deflate_agreement.hpp>
#include <gyre/websocket/header_lookup.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::websocket {

/// What both ends have agreed on.
struct agreement {
    agreement() = default;

    std::string subprotocol;  ///< Empty: none.
    std::optional<deflate_agreement> deflate;
};

/// Why a handshake failed.
enum class handshake_failure : std::uint8_t {
    none,
    // Told by servers.
    not_get,
    no_upgrade,      ///< `Upgrade: websocket` or `Connection: upgrade` is missing.
    no_host,         ///< `Host` is missing or there are several.
    bad_key,         ///< `Sec-WebSocket-Key` is missing, repeated or no key.
    other_version,   ///< A version of the protocol other than 13.
    foreign_origin,  ///< A browser's page of another origin, which is not among those allowed.
    // Told by clients.
    not_switched,  ///< The server answered with another status than 101.
    answer_without_upgrade,
    wrong_accept_key,  ///< The peer has not read this request.
    stray_subprotocol,
    stray_extension,  ///< One that was not offered, or parameters that do not fit the offer.
};

/// A sentence for an operator; static storage.
[[nodiscard]] const char* describe(handshake_failure which) noexcept;

/// What a server takes.
struct server_handshake_options {
    server_handshake_options() = default;

    /// In the order of preference. The first one that the client offers is chosen; if there is none, the
    /// connection has no subprotocol, and the client may leave.
    std::vector<std::string> subprotocols;

    /// Pages that browsers may connect from, besides those of this host: "https://example.org", or "*" for
    /// all. Where cookies say who a user is, any other page could act as that user.
    std::vector<std::string> origins;

    std::optional<deflate_options> deflate;  ///< None: nothing is compressed.
};

/// A server's answer to a handshake.
struct server_handshake {
    server_handshake() = default;

    handshake_failure failure = handshake_failure::none;
    unsigned status = 101;             ///< Of HTTP, for the response.
    std::vector<header_field> fields;  ///< All that the response needs.
    websocket::agreement agreed;
};

/// Answers a request.
///
/// @param  method  "GET", if it is one.
/// @param  fields  Of the request; borrowed until it returns.
/// Cost:   some hundred ns; allocates strings of the answer.
[[nodiscard]] server_handshake answer_handshake(std::string_view method,
                                                const header_lookup& fields,
                                                const server_handshake_options& options);

/// What a client offers.
struct client_handshake_options {
    client_handshake_options() = default;

    std::vector<std::string> subprotocols;  ///< In the order of preference; tokens, each once.
    std::string origin;                     ///< Empty: no such field.
    std::optional<deflate_options> deflate;
};

/// A client's side: fields of its request, then a look at the answer. Moves and copies.
class client_handshake {
public:
    /// What the key is made of; a server's answer has to fit it, and caches must not know it.
    using nonce = std::array<std::byte, 16>;

    /// With a random nonce.
    explicit client_handshake(client_handshake_options options);
    client_handshake(client_handshake_options options, const nonce& from);

    /// What the request needs besides method, target and `Host`.
    [[nodiscard]] std::vector<header_field> fields() const;

    /// What came of it.
    struct outcome {
        outcome() = default;

        handshake_failure failure = handshake_failure::none;
        websocket::agreement agreed;
    };

    /// Looks at the answer.
    ///
    /// @param  status  Of the response.
    /// @param  fields  Of the response; borrowed until it returns.
    [[nodiscard]] outcome read_answer(unsigned status, const header_lookup& fields) const;

private:
    client_handshake_options options_;
    std::string key_;
};

}  // namespace gyre::websocket
