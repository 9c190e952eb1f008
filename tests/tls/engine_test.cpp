// SPDX-License-Identifier: BSL-1.0
//
// What an engine promises of handshakes, bytes and ends, driven by hand: no loop, no clock.
#include <gyre/tls/engine.hpp>

#include <doctest/doctest.h>

#include "engine_pair.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

const tls::version both_versions[] = {tls::version::tls_1_2, tls::version::tls_1_3};

template <class Options>
Options only(tls::version which, Options options) {
    options.oldest = options.newest = which;
    return options;
}

std::string long_text(std::size_t size) {
    std::string text(size, ' ');
    for (std::size_t at = 0; at < size; ++at) text[at] = static_cast<char>('a' + at * 7 % 26);
    return text;
}

void check_shakes(engine_pair& pair, std::size_t size = SIZE_MAX) {
    const handshake_outcomes ended = pair.shake(size);
    INFO("client: ", std::string{pair.client.failure()});
    INFO("server: ", std::string{pair.server.failure()});
    CHECK_FALSE(ended.client);
    CHECK_FALSE(ended.server);
    CHECK(pair.client.established());
    CHECK(pair.server.established());
}

error read_error(tls::engine& from) {
    std::array<std::byte, 16> space;
    return from.read(space).error();
}

}  // namespace

TEST_CASE("an engine: ends agree and carry bytes both ways, in pieces of any size") {
    const test_trust trust;
    for (const tls::version which : both_versions) {
        for (const std::size_t size : {1, 2, 3, 5, 7, 100, 1000, 100'000}) {
            CAPTURE(size);
            engine_pair pair = pair_of(only(which, trust.client()), only(which, trust.server()));
            const std::string text = long_text(40'000);

            check_shakes(pair, size);
            const std::string there = carry(pair.client, pair.server, text, size);
            const std::string back = carry(pair.server, pair.client, text, size);

            CHECK(there == text);
            CHECK(back == text);
            CHECK(pair.client.version() == which);
            CHECK(pair.server.version() == which);
            CHECK(pair.client.cipher() == pair.server.cipher());
            CHECK(pair.server.server_name() == "localhost");
        }
    }
}

TEST_CASE("an engine: nothing is read, written or ended before the end of the handshake") {
    const test_trust trust;
    engine_pair pair = pair_of(trust.client(), trust.server());

    CHECK(pair.client.write(bytes_of("early")).error() == errc::not_connected);
    CHECK(read_error(pair.client) == errc::not_connected);
    CHECK(pair.client.end_writing().error() == errc::not_connected);
    CHECK(pair.client.version() == tls::version::none);
    CHECK(pair.client.output().empty());
}

TEST_CASE("an engine that is none is closed") {
    tls::engine none;

    CHECK(none.handshake().error() == errc::closed);
    CHECK(none.write(bytes_of("x")).error() == errc::closed);
    CHECK(read_error(none) == errc::closed);
    CHECK(none.output().empty());
    CHECK_FALSE(none.established());
}

// RFC 8446, 6.1.
TEST_CASE("an engine: each direction ends by itself, and a cut connection is no end") {
    const test_trust trust;
    for (const tls::version which : both_versions) {
        engine_pair pair = pair_of(only(which, trust.client()), only(which, trust.server()));
        check_shakes(pair);

        CHECK(pair.client.end_writing().ok());
        CHECK(pair.client.end_writing().ok());
        while (move_bytes(pair.client, pair.server, SIZE_MAX)) {
        }
        CHECK(read_error(pair.server) == errc::eof);
        CHECK(read_error(pair.server) == errc::eof);
        CHECK(pair.server.peer_ended());
        CHECK(pair.client.write(bytes_of("more")).error() == errc::broken_pipe);
        CHECK(carry(pair.server, pair.client, "answer") == "answer");

        CHECK_FALSE(pair.client.peer_ended());
        pair.client.input_ended();
        CHECK(read_error(pair.client) == errc::tls_truncated);
        CHECK(read_error(pair.client) == errc::tls_truncated);
        CHECK_FALSE(pair.client.failure().empty());
    }
}

TEST_CASE(
    "an engine: bytes before a cut are read before it is told, and writing goes on after it") {
    const test_trust trust;
    engine_pair pair = pair_of(trust.client(), trust.server());
    check_shakes(pair);
    std::array<std::byte, 16> space;

    CHECK(pair.client.write(bytes_of("last")).value() == 4);
    while (move_bytes(pair.client, pair.server, SIZE_MAX)) {
    }
    pair.server.input_ended();
    const io_result<std::size_t> got = pair.server.read(space);

    CHECK(got.ok());
    CHECK(text_of(std::span{space}.first(got.value())) == "last");
    CHECK(read_error(pair.server) == errc::tls_truncated);
    CHECK(carry(pair.server, pair.client, "still") == "still");
}

TEST_CASE("an engine: a handshake that is cut at any byte is truncated, and nothing else") {
    const test_trust trust;
    const tls::context client = tls::context::client(trust.client()).take();
    const tls::context server = tls::context::server(trust.server()).take();
    std::size_t cut = 0;
    for (bool whole = false; !whole; cut += 97) {
        CAPTURE(cut);
        engine_pair pair = pair_of(client, server);
        std::size_t left = cut;
        error outcome = errc::resource_unavailable;
        for (bool moved = true; moved && outcome == errc::resource_unavailable;) {
            outcome = pair.client.handshake().error();
            while (move_bytes(pair.client, pair.server, SIZE_MAX)) {
            }
            static_cast<void>(pair.server.handshake());
            const std::size_t said = pair.server.output().size();
            moved = left > 0 && move_bytes(pair.server, pair.client, left);
            left -= said - pair.server.output().size();
        }
        whole = pair.client.established();
        if (whole) continue;
        pair.client.input_ended();
        CHECK(pair.client.handshake().error() == errc::tls_truncated);
        CHECK(pair.client.handshake().error() == errc::tls_truncated);
    }
    CHECK(cut > 500);
}

TEST_CASE("an engine: a record that was changed at any byte ends the connection for both") {
    const test_trust trust;
    const tls::context client = tls::context::client(trust.client()).take();
    const tls::context server = tls::context::server(trust.server()).take();
    constexpr std::size_t header_size = 5;
    for (std::size_t at = header_size; at < header_size + 22; ++at) {
        CAPTURE(at);
        engine_pair pair = pair_of(client, server);
        check_shakes(pair);
        while (move_bytes(pair.server, pair.client, SIZE_MAX)) {  // Tickets.
        }
        CHECK(pair.client.write(bytes_of("secret")).value() == 6);
        std::vector<std::byte> record(pair.client.output().begin(), pair.client.output().end());
        REQUIRE(record.size() > at);
        record[at] ^= std::byte{1};
        std::copy(record.begin(), record.end(), pair.server.input_space().begin());
        pair.server.received(record.size());

        CHECK(read_error(pair.server) == errc::tls_malformed);
        CHECK(read_error(pair.server) == errc::tls_malformed);
        CHECK_FALSE(pair.server.failure().empty());
        CHECK_FALSE(pair.server.write(bytes_of("x")).ok());
        while (move_bytes(pair.server, pair.client, SIZE_MAX)) {
        }
        CHECK(read_error(pair.client) == errc::tls_alert);
        CHECK(pair.client.alert() == 20);  // bad_record_mac
        CHECK(read_error(pair.client).message() == "read: peer gave up with an alert (alert 20)");
    }
}

TEST_CASE("an engine: what is no TLS is refused without waiting for more of it") {
    const test_trust trust;
    for (const std::string_view said :
         {"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n",
          "\x16\x03\x01\xff\xff\x01\x00"}) {
        engine_pair pair = pair_of(trust.client(), trust.server());
        const const_buffer bytes = bytes_of(said);
        std::copy(bytes.begin(), bytes.end(), pair.server.input_space().begin());
        pair.server.received(bytes.size());

        const error outcome = pair.server.handshake().error();
        CAPTURE(std::string{pair.server.failure()});
        CHECK((outcome == errc::tls_malformed || outcome == errc::tls_version_mismatch));
    }
}

TEST_CASE("an engine: a peer that says close_notify within the handshake has ended it") {
    constexpr std::string_view close_notify{"\x15\x03\x03\x00\x02\x01\x00", 7};
    const test_trust trust;
    for (const tls::version which : both_versions) {
        for (const bool server_says_it : {false, true}) {
            CAPTURE(server_says_it);
            engine_pair pair = pair_of(only(which, trust.client()), only(which, trust.server()));
            tls::engine& hears = server_says_it ? pair.client : pair.server;
            CHECK(pair.client.handshake().error() == errc::resource_unavailable);
            if (!server_says_it) {
                while (move_bytes(pair.client, pair.server, SIZE_MAX)) {
                }
            }
            const const_buffer said = bytes_of(close_notify);
            std::copy(said.begin(), said.end(), hears.input_space().begin());
            hears.received(said.size());

            const error outcome = hears.handshake().error();

            CHECK(outcome == errc::tls_alert);
            CHECK(hears.handshake().error() == errc::tls_alert);
            CHECK_FALSE(hears.established());
        }
    }
}

TEST_CASE("an engine: output is bounded, and a write says how much was taken") {
    const test_trust trust;
    engine_pair pair = pair_of(trust.client(), trust.server());
    check_shakes(pair);
    const std::string text = long_text(200'000);

    const io_result<std::size_t> first = pair.client.write(bytes_of(text));
    const io_result<std::size_t> second = pair.client.write(bytes_of(text));
    const std::byte* const stands = pair.client.output().data();

    CHECK(first.value() == 48 * 1024);
    CHECK(second.error() == errc::resource_unavailable);
    CHECK(pair.client.output().size() < 52 * 1024);
    CHECK(pair.client.end_writing().ok());
    CHECK(pair.client.output().data() == stands);
}

// RFC 8446, 7.5; RFC 5705.
TEST_CASE("an engine: both ends export the same keys, another label or context another key") {
    const test_trust trust;
    for (const tls::version which : both_versions) {
        engine_pair pair = pair_of(only(which, trust.client()), only(which, trust.server()));
        CHECK(pair.client.export_key({"EXPERIMENTAL-a", {}, 32}).error() == errc::not_connected);
        check_shakes(pair);

        const auto one = pair.client.export_key({"EXPERIMENTAL-a", {}, 32});
        const auto other = pair.server.export_key({"EXPERIMENTAL-a", {}, 32});
        const auto of_label = pair.client.export_key({"EXPERIMENTAL-b", {}, 32});
        const auto of_context = pair.client.export_key({"EXPERIMENTAL-a", bytes_of("c"), 32});

        CHECK(one.ok());
        CHECK(one.value().size() == 32);
        CHECK(one.value() == other.value());
        CHECK(one.value() != of_label.value());
        CHECK(one.value() != of_context.value());
        CHECK(pair.client.export_key({"EXPERIMENTAL-a", {}, 0}).error() == errc::invalid_argument);
    }
}

TEST_CASE("an engine: the peer's certificate is there to be looked at") {
    const test_trust trust;
    engine_pair pair = pair_of(trust.client(), trust.server());
    check_shakes(pair);

    const std::optional<tls::certificate> shown = pair.client.peer_certificate();

    REQUIRE(shown);
    CHECK(shown->subject == "CN=localhost");
    CHECK(shown->issuer == "CN=Test Root");
    CHECK(shown->names == std::vector<std::string>{"localhost", "127.0.0.1"});
    CHECK(shown->not_before < certificate_day);
    CHECK(shown->not_after == certificate_day + std::chrono::hours{24 * 30});
    CHECK(shown->der.size() > 200);
    CHECK_FALSE(shown->serial.empty());
    CHECK_FALSE(pair.server.peer_certificate());
}

TEST_CASE("an engine: a long chain and many names of clients are split over many records") {
    test_authority root{"Test Root"};
    certificate_wish wish{"localhost"};
    for (int number = 0; number < 2000; ++number)
        wish.hosts.push_back("DNS:host-" + std::to_string(number) + ".example");
    wish.hosts.push_back("DNS:localhost");
    test_trust trust;
    tls::client_options client = trust.client();
    client.authorities = root.certificate();
    tls::server_options server = trust.server();
    server.identities = {root.issue(wish)};
    engine_pair pair = pair_of(client, server);

    check_shakes(pair, 1000);
}
