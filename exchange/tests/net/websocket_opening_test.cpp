// SPDX-License-Identifier: BSL-1.0
#include <exchange/net/transport/websocket_opening.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace exchange;
using kind = websocket_opening::step::kind;

namespace {

const websocket_options ours{};

/// What a server makes of a request.
websocket_opening::step answer_to(std::string_view request,
                                  const websocket_options& options = ours) {
    websocket_opening server{options, soup_end::server, {}};
    return server.read(gyre::bytes_of(request));
}

std::string request(std::string_view line, std::string_view more = {}) {
    return std::string{line}
        .append(
            "\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")
        .append(more)
        .append("\r\n");
}

constexpr std::string_view get = "GET /order-entry/v1 HTTP/1.1";
constexpr std::string_view sbe = "Sec-WebSocket-Protocol: exchange.sbe.v1\r\n";

}  // namespace

TEST_CASE("websocket opening: both ends agree, for either format, wherever the bytes are cut") {
    for (const session_format each : {session_format::sbe, session_format::json}) {
        websocket_options options;
        options.format = each;
        websocket_opening client{options, soup_end::client, "192.0.2.1:7004"};
        const std::string asked = client.first_words();
        CHECK(asked.starts_with("GET /order-entry/v1 HTTP/1.1\r\nHost: 192.0.2.1:7004\r\n"));
        websocket_opening server{ours, soup_end::server, {}};
        for (std::size_t size = 0; size < asked.size(); ++size)
            CHECK(server.read(gyre::bytes_of(std::string_view{asked}.substr(0, size))).what ==
                  kind::incomplete);
        const std::string behind = asked + "frames";
        const auto answered = server.read(gyre::bytes_of(behind));
        REQUIRE(answered.what == kind::open);
        CHECK(answered.used == asked.size());
        CHECK(answered.format == each);

        for (std::size_t size = 0; size < answered.answer.size(); ++size)
            CHECK(client.read(gyre::bytes_of(std::string_view{answered.answer}.substr(0, size)))
                      .what == kind::incomplete);
        const auto agreed = client.read(gyre::bytes_of(answered.answer));
        CHECK(agreed.what == kind::open);
        CHECK(agreed.used == answered.answer.size());
        CHECK(agreed.format == each);
        CHECK(agreed.answer.empty());
    }
}

TEST_CASE("websocket opening: the answer is that of RFC 6455, and no extension is agreed on") {
    const auto answered = answer_to(
        request(get, std::string{sbe} + "Sec-WebSocket-Extensions: permessage-deflate\r\n"));
    REQUIRE(answered.what == kind::open);
    CHECK(answered.answer.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
    CHECK(answered.answer.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n") !=
          std::string::npos);
    CHECK(answered.answer.find("Sec-WebSocket-Protocol: exchange.sbe.v1\r\n") != std::string::npos);
    CHECK(answered.answer.find("Extensions") == std::string::npos);
}

TEST_CASE("websocket opening: of several subprotocols the binary one is taken") {
    const auto answered = answer_to(
        request(get, "Sec-WebSocket-Protocol: chat, exchange.json.v1, exchange.sbe.v1\r\n"));
    CHECK(answered.format == session_format::sbe);
}

TEST_CASE("websocket opening: each refusal has its status and its words, and ends the connection") {
    const auto check = [](const std::string& asked, std::string_view status, std::string_view words,
                          const websocket_options& options = ours) {
        INFO(asked);
        const auto answered = answer_to(asked, options);
        CHECK(answered.what == kind::refused);
        CHECK(answered.answer.starts_with("HTTP/1.1 " + std::string{status}));
        CHECK(answered.answer.find(words) != std::string::npos);
        CHECK(answered.answer.find("Connection: ") != std::string::npos);
    };
    check(request(get), "400", "exchange.sbe.v1, exchange.json.v1");
    check(request(get, "Sec-WebSocket-Protocol: exchange.sbe.v2\r\n"), "400", "offer one of");
    check(request("GET / HTTP/1.1", sbe), "404", "/order-entry/v1");
    check(request("GET /order-entry/v1?x=1 HTTP/1.1", sbe), "404", "/order-entry/v1");
    check(request("PUT /order-entry/v1 HTTP/1.1", sbe), "405", "GET");
    check(request("GET /order-entry/v1 HTTP/1.0", sbe), "400", "HTTP/1.1");
    check(request(get, std::string{sbe} + "Content-Length: 5\r\n"), "400", "body");
    check(request(get, std::string{sbe} + "Origin: https://elsewhere\r\n"), "403", "origin");
    check("GET /order-entry/v1 HTTP/1.1\r\nHost: here\r\n\r\n", "426", "upgrade");
    check("GET /order-entry/v1 HTTP/1.1\r\n\r\n", "400", "");
    check("nonsense\r\n\r\n", "400", "");
    websocket_options strict;
    strict.head_bytes_max = 256;
    check(request(get, "X: " + std::string(256, 'x') + "\r\n"), "431", "", strict);
}

TEST_CASE("websocket opening: pages of other hosts are let in if they are named") {
    websocket_options open;
    open.origins = {"https://elsewhere"};
    CHECK(answer_to(request(get, std::string{sbe} + "Origin: https://elsewhere\r\n"), open).what ==
          kind::open);
}

TEST_CASE("websocket opening: a client believes no answer but the right one") {
    websocket_opening client{ours, soup_end::client, "here"};
    const auto what = [](std::string_view answer) {
        websocket_opening fresh{ours, soup_end::client, "here"};
        return fresh.read(gyre::bytes_of(answer)).what;
    };
    CHECK(what("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") == kind::refused);
    CHECK(what("nonsense\r\n\r\n") == kind::refused);
    CHECK(what("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
               "Sec-WebSocket-Protocol: exchange.sbe.v1\r\n\r\n") ==
          kind::refused);  // Of another key.

    // Everything is right but that there is no subprotocol.
    std::string asked = client.first_words();
    asked.replace(asked.find("Sec-WebSocket-Protocol"),
                  std::string_view{"Sec-WebSocket-Protocol"}.size(), "X-Nothing");
    gyre::websocket::server_handshake_options lax;
    gyre::http::head_parser parser;
    gyre::http::request read;
    REQUIRE(parser.parse_request(gyre::bytes_of(asked), read) ==
            gyre::http::head_progress::complete);
    const auto made = answer_handshake("GET", read.fields, lax);
    std::string answer = "HTTP/1.1 101 Switching Protocols\r\n";
    for (const auto& each : made.fields) answer.append(each.name + ": " + each.value + "\r\n");
    CHECK(client.read(gyre::bytes_of(answer.append("\r\n"))).what == kind::refused);
}

TEST_CASE("websocket opening: a client may come again to who says that it cannot now") {
    const auto what = [](std::string_view status, std::string_view more = "Content-Length: 0\r\n") {
        websocket_opening client{ours, soup_end::client, "here"};
        return client
            .read(gyre::bytes_of(
                std::string{"HTTP/1.1 "}.append(status).append("\r\n").append(more).append("\r\n")))
            .what;
    };
    for (const char* each : {"408 Request Timeout", "429 Too Many Requests",
                             "500 Internal Server Error", "501 Not Implemented", "502 Bad Gateway",
                             "503 Service Unavailable", "504 Gateway Timeout", "599 Whatever"})
        CHECK_MESSAGE(what(each) == kind::unavailable, each);
    CHECK(what("502 Bad Gateway", "Content-Type: text/html\r\n") == kind::unavailable);
    for (const char* each :
         {"200 OK", "302 Found", "400 Bad Request", "401 Unauthorized", "403 Forbidden",
          "404 Not Found", "407 Proxy Authentication Required", "410 Gone", "426 Upgrade Required"})
        CHECK_MESSAGE(what(each) == kind::refused, each);
}

TEST_CASE("websocket opening: a client that asks nothing is told that it was too late") {
    CHECK(websocket_opening::too_late().starts_with("HTTP/1.1 408 "));
}
