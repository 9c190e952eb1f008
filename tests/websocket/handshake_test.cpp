// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/handshake.hpp>

#include <support/harness.hpp>

#include <string>
#include <vector>

using namespace gyre::websocket;

namespace {

using fields = std::vector<header_field>;

fields good_request() {
    return {{"Host", "server.example.com"},
            {"Upgrade", "websocket"},
            {"Connection", "keep-alive, Upgrade"},
            {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
            {"Sec-WebSocket-Version", "13"}};
}

fields with(fields from, const std::string& name, const std::string& value) {
    for (header_field& each : from) {
        if (each.name == name) {
            each.value = value;
            return from;
        }
    }
    from.push_back({name, value});
    return from;
}

fields without(const fields& from, const std::string& name) {
    fields made;
    for (const header_field& each : from) {
        if (each.name != name) made.push_back(each);
    }
    return made;
}

fields doubled(fields from, const std::string& name) {
    from.push_back({name, header_lookup{from}.find(name).value.data()});
    return from;
}

server_handshake answer(const fields& request, const server_handshake_options& options = {}) {
    return answer_handshake("GET", request, options);
}

handshake_failure why(const fields& request) { return answer(request).failure; }

client_handshake sample_client(client_handshake_options options = {}) {
    client_handshake::nonce nonce{};
    const std::string_view text = "the sample nonce";
    for (std::size_t each = 0; each < nonce.size(); ++each) {
        nonce[each] = static_cast<std::byte>(text[each]);
    }
    return client_handshake{std::move(options), nonce};
}

fields good_answer() {
    return {{"Upgrade", "websocket"},
            {"Connection", "Upgrade"},
            {"Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="}};
}

}  // namespace

// RFC 6455, 1.2 and 1.3.
TEST_CASE("handshake: the standard's example is answered as it says") {
    server_handshake_options options;
    options.subprotocols = {"superchat", "chat"};
    const fields request = with(good_request(), "Sec-WebSocket-Protocol", "chat, other");
    const server_handshake made = answer(request, options);
    const header_lookup lookup{made.fields};
    CHECK(made.failure == handshake_failure::none);
    CHECK(made.status == 101);
    CHECK(lookup.find("upgrade").value == "websocket");
    CHECK(lookup.find("connection").value == "Upgrade");
    CHECK(lookup.find("sec-websocket-accept").value == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    CHECK(lookup.find("sec-websocket-protocol").value == "chat");
    CHECK(lookup.find("sec-websocket-extensions").count == 0);
    CHECK(made.agreed.subprotocol == "chat");
}

// RFC 6455, 4.2.1.
TEST_CASE("handshake: each thing that a request lacks has its own failure") {
    const fields good = good_request();
    CHECK(answer_handshake("POST", good, {}).failure == handshake_failure::not_get);
    CHECK(answer_handshake("POST", good, {}).status == 405);
    CHECK(why(without(good, "Upgrade")) == handshake_failure::no_upgrade);
    CHECK(why(with(good, "Upgrade", "h2c")) == handshake_failure::no_upgrade);
    CHECK(why(with(good, "Upgrade", "h2c, WebSocket")) == handshake_failure::none);
    CHECK(why(with(good, "Connection", "close")) == handshake_failure::no_upgrade);
    CHECK(why(without(good, "Host")) == handshake_failure::no_host);
    CHECK(why(doubled(good, "Host")) == handshake_failure::no_host);
    CHECK(why(without(good, "Sec-WebSocket-Key")) == handshake_failure::bad_key);
    CHECK(why(with(good, "Sec-WebSocket-Key", "short")) == handshake_failure::bad_key);
    CHECK(why(doubled(good, "Sec-WebSocket-Key")) == handshake_failure::bad_key);
    CHECK(why(without(good, "Sec-WebSocket-Version")) == handshake_failure::other_version);
}

// RFC 6455, 4.4.
TEST_CASE("handshake: another version is told which one there is") {
    const server_handshake made = answer(with(good_request(), "Sec-WebSocket-Version", "8"));
    CHECK(made.failure == handshake_failure::other_version);
    CHECK(made.status == 426);
    CHECK(header_lookup{made.fields}.find("Sec-WebSocket-Version").value == "13");
}

// RFC 6455, 10.2.
TEST_CASE("handshake: pages of other origins need to be allowed") {
    const fields good = good_request();
    server_handshake_options options;
    options.origins = {"https://friend.example.org"};
    const auto from = [&](const std::string& origin) {
        return answer(with(good, "Origin", origin), options).failure;
    };
    CHECK(from("https://server.example.com") == handshake_failure::none);
    CHECK(from("https://friend.example.org") == handshake_failure::none);
    CHECK(from("https://server.example.com.evil.org") == handshake_failure::foreign_origin);
    CHECK(from("http://friend.example.org") == handshake_failure::foreign_origin);
    CHECK(from("null") == handshake_failure::foreign_origin);
    options.origins = {"*"};
    CHECK(from("null") == handshake_failure::none);
    CHECK(answer(with(good, "Origin", "x")).status == 403);
}

// RFC 6455, 4.1.
TEST_CASE("handshake: a client's request has what it needs") {
    client_handshake_options options;
    options.subprotocols = {"chat", "superchat"};
    options.origin = "http://example.com";
    options.deflate.emplace();
    const fields made = sample_client(options).fields();
    const header_lookup lookup{made};
    CHECK(lookup.find("Sec-WebSocket-Key").value == "dGhlIHNhbXBsZSBub25jZQ==");
    CHECK(lookup.find("Sec-WebSocket-Version").value == "13");
    CHECK(lookup.find("Sec-WebSocket-Protocol").value == "chat, superchat");
    CHECK(lookup.find("Origin").value == "http://example.com");
    CHECK(lookup.find("Sec-WebSocket-Extensions").value == deflate_offer(*options.deflate));
    CHECK(header_lookup{sample_client().fields()}.find("Origin").count == 0);
}

// RFC 6455, 4.1.
TEST_CASE("handshake: each thing that is wrong with an answer has its own failure") {
    client_handshake_options options;
    options.subprotocols = {"chat"};
    const client_handshake client = sample_client(options);
    const fields good = good_answer();
    const auto read = [&](const fields& answer) { return client.read_answer(101, answer).failure; };
    CHECK(read(good) == handshake_failure::none);
    CHECK(client.read_answer(200, good).failure == handshake_failure::not_switched);
    CHECK(read(without(good, "Upgrade")) == handshake_failure::answer_without_upgrade);
    CHECK(read(with(good, "Upgrade", "WebSocket")) == handshake_failure::none);
    CHECK(read(with(good, "Connection", "close")) == handshake_failure::answer_without_upgrade);
    CHECK(read(without(good, "Sec-WebSocket-Accept")) == handshake_failure::wrong_accept_key);
    CHECK(read(with(good, "Sec-WebSocket-Accept", "x")) == handshake_failure::wrong_accept_key);
    CHECK(read(with(good, "Sec-WebSocket-Protocol", "chat")) == handshake_failure::none);
    CHECK(read(with(good, "Sec-WebSocket-Protocol", "x")) == handshake_failure::stray_subprotocol);
    CHECK(read(with(good, "Sec-WebSocket-Extensions", "permessage-deflate")) ==
          handshake_failure::stray_extension);
}

TEST_CASE("handshake: both ends agree on the same") {
    client_handshake_options client_options;
    client_options.subprotocols = {"old", "new"};
    client_options.deflate.emplace();
    server_handshake_options server_options;
    server_options.subprotocols = {"new", "old"};
    server_options.deflate.emplace();
    const client_handshake client{client_options};
    fields request = client.fields();
    request.push_back({"Host", "here"});

    const server_handshake answered = answer(request, server_options);
    REQUIRE(answered.failure == handshake_failure::none);
    const client_handshake::outcome read = client.read_answer(answered.status, answered.fields);
    REQUIRE(read.failure == handshake_failure::none);
    CHECK(read.agreed.subprotocol == "new");
    CHECK(answered.agreed.subprotocol == "new");
    REQUIRE(read.agreed.deflate);
    CHECK_FALSE(read.agreed.deflate->our_context_kept);
    CHECK_FALSE(answered.agreed.deflate->our_context_kept);
}
