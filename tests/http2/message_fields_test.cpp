// SPDX-License-Identifier: BSL-1.0
#include <http2/message_fields.hpp>

#include <http2/engine_ends.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;

namespace {

std::optional<std::uint64_t> declared(std::string_view text) {
    http::fields of;
    of.add("content-length", text);
    return http2::declared_size(of);
}

}  // namespace

TEST_CASE("http2: fields about a connection are not sent, whatever their case") {
    // RFC 9113, 8.2.2.
    http::fields sent;
    sent.add("Connection", "close, x-hop").add("Keep-Alive", "timeout=5");
    sent.add("PROXY-connection", "close").add("Transfer-Encoding", "chunked");
    sent.add("upgrade", "h2c").add("Host", "other").add("Content-Length", "5");
    sent.add("TE", "gzip").add("te", "Trailers");
    sent.add("Accept", "text/plain").add("X-Hop", "1").add("hosts", "1").add("x-te", "gzip");
    engine_pair both;
    both.talk();
    add_head(both.client.wire, "GET", "/");
    http2::add_fields(both.client.wire, sent);
    both.client.ask();
    both.talk();

    // RFC 9113, 8.2.1: names are in lower case.
    const std::string_view log{both.server.log};
    const std::string_view fields = log.substr(log.find(":authority"));
    CHECK(
        fields.starts_with(":authority: h\n1 te: Trailers\n1 accept: text/plain\n1 x-hop: 1\n"
                           "1 hosts: 1\n1 x-te: gzip\n1 head, last\n"));
    CHECK(both.server.wire.why() == http2::breach::none);
}

TEST_CASE("http2: a declared size is a number, or none") {
    // RFC 9110, 8.6.
    CHECK(declared("0") == 0U);
    CHECK(declared("123") == 123U);
    CHECK(declared("18446744073709551615") == 18'446'744'073'709'551'615U);
    for (const std::string_view bad : {"", "-1", "+1", "5x", "x", "1 ", "0x10", "1.5",
                                       "18446744073709551616", "99999999999999999999999"}) {
        CAPTURE(bad);
        CHECK_FALSE(declared(bad).has_value());
    }
    CHECK_FALSE(http2::declared_size(http::fields{}).has_value());
}
