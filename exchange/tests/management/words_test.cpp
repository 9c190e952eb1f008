// SPDX-License-Identifier: BSL-1.0
//
// The words are those of the schema, no more and no less.
#include <exchange/management/words.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <sstream>

using namespace exchange;

namespace {

std::string text_of(const std::string& path) {
    const std::ifstream file{path};
    REQUIRE(file);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string between(const std::string& text, std::size_t& at, const std::string& before,
                    const std::string& behind) {
    const std::size_t begin = text.find(before, at) + before.size();
    at = text.find(behind, begin);
    return text.substr(begin, at - begin);
}

// What the schema calls each number of an enumeration.
std::map<int, std::string> schema_words(const std::string& enumeration) {
    const std::string schema = text_of(EXCHANGE_SCHEMA "/types.xml");
    const std::size_t begin = schema.find("<enum name=\"" + enumeration + "\"");
    REQUIRE(begin != std::string::npos);
    const std::size_t end = schema.find("</enum>", begin);
    std::map<int, std::string> found;
    for (std::size_t at = schema.find("<validValue", begin); at < end;
         at = schema.find("<validValue", at)) {
        const std::string name = between(schema, at, "name=\"", "\"");
        found[std::stoi(between(schema, at, ">", "<"))] = name;
    }
    REQUIRE_FALSE(found.empty());
    return found;
}

template <class Enum>
void check_words(const std::string& enumeration) {
    CAPTURE(enumeration);
    std::map<int, std::string> ours;
    for (const auto& each : words_of<Enum>()) {
        ours[number(each.value)] = each.text;
        CHECK(word_for(each.value) == each.text);
    }
    for (const auto& each : words_to_say<Enum>()) CHECK(meaning_of<Enum>(each.text) == each.value);
    CHECK(ours == schema_words(enumeration));
    CHECK(ours.size() == words_of<Enum>().size());
}

}  // namespace

TEST_CASE("every word is the schema's, number for number") {
    check_words<order_side>("order_side");
    check_words<self_trade_action>("self_trade_action");
    check_words<instrument_kind>("instrument_kind");
    check_words<lone_order_policy>("lone_order_policy");
    check_words<disconnect_policy>("disconnect_policy");
    check_words<market_phase>("market_phase");
    check_words<account_state>("account_state");
    check_words<definition_kind>("definition_kind");
    check_words<cancel_reason>("cancel_reason");
    check_words<reject_reason>("reject_reason");
    check_words<command_kind>("command_kind");
    check_words<query_subject>("query_subject");
    check_words<time_in_force>("time_in_force");
    check_words<order_type>("order_type");
    check_words<participant_outcome>("participant_outcome");
}

TEST_CASE("what is no word means nothing, and a number without a word stays a number") {
    CHECK_FALSE(meaning_of<market_phase>("open"));
    CHECK_FALSE(meaning_of<market_phase>(""));
    CHECK(word_for(static_cast<market_phase>(77)) == "77");
    CHECK(all_words<account_state>() == "active, blocked");
}

TEST_CASE("a state that no command sets is read, and cannot be said") {
    CHECK(word_for(market_phase::ended) == "ended");
    CHECK(word_for(account_state::retired) == "retired");
    CHECK_FALSE(meaning_of<market_phase>("ended"));
    CHECK_FALSE(meaning_of<account_state>("retired"));
    CHECK_FALSE(meaning_of<market_phase>("volatility_auction"));
    CHECK(all_words<market_phase>() ==
          "closed, continuous, halted, pre_open, opening_auction, closing_auction");
    CHECK(words_to_say<reject_reason>().size() == words_of<reject_reason>().size());
}
