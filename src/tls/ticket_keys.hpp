// SPDX-License-Identifier: BSL-1.0
//
// The keys that a server's session tickets are encrypted with: the current one and the one before.
//
// They outlive certificates that are replaced, so that a reload costs no client its session; and they are
// replaced themselves, so that a stolen key opens no old recordings. RFC 5077, 4 and 5.5.
#pragma once

#include "tls/owned.hpp"

#include <array>
#include <cstddef>
#include <mutex>
#include <optional>

namespace gyre::tls {

/// Any thread.
class ticket_keys {
public:
    ticket_keys() : current_{make()} {}
    ~ticket_keys();
    ticket_keys(const ticket_keys&) = delete;
    ticket_keys& operator=(const ticket_keys&) = delete;

    /// What `prepare` returns.
    static constexpr int failed = -1;
    static constexpr int unknown = 0;
    static constexpr int usable = 1;
    static constexpr int to_renew = 2;

    void rotate();

    /// OpenSSL's callback for tickets (SSL_CTX_set_tlsext_ticket_key_evp_cb(3)), told to `this`.
    int prepare(unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac,
                bool encrypt) noexcept;

private:
    struct key {
        std::array<unsigned char, 16> name;
        std::array<unsigned char, 32> cipher;
        std::array<unsigned char, 32> mac;
    };

    [[nodiscard]] static key make();

    std::mutex mutex_;
    key current_;
    std::optional<key> before_;
};

}  // namespace gyre::tls
