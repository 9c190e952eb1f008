// SPDX-License-Identifier: BSL-1.0
#include <exchange/web/operator_desk.hpp>

#include <doctest/doctest.h>

#include <string>
#include <variant>

using namespace exchange;

namespace {

std::string why_not(const char* text) {
    const operator_order read = read_operator_order(text);
    CHECK_MESSAGE(!read.meant, text);
    return read.why;
}

template <class Command>
Command meant(const char* text) {
    const operator_order read = read_operator_order(text);
    REQUIRE_MESSAGE(read.meant, read.why);
    REQUIRE(std::holds_alternative<Command>(*read.meant));
    return std::get<Command>(*read.meant);
}

}  // namespace

TEST_CASE("operator_desk: what a page may say is read member by member") {
    const auto phase =
        meant<set_phase>(R"({"message":"set_phase","instrument":7,"phase":"halted"})");
    CHECK(phase.instrument == instrument_id{7});
    CHECK(phase.phase == market_phase::halted);
    CHECK(meant<uncross>(R"({"message":"uncross","instrument":2})").instrument == instrument_id{2});
    const auto state = meant<set_account_state>(
        R"({"message":"set_account_state","account":4294967295,"state":"blocked"})");
    CHECK(number(state.account) == 4'294'967'295);
    CHECK(state.state == account_state::blocked);
    CHECK(meant<end_session>(R"({"message":"end_session","session":3})").session == session_id{3});
    const auto bust =
        meant<bust_trade>(R"({"message":"bust_trade","instrument":1,"trade":12345678901})");
    CHECK(bust.trade == trade_id{12'345'678'901});
    // A trade of another partition has a number that JavaScript's do not hold.
    const auto far = meant<bust_trade>(
        R"({"message":"bust_trade","instrument":1,"trade":"1152921504606846983"})");
    CHECK(far.trade == trade_id{1'152'921'504'606'846'983});
}

TEST_CASE("operator_desk: anything else is refused with what is wrong with it") {
    CHECK(why_not("") == "expected an object of JSON");
    CHECK(why_not("[]") == "expected an object of JSON");
    CHECK(why_not("{}").starts_with("message: expected one of"));
    CHECK(why_not(R"({"message":7})").starts_with("message: expected one of"));
    CHECK(why_not(R"({"message":"define_session","session":1})")
              .starts_with("message: expected one"));
    CHECK(why_not(R"({"message":"enter_order","instrument":1})")
              .starts_with("message: expected one"));
    CHECK(why_not(R"({"message":"set_phase","phase":"halted"})") == "instrument: is missing");
    CHECK(why_not(R"({"message":"uncross","instrument":0})") ==
          "instrument: expected a number from 1");
    CHECK(why_not(R"({"message":"uncross","instrument":-1})") ==
          "instrument: expected a number from 1");
    CHECK(why_not(R"({"message":"uncross","instrument":1.5})") ==
          "instrument: expected a number from 1");
    CHECK(why_not(R"({"message":"uncross","instrument":4294967296})") ==
          "instrument: expected a number from 1");
    CHECK(why_not(R"({"message":"uncross","instrument":"1"})") ==
          "instrument: expected a number from 1");
    CHECK(why_not(R"({"message":"bust_trade","instrument":1,"trade":1152921504606847000})") ==
          "trade: expected its digits as a string");
    for (const char* const digits : {"", "7x", " 7", "-7", "0", "18446744073709551616"})
        CHECK(why_not((R"({"message":"bust_trade","instrument":1,"trade":")" + std::string{digits} +
                       R"("})")
                          .c_str()) == "trade: expected a number from 1");
    // No command sets these: they come to be.
    CHECK(why_not(R"({"message":"set_phase","instrument":1,"phase":"ended"})")
              .starts_with("phase: expected one of"));
    CHECK(why_not(R"({"message":"set_account_state","account":1,"state":"retired"})")
              .starts_with("state: expected one of"));
    CHECK(why_not(R"({"message":"uncross","instrument":1,"also":2})") ==
          "there are members that mean nothing");
}
