// SPDX-License-Identifier: BSL-1.0
//
// Mass quotes come back as they were, are quotes one by one, and nothing else is taken for one.
#include <exchange/codec/mass_quote_codec.hpp>

#include <exchange/codec/soup_framer.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <vector>

using namespace exchange;

namespace {

enter_quotes quotes(std::uint16_t count) {
    enter_quotes it{};
    it.client_seq = client_sequence{0x1'0000'0003};
    it.self_trade = self_trade_action::decrement;
    it.count = count;
    for (std::uint16_t each = 0; each < count; ++each) {
        const price_ticks price = each;
        it.entries[each] = {instrument_id{each + 1u}, -price, price + 1, each + 2u, each + 3u};
    }
    return it;
}

std::vector<std::byte> encoded(const enter_quotes& it) {
    std::vector<std::byte> bytes(mass_quote_bytes(it.count), std::byte{0xEE});
    CHECK(encode(it, bytes) == bytes.size());
    return bytes;
}

decode_fault fault_of(std::span<const std::byte> bytes) {
    return decode_mass_quote(bytes, [](const auto&) { FAIL("it was read"); });
}

}  // namespace

TEST_CASE("as many quotes as there may be come back, in a packet that is no longer than any") {
    for (const std::uint16_t count : {std::uint16_t{1}, mass_quote_entries_max}) {
        const enter_quotes it = quotes(count);
        const std::vector<std::byte> bytes = encoded(it);
        CHECK(bytes.size() <= soup_framer_options{}.payload_bytes_max);

        std::optional<enter_quotes> back;
        CHECK(decode_mass_quote(bytes, [&](const enter_quotes& found) { back = found; }) ==
              decode_fault{});

        REQUIRE(back.has_value());
        CHECK(back->client_seq == it.client_seq);
        CHECK(back->self_trade == it.self_trade);
        CHECK(back->count == count);
        CHECK(back->entries == it.entries);
    }
}

TEST_CASE("an entry is a quote with the next number") {
    const enter_quote it = quotes(3).at(2, session_id{7});
    CHECK(it.session == session_id{7});
    CHECK(it.client_seq == client_sequence{0x1'0000'0005});
    CHECK(it.instrument == instrument_id{3});
    CHECK(it.self_trade == self_trade_action::decrement);
    CHECK(it.bid_price == -2);
    CHECK(it.ask_price == 3);
    CHECK(it.bid_quantity == 4);
    CHECK(it.ask_quantity == 5);
}

TEST_CASE("no entry, too many, and a message cut anywhere are refused") {
    std::vector<std::byte> bytes = encoded(quotes(2));
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK(fault_of(std::span{bytes}.first(size)));

    enter_quotes none = quotes(1);
    none.count = 0;
    CHECK(fault_of(encoded(none)) == decode_fault{decode_error::field_missing, 3});

    std::vector<std::byte> many(mass_quote_bytes(mass_quote_entries_max + 1));
    order_entry::enter_quotes_writer writer{many, mass_quote_entries_max + 1};
    writer.copy_from(quotes(1));
    for (std::uint16_t each = 0; each <= mass_quote_entries_max; ++each)
        writer.entries(each).copy_from(quotes(1).entries[0]);
    CHECK(fault_of(many) == decode_fault{decode_error::group_too_long, 3});
}

TEST_CASE("a quote is no mass quote, and a mass quote no command of the core") {
    std::array<std::byte, message_bytes_of<enter_quote>> one{};
    enter_quote single{};
    single.client_seq = client_sequence{1};
    single.instrument = instrument_id{1};
    encode(single, one);
    CHECK(fault_of(one).error == decode_error::unexpected_message);
    CHECK(decode_client_command(encoded(quotes(1)), session_id{1}, [](const auto&) {
              FAIL("it was read");
          }).error == decode_error::unexpected_message);
}

TEST_CASE("a mass quote is a cancel while no entry of it has a quantity") {
    enter_quotes it = quotes(3);
    CHECK_FALSE(is_cancel(encoded(it)));
    for (quote_entry& each : it.entries) each.bid_quantity = each.ask_quantity = 0;
    CHECK(is_cancel(encoded(it)));
    it.entries[2].ask_quantity = 1;
    CHECK_FALSE(is_cancel(encoded(it)));
    it.count = 2;  // The last one is not sent.
    CHECK(is_cancel(encoded(it)));
}
