// SPDX-License-Identifier: BSL-1.0
#include "tls/failure.hpp"

#include <openssl/err.h>

namespace gyre::tls {
namespace {

// OpenSSL tells a received alert as this much more than its number.
constexpr int reason_of_alert_0 = SSL_AD_REASON_OFFSET;

// RFC 8446, 6.2.
errc code_of_alert(int number) noexcept {
    switch (number) {
        case SSL_AD_HANDSHAKE_FAILURE:
        case SSL_AD_INSUFFICIENT_SECURITY: return errc::tls_no_common_cipher;
        case SSL_AD_BAD_CERTIFICATE:
        case SSL_AD_UNSUPPORTED_CERTIFICATE:
        case SSL_AD_CERTIFICATE_REVOKED:
        case SSL_AD_CERTIFICATE_EXPIRED:
        case SSL_AD_CERTIFICATE_UNKNOWN:
        case SSL_AD_UNKNOWN_CA:
        case SSL_AD_ACCESS_DENIED: return errc::certificate_refused;
        case SSL_AD_CERTIFICATE_REQUIRED: return errc::certificate_missing;
        case SSL_AD_PROTOCOL_VERSION: return errc::tls_version_mismatch;
        case SSL_AD_UNRECOGNIZED_NAME: return errc::tls_name_unknown;
        case SSL_AD_NO_APPLICATION_PROTOCOL: return errc::tls_no_common_protocol;
        default: return errc::tls_alert;
    }
}

errc code_of_reason(int reason) noexcept {
    switch (reason) {
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return errc::certificate_missing;
        case SSL_R_NO_SHARED_CIPHER:
        case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
        case SSL_R_NO_SUITABLE_KEY_SHARE:
        case SSL_R_NO_SUITABLE_GROUPS:
        case SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
        case SSL_R_NO_SHARED_GROUPS:
        case SSL_R_UNSUPPORTED_ELLIPTIC_CURVE:
        case SSL_R_NO_CIPHERS_AVAILABLE: return errc::tls_no_common_cipher;
        case SSL_R_UNSUPPORTED_PROTOCOL:
        case SSL_R_VERSION_TOO_LOW:
        case SSL_R_WRONG_SSL_VERSION:
        case SSL_R_INAPPROPRIATE_FALLBACK:
        case SSL_R_NO_PROTOCOLS_AVAILABLE: return errc::tls_version_mismatch;
        case SSL_R_NO_APPLICATION_PROTOCOL: return errc::tls_no_common_protocol;
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: return errc::tls_truncated;
        // Too short a key, or too weak a signature, in what the peer has shown.
        case SSL_R_EE_KEY_TOO_SMALL:
        case SSL_R_CA_KEY_TOO_SMALL:
        case SSL_R_CA_MD_TOO_WEAK:
        case SSL_R_DH_KEY_TOO_SMALL: return errc::certificate_unacceptable;
        default: return errc::tls_malformed;
    }
}

std::string alert_text(int number) {
    return std::string{"the peer sent the alert \""} + SSL_alert_desc_string_long(number) + "\" (" +
           std::to_string(number) + ")";
}

std::string text_of_reason(unsigned long code) {
    const char* const text = ERR_reason_error_string(code);
    return text != nullptr ? text : "OpenSSL error " + std::to_string(code);
}

// The first error that tells of TLS: what failed inside of it stands before, and says less.
unsigned long take_first_of_tls() noexcept {
    unsigned long found = 0;
    while (const unsigned long code = ERR_get_error()) {
        const bool tells = ERR_GET_LIB(code) == ERR_LIB_SSL;
        if (found == 0 || (tells && ERR_GET_LIB(found) != ERR_LIB_SSL)) found = code;
    }
    return found;
}

}  // namespace

errc code_of_verification(long result) noexcept {
    switch (result) {
        case X509_V_OK: return errc::ok;
        case X509_V_ERR_CERT_HAS_EXPIRED: return errc::certificate_expired;
        case X509_V_ERR_CERT_NOT_YET_VALID: return errc::certificate_not_yet_valid;
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH: return errc::certificate_wrong_host;
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: return errc::certificate_self_signed;
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_CERT_UNTRUSTED: return errc::certificate_unknown_issuer;
        case X509_V_ERR_CERT_REVOKED: return errc::certificate_revoked;
        case X509_V_ERR_UNABLE_TO_GET_CRL:
        case X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER:
        case X509_V_ERR_CRL_HAS_EXPIRED:
        case X509_V_ERR_CRL_NOT_YET_VALID:
        case X509_V_ERR_CRL_SIGNATURE_FAILURE:
        case X509_V_ERR_DIFFERENT_CRL_SCOPE: return errc::certificate_revocation_unknown;
        default: return errc::certificate_unacceptable;
    }
}

std::string text_of_name(const X509_NAME* name) {
    const owned_bio into{BIO_new(BIO_s_mem())};
    if (name == nullptr || into == nullptr) return {};
    constexpr unsigned long as_utf8 =
        XN_FLAG_RFC2253 & ~static_cast<unsigned long>(ASN1_STRFLGS_ESC_MSB);
    X509_NAME_print_ex(into.get(), name, 0, as_utf8);
    char* text = nullptr;
    const long size = BIO_get_mem_data(into.get(), &text);
    return size > 0 ? std::string{text, static_cast<std::size_t>(size)} : std::string{};
}

std::string describe_verification(X509_STORE_CTX& store) {
    const X509* const which = X509_STORE_CTX_get_current_cert(&store);
    std::string text = "certificate";
    if (which != nullptr) {
        text += " of \"" + text_of_name(X509_get_subject_name(which)) + "\", issued by \"" +
                text_of_name(X509_get_issuer_name(which)) + "\"";
    }
    const int depth = X509_STORE_CTX_get_error_depth(&store);
    if (depth > 0) text += " (number " + std::to_string(depth) + " above the peer's own)";
    return text + ": " + X509_verify_cert_error_string(X509_STORE_CTX_get_error(&store));
}

failure_report take_failure(const SSL& ssl, const std::string& verification) {
    const unsigned long code = take_first_of_tls();
    if (code == 0) return {errc::tls_truncated, "the connection ended", {}};
    const int reason = ERR_GET_REASON(code);
    if (ERR_GET_LIB(code) != ERR_LIB_SSL) return {errc::tls_malformed, text_of_reason(code), {}};

    if (reason >= reason_of_alert_0) {
        const int alert = reason - reason_of_alert_0;
        return {code_of_alert(alert), alert_text(alert), static_cast<std::uint8_t>(alert)};
    }
    if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        const errc why = code_of_verification(SSL_get_verify_result(&ssl));
        return {why == errc::ok ? errc::certificate_unacceptable : why, verification, {}};
    }
    return {code_of_reason(reason), text_of_reason(code), {}};
}

}  // namespace gyre::tls
