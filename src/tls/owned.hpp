// SPDX-License-Identifier: BSL-1.0
//
// OpenSSL's objects, each with an owner that frees it.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

namespace gyre::tls {

template <auto Free>
struct freed_by {
    template <class Object>
    void operator()(Object* it) const noexcept {
        Free(it);
    }
};

using owned_bio = std::unique_ptr<BIO, freed_by<&BIO_free_all>>;
using owned_bio_method = std::unique_ptr<BIO_METHOD, freed_by<&BIO_meth_free>>;
using owned_certificate = std::unique_ptr<X509, freed_by<&X509_free>>;
using owned_key = std::unique_ptr<EVP_PKEY, freed_by<&EVP_PKEY_free>>;
using owned_revocations = std::unique_ptr<X509_CRL, freed_by<&X509_CRL_free>>;
using owned_session = std::unique_ptr<SSL_SESSION, freed_by<&SSL_SESSION_free>>;
using owned_settings = std::unique_ptr<SSL_CTX, freed_by<&SSL_CTX_free>>;
using owned_ssl = std::unique_ptr<SSL, freed_by<&SSL_free>>;

}  // namespace gyre::tls
