// SPDX-License-Identifier: BSL-1.0
//
// What settings are refused, and what those that are not come to in a handshake.
#include <gyre/tls/context.hpp>

#include <doctest/doctest.h>

#include "engine_pair.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

error client_with(const std::function<void(tls::client_options&)>& change) {
    static const test_trust trust;
    tls::client_options options = trust.client();
    change(options);
    return tls::context::client(std::move(options)).error();
}

error server_with(const std::function<void(tls::server_options&)>& change) {
    static const test_trust trust;
    tls::server_options options = trust.server();
    change(options);
    return tls::context::server(std::move(options)).error();
}

void nothing(tls::common_options&) {}

/// A server that chooses among two hosts; "nobody" is refused.
tls::server_options with_hosts(const test_trust& trust, test_authority& root) {
    const auto context_for = [&](const std::string& host, std::string protocol) {
        certificate_wish wish{host};
        wish.hosts = {"DNS:" + host};
        tls::server_options options;
        options.identities = {root.issue(wish)};
        options.protocols = {std::move(protocol)};
        return tls::context::server(std::move(options)).take();
    };
    const tls::context one = context_for("one.example", "one/1");
    const tls::context other = context_for("other.example", "other/1");
    tls::server_options options = trust.server();
    options.choose = [one, other](std::string_view name) {
        if (name == "one.example") return one;
        return name == "other.example" ? other : tls::context{};
    };
    return options;
}

}  // namespace

TEST_CASE("a context: the settings that all tests begin with are accepted") {
    CHECK_FALSE(client_with(nothing));
    CHECK_FALSE(server_with(nothing));
    CHECK_FALSE(tls::context::client(tls::client_options{}).error());
}

TEST_CASE("a context: settings that exclude each other are refused when it is made") {
    using tls::client_options;
    using tls::server_options;
    const auto contradicts = [](error said) { return said == errc::tls_contradiction; };

    CHECK(contradicts(client_with([](client_options& it) {
        it.oldest = tls::version::tls_1_3;
        it.newest = tls::version::tls_1_2;
    })));
    CHECK(contradicts(client_with([](client_options& it) {
        it.oldest = tls::version::tls_1_3;
        it.ciphers_of_1_2 = "ECDHE-RSA-AES128-GCM-SHA256";
    })));
    CHECK(contradicts(client_with([](client_options& it) {
        it.newest = tls::version::tls_1_2;
        it.ciphers_of_1_3 = "TLS_AES_128_GCM_SHA256";
    })));
    CHECK(contradicts(client_with([](client_options& it) { it.protocol_required = true; })));
    CHECK(contradicts(client_with([](client_options& it) { it.authorities.clear(); })));
    CHECK(
        contradicts(client_with([](client_options& it) { it.servers = tls::server_check::none; })));
    CHECK(contradicts(
        client_with([](client_options& it) { it.revoked = tls::revocation::of_peer; })));
    CHECK(contradicts(client_with([](client_options& it) { it.revocations = "list"; })));
    CHECK(contradicts(server_with([](server_options& it) { it.authorities = "someone"; })));
    CHECK(contradicts(
        server_with([](server_options& it) { it.clients = tls::client_check::required; })));
    CHECK(contradicts(server_with([](server_options& it) { it.judged_at = certificate_day; })));
}

TEST_CASE("a context: what there is not is refused") {
    using tls::client_options;
    using tls::server_options;
    CHECK(client_with([](client_options& it) { it.ciphers_of_1_2 = "ROT13"; }) ==
          errc::not_supported);
    CHECK(client_with([](client_options& it) { it.ciphers_of_1_3 = "TLS_ROT13"; }) ==
          errc::not_supported);
    CHECK(client_with([](client_options& it) { it.groups = "P-1"; }) == errc::not_supported);
    CHECK(client_with([](client_options& it) { it.oldest = tls::version::none; }) ==
          errc::not_supported);
    CHECK(client_with([](client_options& it) { it.protocols = {""}; }) == errc::invalid_argument);
    CHECK(client_with([](client_options& it) { it.protocols = {std::string(256, 'p')}; }) ==
          errc::invalid_argument);
    CHECK(server_with([](server_options& it) { it.tickets = 17; }) == errc::not_supported);
    // RFC 8446, 4.6.1.
    CHECK(server_with([](server_options& it) { it.ticket_lifetime = std::chrono::hours{169}; }) ==
          errc::not_supported);
    CHECK(server_with([](server_options& it) { it.ticket_lifetime = std::chrono::seconds{0}; }) ==
          errc::not_supported);
}

TEST_CASE("a context: certificates and keys that cannot be used are told apart") {
    using tls::server_options;
    const test_trust trust;
    const std::string own_key = trust.localhost.private_key;
    const tls::identity other = self_signed(certificate_wish{"other"});

    CHECK(server_with([](server_options& it) { it.identities.clear(); }) ==
          errc::certificate_missing);
    CHECK(server_with([](server_options& it) { it.identities[0].certificates = "none"; }) ==
          errc::certificate_unreadable);
    CHECK(server_with([](server_options& it) {
              std::string& text = it.identities[0].certificates;
              text[text.size() / 2] = '!';
          }) == errc::certificate_unreadable);
    CHECK(server_with([](server_options& it) { it.identities[0].private_key = "none"; }) ==
          errc::key_unreadable);
    CHECK(server_with([&](server_options& it) {
              it.identities[0].private_key = other.private_key;
          }) == errc::key_mismatch);
    CHECK(client_with([](tls::client_options& it) { it.authorities = "nobody"; }) ==
          errc::certificate_unreadable);
}

TEST_CASE("a context: an encrypted key wants its password, and asks nobody for it") {
    const test_trust trust;
    tls::identity locked = trust.localhost;
    locked.private_key = encrypted_key(trust.localhost, "open sesame");
    const auto made_with = [&](std::string password) {
        locked.password = std::move(password);
        return server_with([&](tls::server_options& it) { it.identities = {locked}; });
    };

    CHECK_FALSE(made_with("open sesame"));
    CHECK(made_with("") == errc::key_unreadable);
    CHECK(made_with("open barley") == errc::key_unreadable);
}

TEST_CASE("a context: sides without a version or a cipher in common say so") {
    const test_trust trust;
    tls::client_options client = trust.client();
    tls::server_options server = trust.server();
    client.newest = tls::version::tls_1_2;
    server.oldest = tls::version::tls_1_3;
    engine_pair versions = pair_of(client, server);
    const handshake_outcomes of_versions = versions.shake();

    client = trust.client();
    server = trust.server();
    client.ciphers_of_1_3 = "TLS_AES_128_GCM_SHA256";
    server.ciphers_of_1_3 = "TLS_CHACHA20_POLY1305_SHA256";
    client.oldest = server.oldest = tls::version::tls_1_3;
    engine_pair ciphers = pair_of(client, server);
    const handshake_outcomes of_ciphers = ciphers.shake();

    CHECK(of_versions.server == errc::tls_version_mismatch);
    CHECK(of_versions.client == errc::tls_version_mismatch);
    CHECK(of_ciphers.server == errc::tls_no_common_cipher);
    CHECK(of_ciphers.client == errc::tls_no_common_cipher);
}

// RFC 7301, 3.2.
TEST_CASE(
    "a context: the server prefers among application protocols, and none in common is an error") {
    const test_trust trust;
    const auto agree = [&](std::vector<std::string> clients, std::vector<std::string> servers,
                           bool required = false) {
        tls::client_options client = trust.client();
        tls::server_options server = trust.server();
        client.protocols = std::move(clients);
        server.protocols = std::move(servers);
        server.protocol_required = required;
        engine_pair pair = pair_of(client, server);
        const handshake_outcomes ended = pair.shake();
        CHECK(pair.client.protocol() == pair.server.protocol());
        CHECK(ended.client.code() == ended.server.code());
        return ended.server ? ended.server.message() : std::string{pair.server.protocol()};
    };
    const std::string none = error{errc::tls_no_common_protocol, activity::handshake}.message();

    CHECK(agree({"http/1.1", "h2"}, {"h2", "http/1.1"}) == "h2");
    CHECK(agree({"http/1.1"}, {"h2", "http/1.1"}) == "http/1.1");
    CHECK(agree({"http/1.1"}, {}) == "");
    CHECK(agree({}, {"h2"}) == "");
    CHECK(agree({"http/1.1"}, {"h2"}) == none);
    CHECK(agree({}, {"h2"}, true) == none);
}

TEST_CASE("a context: a client may require that a protocol is agreed on") {
    const test_trust trust;
    tls::client_options client = trust.client();
    client.protocols = {"h2"};
    client.protocol_required = true;
    engine_pair pair = pair_of(client, trust.server());

    CHECK(pair.shake().client == errc::tls_no_common_protocol);
    CHECK_FALSE(pair.client.established());
}

// RFC 6066, 3.
TEST_CASE(
    "a context: a server chooses certificate and protocols by name, and refuses other names") {
    test_trust trust;
    const tls::context server = tls::context::server(with_hosts(trust, trust.root)).take();
    const auto client_of = [&](std::string protocol) {
        tls::client_options options = trust.client();
        options.protocols = {std::move(protocol), "both/1"};
        return tls::context::client(std::move(options)).take();
    };
    engine_pair one = pair_of(client_of("one/1"), server, "ONE.example");
    engine_pair other = pair_of(client_of("other/1"), server, "other.example");
    engine_pair nobody = pair_of(client_of("one/1"), server, "nobody.example");

    CHECK_FALSE(one.shake().client);
    CHECK_FALSE(other.shake().client);
    const handshake_outcomes refused = nobody.shake();

    CHECK(one.client.peer_certificate()->subject == "CN=one.example");
    CHECK(one.client.protocol() == "one/1");
    CHECK(other.client.peer_certificate()->subject == "CN=other.example");
    CHECK(other.client.protocol() == "other/1");
    CHECK(refused.server == errc::tls_name_unknown);
    CHECK(refused.client == errc::tls_name_unknown);
    CHECK(nobody.client.alert() == 112);
}

// RFC 8446, 9.2; RFC 6066, 3.
TEST_CASE("a context: a server that wants a name tells a client that gives none") {
    const test_trust trust;
    tls::server_options server = trust.server();
    server.name_required = true;
    tls::client_options older = trust.client();
    older.newest = tls::version::tls_1_2;
    engine_pair without = pair_of(trust.client(), server, "127.0.0.1");
    engine_pair without_in_1_2 = pair_of(older, server, "127.0.0.1");
    engine_pair with = pair_of(trust.client(), server, "localhost");

    for (engine_pair* each : {&without, &without_in_1_2}) {
        const handshake_outcomes refused = each->shake();
        CHECK(refused.server == errc::tls_name_missing);
        CHECK(refused.client == errc::tls_name_missing);
    }
    CHECK(without.client.alert() == 109);
    CHECK(without_in_1_2.client.alert() == 112);
    CHECK_FALSE(with.shake().client);
}

TEST_CASE("a context: clients that know only RSA are shown that certificate") {
    test_trust trust;
    certificate_wish wish = test_trust::wish_for_localhost();
    wish.name = "RSA";
    wish.rsa = true;
    tls::server_options server = trust.server();
    server.identities.push_back(trust.root.issue(wish));
    tls::client_options client = trust.client();
    client.newest = tls::version::tls_1_2;
    client.ciphers_of_1_2 = "ECDHE-RSA-AES128-GCM-SHA256";
    engine_pair with_rsa = pair_of(client, server);
    engine_pair with_any = pair_of(trust.client(), server);

    CHECK_FALSE(with_rsa.shake().client);
    CHECK_FALSE(with_any.shake().client);

    CHECK(with_rsa.client.peer_certificate()->subject == "CN=RSA");
    CHECK(with_any.client.peer_certificate()->subject == "CN=localhost");
}

TEST_CASE("a context: the key log has the secrets of both sides, which agree") {
    const test_trust trust;
    std::set<std::string> at_client;
    std::set<std::string> at_server;
    tls::client_options client = trust.client();
    tls::server_options server = trust.server();
    client.key_log = [&](std::string_view line) { at_client.emplace(line); };
    server.key_log = [&](std::string_view line) { at_server.emplace(line); };
    engine_pair pair = pair_of(client, server);

    CHECK_FALSE(pair.shake().client);

    CHECK(at_client.size() >= 4);
    CHECK(at_client == at_server);
    CHECK(std::any_of(at_client.begin(), at_client.end(), [](const std::string& line) {
        return line.starts_with("CLIENT_TRAFFIC_SECRET_0 ");
    }));
}

TEST_CASE("a context: a reload is for handshakes that begin after it, and fails none") {
    test_trust trust;
    tls::context server = tls::context::server(trust.server()).take();
    const tls::context client = tls::context::client(trust.client()).take();
    certificate_wish wish = test_trust::wish_for_localhost();
    wish.name = "renewed";
    engine_pair before = pair_of(client, server);
    static_cast<void>(before.client.handshake());
    static_cast<void>(move_bytes(before.client, before.server, SIZE_MAX));

    CHECK(server.reload({trust.root.issue(wish)}).ok());
    engine_pair after = pair_of(client, server);
    CHECK_FALSE(before.shake().client);
    CHECK_FALSE(after.shake().client);

    CHECK(before.client.peer_certificate()->subject == "CN=localhost");
    CHECK(after.client.peer_certificate()->subject == "CN=renewed");
    CHECK(carry(before.client, before.server, "still") == "still");
}

TEST_CASE("a context: a reload that fails changes nothing") {
    test_trust trust;
    tls::context server = tls::context::server(trust.server()).take();
    const tls::context client = tls::context::client(trust.client()).take();
    const tls::identity other = self_signed(certificate_wish{"other"});

    CHECK(server.reload({}).error() == errc::certificate_missing);
    CHECK(server.reload({{trust.localhost.certificates, other.private_key}}).error() ==
          errc::key_mismatch);
    CHECK(tls::context{}.reload({}).error() == errc::closed);
    engine_pair pair = pair_of(client, server);

    CHECK_FALSE(pair.shake().client);
    CHECK(pair.client.peer_certificate()->subject == "CN=localhost");
}
