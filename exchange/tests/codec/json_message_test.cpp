// SPDX-License-Identifier: BSL-1.0
//
// Every message of every schema there and back, and what a text can have wrong.
#include <exchange/codec/json_message.hpp>

#include <exchange/codec/book_codec.hpp>
#include <exchange/codec/json_packet.hpp>

#include <codec/dice.hpp>
#include <codec/packets.hpp>
#include <codec/record_fields.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

std::string json_of(std::span<const std::byte> message, std::uint64_t sequence = 0) {
    std::vector<std::byte> space(64 * 1024);
    json_writer to{space};
    REQUIRE(write_json_message(to, message, sequence));
    REQUIRE_FALSE(to.full());
    return {reinterpret_cast<const char*>(space.data()), to.size()};
}

/// What a client says as a server reads it.
struct reading {
    explicit reading(std::string_view text, std::size_t room = 4096)
        : into(room), it{read_json_packet(text, soup_end::client, into)} {}

    bytes into;
    json_packet_reading it;

    [[nodiscard]] std::string problem() const {
        if (!it.problem) return "none";
        return std::string{it.problem.field.view()} + ": " +
               std::string{describe(it.problem.fault)};
    }
};

void check_there_and_back(std::span<const std::byte> message) {
    const std::string text = json_of(message);
    INFO(text);
    const reading back{text};
    CHECK(back.problem() == "none");
    CHECK(back.it.packet.type == soup_type::unsequenced);
    CHECK(std::ranges::equal(back.it.packet.payload, message));
}

std::string problem_of(json_fault fault, std::string_view field) {
    return std::string{field} + ": " + std::string{describe(fault)};
}

constexpr std::string_view order =
    R"({"message":"enter_order","client_seq":"7","instrument":1,"price":-5,"quantity":10,"side":"sell",)"
    R"("type":"limit","tif":"day","instruction":"none","self_trade":"account_default"})";

/// `order` with a part of it changed.
std::string changed(std::string_view from, std::string_view to) {
    std::string made{order};
    const std::size_t at = made.find(from);
    REQUIRE(at != std::string::npos);
    return made.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("json: every command is the same there and back") {
    const std::uint64_t seed = seed_of_run();
    INFO("EXCHANGE_SEED=", seed);
    dice random{seed};
    for (int round = 0; round < 200; ++round) {
        const auto check = [&]<class Command>() {
            const auto command = random_record<Command>(random);
            bytes message(message_bytes(command));
            encode(command, message);
            check_there_and_back(message);
        };
        for_each_client_command(check);
        for_each_operator_command(check);
    }
}

TEST_CASE("json: every event is the same there and back, with its number") {
    const std::uint64_t seed = seed_of_run();
    INFO("EXCHANGE_SEED=", seed);
    dice random{seed};
    for (int round = 0; round < 200; ++round) {
        for_each_event([&]<class Event>() {
            std::array<std::byte, message_bytes_of<Event>> message;
            encode(random_record<Event>(random), random_record<event_stamp>(random),
                   std::span{message});
            const std::string text = json_of(message, 17);
            INFO(text);
            bytes into(4096);
            const json_packet_reading back = read_json_packet(text, soup_end::server, into);
            CHECK_FALSE(back.problem);
            CHECK(back.packet.type == soup_type::sequenced);
            CHECK(back.sequence == 17);
            CHECK(std::ranges::equal(back.packet.payload, message));
        });
    }
}

TEST_CASE("json: a page with all of its levels is the same there and back") {
    book_page page{};
    page.instrument = instrument_id{3};
    page.side = order_side::sell;
    page.phase = market_phase::halted;
    page.next_in_feed = 1ULL << 60;
    page.last = true;
    page.count = book_page_levels_max;
    for (std::uint16_t each = 0; each < page.count; ++each)
        page.levels[each] = {price_ticks{each} - 30, ~std::uint64_t{1}, each + 1u};
    bytes message(book_answer_bytes_max);
    message.resize(encode(page, std::span{message}.first<book_answer_bytes_max>()));

    check_there_and_back(message);
    page.count = 0;
    message.resize(book_answer_bytes_max);
    message.resize(encode(page, std::span{message}.first<book_answer_bytes_max>()));
    check_there_and_back(message);
}

TEST_CASE("json: names and values are those of the schema, and 64 bits are strings") {
    cancel_order cancel{};
    cancel.client_seq = client_sequence{18446744073709551614U};
    cancel.target.client_seq = client_sequence{9007199254740993};
    bytes message(message_bytes(cancel));
    encode(cancel, message);
    CHECK(json_of(message) == R"({"message":"cancel_order","client_seq":"18446744073709551614",)"
                              R"("target":{"client_seq":"9007199254740993"}})");

    order_entered entered{};
    entered.order = order_id{5};
    entered.price = -140737488355327;
    entered.instrument = instrument_id{1};
    entered.account = account_id{2};
    entered.client_seq = client_sequence{3};
    entered.open = 10;
    entered.session = session_id{4};
    entered.side = order_side::sell;
    entered.tif = time_in_force::fill_or_kill;
    std::array<std::byte, message_bytes_of<order_entered>> told;
    encode(entered, {out_sequence{6}, in_sequence{7}, 8, 9, true}, std::span{told});
    CHECK(
        json_of(told, 11) ==
        R"({"message":"order_entered","sequence":"11","stamp":{"out_seq":"6","in_seq":"7","time":"8",)"
        R"("index":9,"last_in_event":true},"order":"5","price":-140737488355327,"instrument":1,)"
        R"("account":2,"client_seq":"3","open":10,"executed":0,"session":4,"side":"sell",)"
        R"("tif":"fill_or_kill"})");
}

TEST_CASE("json: an order may be spelled in many ways") {
    const reading usual{order};
    CHECK(usual.problem() == "none");
    for (const std::string& other :
         {changed(R"("client_seq":"7")", R"("client_seq":7)"),
          changed(R"("client_seq":"7","instrument":1)", R"("instrument":1,"client_seq":"7")"),
          changed(":", " :\n\t "), changed(R"("sell")", R"("s\u0065ll")"),
          std::string{order} + "\r\n"}) {
        INFO(other);
        const reading it{other};
        CHECK(it.problem() == "none");
        CHECK(std::ranges::equal(it.it.packet.payload, usual.it.packet.payload));
    }
}

TEST_CASE("json: what is wrong is told with the name of the field") {
    using enum json_fault;
    const auto check = [](std::string_view from, std::string_view to, json_fault fault,
                          std::string_view field) {
        const std::string text = changed(from, to);
        INFO(text);
        const reading it{text};
        CHECK(it.problem() == problem_of(fault, field));
        CHECK(it.it.problem.message.view() == "enter_order");
    };
    check(R"("price":-5,)", "", missing_field, "price");
    check("-5", R"("-5")", wrong_type, "price");
    check("-5", "-5.0", wrong_type, "price");
    check("-5", "null", wrong_type, "price");
    check("-5", "true", wrong_type, "price");
    check("-5", "[5]", wrong_type, "price");
    check("-5", R"({"a":1})", wrong_type, "price");
    check("-5", "140737488355328", out_of_range, "price");
    check("-5", "-140737488355328", out_of_range, "price");
    check("-5", "05", not_json, "price");
    check(R"("quantity":10)", R"("quantity":4294967295)", out_of_range, "quantity");
    check(R"("quantity":10)", R"("quantity":-1)", out_of_range, "quantity");
    check(R"("7")", R"("0")", out_of_range, "client_seq");
    check(R"("7")", R"("x")", out_of_range, "client_seq");
    check(R"("7")", "null", wrong_type, "client_seq");
    check(R"("sell")", R"("short")", unknown_name, "side");
    check(R"("sell")", "1", wrong_type, "side");
    check(R"("side":"sell")", R"("side":"sell","side":"buy")", duplicate_field, "side");
    check(R"("side":"sell")", R"("side":"sell","sides":"buy")", unknown_field, "sides");
    check(R"("side":"sell")", R"("side":"sell","message":"enter_order")", unknown_field, "message");
    check(R"("side":"sell")", R"("side":"sell","sequence":"1")", unknown_field, "sequence");
}

TEST_CASE("json: the fields of a field are told with both names") {
    const auto cancel = [](std::string_view target) {
        return reading{R"({"message":"cancel_order","client_seq":"1","target":)" +
                       std::string{target} + "}"}
            .problem();
    };
    CHECK(cancel(R"({"id":"5"})") == "none");
    CHECK(cancel(R"({"id":null,"client_seq":"5"})") == "none");
    CHECK(cancel("{}") == "none");  // The core refuses it.
    CHECK(cancel(R"({"id":true})") == problem_of(json_fault::wrong_type, "target.id"));
    CHECK(cancel(R"({"ID":"5"})") == problem_of(json_fault::unknown_field, "target.ID"));
    CHECK(cancel(R"({"id":"5","id":"5"})") == problem_of(json_fault::duplicate_field, "target.id"));
    CHECK(cancel("5") == problem_of(json_fault::wrong_type, "target"));
    CHECK(cancel(R"({"id":{"id":"5"}})") == problem_of(json_fault::wrong_type, "target.id"));
}

TEST_CASE("json: a list has as many entries as there is room for") {
    const auto product = [](std::string_view ticks, std::size_t room) {
        return reading{
            R"({"message":"define_product","product":1,"multiplier":1,"lot":1,"action":"create",)"
            R"("ticks":)" +
                std::string{ticks} + "}",
            room}
            .problem();
    };
    constexpr std::string_view two = R"([{"from":0,"step":1},{"from":5,"step":2}])";
    CHECK(product(two, 4096) == "none");
    CHECK(product("[]", 4096) == "none");
    CHECK(product(two, 8 + 13 + 4 + 32) == "none");
    CHECK(product(two, 8 + 13 + 4 + 31) == problem_of(json_fault::too_many_entries, "ticks"));
    CHECK(product(R"([{"from":0,"step":1,}])", 4096) == problem_of(json_fault::not_json, "ticks"));
    CHECK(product(R"([{"from":0}])", 4096) == problem_of(json_fault::missing_field, "ticks.step"));
    CHECK(product("[1]", 4096) == problem_of(json_fault::wrong_type, "ticks"));
    CHECK(product("{}", 4096) == problem_of(json_fault::wrong_type, "ticks"));
    CHECK(product(R"([],"ticks":[])", 4096) == problem_of(json_fault::duplicate_field, "ticks"));
}

TEST_CASE("json: texts are no longer than their fields, and printable") {
    const auto removal = [](std::string_view name) {
        return reading{R"({"message":"remove_participant","username":")" + std::string{name} +
                       R"("})"}
            .problem();
    };
    CHECK(removal("alice") == "none");
    CHECK(removal("alicea") == "none");
    CHECK(removal(" alice") == problem_of(json_fault::out_of_range, "username"));
    CHECK(removal("alice ") == problem_of(json_fault::out_of_range, "username"));
    CHECK(removal("aliceab") == problem_of(json_fault::too_long, "username"));
    CHECK(removal("al\xc3\xa9") == problem_of(json_fault::not_printable, "username"));
}

TEST_CASE("json: bytes that are no message of ours are not said") {
    std::array<std::byte, 256> space;
    json_writer to{space};
    CHECK_FALSE(write_json_message(to, bytes_of("short"), 0));
    bytes unknown(8);
    unknown[4] = std::byte{9};
    CHECK_FALSE(write_json_message(to, unknown, 0));
    cancel_order cancel{};
    bytes torn(message_bytes(cancel));
    encode(cancel, torn);
    CHECK_FALSE(write_json_message(to, std::span{torn}.first(torn.size() - 1), 0));
    CHECK(find_json_message("nothing").message == nullptr);
    CHECK(find_json_message("trade").schema->number == 2);
}
