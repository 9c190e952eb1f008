// SPDX-License-Identifier: BSL-1.0
//
// What a client offers by ALPN, and a server that chooses as it likes: OpenSSL's own, since ours could not.
#include <gyre/tls/engine.hpp>

#include <doctest/doctest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "engine_pair.hpp"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

template <auto Free>
struct freed_by {
    template <class Object>
    void operator()(Object* it) const noexcept {
        Free(it);
    }
};

const test_trust& trust() {
    static const test_trust it;
    return it;
}

/// A server that chooses `answer`, whatever it is offered.
class headstrong_server {
public:
    explicit headstrong_server(std::string answer)
        : answer_{std::move(answer)}, settings_{SSL_CTX_new(TLS_server_method())} {
        const tls::identity& shown = trust().localhost;
        const std::unique_ptr<BIO, freed_by<&BIO_free>> chain{BIO_new_mem_buf(
            shown.certificates.data(), static_cast<int>(shown.certificates.size()))};
        const std::unique_ptr<BIO, freed_by<&BIO_free>> secret{
            BIO_new_mem_buf(shown.private_key.data(), static_cast<int>(shown.private_key.size()))};
        const std::unique_ptr<X509, freed_by<&X509_free>> certificate{
            PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr)};
        const std::unique_ptr<EVP_PKEY, freed_by<&EVP_PKEY_free>> key{
            PEM_read_bio_PrivateKey(secret.get(), nullptr, nullptr, nullptr)};
        REQUIRE(SSL_CTX_use_certificate(settings_.get(), certificate.get()) == 1);
        REQUIRE(SSL_CTX_use_PrivateKey(settings_.get(), key.get()) == 1);
        SSL_CTX_set_alpn_select_cb(settings_.get(), &choose, this);
        ssl_.reset(SSL_new(settings_.get()));
        in_ = BIO_new(BIO_s_mem());
        out_ = BIO_new(BIO_s_mem());
        SSL_set_bio(ssl_.get(), in_, out_);
        SSL_set_accept_state(ssl_.get());
    }

    /// What the client's handshake comes to.
    error shake(tls::engine& client) {
        error ended = errc::resource_unavailable;
        for (int flight = 0; flight < 4 && ended == errc::resource_unavailable; ++flight) {
            ended = client.handshake().error();
            const const_buffer said = client.output();
            BIO_write(in_, said.data(), static_cast<int>(said.size()));
            client.sent(said.size());
            static_cast<void>(SSL_do_handshake(ssl_.get()));
            for (;;) {
                const mutable_buffer space = client.input_space();
                const int count = BIO_read(out_, space.data(), static_cast<int>(space.size()));
                if (count <= 0) break;
                client.received(static_cast<std::size_t>(count));
                if (ended == errc::resource_unavailable) ended = client.handshake().error();
            }
        }
        return ended;
    }

private:
    static int choose(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char*,
                      unsigned, void* of) {
        const std::string& answer = static_cast<headstrong_server*>(of)->answer_;
        *chosen = reinterpret_cast<const unsigned char*>(answer.data());
        *size = static_cast<unsigned char>(answer.size());
        return SSL_TLSEXT_ERR_OK;
    }

    std::string answer_;
    std::unique_ptr<SSL_CTX, freed_by<&SSL_CTX_free>> settings_;
    std::unique_ptr<SSL, freed_by<&SSL_free>> ssl_;
    BIO* in_ = nullptr;  // The connection's, as is the other.
    BIO* out_ = nullptr;
};

error outcome_of(std::vector<std::string> offered, std::string_view left_out, std::string chosen) {
    tls::client_options options = trust().client();
    options.protocols = std::move(offered);
    const tls::context settings = tls::context::client(std::move(options)).take();
    tls::engine client = tls::engine::client(settings, "localhost", left_out).take();
    headstrong_server server{std::move(chosen)};
    const error ended = server.shake(client);
    if (ended) CHECK_FALSE(client.established());
    return ended;
}

}  // namespace

// RFC 7301, 3.2.
TEST_CASE("a client: a server chooses among the protocols that it is offered, or is malformed") {
    CHECK_FALSE(outcome_of({"h2", "http/1.1"}, {}, "h2"));
    CHECK_FALSE(outcome_of({"h2", "http/1.1"}, "h2", "http/1.1"));
    CHECK(outcome_of({"http/1.1"}, {}, "h2") == errc::tls_malformed);
    CHECK(outcome_of({"h2", "http/1.1"}, "h2", "h2") == errc::tls_malformed);
    CHECK(outcome_of({"h2", "http/1.1"}, {}, "h3") == errc::tls_malformed);
}

TEST_CASE("a client: a protocol that is left out is not offered") {
    tls::client_options options = trust().client();
    options.protocols = {"h2", "http/1.1"};
    tls::server_options serving = trust().server();
    serving.protocols = {"h2", "http/1.1"};
    const tls::context settings = tls::context::client(std::move(options)).take();
    const tls::context server = tls::context::server(std::move(serving)).take();
    for (const auto& [left_out, agreed] :
         {std::pair{"", "h2"}, std::pair{"h2", "http/1.1"}, std::pair{"http/1.1", "h2"}}) {
        engine_pair pair{tls::engine::client(settings, "localhost", left_out).take(),
                         tls::engine::server(server).take()};
        const handshake_outcomes ended = pair.shake();
        CHECK_FALSE(ended.client);
        CHECK(pair.client.protocol() == agreed);
    }
}
