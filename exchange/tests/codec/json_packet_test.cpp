// SPDX-License-Identifier: BSL-1.0
#include <exchange/codec/json_packet.hpp>

#include <exchange/codec/command_codec.hpp>
#include <exchange/codec/soup_packet.hpp>

#include <codec/packets.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

std::string said(const soup_packet& packet, std::uint64_t sequence = 0) {
    std::array<std::byte, 1024> space;
    json_writer to{space};
    if (!write_json_packet(to, packet, sequence)) return "nothing";
    return text_of(std::span{space}.first(to.size()));
}

struct heard {
    heard(std::string_view text, soup_end from, std::size_t room = 1024)
        : into(room), it{read_json_packet(text, from, into)} {}

    [[nodiscard]] std::string told() const {
        if (!it.problem) return static_cast<char>(it.packet.type) + text_of(it.packet.payload);
        std::array<std::byte, 512> space;
        json_writer to{space};
        write_json_problem(to, it.problem);
        return text_of(std::span{space}.first(to.size()));
    }

    bytes into;
    json_packet_reading it;
};

std::string from_client(std::string_view text) { return heard{text, soup_end::client}.told(); }
std::string from_server(std::string_view text) { return heard{text, soup_end::server}.told(); }

}  // namespace

TEST_CASE("json packets: a login has the fields of SoupBinTCP's") {
    soup_login login;
    login.username = "alice";
    login.password = "pa\"ss";
    login.session = "DAY";
    login.sequence = 12345;
    const auto payload = format_soup_login(login);
    const std::string text = said({soup_type::login_request, payload});
    CHECK(text == R"({"message":"login","username":"alice","password":"pa\u0022ss","session":"DAY")"
                  R"(,"sequence":"12345"})");

    const heard back{text, soup_end::client};
    CHECK(back.it.packet.type == soup_type::login_request);
    const auto read = parse_soup_login(back.it.packet.payload);
    REQUIRE(read.ending == soup_ending::none);
    CHECK(read.fields.username == login.username);
    CHECK(read.fields.password == login.password);
    CHECK(read.fields.session == login.session);
    CHECK(read.fields.sequence == login.sequence);
}

TEST_CASE("json packets: who asks for no session and no message asks for the next ones") {
    const heard it{R"({"message":"login","username":"alice","password":"secret"})",
                   soup_end::client};
    const auto read = parse_soup_login(it.it.packet.payload);
    REQUIRE(read.ending == soup_ending::none);
    CHECK(read.fields.session.empty());
    CHECK(read.fields.sequence == 0);
}

TEST_CASE("json packets: a server's answers are the same there and back") {
    const auto acceptance = format_soup_acceptance({"DAY", 7});
    CHECK(said({soup_type::login_accepted, acceptance}) ==
          R"({"message":"login_accepted","session":"DAY","sequence":"7"})");
    const heard accepted{said({soup_type::login_accepted, acceptance}), soup_end::server};
    CHECK(parse_soup_acceptance(accepted.it.packet.payload).fields.sequence == 7);
    CHECK(parse_soup_acceptance(accepted.it.packet.payload).fields.session == soup_session{"DAY"});
    CHECK(said(packet('J', "A")) == R"({"message":"login_rejected","reason":"not_authorized"})");
    CHECK(from_server(said(packet('J', "S"))) == "JS");
    CHECK(from_server(said(packet('H'))) == "H");
    CHECK(from_server(said(packet('Z'))) == "Z");
    CHECK(from_client(said(packet('R'))) == "R");
    CHECK(from_client(said(packet('O'))) == "O");
    CHECK(from_server(said(packet('+', "for \"people\""))) == "+for \"people\"");
}

TEST_CASE("json packets: who says what depends on who may") {
    CHECK(from_client(R"({"message":"heartbeat"})") == "R");
    CHECK(from_server(R"({"message":"heartbeat"})") == "H");
    CHECK(from_client(R"({"message":"login_accepted","session":"DAY","sequence":"7"})") ==
          R"({"message":"error","refused":"login_accepted")"
          R"(,"reason":"there is no such message","position":27})");
}

TEST_CASE("json packets: messages of a stream have their number, others have none") {
    std::array<std::byte, message_bytes_of<cancel_orders>> message;
    cancel_orders all{};
    all.client_seq = client_sequence{1};
    all.account = account_id{2};
    encode(all, message);
    const std::string text = said({soup_type::sequenced, message}, 9007199254740993);
    CHECK(text.starts_with(R"({"message":"cancel_orders","sequence":"9007199254740993",)"));
    const heard back{text, soup_end::server};
    CHECK(back.it.sequence == 9007199254740993);
    CHECK(back.it.packet.type == soup_type::sequenced);
    CHECK(said({soup_type::unsequenced, message}).find("sequence\"") == std::string::npos);
    CHECK(from_server(R"({"message":"cancel_orders","sequence":"0","client_seq":"1"})")
              .find(R"("field":"sequence")") != std::string::npos);
}

TEST_CASE("json packets: what is no message is told with where it ends to be one") {
    CHECK(
        from_client("") ==
        R"({"message":"error")"
        R"(,"reason":"an object that begins with \u0022message\u0022 is expected","position":0})");
    CHECK(from_client("[]").find("begins with") != std::string::npos);
    CHECK(from_client(R"({"type":"login"})").find("begins with") != std::string::npos);
    CHECK(from_client(R"({"message":5})") ==
          R"({"message":"error","reason":"the value is of another type","position":11})");
    CHECK(from_client(R"({"message":"heartbeat"} x)") ==
          R"({"message":"error","refused":"heartbeat","reason":"this is not JSON","position":24})");
    CHECK(from_client(R"({"message":"heartbeat","x":1})") ==
          R"({"message":"error","refused":"heartbeat","field":"x")"
          R"(,"reason":"the message has no such field","position":27})");
    CHECK(from_client(R"({"message":"login","username":"alice"})") ==
          R"({"message":"error","refused":"login","field":"password")"
          R"(,"reason":"the field is missing","position":38})");
    CHECK(
        from_client(R"({"message":"login","username":"seven77"})").find(R"("field":"username")") !=
        std::string::npos);
    CHECK(from_client(R"({"message":"debug"})").find("not JSON") != std::string::npos);
    CHECK(from_client(R"({"message":"debug","words":"x"})").find("no such field") !=
          std::string::npos);
    CHECK(from_client(R"({"message":"error"})").find("no such message") != std::string::npos);
}

TEST_CASE("json packets: to a client an error of a server is text for people") {
    constexpr std::string_view text =
        R"({"message":"error","refused":"enter_order","reason":"the field is missing","position":5})";
    CHECK(from_server(text) == "+" + std::string{text});
}

TEST_CASE("json packets: each place where a text is cut is a problem, and no crash") {
    constexpr std::string_view whole =
        R"({"message":"cancel_order","client_seq":"1","target":{"id":null,"client_seq":"\u0035"}})";
    CHECK(heard{whole, soup_end::client}.it.packet.type == soup_type::unsequenced);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        INFO(whole.substr(0, size));
        CHECK(heard{whole.substr(0, size), soup_end::client}.it.problem.fault != json_fault::none);
    }
}

TEST_CASE("json packets: without room for its payload a packet is refused") {
    CHECK(heard{R"({"message":"login","username":"a","password":"b"})", soup_end::client, 45}
              .it.problem.fault == json_fault::too_many_entries);
    CHECK(heard{R"({"message":"expire_instruments"})", soup_end::client, 7}.it.problem.fault ==
          json_fault::too_many_entries);
    CHECK(heard{R"({"message":"debug","text":"12345"})", soup_end::client, 4}.it.problem.fault ==
          json_fault::too_long);
}

TEST_CASE("json packets: a packet that nobody makes cannot be said") {
    CHECK(said(packet('?')) == "nothing");
    CHECK(said(packet('S', "nonsense")) == "nothing");
}
