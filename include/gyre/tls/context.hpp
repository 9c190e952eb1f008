// SPDX-License-Identifier: BSL-1.0
//
// What many connections share: certificates and keys, authorities, versions and protocols.
//
// Made once from options, all of which are looked at then: what cannot be meant is an error of the making,
// not of some handshake later. The defaults are those of a careful operator: TLS 1.2 and 1.3, forward secrecy
// and authenticated ciphers only, peers verified up to their host names, no renegotiation, no compression,
// no early data. tls/engine.hpp makes connections from it, tls/stream.hpp runs them.
#pragma once

#include <gyre/base/result.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::tls {

class context;

/// A version of TLS; `none` where there is none yet.
enum class version : std::uint8_t { none, tls_1_2, tls_1_3 };

/// A certificate with those of its issuers, and its private key; each as PEM text.
struct identity {
    identity() = default;
    identity(std::string chain_pem, std::string private_key_pem)
        : certificates{std::move(chain_pem)}, private_key{std::move(private_key_pem)} {}

    std::string certificates;  ///< Our own first, then each one's issuer; the root is not needed.
    std::string private_key;
    std::string password;  ///< Of the private key; empty if it is not encrypted.
};

/// Whether lists of revoked certificates are consulted.
enum class revocation : std::uint8_t {
    ignored,
    of_peer,  ///< For the peer's own certificate; its issuer's list is required then.
    of_chain  ///< For each certificate of its chain; the list of each issuer is required then.
};

/// How far a client verifies its server.
enum class server_check : std::uint8_t {
    full,              ///< Its chain, and that it is for the host that was asked for.
    certificate_only,  ///< Its chain: any host of a trusted issuer will do.
    none               ///< Nothing: safe from an eavesdropper, not from a man in the middle.
};

/// Whether a server asks its clients for certificates.
enum class client_check : std::uint8_t {
    none,
    if_given,  ///< A client may have no certificate; a bad one is refused.
    required
};

/// What both sides may choose.
struct common_options {
    version oldest = version::tls_1_2;
    version newest = version::tls_1_3;

    /// OpenSSL's names, separated by colons; empty means ours. Refused if they name nothing that is known.
    std::string ciphers_of_1_2;
    std::string ciphers_of_1_3;
    std::string groups;

    /// Application protocols (ALPN), the preferred one first, such as "h2", "http/1.1"; 1 to 255 bytes each.
    std::vector<std::string> protocols;
    /// A peer that agrees on none of them is refused, also one that knows no ALPN.
    bool protocol_required = false;

    /// PEM text of certificates that are trusted.
    std::string authorities;
    /// PEM text of lists of revoked certificates.
    std::string revocations;
    revocation revoked = revocation::ignored;

    /// The moment for which certificates are judged, in place of now; for tests, and for machines whose clock
    /// is known to be wrong.
    std::optional<std::chrono::system_clock::time_point> judged_at;

    /// Called with each line of the format that Wireshark reads (SSLKEYLOGFILE), without its end. With
    /// these lines the connections can be read: for debugging. Any thread that has a handshake; must not
    /// throw.
    std::function<void(std::string_view line)> key_log;
};

/// What a context for clients is made of: whom it trusts, and what it shows of itself.
struct client_options : common_options {
    client_options() = default;  // No aggregate: see docs/guide/compilers.md.

    server_check servers = server_check::full;
    /// Trust the authorities of the system beside `authorities`.
    bool system_authorities = true;
    /// Shown to servers that ask for a certificate; at most one of each kind of key.
    std::vector<identity> identities;
    /// How many hosts' sessions are kept, to be resumed without certificates and signatures; 0 keeps none.
    std::size_t sessions_max = 256;
};

/// What a context for servers is made of: its certificates, and whom it lets in.
struct server_options : common_options {
    server_options() = default;

    /// At least one; more for clients that take only one kind of key, say ECDSA and RSA.
    std::vector<identity> identities;
    client_check clients = client_check::none;

    /// Chooses by the name that the client asks for (SNI), in lower case without a last dot; empty if it
    /// names none. An empty context refuses it with the alert "unrecognized_name". Of the one chosen count
    /// certificates, ALPN, authorities and `clients`; the rest, versions above all, is this context's.
    /// Called within a handshake, on its thread; must not block or throw.
    std::function<context(std::string_view name)> choose;
    /// Refuses clients that name no host, with the alert "missing_extension" (TLS 1.2: "unrecognized_name").
    bool name_required = false;

    /// Tickets that a client is given after a full handshake of TLS 1.3, up to 16; 0 ends resumption for all
    /// versions.
    std::size_t tickets = 2;
    /// How long one may be used; at most seven days, more than zero.
    std::chrono::seconds ticket_lifetime = std::chrono::hours{2};
};

class context_state;

/// A client's or a server's settings. Copies are cheap and mean the same settings; connections keep them
/// alive. Any thread, at the same time.
class context {
public:
    context() noexcept = default;  ///< None.

    /// Settings of clients.
    ///
    /// Errors:  `errc::certificate_unreadable`, `errc::key_unreadable`, `errc::key_mismatch`: of an identity,
    ///          of authorities or revocations. `errc::tls_contradiction`: settings that exclude each other,
    ///          such as an oldest version above the newest, ciphers of a version that is not offered,
    ///          authorities without a check of peers, a check of peers without authorities, a check of
    ///          revocations without lists or lists without the check. `errc::not_supported`: no cipher, group
    ///          or lifetime of this kind. `errc::invalid_argument`: a protocol of no bytes or too many.
    /// Cost:    about a millisecond per hundred authorities.
    [[nodiscard]] static io_result<context> client(client_options options);

    /// Settings of servers. Errors: as for clients, and `errc::certificate_missing` without an identity.
    [[nodiscard]] static io_result<context> server(server_options options);

    /// From now on handshakes use these certificates and keys. Those that have begun end with what they began
    /// with, no connection notices, and tickets stay good. After an error everything stays as it was.
    ///
    /// Errors:  those of an identity, as above; `errc::certificate_missing` for a server and no identity.
    ///          `errc::closed` of no context.
    io_result<> reload(const std::vector<identity>& identities);

    /// Tickets are encrypted with a new key from now on. Those of the key before stay good, older ones not:
    /// call it once per lifetime of tickets, so that a stolen key decrypts no older session. Nothing for
    /// clients.
    void rotate_ticket_key();

    [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }

    /// For the rest of this layer.
    [[nodiscard]] const std::shared_ptr<context_state>& state() const noexcept { return state_; }

private:
    explicit context(std::shared_ptr<context_state> state) noexcept : state_{std::move(state)} {}

    std::shared_ptr<context_state> state_;
};

}  // namespace gyre::tls
