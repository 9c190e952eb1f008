// SPDX-License-Identifier: BSL-1.0
//
// Each way in which a peer may not be who it should be has an error of its own.
#include <gyre/tls/engine.hpp>

#include <doctest/doctest.h>

#include "engine_pair.hpp"

#include <array>
#include <concepts>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

/// Shakes hands with a server that shows `shown`; the client's options as they are changed by `change`.
struct attempt {
    template <std::invocable<tls::client_options&> Change>
    attempt(const test_trust& trust, tls::identity shown, const Change& change,
            std::string_view host = "localhost") {
        tls::client_options client = trust.client();
        tls::server_options server = trust.server();
        server.identities = {std::move(shown)};
        change(client);
        engine_pair pair = pair_of(client, server, host);
        const handshake_outcomes ended = pair.shake();
        at_client = ended.client;
        at_server = pair.server.read(space).error();
        if (ended.server) at_server = ended.server;
        text = pair.client.failure();
    }
    attempt(const test_trust& trust, tls::identity shown, std::string_view host = "localhost")
        : attempt{trust, std::move(shown), [](tls::client_options&) {}, host} {}

    error at_client;
    error at_server;
    std::string text;
    std::array<std::byte, 1> space;
};

certificate_wish for_localhost() { return test_trust::wish_for_localhost(); }

}  // namespace

TEST_CASE("verification: a certificate for the host is accepted, also for its address") {
    test_trust trust;

    CHECK_FALSE(attempt{trust, trust.localhost}.at_client);
    CHECK_FALSE(attempt{trust, trust.localhost, "LOCALHOST."}.at_client);
    CHECK_FALSE(attempt{trust, trust.localhost, "127.0.0.1"}.at_client);
}

TEST_CASE("verification: another host is told from all other faults") {
    test_trust trust;

    const attempt other{trust, trust.localhost, "example.org"};
    const attempt other_address{trust, trust.localhost, "127.0.0.2"};

    CHECK(other.at_client == errc::certificate_wrong_host);
    CHECK(other.at_server == errc::certificate_refused);
    CHECK(other.text.find("CN=localhost") != std::string::npos);
    CHECK(other_address.at_client == errc::certificate_wrong_host);
}

// RFC 9525, 6.3 and 6.4.
TEST_CASE("verification: a wildcard is one whole label, and a common name is no host") {
    test_trust trust;
    certificate_wish wild{"Wild"};
    wild.hosts = {"DNS:*.example.org"};
    certificate_wish partly{"Partly"};
    partly.hosts = {"DNS:w*.example.org"};
    const tls::identity any = trust.root.issue(wild);

    CHECK_FALSE(attempt{trust, any, "www.example.org"}.at_client);
    CHECK(attempt{trust, any, "a.www.example.org"}.at_client == errc::certificate_wrong_host);
    CHECK(attempt{trust, any, "example.org"}.at_client == errc::certificate_wrong_host);
    CHECK(attempt{trust, trust.root.issue(partly), "www.example.org"}.at_client ==
          errc::certificate_wrong_host);
    CHECK(attempt{trust, trust.root.issue(certificate_wish{"www.example.org"}), "www.example.org"}
              .at_client == errc::certificate_wrong_host);
}

TEST_CASE("verification: expired and not yet valid are two errors") {
    test_trust trust;
    certificate_wish old = for_localhost();
    old.begins = std::chrono::hours{-48};
    old.ends = std::chrono::hours{-24};
    certificate_wish coming = for_localhost();
    coming.begins = std::chrono::hours{24};

    CHECK(attempt{trust, trust.root.issue(old)}.at_client == errc::certificate_expired);
    CHECK(attempt{trust, trust.root.issue(coming)}.at_client == errc::certificate_not_yet_valid);
}

TEST_CASE("verification: self-signed and of an unknown issuer are two errors") {
    test_trust trust;
    test_authority stranger{"Stranger"};
    test_authority below = stranger.issue_authority("Below Stranger");

    CHECK(attempt{trust, self_signed(for_localhost())}.at_client == errc::certificate_self_signed);
    CHECK(attempt{trust, stranger.issue(for_localhost())}.at_client ==
          errc::certificate_unknown_issuer);
    CHECK(attempt{trust, below.issue(for_localhost())}.at_client ==
          errc::certificate_unknown_issuer);
}

TEST_CASE("verification: a chain over an authority in between is accepted") {
    test_trust trust;
    test_authority middle = trust.root.issue_authority("Middle");

    CHECK_FALSE(attempt{trust, middle.issue(for_localhost())}.at_client);
}

TEST_CASE(
    "verification: a revoked certificate, a revoked issuer and a missing list are told apart") {
    test_trust trust;
    test_authority middle = trust.root.issue_authority("Middle");
    const tls::identity good = middle.issue(for_localhost());
    const tls::identity bad = middle.issue(for_localhost());
    middle.revoke(bad);
    const std::string middles_list = middle.revocations();
    const std::string roots_list = trust.root.revocations();
    trust.root.revoke(middle);
    const std::string list_with_middle = trust.root.revocations();
    const auto with = [](tls::revocation how, std::string lists) {
        return [=](tls::client_options& options) {
            options.revoked = how;
            options.revocations = lists;
        };
    };
    const auto peer = with(tls::revocation::of_peer, middles_list);
    const auto chain = with(tls::revocation::of_chain, middles_list + roots_list);
    const auto chain_revoked = with(tls::revocation::of_chain, middles_list + list_with_middle);
    const auto missing = with(tls::revocation::of_chain, roots_list);

    CHECK_FALSE(attempt{trust, good, peer}.at_client);
    CHECK_FALSE(attempt{trust, good, chain}.at_client);
    CHECK(attempt{trust, bad, peer}.at_client == errc::certificate_revoked);
    CHECK(attempt{trust, bad, chain}.at_client == errc::certificate_revoked);
    CHECK(attempt{trust, good, chain_revoked}.at_client == errc::certificate_revoked);
    CHECK(attempt{trust, good, chain_revoked}.text.find("Middle") != std::string::npos);
    CHECK(attempt{trust, good, missing}.at_client == errc::certificate_revocation_unknown);
}

TEST_CASE("verification: what is not checked is accepted, and only that") {
    test_trust trust;
    const tls::identity own = self_signed(for_localhost());
    const auto chain_only = [](tls::client_options& options) {
        options.servers = tls::server_check::certificate_only;
    };
    const auto nothing = [](tls::client_options& options) {
        options.servers = tls::server_check::none;
        options.authorities.clear();
        options.judged_at.reset();
    };

    CHECK_FALSE(attempt{trust, trust.localhost, chain_only, "example.org"}.at_client);
    CHECK(attempt{trust, own, chain_only}.at_client == errc::certificate_self_signed);
    CHECK_FALSE(attempt{trust, own, nothing, "example.org"}.at_client);
}

TEST_CASE("verification: a client that checks hosts wants to know which") {
    const test_trust trust;
    const tls::context settings = tls::context::client(trust.client()).take();

    CHECK(tls::engine::client(settings, "").error() == errc::tls_name_missing);
    for (const std::string_view none :
         {"a..b", ".", "http://localhost", "local host", "a/b", "localhost:443", "\x01"}) {
        CAPTURE(none);
        CHECK(tls::engine::client(settings, none).error() == errc::malformed);
    }
    CHECK(tls::engine::client(settings, std::string(64, 'a')).error() == errc::malformed);
    CHECK(tls::engine::client(tls::context{}, "localhost").error() == errc::closed);
    CHECK(tls::engine::server(settings).error() == errc::invalid_argument);
}

namespace {

/// Shakes hands with a server that asks who its clients are.
handshake_outcomes introduce(const test_trust& trust, test_authority& clients,
                             tls::client_check check, std::vector<tls::identity> shown) {
    tls::server_options server = trust.server();
    server.clients = check;
    server.authorities = clients.certificate();
    server.judged_at = certificate_day;
    tls::client_options client = trust.client();
    client.identities = std::move(shown);
    engine_pair pair = pair_of(client, server);
    handshake_outcomes ended = pair.shake();
    // A client of TLS 1.3 learns that it was refused only after its own end of the handshake.
    std::array<std::byte, 1> space;
    const error later = pair.client.read(space).error();
    if (!ended.client && later != errc::resource_unavailable) ended.client = later;
    if (!ended.server) {
        CHECK(pair.server.peer_certificate().has_value() == !client.identities.empty());
    }
    return ended;
}

}  // namespace

TEST_CASE("verification: a server refuses clients without a certificate, or with another's") {
    const test_trust trust;
    test_authority clients{"Clients"};
    test_authority strangers{"Strangers"};
    const tls::identity known = clients.issue(certificate_wish{"Alice"});
    const tls::identity unknown = strangers.issue(certificate_wish{"Mallory"});
    certificate_wish past{"Bob"};
    past.begins = std::chrono::hours{-48};
    past.ends = std::chrono::hours{-24};
    const tls::identity old = clients.issue(past);
    using tls::client_check;

    CHECK_FALSE(introduce(trust, clients, client_check::required, {known}).server);
    CHECK_FALSE(introduce(trust, clients, client_check::if_given, {known}).server);
    CHECK_FALSE(introduce(trust, clients, client_check::if_given, {}).server);
    const handshake_outcomes nobody = introduce(trust, clients, client_check::required, {});
    CHECK(nobody.server == errc::certificate_missing);
    CHECK(nobody.client == errc::certificate_missing);
    const handshake_outcomes stranger =
        introduce(trust, clients, client_check::if_given, {unknown});
    CHECK(stranger.server == errc::certificate_unknown_issuer);
    CHECK(stranger.client == errc::certificate_refused);
    CHECK(introduce(trust, clients, client_check::required, {old}).server ==
          errc::certificate_expired);
}
