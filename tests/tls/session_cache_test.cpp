// SPDX-License-Identifier: BSL-1.0
//
// When a session is resumed, and when it must not be.
#include <doctest/doctest.h>

#include "engine_pair.hpp"

#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;

namespace {

/// Connects, and reads the tickets that come. Whether it was resumed.
bool resumes(const tls::context& client, const tls::context& server,
             std::string_view host = "localhost") {
    engine_pair pair = pair_of(client, server, host);
    const handshake_outcomes ended = pair.shake();
    CHECK_FALSE(ended.client);
    CHECK_FALSE(ended.server);
    CHECK(carry(pair.server, pair.client, "x") == "x");
    CHECK(carry(pair.client, pair.server, "y") == "y");
    CHECK(pair.client.resumed() == pair.server.resumed());
    CHECK(pair.client.peer_certificate().has_value());
    return pair.client.resumed();
}

struct two_sides {
    explicit two_sides(tls::version which = tls::version::tls_1_3) {
        tls::client_options of_client = trust.client();
        tls::server_options of_server = trust.server();
        of_client.oldest = of_client.newest = which;
        of_server.oldest = of_server.newest = which;
        client = tls::context::client(of_client).take();
        server = tls::context::server(of_server).take();
    }

    test_trust trust;
    tls::context client;
    tls::context server;
};

}  // namespace

// RFC 8446, 2.2; RFC 5077.
TEST_CASE("a session: the second connection to a host resumes the first, in both versions") {
    for (const tls::version which : {tls::version::tls_1_2, tls::version::tls_1_3}) {
        const two_sides sides{which};

        CHECK_FALSE(resumes(sides.client, sides.server));
        CHECK(resumes(sides.client, sides.server));
        CHECK(resumes(sides.client, sides.server));
        CHECK_FALSE(resumes(sides.client, sides.server, "127.0.0.1"));
    }
}

TEST_CASE("a session: outlives new certificates and one new ticket key, not two") {
    two_sides sides;
    CHECK_FALSE(resumes(sides.client, sides.server));

    CHECK(sides.server.reload({sides.trust.localhost}).ok());
    CHECK(resumes(sides.client, sides.server));
    sides.server.rotate_ticket_key();
    CHECK(resumes(sides.client, sides.server));
    sides.server.rotate_ticket_key();
    sides.server.rotate_ticket_key();
    CHECK_FALSE(resumes(sides.client, sides.server));
}

TEST_CASE("a session: is none to another server, nor where either side keeps none") {
    const two_sides sides;
    CHECK_FALSE(resumes(sides.client, sides.server));
    CHECK_FALSE(resumes(sides.client, tls::context::server(sides.trust.server()).take()));

    tls::client_options client = sides.trust.client();
    client.sessions_max = 0;
    const tls::context forgets = tls::context::client(client).take();
    CHECK_FALSE(resumes(forgets, sides.server));
    CHECK_FALSE(resumes(forgets, sides.server));

    for (const tls::version which : {tls::version::tls_1_2, tls::version::tls_1_3}) {
        tls::server_options server = sides.trust.server();
        server.tickets = 0;
        server.newest = which;
        const tls::context gives_none = tls::context::server(server).take();
        const tls::context fresh = tls::context::client(sides.trust.client()).take();
        CHECK_FALSE(resumes(fresh, gives_none));
        CHECK_FALSE(resumes(fresh, gives_none));
    }
}

TEST_CASE(
    "a session: of one host that a server chooses is none of another, which may ask for more") {
    test_trust trust;
    certificate_wish wish{"two"};
    wish.hosts = {"DNS:one.example", "DNS:other.example"};
    const auto context_of = [&] {
        tls::server_options options;
        options.identities = {trust.root.issue(wish)};
        return tls::context::server(options).take();
    };
    const tls::context one = context_of();
    const tls::context other = context_of();
    bool swapped = false;
    tls::server_options options = trust.server();
    options.choose = [&](std::string_view name) {
        return (name == "one.example") != swapped ? one : other;
    };
    const tls::context server = tls::context::server(options).take();
    const tls::context client = tls::context::client(trust.client()).take();

    CHECK_FALSE(resumes(client, server, "one.example"));
    CHECK(resumes(client, server, "one.example"));
    swapped = true;
    CHECK_FALSE(resumes(client, server, "one.example"));
}

TEST_CASE("a session: the hosts used last are kept, up to the bound") {
    test_trust trust;
    certificate_wish wish{"many"};
    wish.hosts = {"DNS:a.example", "DNS:b.example", "DNS:c.example"};
    tls::server_options of_server = trust.server();
    of_server.identities = {trust.root.issue(wish)};
    tls::client_options of_client = trust.client();
    of_client.sessions_max = 2;
    const tls::context server = tls::context::server(of_server).take();
    const tls::context client = tls::context::client(of_client).take();

    CHECK_FALSE(resumes(client, server, "a.example"));
    CHECK_FALSE(resumes(client, server, "b.example"));
    CHECK(resumes(client, server, "a.example"));
    CHECK_FALSE(resumes(client, server, "c.example"));

    CHECK(resumes(client, server, "a.example"));
    CHECK_FALSE(resumes(client, server, "b.example"));
}
