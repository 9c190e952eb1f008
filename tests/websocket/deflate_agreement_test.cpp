// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/deflate_agreement.hpp>

#include <support/harness.hpp>

#include <string>
#include <vector>

using namespace gyre::websocket;

namespace {

std::vector<header_field> extensions(std::vector<std::string> values) {
    std::vector<header_field> made;
    for (std::string& each : values) made.push_back({"Sec-WebSocket-Extensions", std::move(each)});
    return made;
}

deflate_options keeping() {
    deflate_options made;
    made.our_context_kept = true;
    made.peer_context_kept = true;
    return made;
}

std::string answer_to(std::string offer, const deflate_options& wanted = keeping()) {
    const auto fields = extensions({std::move(offer)});
    const auto answer = answer_deflate_offers(fields, wanted);
    return answer ? answer->field : "none";
}

deflate_outcome read(std::string answer, const std::optional<deflate_options>& wanted = keeping()) {
    const auto fields = extensions({std::move(answer)});
    return read_deflate_answer(fields, wanted);
}

using kind = deflate_outcome::kind;

}  // namespace

// RFC 7692, 7.1.3 and its parameters.
TEST_CASE("deflate agreement: a server answers what is offered with what it wants") {
    CHECK(answer_to("permessage-deflate") == "permessage-deflate");
    CHECK(answer_to("Permessage-Deflate; SERVER_NO_CONTEXT_TAKEOVER") ==
          "permessage-deflate; server_no_context_takeover");
    CHECK(answer_to("permessage-deflate; client_no_context_takeover") ==
          "permessage-deflate; client_no_context_takeover");
    CHECK(answer_to("permessage-deflate; server_max_window_bits=10") ==
          "permessage-deflate; server_max_window_bits=10");
    CHECK(answer_to("permessage-deflate; server_max_window_bits=\"15\"") ==
          "permessage-deflate; server_max_window_bits=15");
    CHECK(answer_to("permessage-deflate; client_max_window_bits") == "permessage-deflate");
    CHECK(answer_to("permessage-deflate; client_max_window_bits=9") ==
          "permessage-deflate; client_max_window_bits=9");
    CHECK(answer_to("permessage-deflate; client_max_window_bits", {}) ==
          "permessage-deflate; server_no_context_takeover; client_no_context_takeover");

    deflate_options small = keeping();
    small.our_window_bits = 11;
    small.peer_window_bits = 10;
    CHECK(answer_to("permessage-deflate", small) ==
          "permessage-deflate; server_max_window_bits=11");
    CHECK(answer_to("permessage-deflate; client_max_window_bits=12", small) ==
          "permessage-deflate; server_max_window_bits=11; client_max_window_bits=10");
}

// RFC 7692, 7.1: offers with what is unknown, doubled or out of range are declined.
TEST_CASE("deflate agreement: damaged and unknown offers are passed over, up to one that fits") {
    for (const std::string offer :
         {"", "x-webkit-deflate-frame", "permessage-deflate; unknown",
          "permessage-deflate; unknown=1", "permessage-deflate; server_max_window_bits",
          "permessage-deflate; server_max_window_bits=7",
          "permessage-deflate; server_max_window_bits=16",
          "permessage-deflate; server_max_window_bits=010",
          "permessage-deflate; server_max_window_bits=8",
          "permessage-deflate; client_max_window_bits=x",
          "permessage-deflate; client_max_window_bits=\"\"",
          "permessage-deflate; client_max_window_bits=",
          "permessage-deflate; server_no_context_takeover=1",
          "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
          "permessage-deflate; client_max_window_bits; client_max_window_bits=9",
          "permessage-deflate;", "permessage-deflate foo"}) {
        INFO(offer);
        CHECK(answer_to(offer) == "none");
        CHECK(answer_to(offer + ", permessage-deflate") == "permessage-deflate");
    }
    const auto fields = extensions({"other; a=\"x, permessage-deflate\"", "permessage-deflate"});
    CHECK(answer_deflate_offers(fields, keeping())->field == "permessage-deflate");
}

TEST_CASE("deflate agreement: of two offers the first that fits counts") {
    CHECK(answer_to("permessage-deflate; server_max_window_bits=8, "
                    "permessage-deflate; server_max_window_bits=9, permessage-deflate") ==
          "permessage-deflate; server_max_window_bits=9");
}

TEST_CASE("deflate agreement: a client offers what it wants") {
    CHECK(deflate_offer(keeping()) == "permessage-deflate; client_max_window_bits");
    CHECK(deflate_offer({}) ==
          "permessage-deflate; server_no_context_takeover; "
          "client_no_context_takeover; client_max_window_bits");
    deflate_options small = keeping();
    small.our_window_bits = 11;
    small.peer_window_bits = 10;
    CHECK(deflate_offer(small) ==
          "permessage-deflate; server_max_window_bits=10; client_max_window_bits=11");
}

// RFC 7692, 7.1.1 and 7.1.2.
TEST_CASE("deflate agreement: a client takes an answer to its offer, and no other") {
    CHECK(read("").what == kind::declined);
    CHECK(read("", std::nullopt).what == kind::declined);
    CHECK(read("permessage-deflate", std::nullopt).what == kind::refused);
    CHECK(read("permessage-deflate").what == kind::agreed);
    CHECK(read("permessage-deflate").agreed == deflate_agreement{});
    CHECK(read("other").what == kind::refused);
    CHECK(read("permessage-deflate, permessage-deflate").what == kind::refused);
    CHECK(read("permessage-deflate; client_max_window_bits").what == kind::refused);
    CHECK(read("permessage-deflate; unknown").what == kind::refused);

    const deflate_outcome less = read(
        "permessage-deflate; client_no_context_takeover; server_no_context_takeover; "
        "client_max_window_bits=9; server_max_window_bits=8");
    CHECK(less.what == kind::agreed);
    CHECK_FALSE(less.agreed.our_context_kept);
    CHECK_FALSE(less.agreed.peer_context_kept);
    CHECK(less.agreed.our_window_bits == 9);
    CHECK(less.agreed.peer_window_bits == 8);

    CHECK(read("permessage-deflate", deflate_options{}).what == kind::refused);
    CHECK(read("permessage-deflate; server_no_context_takeover", deflate_options{}).what ==
          kind::agreed);
    deflate_options small = keeping();
    small.our_window_bits = 11;
    small.peer_window_bits = 10;
    CHECK(read("permessage-deflate", small).what == kind::refused);
    CHECK(read("permessage-deflate; server_max_window_bits=11", small).what == kind::refused);
    CHECK(read("permessage-deflate; server_max_window_bits=10", small).what == kind::agreed);
    CHECK(read("permessage-deflate; server_max_window_bits=10; client_max_window_bits=12", small)
              .what == kind::refused);
}

TEST_CASE("deflate agreement: what a server answers, a client with any wishes understands") {
    for (int wishes = 0; wishes < 256; ++wishes) {
        deflate_options client;
        client.our_context_kept = (wishes & 1) != 0;
        client.peer_context_kept = (wishes & 2) != 0;
        client.our_window_bits = (wishes & 4) != 0 ? 15 : 10;
        client.peer_window_bits = (wishes & 8) != 0 ? 15 : 11;
        deflate_options server;
        server.our_context_kept = (wishes & 16) != 0;
        server.peer_context_kept = (wishes & 32) != 0;
        server.our_window_bits = (wishes & 64) != 0 ? 15 : 12;
        server.peer_window_bits = (wishes & 128) != 0 ? 15 : 9;

        const auto offered = extensions({deflate_offer(client)});
        const auto answer = answer_deflate_offers(offered, server);
        REQUIRE(answer);
        const auto answered = extensions({answer->field});
        const deflate_outcome read = read_deflate_answer(answered, client);
        REQUIRE(read.what == kind::agreed);
        REQUIRE(read.agreed.our_context_kept == answer->agreed.peer_context_kept);
        REQUIRE(read.agreed.peer_context_kept == answer->agreed.our_context_kept);
        REQUIRE(read.agreed.our_window_bits <= answer->agreed.peer_window_bits);
        REQUIRE(read.agreed.peer_window_bits == answer->agreed.our_window_bits);
    }
}
