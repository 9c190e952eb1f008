// SPDX-License-Identifier: BSL-1.0
//
// Certificates of all kinds, made when a test wants them: none in the tree can expire.
#pragma once

#include <gyre/tls/context.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace gyre::testing {

/// The moment for which tests make and judge certificates, whatever the machine's clock says.
inline constexpr std::chrono::system_clock::time_point certificate_day{
    std::chrono::hours{24 * 365 * 60}};

struct certificate_wish {
    certificate_wish() {}
    explicit certificate_wish(std::string common_name) : name{std::move(common_name)} {}

    std::string name = "localhost";  ///< The subject's common name.
    std::vector<std::string> hosts;  ///< As OpenSSL writes them: "DNS:localhost", "IP:127.0.0.1".
    std::chrono::hours begins{-24};  ///< From `certificate_day`.
    std::chrono::hours ends{24 * 30};
    bool authority = false;
    bool rsa = false;  ///< 2048 bits, made once for all; else a key on P-256 of its own.
};

/// Who issues certificates: itself, or by another's grace.
class test_authority {
public:
    explicit test_authority(const std::string& name);
    test_authority(test_authority&&) noexcept;
    ~test_authority();

    /// A certificate and its key. Behind it stand the certificates of the issuers, but not of the root.
    [[nodiscard]] tls::identity issue(const certificate_wish& wish);
    [[nodiscard]] test_authority issue_authority(const std::string& name);

    /// A list of what was revoked, PEM. Current at `certificate_day`.
    [[nodiscard]] std::string revocations() const;
    void revoke(const tls::identity& it);
    void revoke(const test_authority& it);

    /// Its own certificate, PEM.
    [[nodiscard]] const std::string& certificate() const;

private:
    struct state;
    explicit test_authority(std::unique_ptr<state> it) noexcept;

    std::unique_ptr<state> state_;
};

/// A certificate that nobody but itself has signed.
[[nodiscard]] tls::identity self_signed(const certificate_wish& wish);

/// The private key of `it`, encrypted.
[[nodiscard]] std::string encrypted_key(const tls::identity& it, const std::string& password);

}  // namespace gyre::testing
