// SPDX-License-Identifier: BSL-1.0
//
// Questions about books and their answers come back as they were, and nothing else is taken for one.
#include <exchange/codec/book_codec.hpp>

#include <codec/dice.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

book_page a_page(std::uint16_t count) {
    book_page made{.next_in_feed = 77,
                   .from = -5,
                   .instrument = instrument_id{3},
                   .side = order_side::sell,
                   .phase = market_phase::halted,
                   .last = true,
                   .count = count,
                   .levels = {}};
    for (std::uint16_t each = 0; each < count; ++each)
        made.levels[each] = {price_ticks{each} - 5, contracts_total{1} << 40, each + 1u};
    return made;
}

std::vector<std::byte> encoded(const book_page& it) {
    std::vector<std::byte> bytes(book_answer_bytes_max);
    bytes.resize(encode(it, std::span{bytes}.first<book_answer_bytes_max>()));
    return bytes;
}

constexpr auto ignore = [](const auto&) {};

}  // namespace

TEST_CASE("a question comes back as it was") {
    const book_request asked{instrument_id{7}, -123, order_side::sell};
    std::array<std::byte, message_bytes_of<book_request>> bytes;
    encode(asked, bytes);

    std::optional<book_request> found;
    const auto fault = decode_book_request(bytes, [&](const book_request& it) { found = it; });

    CHECK(fault == decode_fault{});
    CHECK(found == asked);
}

TEST_CASE("a page comes back as it was, empty, half or full") {
    for (const std::uint16_t count : {0, 1, 30, 64}) {
        const book_page told = a_page(count);
        std::optional<book_page> found;
        const auto keep = [&]<class Answer>(const Answer& it) {
            if constexpr (std::is_same_v<Answer, book_page>) found = it;
        };
        CHECK(decode_book_answer(encoded(told), keep) == decode_fault{});
        REQUIRE(found);
        CHECK(found->next_in_feed == told.next_in_feed);
        CHECK(found->from == told.from);
        CHECK(found->instrument == told.instrument);
        CHECK(found->side == told.side);
        CHECK(found->phase == told.phase);
        CHECK(found->last == told.last);
        CHECK(found->count == told.count);
        CHECK(found->levels == told.levels);
    }
}

TEST_CASE("a refusal comes back as it was") {
    const book_refused told{instrument_id{9}, reject_reason::unknown_instrument};
    std::array<std::byte, message_bytes_of<book_refused>> bytes;
    encode(told, bytes);

    std::optional<book_refused> found;
    const auto keep = [&]<class Answer>(const Answer& it) {
        if constexpr (std::is_same_v<Answer, book_refused>) found = it;
    };
    CHECK(decode_book_answer(bytes, keep) == decode_fault{});
    CHECK(found == told);
}

TEST_CASE("a question is no answer, an answer no question, and neither is a command or an event") {
    std::array<std::byte, message_bytes_of<book_request>> question;
    encode(book_request{instrument_id{7}, 0, order_side::buy}, question);
    const std::vector<std::byte> answer = encoded(a_page(2));
    const auto ignore_event = [](const auto&...) {};

    CHECK(decode_book_answer(question, ignore).error == decode_error::unexpected_message);
    CHECK(decode_book_request(answer, ignore).error == decode_error::unexpected_message);
    CHECK(decode_operator_command(question, ignore).error == decode_error::unexpected_message);
    CHECK(decode_operator_command(answer, ignore).error == decode_error::unexpected_message);
    CHECK(decode_operator_event(answer, ignore_event).error == decode_error::unexpected_message);
    CHECK(decode_client_command(question, session_id{1}, ignore).error ==
          decode_error::unknown_schema);
}

TEST_CASE("a page of more levels than a page has is refused, and so is one that is cut") {
    std::vector<std::byte> bytes = encoded(a_page(64));
    const std::size_t count_at = administration::book_page_writer::message_bytes(0) - 2;
    bytes.resize(bytes.size() + 20);
    bytes[count_at] = std::byte{65};
    CHECK(decode_book_answer(bytes, ignore).error == decode_error::group_too_long);

    bytes = encoded(a_page(3));
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK(decode_book_answer(std::span{bytes}.first(size), ignore).error != decode_error::none);
}
