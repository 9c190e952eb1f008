// SPDX-License-Identifier: BSL-1.0
//
// Clients that ask for what we refuse: they speak OpenSSL's own way, since ours could not ask.
#include <gyre/tls/engine.hpp>

#include <doctest/doctest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "engine_pair.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
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

/// A client that trusts everybody and may do anything.
class raw_client {
public:
    explicit raw_client(int newest) : settings_{SSL_CTX_new(TLS_method())} {
        SSL_CTX_set_security_level(settings_.get(), 0);
        SSL_CTX_set_min_proto_version(settings_.get(), TLS1_VERSION);
        SSL_CTX_set_max_proto_version(settings_.get(), newest);
        ssl_.reset(SSL_new(settings_.get()));
        in_ = BIO_new(BIO_s_mem());
        out_ = BIO_new(BIO_s_mem());
        SSL_set_bio(ssl_.get(), in_, out_);
        SSL_set_connect_state(ssl_.get());
    }

    [[nodiscard]] SSL* ssl() const noexcept { return ssl_.get(); }

    /// Gives the server what this client says, and takes what that answers.
    void exchange(tls::engine& server) {
        std::array<std::byte, 4096> space;
        for (;;) {
            const std::size_t room = std::min(space.size(), server.input_space().size());
            const int said = BIO_read(out_, space.data(), static_cast<int>(room));
            if (said <= 0) break;
            std::copy_n(space.begin(), said, server.input_space().begin());
            server.received(static_cast<std::size_t>(said));
            if (server.established()) {
                read_error = server.read(space).error();
            } else {
                handshake_error = server.handshake().error();
            }
        }
        const const_buffer answer = server.output();
        if (!answer.empty()) {
            BIO_write(in_, answer.data(), static_cast<int>(answer.size()));
            server.sent(answer.size());
        }
    }

    /// Whether both have shaken hands.
    bool shake(tls::engine& server) {
        bool done = false;
        for (int flight = 0; flight < 4; ++flight) {
            done = SSL_do_handshake(ssl()) == 1;
            exchange(server);
        }
        ERR_clear_error();
        return done && server.established();
    }

    error handshake_error;
    error read_error;

private:
    std::unique_ptr<SSL_CTX, freed_by<&SSL_CTX_free>> settings_;
    std::unique_ptr<SSL, freed_by<&SSL_free>> ssl_;
    BIO* in_ = nullptr;  // The connection's, as is the other.
    BIO* out_ = nullptr;
};

tls::engine default_server() {
    static const test_trust trust;
    return tls::engine::server(tls::context::server(trust.server()).take()).take();
}

}  // namespace

// RFC 5246, 7.2.2: "no_renegotiation".
TEST_CASE("a server: a client of TLS 1.2 that wants to renegotiate does not get its way") {
    tls::engine server = default_server();
    raw_client client{TLS1_2_VERSION};
    REQUIRE(client.shake(server));

    REQUIRE(SSL_renegotiate(client.ssl()) == 1);
    CHECK(SSL_do_handshake(client.ssl()) != 1);
    client.exchange(server);
    const int again = SSL_do_handshake(client.ssl());
    const unsigned long why = ERR_peek_error();

    CHECK(again != 1);
    CHECK(ERR_GET_REASON(why) == SSL_R_NO_RENEGOTIATION);
    ERR_clear_error();
}

// RFC 8996: versions before 1.2 must not be negotiated.
TEST_CASE("a server: clients of versions before TLS 1.2 are refused") {
    for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
        CAPTURE(version);
        tls::engine server = default_server();
        raw_client client{version};

        CHECK_FALSE(client.shake(server));
        CHECK(client.handshake_error == errc::tls_version_mismatch);
    }
}

// RFC 8446, 4.6.3 and 5.5: keys change, and no byte is lost.
TEST_CASE("a server: answers new keys with new keys of its own, before what it says next") {
    tls::engine server = default_server();
    raw_client client{TLS1_3_VERSION};
    REQUIRE(client.shake(server));
    std::array<char, 16> space{};

    for (int round = 0; round < 100; ++round) {
        REQUIRE(SSL_key_update(client.ssl(), SSL_KEY_UPDATE_REQUESTED) == 1);
        REQUIRE(SSL_write(client.ssl(), "x", 1) == 1);
        client.exchange(server);
        CHECK_FALSE(client.read_error);
        REQUIRE(server.write(bytes_of("y")).ok());
        client.exchange(server);
        REQUIRE(SSL_read(client.ssl(), space.data(), space.size()) == 1);
        CHECK(space[0] == 'y');
    }
}

TEST_CASE(
    "a server: new keys without end, whose answers nobody takes, hold it up and cost a bound") {
    tls::engine server = default_server();
    raw_client client{TLS1_3_VERSION};
    REQUIRE(client.shake(server));
    std::array<std::byte, 64> space;
    std::size_t most = 0;

    for (int round = 0; round < 20'000 && !server.held_up(); ++round) {
        REQUIRE(SSL_key_update(client.ssl(), SSL_KEY_UPDATE_REQUESTED) == 1);
        REQUIRE(SSL_do_handshake(client.ssl()) == 1);
        BIO* const said = SSL_get_wbio(client.ssl());
        const int size = BIO_read(said, space.data(), space.size());
        REQUIRE(size > 0);
        REQUIRE(server.input_space().size() >= static_cast<std::size_t>(size));
        std::copy_n(space.begin(), size, server.input_space().begin());
        server.received(static_cast<std::size_t>(size));
        const error read = server.read(space).error();
        if (read != errc::resource_unavailable) break;
        most = std::max(most, server.output().size());
    }

    CHECK(most < 53 * 1024);
}
