// SPDX-License-Identifier: BSL-1.0
//
// What a failed connection is told to its owner: one of our codes, and words with the details.
//
// OpenSSL tells the same in five places: its queue of errors, the result of verifying, what the callback for
// that has seen, the alert that came, and what a callback of ours has decided.
#pragma once

#include "tls/owned.hpp"

#include <gyre/base/error.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace gyre::tls {

struct failure_report {
    errc code = errc::ok;
    std::string text;
    std::optional<std::uint8_t> alert;  // Received from the peer.
};

/// What a certificate that was not accepted is called: an X509_V_ERR_... of OpenSSL.
[[nodiscard]] errc code_of_verification(long result) noexcept;

/// What `store` has found wrong, in words; for a callback of SSL_CTX_set_verify(3).
[[nodiscard]] std::string describe_verification(X509_STORE_CTX& store);

/// Takes the errors of this thread that OpenSSL has left of the last call on `ssl`.
///
/// @param  verification  What `describe_verification` said when a certificate was not accepted.
[[nodiscard]] failure_report take_failure(const SSL& ssl, const std::string& verification);

/// A name as RFC 2253 writes it, readable as UTF-8.
[[nodiscard]] std::string text_of_name(const X509_NAME* name);

}  // namespace gyre::tls
