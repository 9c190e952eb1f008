// SPDX-License-Identifier: BSL-1.0
//
// Lists as people and programs read them; and positions as the next life begins with them.
#include <exchange/bin/listing.hpp>

#include <exchange/management/config.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <random>

using namespace exchange;

namespace {

order_row an_order(std::uint64_t id, order_side side) {
    order_row it{};
    it.order = order_id{id};
    it.client_seq = client_sequence{7};
    it.price = -5;
    it.instrument = instrument_id{1};
    it.account = account_id{2};
    it.open = 3;
    it.executed = 4;
    it.session = session_id{2};
    it.side = side;
    it.tif = time_in_force::good_till_cancel;
    it.type = order_type::limit;
    return it;
}

position_row a_position(std::uint32_t account, std::uint32_t instrument, std::int64_t position) {
    return {position, 1, 2, account_id{account}, instrument_id{instrument}, false};
}

}  // namespace

TEST_CASE("a table has a line of names, and columns as wide as what is in them") {
    const std::string text =
        listing_of({an_order(1, order_side::buy), an_order(123'456'789, order_side::sell)},
                   listing_format::table);
    CHECK(text ==
          "order      account  instrument  side  price  open  executed  tif               type   "
          "trigger_price  expiry_yyyymmdd  quote  session  client_seq\n"
          "1          2        1           buy   -5     3     4         good_till_cancel  limit  "
          "0              0                no     2        7\n"
          "123456789  2        1           sell  -5     3     4         good_till_cancel  limit  "
          "0              0                no     2        7\n");
    CHECK(listing_of(std::vector<session_row>{}, listing_format::table) ==
          "session  account  logged_in  last_client_seq  on_disconnect  retired\n");
}

TEST_CASE("JSON has a row to a line, with a name for each value") {
    session_row it{};
    it.session = session_id{3};
    it.account = account_id{1};
    it.logged_in = true;
    it.last_client_seq = client_sequence{1ull << 40};
    const std::string text = listing_of(std::vector{it, it}, listing_format::json);
    const auto read = nlohmann::json::parse(text);
    REQUIRE(read["sessions"].size() == 2);
    CHECK(read["sessions"][0]["session"] == 3);
    CHECK(read["sessions"][0]["logged_in"] == true);
    CHECK(read["sessions"][0]["last_client_seq"] == "1099511627776");
    CHECK(std::ranges::count(text, '\n') == 4);
    CHECK(listing_of(std::vector<order_row>{}, listing_format::json) == "{\"orders\": []}\n");
    CHECK(nlohmann::json::parse(listing_of(std::vector{an_order(1, order_side::buy)},
                                           listing_format::json))["orders"][0]["tif"] ==
          "good_till_cancel");
}

TEST_CASE("what can be beyond 2^53 is digits in JSON, which no reader rounds") {
    order_row order = an_order((1ull << 63) + 1, order_side::buy);
    order.client_seq = client_sequence{(1ull << 53) + 1};
    const auto read =
        nlohmann::json::parse(listing_of(std::vector{order}, listing_format::json))["orders"][0];
    CHECK(read["order"] == "9223372036854775809");
    CHECK(read["client_seq"] == "9007199254740993");
    const auto are_digits = [](const auto& row, const char* list,
                               std::initializer_list<const char*> names) {
        const auto fields =
            nlohmann::json::parse(listing_of(std::vector{row}, listing_format::json))[list][0];
        for (const char* const each : names) CHECK_MESSAGE(fields[each].is_string(), each);
    };
    are_digits(session_row{}, "sessions", {"last_client_seq"});
    are_digits(account_row{}, "accounts", {"position_max"});
    are_digits(instrument_row{}, "instruments", {"order_value_max", "volume"});
    are_digits(report_row{}, "report",
               {"position_begin", "bought", "bought_value", "sold", "sold_value", "position_end"});
}

TEST_CASE("every list has a name of its own, as a table and as JSON") {
    const auto check = [](const auto& rows, const std::string& name) {
        CHECK(nlohmann::json::parse(listing_of(rows, listing_format::json)).contains(name));
        CHECK(std::ranges::count(listing_of(rows, listing_format::table), '\n') == 2);
    };
    check(std::vector<order_row>(1), "orders");
    check(std::vector<position_row>(1), "positions");
    check(std::vector<account_row>(1), "accounts");
    check(std::vector<session_row>(1), "sessions");
    check(std::vector<instrument_row>(1), "instruments");
    check(std::vector<product_row>(1), "products");
    check(std::vector<report_row>(1), "report");
}

TEST_CASE("a report is by account and instrument") {
    report_row one{};
    one.account = account_id{1};
    one.instrument = instrument_id{3};
    report_row other = one;
    other.instrument = instrument_id{2};
    report_row last = one;
    last.account = account_id{2};
    last.position_begin = -4;
    last.bought_value = 1ll << 40;

    const std::string text = listing_of(std::vector{last, one, other}, listing_format::json);

    const auto rows = nlohmann::json::parse(text)["report"];
    REQUIRE(rows.size() == 3);
    CHECK(rows[0]["instrument"] == 2);
    CHECK(rows[1]["instrument"] == 3);
    CHECK(rows[2]["account"] == 2);
    CHECK(rows[2]["position_begin"] == "-4");
    CHECK(rows[2]["bought_value"] == "1099511627776");
}

TEST_CASE("of a product its bands are told that count") {
    product_row it{};
    it.product = product_id{2};
    it.bands = 2;
    it.tick_1 = {0, 5};
    it.tick_2 = {100, 10};
    const std::string table = listing_of(std::vector{it}, listing_format::table);
    CHECK_MESSAGE(table.ends_with("  0:5 100:10\n"), table);
    const auto read = nlohmann::json::parse(listing_of(std::vector{it}, listing_format::json));
    CHECK(read["products"][0]["ticks"].size() == 2);
    CHECK(read["products"][0]["ticks"][1]["step"] == 10);
}

TEST_CASE("positions that are not zero are what a configuration reads at the start of a day") {
    const std::string text = listing_of({a_position(2, 1, -4), a_position(1, 1, 4),
                                         a_position(1, 2, 0), a_position(1, 3, 1ll << 40)},
                                        listing_format::json);
    CHECK(text ==
          "{\"positions\": [\n"
          "  {\"account\":1,\"instrument\":1,\"position\":4},\n"
          "  {\"account\":1,\"instrument\":3,\"position\":1099511627776},\n"
          "  {\"account\":2,\"instrument\":1,\"position\":-4}\n]}\n");

    const std::string name = "listing_" + std::to_string(std::random_device{}()) + ".json";
    const auto path = std::filesystem::temp_directory_path() / name;
    std::ofstream{path} << text;
    const config_reading read = read_config(R"({
        "order_entry": {"at": "127.0.0.1:7001"},
        "feed": {"to": "239.1.1.1:7002", "from": "127.0.0.1:0", "requests": "127.0.0.1:7003"},
        "products": [{"id": 1}],
        "instruments": [{"id": 1, "product": 1}, {"id": 3, "product": 1}],
        "accounts": [{"id": 1, "firm": 1}, {"id": 2, "firm": 1}],
        "start_of_day": ")" + path.string() +
                                            "\"}");
    std::filesystem::remove(path);
    for (const config_error& each : read.errors) CHECK_MESSAGE(false, each.message());
    std::vector<std::int64_t> found;
    for (const opening_command& each : read.value.opening)
        if (const auto* const it = std::get_if<set_position>(&each.what))
            found.push_back(it->position);
    CHECK(found == std::vector<std::int64_t>{4, 1ll << 40, -4});
}
