// SPDX-License-Identifier: BSL-1.0
//
// Questions and their answers come back as they were, and nothing else is taken for one.
#include <exchange/codec/query_codec.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <vector>

using namespace exchange;

namespace {

// Every member is set, and differs from row to row: one that the schema forgets comes back as zero. The
// compiler wants them all.

order_row a_row(order_row, std::uint16_t n) {
    return {.order = order_id{n},
            .client_seq = client_sequence{n + 1u},
            .price = -n,
            .instrument = instrument_id{n},
            .account = account_id{n + 2u},
            .open = n + 3u,
            .executed = n + 4u,
            .session = session_id{n},
            .side = order_side::sell,
            .tif = time_in_force::good_till_cancel,
            .instruction = execution_instruction::post_only,
            .self_trade = self_trade_action::decrement,
            .quote = true,
            .type = order_type::stop_limit,
            .trigger_price = -n - 5,
            .expiry_yyyymmdd = n + 7u};
}

position_row a_row(position_row, std::uint16_t n) {
    return {.position = -n,
            .open_buy = contracts_total{n} << 33,
            .open_sell = n + 1u,
            .account = account_id{n},
            .instrument = instrument_id{n + 2u},
            .quote = true};
}

account_row a_row(account_row, std::uint16_t n) {
    return {.position_max = std::int64_t{n} << 40,
            .account = account_id{n},
            .firm = firm_id{n + 1u},
            .group = self_trade_group{n + 2u},
            .order_quantity_max = n + 3u,
            .open_orders_max = n + 4u,
            .messages_per_second_max = n + 5u,
            .message_burst_max = n + 6u,
            .cancels_per_second_max = n + 7u,
            .cancel_burst_max = n + 8u,
            .open_orders = n + 9u,
            .self_trade = self_trade_action::allow,
            .state = account_state::retired};
}

session_row a_row(session_row, std::uint16_t n) {
    return {.last_client_seq = client_sequence{std::uint64_t{n} << 40},
            .account = account_id{n},
            .session = session_id{n},
            .on_disconnect = disconnect_policy::cancel_orders,
            .retired = true,
            .logged_in = true};
}

instrument_row a_row(instrument_row, std::uint16_t n) {
    return {.strike = -n,
            .settlement_price = n + 1,
            .collar = n + 2,
            .market_band = n + 3,
            .order_value_max = n + 4,
            .open = n + 5,
            .high = n + 6,
            .low = n + 7,
            .last = n + 8,
            .volume = n + 9u,
            .instrument = instrument_id{n},
            .product = product_id{n + 1u},
            .order_quantity_max = n + 10u,
            .expiry_yyyymmdd = n + 11u,
            .trades = n + 12u,
            .type = instrument_kind::put,
            .lone_orders = lone_order_policy::reject,
            .phase = market_phase::ended};
}

product_row a_row(product_row, std::uint16_t n) {
    return {.product = product_id{n},
            .multiplier = n + 1u,
            .lot = n + 2u,
            .bands = 4,
            .tick_1 = {-1, n},
            .tick_2 = {n, 2},
            .tick_3 = {n + 1, 3},
            .tick_4 = {n + 2, 4},
            .retired = true};
}

report_row a_row(report_row, std::uint16_t n) {
    return {.position_begin = -n,
            .bought = n + 1u,
            .sold = n + 2u,
            .bought_value = std::int64_t{n} << 40,
            .sold_value = -n - 3,
            .position_end = n + 4,
            .account = account_id{n},
            .instrument = instrument_id{n + 5u},
            .trades = n + 6u};
}

bool same(const tick_band& left, const tick_band& right) {
    return left.from == right.from && left.step == right.step;
}
bool same(const product_row& left, const product_row& right) {
    return left.product == right.product && left.multiplier == right.multiplier &&
           left.lot == right.lot && left.bands == right.bands && same(left.tick_1, right.tick_1) &&
           same(left.tick_2, right.tick_2) && same(left.tick_3, right.tick_3) &&
           same(left.tick_4, right.tick_4) && left.retired == right.retired;
}
bool same(const auto& left, const auto& right) { return left == right; }

template <class Row>
query_page<Row> a_page(std::uint16_t count) {
    query_page<Row> made{.from = 1,
                         .next = query_place{1} << 60,
                         .next_in_stream = 2,
                         .account = account_id{3},
                         .instrument = instrument_id{4},
                         .last = true,
                         .count = count,
                         .rows = {}};
    for (std::uint16_t each = 0; each < count; ++each)
        made.rows[each] = a_row(Row{}, static_cast<std::uint16_t>(each + 1));
    return made;
}

template <class Row>
std::vector<std::byte> encoded(const query_page<Row>& it) {
    std::vector<std::byte> bytes(page_bytes<Row>(it.count));
    CHECK(encode(it, std::span{bytes}) == bytes.size());
    return bytes;
}

constexpr auto ignore = [](const auto&) {};

template <class Row>
void check_page(std::uint16_t count) {
    const query_page<Row> told = a_page<Row>(count);
    std::optional<query_page<Row>> found;
    const auto keep = [&]<class Answer>(const Answer& it) {
        if constexpr (std::is_same_v<Answer, query_page<Row>>) found = it;
    };
    CHECK(decode_query_answer(encoded(told), keep) == decode_fault{});
    REQUIRE(found);
    CHECK(found->from == told.from);
    CHECK(found->next == told.next);
    CHECK(found->next_in_stream == told.next_in_stream);
    CHECK(found->account == told.account);
    CHECK(found->instrument == told.instrument);
    CHECK(found->last == told.last);
    REQUIRE(found->count == count);
    for (std::uint16_t each = 0; each < count; ++each)
        CHECK(same(found->rows[each], told.rows[each]));
}

template <class Row>
void check_bad_pages() {
    constexpr std::uint16_t most = query_rows_max<Row>;
    constexpr std::size_t row_bytes = page_bytes<Row>(1) - page_bytes<Row>(0);
    std::vector<std::byte> bytes = encoded(a_page<Row>(most));
    const std::vector<std::byte> row(bytes.end() - std::ptrdiff_t{row_bytes}, bytes.end());
    bytes.insert(bytes.end(), row.begin(), row.end());
    bytes[page_bytes<Row>(0) - 2] = std::byte{most + 1};
    CHECK(decode_query_answer(bytes, ignore) == decode_fault{decode_error::group_too_long, 7});

    bytes = encoded(a_page<Row>(2));
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK(decode_query_answer(std::span{bytes}.first(size), ignore).error !=
              decode_error::none);
    bytes.push_back(std::byte{0});
    CHECK(decode_query_answer(bytes, ignore).error == decode_error::trailing_bytes);
}

template <class Check>
void for_each_row(const Check& check) {
    check(order_row{});
    check(position_row{});
    check(account_row{});
    check(session_row{});
    check(instrument_row{});
    check(product_row{});
    check(report_row{});
}

}  // namespace

TEST_CASE("a question about any subject comes back as it was, and so does one about a book") {
    for (std::uint8_t subject = 1; subject <= 6; ++subject) {
        const query asked{query_place{1} << 63, account_id{3}, instrument_id{4},
                          query_subject{subject}};
        std::array<std::byte, message_bytes_of<query>> bytes;
        encode(asked, bytes);
        std::optional<query> found;
        const auto keep = [&]<class Question>(const Question& it) {
            if constexpr (std::is_same_v<Question, query>) found = it;
        };
        CHECK(decode_question(bytes, keep) == decode_fault{});
        CHECK(found == asked);
    }
    const book_request asked{instrument_id{7}, -123, order_side::sell};
    std::array<std::byte, message_bytes_of<book_request>> bytes;
    encode(asked, bytes);
    std::optional<book_request> found;
    const auto keep = [&]<class Question>(const Question& it) {
        if constexpr (std::is_same_v<Question, book_request>) found = it;
    };
    CHECK(decode_question(bytes, keep) == decode_fault{});
    CHECK(found == asked);
}

TEST_CASE("a page of any subject comes back as it was, empty, half or full") {
    for_each_row([]<class Row>(const Row&) {
        for (const int count : {0, 1, 7, +query_rows_max<Row>})
            check_page<Row>(static_cast<std::uint16_t>(count));
    });
}

TEST_CASE("a refused question comes back as it was") {
    const query_refused told{5, account_id{3}, instrument_id{4}, query_subject::positions,
                             reject_reason::not_permitted};
    std::array<std::byte, message_bytes_of<query_refused>> bytes;
    encode(told, bytes);

    std::optional<query_refused> found;
    const auto keep = [&]<class Answer>(const Answer& it) {
        if constexpr (std::is_same_v<Answer, query_refused>) found = it;
    };
    CHECK(decode_query_answer(bytes, keep) == decode_fault{});
    CHECK(found == told);
}

TEST_CASE("pages with more rows than there may be are refused, and so are those that are cut") {
    for_each_row([]<class Row>(const Row&) { check_bad_pages<Row>(); });
}

TEST_CASE("no product has more bands than four") {
    products_page told = a_page<product_row>(2);
    told.rows[1].bands = 5;
    CHECK(decode_query_answer(encoded(told), ignore) ==
          decode_fault{decode_error::field_out_of_range, 4});
}

TEST_CASE("a subject that is none is refused") {
    std::array<std::byte, message_bytes_of<query>> bytes;
    for (const std::uint8_t subject : {0, 8, 255}) {
        encode(query{0, account_id::none, instrument_id::none, query_subject{subject}}, bytes);
        CHECK(decode_question(bytes, ignore).field == 4);
    }
}

TEST_CASE("a question is no answer, an answer no question, and neither is a command or an event") {
    std::array<std::byte, message_bytes_of<query>> question;
    encode(query{0, account_id{1}, instrument_id::none, query_subject::orders}, question);
    const std::vector<std::byte> answer = encoded(a_page<order_row>(2));
    const auto ignore_event = [](const auto&...) {};

    CHECK(decode_query_answer(question, ignore).error == decode_error::unexpected_message);
    CHECK(decode_question(answer, ignore).error == decode_error::unexpected_message);
    CHECK(decode_book_answer(answer, ignore).error == decode_error::unexpected_message);
    CHECK(decode_book_request(question, ignore).error == decode_error::unexpected_message);
    CHECK(decode_operator_command(question, ignore).error == decode_error::unexpected_message);
    CHECK(decode_operator_command(answer, ignore).error == decode_error::unexpected_message);
    CHECK(decode_operator_event(answer, ignore_event).error == decode_error::unexpected_message);
    CHECK(decode_client_command(question, session_id{1}, ignore).error ==
          decode_error::unknown_schema);
}
