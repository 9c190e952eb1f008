// SPDX-License-Identifier: BSL-1.0
#include <support/certificates.hpp>

#include <gyre/base/check.hpp>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <utility>

namespace gyre::testing {
namespace {

template <auto Free>
struct freed_by {
    template <class Object>
    void operator()(Object* it) const noexcept {
        Free(it);
    }
};
using owned_bio = std::unique_ptr<BIO, freed_by<&BIO_free_all>>;
using owned_certificate = std::unique_ptr<X509, freed_by<&X509_free>>;
using owned_extension = std::unique_ptr<X509_EXTENSION, freed_by<&X509_EXTENSION_free>>;
using owned_key = std::shared_ptr<EVP_PKEY>;
using owned_list = std::unique_ptr<X509_CRL, freed_by<&X509_CRL_free>>;
using owned_time = std::unique_ptr<ASN1_TIME, freed_by<&ASN1_TIME_free>>;

void must(bool done) { expects(done, "OpenSSL makes what a test wants of it"); }

owned_key make_key(bool rsa) {
    const auto own = [](EVP_PKEY* key) { return owned_key{key, &EVP_PKEY_free}; };
    if (!rsa) return own(EVP_EC_gen("P-256"));
    static const owned_key only = own(EVP_RSA_gen(2048));
    return only;
}

std::time_t at(std::chrono::hours after) {
    return std::chrono::system_clock::to_time_t(certificate_day + after);
}

long next_serial() {
    static long last = 0x1000;
    return ++last;
}

template <class Write>
std::string pem_of(const Write& write) {
    const owned_bio into{BIO_new(BIO_s_mem())};
    must(write(into.get()) == 1);
    char* text = nullptr;
    const long size = BIO_get_mem_data(into.get(), &text);
    return {text, static_cast<std::size_t>(size)};
}

std::string pem_of(X509& it) {
    return pem_of([&](BIO* into) { return PEM_write_bio_X509(into, &it); });
}

std::string pem_of(EVP_PKEY& it) {
    return pem_of([&](BIO* into) {
        return PEM_write_bio_PrivateKey(into, &it, nullptr, nullptr, 0, nullptr, nullptr);
    });
}

owned_certificate certificate_in(const std::string& text) {
    const owned_bio from{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
    owned_certificate it{PEM_read_bio_X509(from.get(), nullptr, nullptr, nullptr)};
    must(it != nullptr);
    return it;
}

void extend(X509& it, X509* issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, &it, nullptr, nullptr, 0);
    const owned_extension made{X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str())};
    must(made != nullptr);
    must(X509_add_ext(&it, made.get(), -1) == 1);
}

// Signed by `issuer`, or by itself if there is none.
owned_certificate make_certificate(const certificate_wish& wish, EVP_PKEY& key, X509* issuer,
                                   EVP_PKEY& signer) {
    owned_certificate it{X509_new()};
    X509_set_version(it.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(it.get()), next_serial());
    ASN1_TIME_set(X509_getm_notBefore(it.get()), at(wish.begins));
    ASN1_TIME_set(X509_getm_notAfter(it.get()), at(wish.ends));
    X509_NAME_add_entry_by_txt(X509_get_subject_name(it.get()), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(wish.name.c_str()), -1, -1,
                               0);
    X509_set_issuer_name(it.get(), X509_get_subject_name(issuer != nullptr ? issuer : it.get()));
    X509_set_pubkey(it.get(), &key);

    X509* const named = issuer != nullptr ? issuer : it.get();
    extend(*it, named, NID_basic_constraints, wish.authority ? "critical,CA:TRUE" : "CA:FALSE");
    extend(*it, named, NID_subject_key_identifier, "hash");
    if (wish.authority) extend(*it, named, NID_key_usage, "critical,keyCertSign,cRLSign");
    std::string hosts;
    for (const std::string& each : wish.hosts) hosts += (hosts.empty() ? "" : ",") + each;
    if (!hosts.empty()) extend(*it, named, NID_subject_alt_name, hosts);
    must(X509_sign(it.get(), &signer, EVP_sha256()) > 0);
    return it;
}

certificate_wish authority_wish(const std::string& name) {
    certificate_wish wish{name};
    wish.authority = true;
    constexpr std::chrono::hours long_time{24 * 365 *
                                           20};  // Also programs that judge by the clock.
    wish.begins = -long_time;
    wish.ends = long_time;
    return wish;
}

}  // namespace

struct test_authority::state {
    owned_key key = make_key(false);
    owned_certificate certificate;
    std::string text;
    std::string issuers;  // PEM of what stands behind what it issues: itself first, no root.
    std::vector<ASN1_INTEGER*> revoked;
    std::vector<owned_certificate> kept;  // Whose numbers `revoked` points to.
};

test_authority::test_authority(const std::string& name) : state_{std::make_unique<state>()} {
    state& it = *state_;
    it.certificate = make_certificate(authority_wish(name), *it.key, nullptr, *it.key);
    it.text = pem_of(*it.certificate);
}

test_authority::test_authority(std::unique_ptr<state> it) noexcept : state_{std::move(it)} {}
test_authority::test_authority(test_authority&&) noexcept = default;
test_authority::~test_authority() = default;

tls::identity test_authority::issue(const certificate_wish& wish) {
    const owned_key key = make_key(wish.rsa);
    const owned_certificate made =
        make_certificate(wish, *key, state_->certificate.get(), *state_->key);
    return {pem_of(*made) + state_->issuers, pem_of(*key)};
}

test_authority test_authority::issue_authority(const std::string& name) {
    auto below = std::make_unique<state>();
    below->certificate = make_certificate(authority_wish(name), *below->key,
                                          state_->certificate.get(), *state_->key);
    below->text = pem_of(*below->certificate);
    below->issuers = below->text + state_->issuers;
    return test_authority{std::move(below)};
}

std::string test_authority::revocations() const {
    const owned_list list{X509_CRL_new()};
    X509_CRL_set_version(list.get(), X509_CRL_VERSION_2);
    X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(state_->certificate.get()));
    const owned_time made{ASN1_TIME_set(nullptr, at(std::chrono::hours{-1}))};
    const owned_time next{ASN1_TIME_set(nullptr, at(std::chrono::hours{24}))};
    X509_CRL_set1_lastUpdate(list.get(), made.get());
    X509_CRL_set1_nextUpdate(list.get(), next.get());
    for (ASN1_INTEGER* const each : state_->revoked) {
        X509_REVOKED* const entry = X509_REVOKED_new();
        X509_REVOKED_set_serialNumber(entry, each);
        X509_REVOKED_set_revocationDate(entry, made.get());
        must(X509_CRL_add0_revoked(list.get(), entry) == 1);
    }
    must(X509_CRL_sign(list.get(), state_->key.get(), EVP_sha256()) > 0);
    return pem_of([&](BIO* into) { return PEM_write_bio_X509_CRL(into, list.get()); });
}

void test_authority::revoke(const tls::identity& it) {
    state_->kept.push_back(certificate_in(it.certificates));
    state_->revoked.push_back(X509_get_serialNumber(state_->kept.back().get()));
}

void test_authority::revoke(const test_authority& it) {
    state_->kept.push_back(certificate_in(it.certificate()));
    state_->revoked.push_back(X509_get_serialNumber(state_->kept.back().get()));
}

const std::string& test_authority::certificate() const { return state_->text; }

tls::identity self_signed(const certificate_wish& wish) {
    const owned_key key = make_key(wish.rsa);
    const owned_certificate made = make_certificate(wish, *key, nullptr, *key);
    return {pem_of(*made), pem_of(*key)};
}

std::string encrypted_key(const tls::identity& it, const std::string& password) {
    const std::string& text = it.private_key;
    const owned_bio from{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
    const owned_key key{PEM_read_bio_PrivateKey(from.get(), nullptr, nullptr, nullptr),
                        &EVP_PKEY_free};
    must(key != nullptr);
    return pem_of([&](BIO* into) {
        return PEM_write_bio_PrivateKey(into, key.get(), EVP_aes_128_cbc(),
                                        reinterpret_cast<const unsigned char*>(password.data()),
                                        static_cast<int>(password.size()), nullptr, nullptr);
    });
}

}  // namespace gyre::testing
