// SPDX-License-Identifier: BSL-1.0
//
// Subscriptions and what they bring come back as they were, in binary and as JSON.
#include <exchange/codec/market_subscription_codec.hpp>

#include <exchange/codec/json_message.hpp>
#include <exchange/codec/json_packet.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

using namespace exchange;

namespace {

constexpr instrument_id first{1};
using bytes = std::vector<std::byte>;

template <class Record>
bytes encoded(const Record& it) {
    bytes made(market_message_bytes_max);
    made.resize(encode_market(it, made));
    return made;
}

/// The record of this kind in a message, if it is one.
template <class Record>
struct caught {
    std::optional<Record> it{};
    void operator()(const Record& found) { it = found; }
    template <class Other>
    void operator()(const Other&) {}
};

template <class Record>
Record back(const bytes& message, bool from_subscriber) {
    caught<Record> found;
    const decode_fault fault = from_subscriber ? decode_subscription(message, found)
                                               : decode_market_message(message, found);
    REQUIRE_FALSE(fault);
    REQUIRE(found.it);
    return *found.it;
}

std::string json_of(const bytes& message) {
    bytes space(64 * 1024);
    json_writer to{space};
    REQUIRE(write_json_message(to, message, 0));
    REQUIRE_FALSE(to.full());
    return {reinterpret_cast<const char*>(space.data()), to.size()};
}

book_delta a_delta(std::uint16_t count) {
    book_delta made{};
    made.previous = 6;
    made.state = std::uint64_t{1} << 60;
    made.instrument = first;
    made.last = true;
    made.count = count;
    for (std::uint16_t each = 0; each < count; ++each)
        made.levels[each] = {price_ticks{each} - 5, 7, each, order_side::sell};
    return made;
}

}  // namespace

TEST_CASE("market subscriptions: what a subscriber says comes back as it was") {
    const subscribe wanted{7, first, 32, true, false, true};
    CHECK(back<subscribe>(encoded(wanted), true) == wanted);
    const unsubscribe enough{8, first};
    CHECK(back<unsubscribe>(encoded(enough), true) == enough);
}

TEST_CASE("market subscriptions: what a distributor says comes back as it was") {
    const subscribed done{7, first, 5, true, true, false};
    CHECK(back<subscribed>(encoded(done), false) == done);
    const subscription_refused no{7, first, subscription_refusal::too_deep};
    CHECK(back<subscription_refused>(encoded(no), false) == no);
    const market_summary sums{9,   1, 2, -3, 4, 5, 6, 7, first, 8, market_phase::opening_auction,
                              true};
    CHECK(back<market_summary>(encoded(sums), false) == sums);
    for (const std::uint16_t count : {0, 1, 63, 64}) {
        const book_delta said = a_delta(count);
        const auto heard = back<book_delta>(encoded(said), false);
        CHECK(heard.previous == said.previous);
        CHECK(heard.state == said.state);
        CHECK(heard.last);
        REQUIRE(heard.count == count);
        CHECK(heard.levels == said.levels);
    }
    book_snapshot whole{};
    whole.state = 5;
    whole.instrument = first;
    whole.first = true;
    whole.count = 1;
    whole.levels[0] = {3, 30, 2, order_side::buy};
    const auto snapshot = back<book_snapshot>(encoded(whole), false);
    CHECK(snapshot.first);
    CHECK_FALSE(snapshot.last);
    CHECK(snapshot.levels == whole.levels);
    trades_printed trades{};
    trades.dropped = 3;
    trades.instrument = first;
    trades.count = 2;
    trades.trades[0] = {trade_id{1}, 5, timestamp_ns{6}, 7, order_side::sell, false};
    trades.trades[1] = {trade_id{1}, 5, timestamp_ns{8}, 7, order_side::buy, true};
    const auto printed = back<trades_printed>(encoded(trades), false);
    CHECK(printed.dropped == 3);
    REQUIRE(printed.count == 2);
    CHECK(printed.trades == trades.trades);
}

TEST_CASE("market subscriptions: neither end says what is the other's, and no list is too long") {
    caught<subscribe> ignored;
    CHECK(decode_market_message(encoded(subscribe{1, first, 0, true, true, true}), ignored).error ==
          decode_error::unexpected_message);
    CHECK(decode_subscription(encoded(a_delta(1)), ignored).error ==
          decode_error::unexpected_message);
    bytes longer = encoded(a_delta(64));
    const std::size_t count_at = market_data_session::book_delta_writer::message_bytes(0) - 2;
    longer[count_at] = std::byte{65};
    longer.resize(longer.size() + 21);
    CHECK(decode_market_message(longer, ignored).error == decode_error::group_too_long);
    bytes shorter = encoded(a_delta(3));
    shorter.pop_back();
    CHECK(decode_market_message(shorter, ignored).error == decode_error::group_truncated);
    CHECK_FALSE(ignored.it);
}

TEST_CASE("market subscriptions: as JSON they have the names of the schema, and come back") {
    const std::string text = json_of(encoded(subscribe{7, first, 5, true, false, true}));
    CHECK(text == R"({"message":"subscribe","request":7,"instrument":1,"depth":5,"book":true,)"
                  R"("trades":false,"summary":true})");
    bytes into(4096);
    const json_packet_reading read = read_json_packet(text, soup_end::client, into);
    REQUIRE_FALSE(read.problem);
    CHECK(std::ranges::equal(read.packet.payload,
                             encoded(subscribe{7, first, 5, true, false, true})));
    CHECK(json_of(encoded(a_delta(1))) ==
          R"({"message":"book_delta","previous":"6","state":"1152921504606846976","instrument":1,)"
          R"("last":true,"levels":[{"price":-5,"quantity":"7","orders":0,"side":"sell"}]})");
    CHECK(json_of(encoded(subscription_refused{7, first, subscription_refusal::nothing_wanted})) ==
          R"({"message":"subscription_refused","request":7,"instrument":1,)"
          R"("reason":"nothing_wanted"})");
}
