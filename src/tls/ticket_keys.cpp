// SPDX-License-Identifier: BSL-1.0
#include "tls/ticket_keys.hpp"

#include <gyre/base/check.hpp>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <cstring>

namespace gyre::tls {

ticket_keys::~ticket_keys() {
    OPENSSL_cleanse(&current_, sizeof current_);
    if (before_) OPENSSL_cleanse(&*before_, sizeof *before_);
}

ticket_keys::key ticket_keys::make() {
    key fresh;
    const bool drawn = RAND_bytes(fresh.name.data(), fresh.name.size()) == 1 &&
                       RAND_priv_bytes(fresh.cipher.data(), fresh.cipher.size()) == 1 &&
                       RAND_priv_bytes(fresh.mac.data(), fresh.mac.size()) == 1;
    expects(drawn, "a machine without random numbers cannot speak TLS");
    return fresh;
}

void ticket_keys::rotate() {
    const key fresh = make();
    const std::lock_guard guard{mutex_};
    before_ = current_;
    current_ = fresh;
}

int ticket_keys::prepare(unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                         EVP_MAC_CTX* mac, bool encrypt) noexcept {
    const std::lock_guard guard{mutex_};
    const auto named = [name](const key& it) {
        return std::memcmp(name, it.name.data(), it.name.size()) == 0;
    };
    const key* used = &current_;
    if (encrypt) {
        std::memcpy(name, current_.name.data(), current_.name.size());
        if (RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) != 1) return failed;
    } else if (!named(current_)) {
        if (!before_ || !named(*before_)) return unknown;
        used = &*before_;
    }

    char digest[] = "SHA256";
    // OpenSSL's parameters are not const, and it does not write to these.
    auto* const secret = const_cast<unsigned char*>(used->mac.data());
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, secret, used->mac.size()),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end()};
    const bool ready = EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), nullptr, used->cipher.data(),
                                         iv, encrypt ? 1 : 0) == 1 &&
                       EVP_MAC_CTX_set_params(mac, parameters) == 1;
    if (!ready) return failed;
    return used == &current_ ? usable : to_renew;
}

}  // namespace gyre::tls
