// SPDX-License-Identifier: BSL-1.0
#include "tls/context_state.hpp"

#include "tls/engine_state.hpp"
#include "tls/pem.hpp"

#include <gyre/base/check.hpp>

#include <openssl/err.h>

#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>

namespace gyre::tls {
namespace {

// Forward secrecy and authenticated encryption: RFC 9325, 4.2. AES first, since most processors have it.
constexpr const char* ciphers_of_1_2 =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
constexpr const char* ciphers_of_1_3 =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr const char* groups = "X25519:P-256:P-384";

constexpr int security_level = 2;  // 112 bits: RSA from 2048 on, no SHA-1 in signatures.
constexpr std::size_t protocol_bytes_max = 255;
constexpr std::size_t all_protocols_bytes_max = 65535;
constexpr std::size_t tickets_max = 16;
constexpr std::chrono::seconds ticket_lifetime_max = std::chrono::hours{24 * 7};

error refuse(errc why) noexcept {
    ERR_clear_error();
    return {why, activity::configure};
}

int number_of(version which) noexcept {
    return which == version::tls_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION;
}

const char* or_ours(const std::string& chosen, const char* ours) noexcept {
    return chosen.empty() ? ours : chosen.c_str();
}

// OpenSSL passes over names that it does not know, and then nothing is left.
bool has_cipher_of_1_3(SSL_CTX& in) noexcept {
    const STACK_OF(SSL_CIPHER)* const all = SSL_CTX_get_ciphers(&in);
    for (int at = 0; at < sk_SSL_CIPHER_num(all); ++at) {
        const SSL_CIPHER* const each = sk_SSL_CIPHER_value(all, at);
        if (std::string_view{SSL_CIPHER_get_version(each)} == "TLSv1.3") return true;
    }
    return false;
}

// RFC 7301, 3.1.
error check_protocols(const std::vector<std::string>& protocols) {
    std::size_t on_wire = 0;
    for (const std::string& each : protocols) {
        if (each.empty() || each.size() > protocol_bytes_max) return refuse(errc::invalid_argument);
        on_wire += 1 + each.size();
    }
    return on_wire > all_protocols_bytes_max ? refuse(errc::invalid_argument) : error{};
}

error check_common(const common_options& options) {
    if (options.oldest == version::none || options.newest == version::none)
        return refuse(errc::not_supported);
    const bool no_1_2 = options.oldest > version::tls_1_2;
    const bool no_1_3 = options.newest < version::tls_1_3;
    if (options.oldest > options.newest || (no_1_2 && !options.ciphers_of_1_2.empty()) ||
        (no_1_3 && !options.ciphers_of_1_3.empty()) ||
        (options.protocol_required && options.protocols.empty()) ||
        options.revocations.empty() != (options.revoked == revocation::ignored)) {
        return refuse(errc::tls_contradiction);
    }
    return {};
}

error check_client(const client_options& options) {
    const bool trusts = options.system_authorities || !options.authorities.empty();
    const bool checks = options.servers != server_check::none;
    if (checks && !trusts) return refuse(errc::tls_contradiction);
    const bool told_how = !options.authorities.empty() || options.revoked != revocation::ignored ||
                          options.judged_at.has_value();
    if (!checks && told_how) return refuse(errc::tls_contradiction);
    return {};
}

error check_server(const server_options& options) {
    const bool checks = options.clients != client_check::none;
    const bool told_how = options.revoked != revocation::ignored || options.judged_at.has_value();
    if (checks == options.authorities.empty() || (!checks && told_how))
        return refuse(errc::tls_contradiction);
    if (options.tickets > tickets_max || options.ticket_lifetime <= std::chrono::seconds{0} ||
        options.ticket_lifetime > ticket_lifetime_max) {  // RFC 8446, 4.6.1.
        return refuse(errc::not_supported);
    }
    return {};
}

error add_identity(SSL_CTX& to, const identity& it) {
    const io_result<std::vector<owned_certificate>> chain = read_certificates(it.certificates);
    if (!chain.ok()) return chain.error();
    const io_result<owned_key> key = read_key(it.private_key, it.password);
    if (!key.ok()) return key.error();

    // Looked at first: OpenSSL would drop a key that does not fit, and only say so at the handshake.
    X509* const own = chain.value().front().get();
    if (X509_check_private_key(own, key.value().get()) != 1) return refuse(errc::key_mismatch);
    if (SSL_CTX_use_certificate(&to, own) != 1) return refuse(errc::certificate_unacceptable);
    if (SSL_CTX_use_PrivateKey(&to, key.value().get()) != 1) return refuse(errc::key_unreadable);
    if (SSL_CTX_clear_chain_certs(&to) != 1) return refuse(errc::certificate_unacceptable);
    for (std::size_t at = 1; at < chain.value().size(); ++at) {
        if (SSL_CTX_add1_chain_cert(&to, chain.value()[at].get()) != 1)
            return refuse(errc::certificate_unacceptable);
    }
    return {};
}

}  // namespace

context_state::context_state(client_options options)
    : client_{std::move(options)}, sessions_{client_->sessions_max} {}

context_state::context_state(server_options options) : server_{std::move(options)}, sessions_{0} {}

const common_options& context_state::options() const noexcept {
    if (server_) return *server_;
    return *client_;
}

error context_state::check() {
    if (const error failed = check_common(options())) return failed;
    if (const error failed = check_protocols(options().protocols)) return failed;
    return serves() ? check_server(*server_) : check_client(*client_);
}

error context_state::use(const std::vector<identity>& identities) {
    if (serves() && identities.empty()) return refuse(errc::certificate_missing);
    owned_settings made{SSL_CTX_new(TLS_method())};
    expects(made != nullptr, "OpenSSL has no memory, or is broken");
    if (const error failed = set_versions(*made)) return failed;
    if (const error failed = set_identities(*made, identities)) return failed;
    if (const error failed = set_trust(*made)) return failed;
    if (serves()) set_server(*made);
    else set_client(*made);
    engine::state::install(*made, serves(), options().key_log != nullptr);

    const std::lock_guard guard{lock_};
    std::swap(current_, made);
    return {};
}

owned_settings context_state::current() const noexcept {
    const std::lock_guard guard{lock_};
    SSL_CTX_up_ref(current_.get());
    return owned_settings{current_.get()};
}

int context_state::verify_mode() const noexcept {
    if (!serves())
        return client_->servers == server_check::none ? SSL_VERIFY_NONE : SSL_VERIFY_PEER;
    switch (server_->clients) {
        case client_check::none: return SSL_VERIFY_NONE;
        case client_check::if_given: return SSL_VERIFY_PEER;
        case client_check::required: return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    }
    return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
}

error context_state::set_versions(SSL_CTX& to) const {
    const common_options& options = this->options();
    SSL_CTX_set_security_level(&to, security_level);
    SSL_CTX_set_options(&to, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    // What an engine writes may be taken from another place when it is tried again; and an idle connection
    // keeps no buffers.
    SSL_CTX_set_mode(&to, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    const bool known =
        SSL_CTX_set_min_proto_version(&to, number_of(options.oldest)) == 1 &&
        SSL_CTX_set_max_proto_version(&to, number_of(options.newest)) == 1 &&
        SSL_CTX_set_cipher_list(&to, or_ours(options.ciphers_of_1_2, ciphers_of_1_2)) == 1 &&
        SSL_CTX_set_ciphersuites(&to, or_ours(options.ciphers_of_1_3, ciphers_of_1_3)) == 1 &&
        SSL_CTX_set1_groups_list(&to, or_ours(options.groups, groups)) == 1;
    return known && has_cipher_of_1_3(to) ? error{} : refuse(errc::not_supported);
}

error context_state::set_identities(SSL_CTX& to, const std::vector<identity>& from) const {
    for (const identity& each : from) {
        if (const error failed = add_identity(to, each)) return failed;
    }
    return {};
}

error context_state::set_trust(SSL_CTX& to) const {
    const common_options& options = this->options();
    X509_STORE* const store = SSL_CTX_get_cert_store(&to);
    if (!options.authorities.empty()) {
        const io_result<std::vector<owned_certificate>> trusted =
            read_certificates(options.authorities);
        if (!trusted.ok()) return trusted.error();
        for (const owned_certificate& each : trusted.value()) {
            X509_STORE_add_cert(store, each.get());
            if (serves()) SSL_CTX_add_client_CA(&to, each.get());
        }
    }
    if (!serves() && client_->servers != server_check::none && client_->system_authorities)
        SSL_CTX_set_default_verify_paths(&to);

    // On the store, not on the settings, so that they change with it when a context is chosen by name.
    if (options.revoked != revocation::ignored) {
        const io_result<std::vector<owned_revocations>> lists =
            read_revocations(options.revocations);
        if (!lists.ok()) return lists.error();
        for (const owned_revocations& each : lists.value()) X509_STORE_add_crl(store, each.get());
        const bool all = options.revoked == revocation::of_chain;
        X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | (all ? X509_V_FLAG_CRL_CHECK_ALL : 0));
    }
    if (options.judged_at) {
        X509_VERIFY_PARAM_set_time(X509_STORE_get0_param(store),
                                   std::chrono::system_clock::to_time_t(*options.judged_at));
    }
    ERR_clear_error();
    return {};
}

void context_state::set_server(SSL_CTX& to) const {
    // Sessions of one context mean nothing to another, which may trust other clients; of the same one they
    // are good after a reload.
    const auto id = reinterpret_cast<std::uintptr_t>(this);
    SSL_CTX_set_session_id_context(&to, reinterpret_cast<const unsigned char*>(&id), sizeof id);

    // Tickets only: what the server would have to keep, a client could make grow.
    SSL_CTX_set_session_cache_mode(&to, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_timeout(&to, static_cast<long>(server_->ticket_lifetime.count()));
    SSL_CTX_set_num_tickets(&to, server_->tickets);
    if (server_->tickets == 0) SSL_CTX_set_options(&to, SSL_OP_NO_TICKET);
}

void context_state::set_client(SSL_CTX& to) const {
    const bool keeps = client_->sessions_max > 0;
    SSL_CTX_set_session_cache_mode(
        &to, keeps ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL : SSL_SESS_CACHE_OFF);
    if (!keeps) SSL_CTX_set_options(&to, SSL_OP_NO_TICKET);
}

}  // namespace gyre::tls
