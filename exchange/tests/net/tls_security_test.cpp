// SPDX-License-Identifier: BSL-1.0
//
// What secures a transport, end to end without a socket. Transports on it are judged by transport_laws.hpp.
#include <exchange/net/transport/tls_security.hpp>

#include <gyre/base/buffer.hpp>
#include <gyre/tls/engine.hpp>

#include <doctest/doctest.h>

#include <support/certificates.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace exchange;
using gyre::testing::certificate_wish;
using gyre::testing::test_authority;

namespace {

[[nodiscard]] gyre::tls::context server_of(gyre::tls::identity it) {
    gyre::tls::server_options options;
    options.identities = {std::move(it)};
    auto made = gyre::tls::context::server(std::move(options));
    REQUIRE(made.ok());
    return made.take();
}
[[nodiscard]] gyre::tls::context client_that_trusts(const test_authority& whom) {
    gyre::tls::client_options options;
    options.authorities = whom.certificate();
    options.system_authorities = false;
    options.judged_at = gyre::testing::certificate_day;
    auto made = gyre::tls::context::client(std::move(options));
    REQUIRE(made.ok());
    return made.take();
}
[[nodiscard]] certificate_wish for_host(std::string host) {
    certificate_wish wish;
    wish.hosts = {std::move(host)};
    return wish;
}

const gyre::endpoint tls_peer{gyre::ipv4::loopback(), 7011};

/// Both ends, and what each of them has read.
struct secured_ends {
    secured_ends(const std::shared_ptr<channel_security>& to_serve,
                 const std::shared_ptr<channel_security>& to_connect)
        : server{to_serve->open({false, tls_peer})}, client{to_connect->open({true, tls_peer})} {}

    /// Moves bytes until nothing is left to be moved, so many at once at most.
    void settle(std::size_t piece = 4096) {
        while (move(*client, *server, piece, at_server) ||
               move(*server, *client, piece, at_client)) {
        }
    }
    static bool move(secure_channel& from, secure_channel& to, std::size_t piece,
                     std::string& heard) {
        const std::span<const std::byte> out = from.output();
        const std::span<std::byte> in = to.space();
        const std::size_t size = std::min({out.size(), in.size(), piece});
        if (size == 0) return false;
        std::copy_n(out.begin(), size, in.begin());
        from.sent(size);
        to.received(size);
        std::array<std::byte, 100> into;
        for (std::size_t got = to.read(into); got > 0; got = to.read(into))
            heard += gyre::text_of(std::span{into}.first(got));
        return true;
    }
    static std::size_t say(secure_channel& by, std::string_view what) {
        const std::span<const std::byte> part = gyre::bytes_of(what);
        return by.write({&part, 1});
    }

    std::unique_ptr<secure_channel> server;
    std::unique_ptr<secure_channel> client;
    std::string at_server;
    std::string at_client;
};

struct tls_pair_of_settings {
    test_authority authority{"authority"};
    std::shared_ptr<channel_security> to_serve =
        serve_with_tls(server_of(authority.issue(for_host("IP:127.0.0.1"))));
    std::shared_ptr<channel_security> to_connect = connect_with_tls(client_that_trusts(authority));
};

}  // namespace

TEST_CASE("tls security: both ends hear each other wherever bytes are cut") {
    const tls_pair_of_settings with;
    for (const std::size_t piece : {1, 7, 4096}) {
        secured_ends ends{with.to_serve, with.to_connect};
        CHECK_FALSE(ends.client->open());
        CHECK(secured_ends::say(*ends.client, "too early") == 0);
        ends.settle(piece);
        REQUIRE(ends.client->open());
        REQUIRE(ends.server->open());
        CHECK(secured_ends::say(*ends.client, "an order") == 8);
        CHECK(secured_ends::say(*ends.client, "one more") == 0);  // Output comes first.
        CHECK(secured_ends::say(*ends.server, "an answer") == 9);
        ends.settle(piece);
        CHECK(ends.at_server == "an order");
        CHECK(ends.at_client == "an answer");
        CHECK(ends.server->output().empty());
    }
}

TEST_CASE("tls security: many parts are as few records, and of too many some wait") {
    const tls_pair_of_settings with;
    secured_ends ends{with.to_serve, with.to_connect};
    ends.settle();
    const std::string text(100'000, 'x');
    std::array<std::span<const std::byte>, 8> parts;
    parts.fill(gyre::bytes_of(std::string_view{text}).first(10));
    CHECK(ends.server->write(parts) == 80);
    CHECK(ends.server->output().size() < 80 + 40);  // One record's overhead.
    ends.settle();
    CHECK(ends.at_client.size() == 80);

    parts.fill(gyre::bytes_of(std::string_view{text}));
    const std::size_t taken = ends.server->write(parts);
    CHECK(taken >= 32 * 1024);
    CHECK(taken <= 48 * 1024);
    ends.settle();
    CHECK(ends.at_client.size() == 80 + taken);
}

TEST_CASE("tls security: the end is told behind all that was said") {
    const tls_pair_of_settings with;
    secured_ends ends{with.to_serve, with.to_connect};
    ends.settle();
    CHECK(secured_ends::say(*ends.server, "the last word") == 13);
    ends.server->finish(soup_ending::session_ended);
    CHECK_FALSE(ends.client->ended());
    ends.settle();
    CHECK(ends.at_client == "the last word");
    CHECK(ends.client->ended());
    CHECK_FALSE(ends.client->failed());
    CHECK(secured_ends::say(*ends.server, "and more") == 0);
    CHECK_FALSE(ends.client->space().empty());
}

TEST_CASE("tls security: a server that is not trusted is refused, and both are told why") {
    tls_pair_of_settings with;
    std::vector<std::string> at_server;
    std::vector<std::string> at_client;
    const auto noted_in = [](std::vector<std::string>& where) {
        return [&where](const gyre::endpoint& peer, std::string_view reason) {
            CHECK(peer == tls_peer);
            where.emplace_back(reason);
        };
    };
    const test_authority stranger{"stranger"};
    test_authority& known = with.authority;
    const std::array<std::shared_ptr<channel_security>, 3> wrong{
        connect_with_tls(client_that_trusts(stranger)),
        connect_with_tls(client_that_trusts(known), "exchange.example"),  // Not its name.
        connect_with_tls(client_that_trusts(known), "no host's name")};
    for (const std::shared_ptr<channel_security>& each : wrong) {
        at_server.clear();
        at_client.clear();
        with.to_serve->report_failures(noted_in(at_server));
        each->report_failures(noted_in(at_client));
        secured_ends ends{with.to_serve, each};
        ends.settle();
        CHECK(ends.client->refused());
        CHECK(ends.client->failed());
        CHECK_FALSE(ends.client->open());
        CHECK_FALSE(ends.server->open());
        if (each == wrong.back()) ends.server->finish(soup_ending::login_timed_out);
        else CHECK(ends.server->failed());
        CHECK(at_server.size() == 1);
        REQUIRE(at_client.size() == 1);
        CHECK_FALSE(at_client.front().empty());
    }
}

TEST_CASE("tls security: bytes that are none of it fail, with a reason and without a limit") {
    const tls_pair_of_settings with;
    std::vector<std::string> reasons;
    with.to_serve->report_failures(
        [&](const gyre::endpoint&, std::string_view reason) { reasons.emplace_back(reason); });
    const std::unique_ptr<secure_channel> server = with.to_serve->open({false, tls_peer});
    for (int round = 0; round < 100; ++round) {
        const std::span<std::byte> space = server->space();
        REQUIRE_FALSE(space.empty());
        std::ranges::fill(space, std::byte{'x'});
        server->received(space.size());
        std::array<std::byte, 100> into;
        CHECK(server->read(into) == 0);
    }
    CHECK(server->failed());
    CHECK(reasons.size() == 1);
    // Behind a handshake as well.
    secured_ends ends{with.to_serve, with.to_connect};
    ends.settle();
    std::ranges::fill(ends.server->space().first(100), std::byte{'x'});
    ends.server->received(100);
    std::array<std::byte, 100> into;
    CHECK(ends.server->read(into) == 0);
    CHECK(ends.server->failed());
    CHECK_FALSE(ends.server->refused());
    CHECK(reasons.size() == 2);
}

TEST_CASE("tls security: a peer that leaves within the handshake is told of") {
    const tls_pair_of_settings with;
    std::string reason;
    with.to_serve->report_failures(
        [&](const gyre::endpoint&, std::string_view told) { reason = told; });
    const std::unique_ptr<secure_channel> server = with.to_serve->open({false, tls_peer});
    server->finish(soup_ending::none);
    CHECK(reason == "no handshake: the peer has left");
    CHECK_FALSE(server->open());
    CHECK(server->output().empty());
}
