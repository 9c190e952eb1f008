// SPDX-License-Identifier: BSL-1.0
//
// What a configuration says, and every way in which it can be wrong: the place, and what was expected.
#include <exchange/management/config.hpp>

#include <exchange/management/password_hash.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <variant>
#include <vector>

using namespace exchange;
using namespace std::chrono_literals;

namespace {

// The least that is a configuration, with `more` in it.
std::string minimal(const std::string& more = "") {
    return R"({"order_entry": {"at": "127.0.0.1:7001"},
               "feed": {"to": "239.0.0.1:7002", "from": "127.0.0.1:0", "requests": "127.0.0.1:7003"})" +
           more + "}";
}

// As above, with another feed.
std::string with_feed(const std::string& to, const std::string& from, const std::string& requests) {
    return R"({"order_entry": {"at": "127.0.0.1:7001"}, "feed": {"to": ")" + to +
           R"(", "from": ")" + from + R"(", "requests": ")" + requests + R"("}})";
}

std::string all_messages(const config_reading& of) {
    std::string text;
    for (const config_error& each : of.errors) text += each.message() + '\n';
    return text;
}

// Exactly one error, at `where`, which mentions `what`.
void check_wrong(const std::string& text, const std::string& where, const std::string& what) {
    CAPTURE(text);
    const config_reading read = read_config(text);
    INFO("it said: ", all_messages(read));
    REQUIRE(read.errors.size() == 1);
    CHECK(read.errors[0].where == where);
    CHECK(read.errors[0].what.find(what) != std::string::npos);
}

// A market and two accounts in it, with `more`.
std::string with_market(const std::string& more) {
    return minimal(R"(, "products": [{"id": 1}],
        "instruments": [{"id": 1, "product": 1, "phase": "continuous"}],
        "accounts": [{"id": 1, "firm": 1}, {"id": 2, "firm": 1}])" +
                   more);
}

// A file beside a configuration, in a folder of its own.
class written_file {
public:
    explicit written_file(const std::string& text)
        : folder_{std::filesystem::temp_directory_path() /
                  ("exchange_" + std::to_string(std::random_device{}()))} {
        std::filesystem::create_directory(folder_);
        std::ofstream file{folder_ / name};
        file << text;
        REQUIRE(file.good());
    }
    written_file(const written_file&) = delete;
    written_file& operator=(const written_file&) = delete;
    ~written_file() { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string folder() const { return folder_; }
    static constexpr const char* name = "positions.json";  // Whatever is in it.

private:
    std::filesystem::path folder_;
};

// Exactly one error of a configuration whose file of positions has this text.
void check_wrong_file(const std::string& text, const std::string& where, const std::string& what) {
    CAPTURE(text);
    const written_file file{text};
    const config_reading read =
        read_config(with_market(R"(, "start_of_day": "positions.json")"), file.folder());
    INFO("it said: ", all_messages(read));
    REQUIRE(read.errors.size() == 1);
    CHECK(read.errors[0].where == where);
    CHECK(read.errors[0].what.find(what) != std::string::npos);
}

// Hashes of passwords that nobody needs.
const std::string a_hash = hash_password("x");

// What a facility reads: the least of a configuration with `more`, and this file of credentials.
config_reading with_credentials(const std::string& text, const std::string& more = "") {
    const written_file file{text};
    config_reading read =
        read_config(minimal(R"(, "credentials_file": "positions.json")" + more), file.folder());
    add_credentials(read);
    return read;
}

// Exactly one error of it.
void check_wrong_credentials(const std::string& text, const std::string& where,
                             const std::string& what, const std::string& more = "") {
    CAPTURE(text);
    const config_reading read = with_credentials(text, more);
    INFO("it said: ", all_messages(read));
    REQUIRE(read.errors.size() == 1);
    CHECK(read.errors[0].where == where);
    CHECK(read.errors[0].what.find(what) != std::string::npos);
}

std::string trader(const std::string& name, const std::string& session) {
    return R"({"username": ")" + name + R"(", "hash": ")" + a_hash + R"(", "session": )" + session +
           "}";
}
std::string administrator(const std::string& name, const std::string& role = "administrator") {
    return R"({"username": ")" + name + R"(", "hash": ")" + a_hash + R"(", "role": ")" + role +
           R"("})";
}
std::string traders(const std::string& them) { return R"({"participants": [)" + them + "]}"; }
std::string administrators(const std::string& them) { return R"({"operators": [)" + them + "]}"; }

template <class Command>
const Command* find_opening(const config& in, std::size_t which = 0) {
    for (const opening_command& each : in.opening) {
        const auto* const it = std::get_if<Command>(&each.what);
        if (it != nullptr && which-- == 0) return it;
    }
    return nullptr;
}

}  // namespace

TEST_CASE("the sample configuration is in order, and means what it says") {
    const config_reading read = load_facility_config(EXCHANGE_SAMPLE);
    const config& it = read.value;

    REQUIRE_MESSAGE(read.errors.empty(), all_messages(read));
    CHECK(it.backend == process_backend::gyre_epoll);
    CHECK_FALSE(it.cpu);
    CHECK(it.facility.order_entry.to_string() == "127.0.0.1:7001");
    CHECK(it.facility.feed.to_string() == "239.195.70.1:7002");
    CHECK(it.facility.feed_interface == "lo");
    CHECK(it.facility.feed_requests.port() == 7003);
    CHECK(it.facility.connections_max == 4 + 16 + 32 + 16);
    CHECK(it.host.sequencing.limits.orders_max == 20'000);
    REQUIRE(it.host.participants.size() == 4);
    CHECK(it.host.participants[0].session == session_id{1});
    CHECK(it.host.passwords("secret", it.host.participants[0].secret));
    REQUIRE(it.host.operators.size() == 4);
    CHECK(it.host.operators[0].username == soup_username{"ops"});
    CHECK(it.host.operators[0].role == operator_role::administrator);
    CHECK(it.host.passwords("operator", it.host.operators[0].secret));
    CHECK(it.audit_file.empty());

    const auto* const product = find_opening<define_product>(it, 1);
    REQUIRE(product != nullptr);
    CHECK(product->multiplier == 50);
    CHECK(product->lot == 5);
    REQUIRE(product->bands == 1);
    CHECK(product->ticks[0].step == 5);
    const auto* const instrument = find_opening<define_instrument>(it);
    REQUIRE(instrument != nullptr);
    CHECK(instrument->settlement_price == 1000);
    CHECK(instrument->collar == 500);
    CHECK(instrument->type == instrument_kind::future);
    CHECK(instrument->market_band == 0);
    const auto* const without_collar = find_opening<define_instrument>(it, 1);
    REQUIRE(without_collar != nullptr);
    CHECK(without_collar->collar == 0);
    CHECK(without_collar->market_band == 250);
    REQUIRE(find_opening<set_phase>(it, 1) != nullptr);
    CHECK(find_opening<set_phase>(it, 1)->phase == market_phase::continuous);
    const auto* const account = find_opening<define_account>(it, 2);
    REQUIRE(account != nullptr);
    CHECK(account->open_orders_max == 1000);
    CHECK(account->self_trade == self_trade_action::cancel_resting);
    const auto* const session = find_opening<define_session>(it, 2);
    REQUIRE(session != nullptr);
    CHECK(session->on_disconnect == disconnect_policy::cancel_orders);
}

TEST_CASE("every part that may be left out has its default, and none is read into another") {
    const config_reading least = read_config(minimal());
    REQUIRE_MESSAGE(least.errors.empty(), all_messages(least));
    CHECK(least.value.opening.empty());
    CHECK(least.value.drain_within == 5s);

    const config_reading most = read_config(minimal(R"(,
        "backend": "gyre_epoll", "pin_to_cpu": 1,
        "timing": {"heartbeat_after_ms": 3, "dead_after_ms": 6, "login_within_ms": 4, "tick_ms": 2,
                   "linger_ms": 5, "drain_within_ms": 7},
        "limits": {"products_max": 1, "instruments_max": 2, "accounts_max": 3, "sessions_max": 4,
                   "orders_max": 5, "holdings_max": 6, "level_chunks_max": 7, "far_nodes_max": 8,
                   "protections_max": 9})"));
    REQUIRE_MESSAGE(most.errors.empty(), all_messages(most));
    const config& it = most.value;
    CHECK(it.backend == process_backend::gyre_epoll);
    CHECK(it.cpu == 1u);
    CHECK(it.facility.sessions.heartbeat_after == 3ms);
    CHECK(it.host.feed.heartbeat_after == 3ms);
    CHECK(it.facility.sessions.dead_after == 6ms);
    CHECK(it.facility.sessions.login_within == 4ms);
    CHECK(it.facility.timer_tick == 2ms);
    CHECK(it.facility.linger == 5ms);
    CHECK(it.drain_within == 7ms);
    const partition_limits& limits = it.host.sequencing.limits;
    CHECK(limits.products_max == 1);
    CHECK(limits.instruments_max == 2);
    CHECK(limits.accounts_max == 3);
    CHECK(limits.sessions_max == 4);
    CHECK(limits.orders_max == 5);
    CHECK(limits.holdings_max == 6);
    CHECK(limits.level_chunks_max == 7);
    CHECK(limits.far_nodes_max == 8);
    CHECK(limits.protections_max == 9);
}

TEST_CASE("the terms of a market and of an account are read, each into its own") {
    const config_reading read = read_config(minimal(R"(, "products": [{"id": 1}],
        "instruments": [{"id": 1, "product": 1, "type": "put", "lone_orders": "reject",
                         "expiry_yyyymmdd": 20991231, "strike": 2, "settlement_price": 3, "collar": 4,
                         "order_quantity_max": 5, "order_value_max": 6, "market_band": 7}],
        "accounts": [{"id": 1, "firm": 2, "group": 3, "self_trade": "allow", "order_quantity_max": 4,
                      "open_orders_max": 5, "messages_per_second_max": 6, "position_max": 7,
                      "message_burst_max": 8, "cancels_per_second_max": 9, "cancel_burst_max": 10}])"));
    REQUIRE_MESSAGE(read.errors.empty(), all_messages(read));

    const auto* const market = find_opening<define_instrument>(read.value);
    REQUIRE(market != nullptr);
    CHECK(market->type == instrument_kind::put);
    CHECK(market->lone_orders == lone_order_policy::reject);
    CHECK(market->expiry_yyyymmdd == 20991231);
    CHECK(market->strike == 2);
    CHECK(market->settlement_price == 3);
    CHECK(market->collar == 4);
    CHECK(market->order_quantity_max == 5);
    CHECK(market->order_value_max == 6);
    CHECK(market->market_band == 7);
    CHECK(market->action == definition_action::create);
    const auto* const account = find_opening<define_account>(read.value);
    REQUIRE(account != nullptr);
    CHECK(account->firm == firm_id{2});
    CHECK(account->group == self_trade_group{3});
    CHECK(account->self_trade == self_trade_action::allow);
    CHECK(account->order_quantity_max == 4);
    CHECK(account->open_orders_max == 5);
    CHECK(account->messages_per_second_max == 6);
    CHECK(account->position_max == 7);
    CHECK(account->message_burst_max == 8);
    CHECK(account->cancels_per_second_max == 9);
    CHECK(account->cancel_burst_max == 10);
}

TEST_CASE("positions are taken over before any market opens") {
    const config_reading read = read_config(with_market(R"(, "positions": [
        {"account": 1, "instrument": 1, "position": -5}, {"account": 2, "instrument": 1, "position": 5}])"));
    REQUIRE_MESSAGE(read.errors.empty(), all_messages(read));
    const std::vector<opening_command>& opening = read.value.opening;

    REQUIRE(opening.size() == 7);
    const auto* const short_one = std::get_if<set_position>(&opening[4].what);
    REQUIRE(short_one != nullptr);
    CHECK(short_one->account == account_id{1});
    CHECK(short_one->instrument == instrument_id{1});
    CHECK(short_one->position == -5);
    CHECK(opening[5].where == "positions[1]");
    CHECK(std::holds_alternative<set_phase>(opening[6].what));
    CHECK(opening[6].where == "instruments[0]");
}

TEST_CASE("what interrupts a market stands with it, and is said before it opens") {
    const config_reading read = read_config(minimal(R"(, "products": [{"id": 1}],
        "instruments": [{"id": 1, "product": 1, "phase": "pre_open",
                         "interruption": {"collar": 25, "duration_ms": 3},
                         "schedule": {"closed": 0, "pre_open": 86399}},
                        {"id": 2, "product": 1, "interruption": {"collar": 1}}],
        "limits": {"trades_kept_max": 9})"));
    REQUIRE_MESSAGE(read.errors.empty(), all_messages(read));
    const auto* const one = find_opening<set_interruption>(read.value);
    REQUIRE(one != nullptr);
    CHECK(one->instrument == instrument_id{1});
    CHECK(one->collar == 25);
    CHECK(one->duration_ns == 3'000'000);
    const auto* const other = find_opening<set_interruption>(read.value, 1);
    REQUIRE(other != nullptr);
    CHECK(other->instrument == instrument_id{2});
    CHECK(other->duration_ns == 0);
    CHECK(find_opening<set_phase>(read.value)->phase == market_phase::pre_open);
    const auto* const closes = find_opening<schedule_phase>(read.value);
    const auto* const opens = find_opening<schedule_phase>(read.value, 1);
    REQUIRE(opens != nullptr);
    CHECK(closes->phase == market_phase::closed);
    CHECK(closes->second_of_day == 0);
    CHECK(opens->phase == market_phase::pre_open);
    CHECK(opens->second_of_day == 86'399);
    CHECK(read.value.host.sequencing.limits.trades_kept_max == 9);

    const auto wrong = [](const std::string& interruption) {
        return all_messages(read_config(
            minimal(R"(, "products": [{"id": 1}], "instruments": [{"id": 1, "product": 1,
                         "interruption": )" +
                    interruption + "}]")));
    };
    CHECK_FALSE(wrong(R"({"duration_ms": 3})").empty());
    CHECK_FALSE(wrong(R"({"collar": 0})").empty());
    CHECK_FALSE(wrong(R"({"collar": 1, "duration": 3})").empty());
}

TEST_CASE("positions may stand in a file beside the configuration, which programs can write") {
    const written_file file{
        R"({"positions": [{"account": 2, "instrument": 1, "position": 7}]} // Of yesterday.)"};
    const std::string both = with_market(R"(, "start_of_day": "positions.json",
        "positions": [{"account": 1, "instrument": 1, "position": -7}])");
    const config_reading read = read_config(both, file.folder());
    REQUIRE_MESSAGE(read.errors.empty(), all_messages(read));
    REQUIRE(find_opening<set_position>(read.value, 1) != nullptr);
    CHECK(find_opening<set_position>(read.value)->position == 7);
    CHECK(find_opening<set_position>(read.value, 1)->position == -7);

    const std::string anywhere =
        with_market(R"(, "start_of_day": ")" + file.folder() + R"(/positions.json")");
    CHECK(read_config(anywhere).errors.empty());
    const written_file none{R"({"positions": []})"};
    CHECK(read_config(with_market(R"(, "start_of_day": "positions.json")"), none.folder())
              .errors.empty());

    std::ofstream beside{file.folder() + "/exchange.json"};
    beside << both;
    beside.close();
    CHECK(load_config(file.folder() + "/exchange.json").errors.empty());
}

TEST_CASE("what is wrong with the file of positions is told with its name") {
    check_wrong_file("{", "positions.json", "parse error at line 1");
    check_wrong_file("[]", "positions.json", "expected an object");
    check_wrong_file("{}", "positions.json: positions", "is missing");
    check_wrong_file(R"({"positions": [], "day": 1})", "positions.json: day", "unknown key");
    check_wrong_file(R"({"positions": [{"account": 1, "instrument": 1}]})",
                     "positions.json: positions[0].position", "is missing");
    check_wrong_file(R"({"positions": [{"account": 9, "instrument": 1, "position": 1}]})",
                     "positions.json: positions[0]", "set_position is refused: unknown_account");
    check_wrong(with_market(R"(, "start_of_day": "nowhere.json")"), "nowhere.json",
                "cannot be read");
    check_wrong(with_market(R"(, "start_of_day": "")"), "start_of_day",
                R"(expected the name of a file, but found "")");
    check_wrong(with_market(R"(, "start_of_day": 7)"), "start_of_day", "expected text");
}

TEST_CASE("a position that is given twice, cannot be or cannot be kept is refused") {
    const std::string one = R"({"account": 1, "instrument": 1, "position": 1})";
    const auto positions = [](const std::string& them) {
        return with_market(R"(, "positions": [)" + them + "]");
    };
    check_wrong(positions(one + ", " + one), "positions[1]",
                "another position of this account in this market was given before");
    const written_file file{R"({"positions": [)" + one + "]}"};
    const config_reading twice = read_config(
        with_market(R"(, "start_of_day": "positions.json", "positions": [)" + one + "]"),
        file.folder());
    CHECK(all_messages(twice) ==
          "positions[0]: another position of this account in this market was given before\n");

    check_wrong(positions(R"({"account": 1, "instrument": 1, "position": 281474976710657})"),
                "positions[0].position", "from -281474976710656 to 281474976710656");
    check_wrong(positions(R"({"account": 1, "instrument": 2, "position": 1})"), "positions[0]",
                "set_position is refused: unknown_instrument");
    const std::string other = R"({"account": 2, "instrument": 1, "position": -1})";
    check_wrong(with_market(R"(, "limits": {"holdings_max": 1}, "positions": [)" + one + ", " +
                            other + "]"),
                "positions[1]", "set_position is refused: at_capacity: limits.holdings_max is 1");
}

TEST_CASE("a number that a definition cannot have is refused with the limit that bounds it") {
    const auto limited = [](const std::string& definitions) {
        return minimal(R"(, "limits": {"products_max": 5, "instruments_max": 6, "accounts_max": 7,
                           "sessions_max": 8}, )" +
                       definitions);
    };
    const std::string product = R"("products": [{"id": 5}])";
    const std::string account = R"("accounts": [{"id": 7, "firm": 1}])";
    check_wrong(limited(R"("products": [{"id": 6}])"), "products[0]",
                "define_product is refused: at_capacity: their numbers go up to "
                "limits.products_max, which is 5");
    check_wrong(limited(product + R"(, "instruments": [{"id": 7, "product": 5}])"),
                "instruments[0]", "limits.instruments_max, which is 6");
    check_wrong(limited(R"("accounts": [{"id": 8, "firm": 1}])"), "accounts[0]",
                "limits.accounts_max, which is 7");
    check_wrong(limited(account + R"(, "sessions": [{"id": 9, "account": 7}])"), "sessions[0]",
                "limits.sessions_max, which is 8");
    const config_reading most =
        read_config(limited(product + R"(, "instruments": [{"id": 6, "product": 5}], )" + account +
                            R"(, "sessions": [{"id": 8, "account": 7}])"));
    CHECK_MESSAGE(most.errors.empty(), all_messages(most));
}

TEST_CASE("text that is no JSON is refused with the line and the column") {
    check_wrong("", "", "parse error at line 1, column 1");
    check_wrong("{\n  \"feed\": }\n", "", "parse error at line 2, column 11");
    check_wrong(minimal() + "x", "", "parse error at line 2");
    check_wrong("[]", "", "expected an object");
}

TEST_CASE("a file that is not there is an error like any other") {
    const config_reading none = load_config("/nowhere/exchange.json");
    REQUIRE(none.errors.size() == 1);
    CHECK(none.errors[0].message() == "cannot be read");
    const config_reading folder = load_config("/");
    REQUIRE(folder.errors.size() == 1);
    CHECK(folder.errors[0].message() == "cannot be read");
}

TEST_CASE("a key that is there twice is refused: one of the two would be lost") {
    check_wrong(minimal(R"(, "backend": "gyre_epoll", "backend": "gyre_uring")"), "",
                R"(the key "backend" is there twice)");
}

TEST_CASE("a key that is not known is refused, and the known ones are named") {
    check_wrong(minimal(R"(, "colour": 1)"), "colour",
                "unknown key; there are accounts, admin, backend");
    check_wrong(minimal(R"(, "timing": {"tick": 1})"), "timing.tick", "tick_ms");
    check_wrong(minimal(R"(, "products": [{"id": 1, "lots": 1}])"), "products[0].lots", "lot");
    check_wrong(minimal(R"(, "products": [{"id": 1, "ticks": [{"from": 0, "step": 1, "to": 2}]}])"),
                "products[0].ticks[0].to", "from, step");
}

TEST_CASE("what is needed and not there is named") {
    const config_reading read = read_config("{}");
    CHECK(all_messages(read) == "order_entry: is missing\nfeed: is missing\n");
    check_wrong(minimal(R"(, "products": [{}])"), "products[0].id", "is missing");
    check_wrong(minimal(R"(, "products": [{"id": 1, "ticks": [{"from": 0}]}])"),
                "products[0].ticks[0].step", "is missing");
}

TEST_CASE("a value of another type is refused, and what was found is said") {
    check_wrong(minimal(R"(, "timing": 7)"), "timing", "expected an object");
    check_wrong(minimal(R"(, "products": {})"), "products", "expected an array, but found {}");
    check_wrong(minimal(R"(, "products": [7])"), "products[0]", "expected an object");
    check_wrong(minimal(R"(, "backend": 7)"), "backend", R"(expected text in " ", but found 7)");
    check_wrong(minimal(R"(, "limits": {"orders_max": "many"})"), "limits.orders_max",
                R"(expected a whole number from 1 to 16777215, but found "many")");
    check_wrong(minimal(R"(, "limits": {"orders_max": 1.5})"), "limits.orders_max", "found 1.5");
}

TEST_CASE("a number out of range is refused with the range") {
    check_wrong(minimal(R"(, "limits": {"sessions_max": 65536})"), "limits.sessions_max",
                "from 1 to 65535, but found 65536");
    check_wrong(minimal(R"(, "limits": {"orders_max": 0})"), "limits.orders_max", "found 0");
    check_wrong(minimal(R"(, "limits": {"orders_max": -1})"), "limits.orders_max", "found -1");
    check_wrong(minimal(R"(, "pin_to_cpu": 18446744073709551615)"), "pin_to_cpu",
                "found 18446744073709551615");
    check_wrong(minimal(R"(, "timing": {"tick_ms": 0})"), "timing.tick_ms", "from 1 to");
    check_wrong(minimal(R"(, "timing": {"dead_after_ms": 1000})"), "timing.dead_after_ms",
                "more than heartbeat_after_ms");
    check_wrong(minimal(R"(, "accounts": [{"id": 0, "firm": 1}])"), "accounts[0].id", "found 0");
}

TEST_CASE("a word that is none is refused with all that are") {
    check_wrong(minimal(R"(, "backend": "kqueue")"), "backend",
                "expected one of gyre_uring, gyre_epoll, "
                "but found \"kqueue\"");
    check_wrong(minimal(R"(, "products": [{"id": 1}],
                             "instruments": [{"id": 1, "product": 1, "phase": "open"}])"),
                "instruments[0].phase",
                R"(expected one of closed, continuous, halted, pre_open, opening_auction, )"
                R"(closing_auction, but found "open")");
    check_wrong(minimal(R"(, "products": [{"id": 1}],
                             "instruments": [{"id": 1, "product": 1, "phase": "ended"}])"),
                "instruments[0].phase", R"(but found "ended")");
}

TEST_CASE("an address without a port, or with a name, is refused") {
    for (const std::string at :
         {"127.0.0.1", "localhost:7001", "unix:/run/it", "127.0.0.1:70000"}) {
        std::string text = minimal();
        text.replace(text.find("127.0.0.1:7001"), 14, at);
        check_wrong(text, "order_entry.at", "expected an address and a port");
    }
}

TEST_CASE("a feed to port 0 is refused: no listener could receive it") {
    check_wrong(with_feed("239.0.0.1:0", "127.0.0.1:0", "127.0.0.1:7003"), "feed.to",
                R"(expected the port at which listeners are, and not 0, but found "239.0.0.1:0")");
    const config_reading chosen =
        read_config(with_feed("239.0.0.1:7002", "127.0.0.1:0", "127.0.0.1:0"));
    CHECK_MESSAGE(chosen.errors.empty(),
                  all_messages(chosen));  // The kernel chooses, and it is said.
}

TEST_CASE("addresses of two families for one feed are refused: no datagram could be sent") {
    check_wrong(with_feed("239.0.0.1:7002", "[::1]:0", "127.0.0.1:7003"), "feed.from",
                R"(expected an address of IPv4, as "to" is, but found "[::1]:0")");
    check_wrong(with_feed("[ff15::1]:7002", "[::1]:0", "127.0.0.1:7003"), "feed.requests",
                R"(expected an address of IPv6, as "to" is, but found "127.0.0.1:7003")");
    const config_reading six = read_config(with_feed("[ff15::1]:7002", "[::1]:0", "[::1]:7003"));
    CHECK_MESSAGE(six.errors.empty(), all_messages(six));
    check_wrong(with_feed("nowhere", "[::1]:0", "127.0.0.1:7003"), "feed.to",
                "expected an address and a port");
}

TEST_CASE("ticks that come too seldom for heartbeats are refused") {
    const auto timing = [](const std::string& it) {
        return minimal(R"(, "timing": {)" + it + "}");
    };
    check_wrong(timing(R"("tick_ms": 1001)"), "timing.tick_ms",
                "expected no more than heartbeat_after_ms, but 1001 is more than 1000");
    check_wrong(timing(R"("heartbeat_after_ms": 49)"), "timing.tick_ms", "50 is more than 49");
    check_wrong(timing(R"("heartbeat_after_ms": 0)"), "timing.heartbeat_after_ms", "found 0");
    check_wrong(timing(R"("tick_ms": 1000, "dead_after_ms": 2000)"), "timing.dead_after_ms",
                "more than heartbeat_after_ms and tick_ms together");
    CHECK(read_config(timing(R"("tick_ms": 1000, "dead_after_ms": 2001)")).errors.empty());
}

TEST_CASE("more connections than can be numbered are refused") {
    const auto connections = [](const std::string& most) {
        std::string text = minimal();
        return text.insert(text.find(R"("at")"), R"("connections_max": )" + most + ", ");
    };
    check_wrong(connections("65536"), "order_entry.connections_max",
                "expected a whole number from 2 to 65535, but found 65536");
    CHECK(read_config(connections("65535")).errors.empty());
}

TEST_CASE("there is a place for WebSockets if one is named") {
    const auto order_entry = [](const std::string& more) {
        std::string text = minimal();
        return text.insert(text.find(R"("at")"), more + ", ");
    };
    CHECK(read_config(minimal()).value.facility.websocket.kind() == gyre::endpoint::family::none);
    const config_reading read = read_config(
        order_entry(R"("websocket_at": "127.0.0.1:7004", "websocket_unsent_bytes_max": 16384,
                       "websocket_origin": "https://trading.example")"));
    CHECK_MESSAGE(read.errors.empty(), all_messages(read));
    CHECK(read.value.facility.websocket.to_string() == "127.0.0.1:7004");
    CHECK(read.value.facility.websockets.unsent_bytes_max == 16384);
    CHECK(read.value.facility.websockets.origins ==
          std::vector<std::string>{"https://trading.example"});
    check_wrong(order_entry(R"("websocket_at": "7004")"), "order_entry.websocket_at",
                "expected an address and a port");
    check_wrong(order_entry(R"("websocket_unsent_bytes_max": 16383)"),
                "order_entry.websocket_unsent_bytes_max", "found 16383");
}

TEST_CASE("names that the protocol cannot carry are refused") {
    const std::string where = "positions.json: participants[0].username";
    check_wrong_credentials(traders(trader("operator", "1")), where,
                            "expected 1 to 6 printable characters");
    check_wrong_credentials(traders(trader("", "1")), where, R"(found "")");
    check_wrong_credentials(traders(trader(" a", "1")), where, "without a blank");
    check_wrong_credentials(traders(trader("\\u00e9", "1")), where, "printable");
}

TEST_CASE("users who cannot be told apart are refused") {
    check_wrong_credentials(traders(trader("a", "1") + "," + trader("a", "2")),
                            "positions.json: participants[1].username",
                            "another user has this name");
    check_wrong_credentials(traders(trader("a", "1") + "," + trader("b", "1")),
                            "positions.json: participants[1].session",
                            "another participant has this session");
    check_wrong_credentials(R"({"participants": [)" + trader("a", "1") + R"(], "operators": [)" +
                                administrator("a") + "]}",
                            "positions.json: operators[0].username", "another user has this name");
}

TEST_CASE("who is told copies has an account, or is told of all, and no session") {
    const std::string user = R"({"username": "copy", "hash": ")" + a_hash + "\"";
    const auto section = [&](const std::string& name, const std::string& rest) {
        return R"({")" + name + R"(": [)" + user + rest + "}]}";
    };
    const config_reading copy = with_credentials(section("drop_copies", R"(, "account": 2)"));
    REQUIRE_MESSAGE(copy.errors.empty(), all_messages(copy));
    const credentials& who = copy.value.host.participants.at(0);
    CHECK(who.what == told::account);
    CHECK(who.account == account_id{2});
    CHECK(who.session == session_id::none);
    const config_reading watch = with_credentials(section("surveillance", ""));
    REQUIRE_MESSAGE(watch.errors.empty(), all_messages(watch));
    CHECK(watch.value.host.participants.at(0).what == told::all);

    check_wrong_credentials(section("drop_copies", ""), "positions.json: drop_copies[0].account",
                            "is missing");
    check_wrong_credentials(section("surveillance", R"(, "account": 2)"),
                            "positions.json: surveillance[0].account", "");
    check_wrong_credentials(section("drop_copies", R"(, "account": 2000)"),
                            "positions.json: drop_copies[0].account",
                            "beyond limits.accounts_max, which is 1024");
}

TEST_CASE("who is told copies has an account, or is told of all, and no session") {
    const std::string user = R"({"username": "copy", "hash": ")" + a_hash + "\"";
    const auto section = [&](const std::string& name, const std::string& rest) {
        return R"({")" + name + R"(": [)" + user + rest + "}]}";
    };
    const config_reading copy = with_credentials(section("drop_copies", R"(, "account": 2)"));
    REQUIRE_MESSAGE(copy.errors.empty(), all_messages(copy));
    const credentials& who = copy.value.host.participants.at(0);
    CHECK(who.what == told::account);
    CHECK(who.account == account_id{2});
    CHECK(who.session == session_id::none);
    const config_reading watch = with_credentials(section("surveillance", ""));
    REQUIRE_MESSAGE(watch.errors.empty(), all_messages(watch));
    CHECK(watch.value.host.participants.at(0).what == told::all);

    check_wrong_credentials(section("drop_copies", ""), "positions.json: drop_copies[0].account",
                            "is missing");
    check_wrong_credentials(section("surveillance", R"(, "account": 2)"),
                            "positions.json: surveillance[0].account", "");
    check_wrong_credentials(section("drop_copies", R"(, "account": 2000)"),
                            "positions.json: drop_copies[0].account",
                            "beyond limits.accounts_max, which is 1024");
}

TEST_CASE("what is no hash, or no role, is refused, and a password in its place is not repeated") {
    const std::string where = "positions.json: participants[0].hash";
    const auto with_hash = [](const std::string& hash) {
        return traders(R"({"username": "a", "session": 1, "hash": ")" + hash + R"("})");
    };
    check_wrong_credentials(with_hash("secret"), where, "expected a hash");
    CHECK(all_messages(with_credentials(with_hash("secret"))).find("secret") == std::string::npos);
    check_wrong_credentials(with_hash("$5$rounds=1000$salt"), where, "is incomplete");
    const std::string slow =
        "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$HiE6YXrOXRe5CWuennpleK1wuwUvXfyn71SgHHm8R7C";
    check_wrong_credentials(with_hash(slow), where, "takes more than a few milliseconds");
    std::string allowed = with_hash(slow);
    allowed.insert(1, R"("slow_hashes": 1, )");
    CHECK(with_credentials(allowed).errors.empty());
    check_wrong_credentials(traders(R"({"username": "a", "session": 1})"), where, "is missing");
    check_wrong_credentials(
        administrators(administrator("a", "root")), "positions.json: operators[0].role",
        R"(expected one of viewer, market, risk, administrator, but found "root")");
}

TEST_CASE("a file of credentials is needed by a facility, and everything wrong with it is told") {
    config_reading none = read_config(minimal());
    CHECK(none.errors.empty());
    add_credentials(none);
    CHECK(all_messages(none) == "credentials_file: is missing\n");
    config_reading absent =
        read_config(minimal(R"(, "credentials_file": "absent.json")"), "/nowhere");
    add_credentials(absent);
    CHECK(all_messages(absent) == "absent.json: cannot be read\n");
    check_wrong(minimal(R"(, "credentials_file": "")"), "credentials_file",
                "expected the name of a file");
    check_wrong(minimal(R"(, "operators": {"connections_max": 0})"), "operators.connections_max",
                "from 1 to 1024");
    check_wrong_credentials("{}", "positions.json", "no one could log in");
    check_wrong_credentials("{", "positions.json", "line 1");
    CHECK(
        with_credentials(R"({"participants": [{}], "operators": [{"name": "x"}]})").errors.size() ==
        7);
    // What is wrong with the configuration is told beside it.
    const config_reading both = with_credentials("{}", R"(, "colour": 1)");
    CHECK(both.errors.size() == 2);
}

TEST_CASE("what only the whole can tell is told") {
    check_wrong_credentials(traders(trader("a", "2000")), "positions.json: participants[0].session",
                            "beyond limits.sessions_max, which is 1024");
    const std::string two = R"({"participants": [)" + trader("a", "1") + R"(], "operators": [)" +
                            administrator("b") + "]}";
    const config_reading read = with_credentials(two, R"(, "operators": {"connections_max": 5})");
    REQUIRE_MESSAGE(read.errors.empty(), all_messages(read));
    CHECK(read.value.facility.connections_max == 1 + 16 + 5 + 16);
}

TEST_CASE("as many connections as may be logged in are too few") {
    const written_file file{traders(trader("a", "1") + "," + trader("b", "2"))};
    const auto with_connections = [&](const std::string& participants, const std::string& most) {
        std::string text = minimal(R"(, "credentials_file": "positions.json")");
        text.insert(text.find(R"("at")"), R"("participants_max": )" + participants +
                                              R"(, "connections_max": )" + most + ", ");
        config_reading read = read_config(text, file.folder());
        add_credentials(read);
        return all_messages(read);
    };
    CHECK(with_connections("2", "2") ==
          "order_entry.connections_max: expected more than may be logged in, which is 2\n");
    CHECK(with_connections("2", "3").empty());
    CHECK(with_connections("1", "3") ==
          "order_entry.participants_max: expected as many as there are already, which is 2\n");
}

TEST_CASE("a definition that the core would refuse is refused with its reason") {
    check_wrong(minimal(R"(, "instruments": [{"id": 1, "product": 7}])"), "instruments[0]",
                "define_instrument is refused: unknown_product");
    check_wrong(minimal(R"(, "products": [{"id": 1}, {"id": 1}])"), "products[1]",
                "define_product is refused: already_defined");
    check_wrong(minimal(R"(, "products": [{"id": 65}])"), "products[0]",
                "define_product is refused: at_capacity");
    check_wrong(minimal(R"(, "products": [{"id": 1, "lot": 0}])"), "products[0]",
                "define_product is refused: invalid_definition");
    check_wrong(minimal(R"(, "sessions": [{"id": 1, "account": 1}])"), "sessions[0]",
                "define_session is refused: unknown_account");
}

TEST_CASE("more bands of ticks than a product can have are refused") {
    const std::string band = R"({"from": 0, "step": 1}, )";
    check_wrong(minimal(R"(, "products": [{"id": 1, "ticks": [)" + band + band + band + band +
                        R"({"from": 0, "step": 1}]}])"),
                "products[0].ticks[4].from", "expected at most 4 bands");
}

TEST_CASE("streams and feed keep what was asked for, and have the memory that was asked for") {
    std::string text = minimal();
    text.replace(text.find(R"("at")"), 0,
                 R"("kept_messages_max": 257, "kept_bytes_max": 65537, "unread_bytes_max": 131073,
                    "stream_memory_max": 1234567, )");
    text.replace(
        text.find(R"("to")"), 0,
        R"("kept_messages_max": 258, "kept_bytes_max": 65538, "unsent_bytes_max": 131074, )");
    const config_reading read = read_config(text);
    REQUIRE_MESSAGE(read.errors.empty(), all_messages(read));
    const order_entry_host_options& it = read.value.host;

    CHECK(it.stream.messages_max == 257);
    CHECK(it.stream.bytes_max == 65'537);
    CHECK(it.stream.unread_bytes_max == 131'073);
    CHECK(it.stream_memory.bytes_max == 1'234'567);
    CHECK(it.feed.kept_messages_max == 258);
    CHECK(it.feed.kept_bytes_max == 65'538);
    CHECK(it.feed.unsent_bytes_max == 131'074);
}

TEST_CASE("questions are let through at a pace that can be said") {
    const auto read_at = [](const std::string& more) {
        std::string text = minimal("");
        text.replace(text.find(R"("127.0.0.1:7001")"), 16, R"("127.0.0.1:7001")" + more);
        const config_reading read = read_config(text);
        REQUIRE_MESSAGE(read.errors.empty(), all_messages(read));
        return read.value.host.queries;
    };
    CHECK(read_at("").per_second_max == 100);
    CHECK(read_at("").burst_max == 200);
    const message_rate said = read_at(R"(, "queries_per_second_max": 5, "query_burst_max": 0)");
    CHECK(said.per_second_max == 5);
    CHECK(said.burst_max == 0);
    CHECK(read_at(R"(, "queries_per_second_max": 0)").per_second_max == 0);

    std::string wrong = minimal("");
    wrong.replace(wrong.find(R"("127.0.0.1:7001")"), 16,
                  R"("127.0.0.1:7001", "queries_per_second_max": -1)");
    check_wrong(wrong, "order_entry.queries_per_second_max", "expected");
}

namespace {

// A whole configuration, of a facility where one may log in.
config_reading with_one_trader(std::string text) {
    const written_file file{traders(trader("a", "1"))};
    text.insert(text.rfind('}'), R"(, "credentials_file": "positions.json")");
    config_reading read = read_config(text, file.folder());
    add_credentials(read);
    return read;
}

}  // namespace

TEST_CASE("memory that was not asked for follows from what is kept, and from how many there are") {
    constexpr std::size_t mebibyte = std::size_t{1} << 20;
    const order_entry_host_options one = with_one_trader(minimal()).value.host;
    CHECK(one.stream.bytes_max == mebibyte);
    CHECK(one.stream.unread_bytes_max == 64 * mebibyte);
    CHECK(one.stream_memory.bytes_max ==
          64 * mebibyte + one.participants_max * (mebibyte + 2 * segment_bytes_usual));
    CHECK(one.feed.kept_bytes_max == 4 * mebibyte);
    CHECK(one.feed.unsent_bytes_max == 64 * mebibyte);

    std::string text = minimal();
    text.replace(text.find(R"("at")"), 0,
                 R"("kept_bytes_max": 65536, "unread_bytes_max": 65536, )");
    text.replace(text.find(R"("to")"), 0, R"("kept_bytes_max": 134217728, )");
    const order_entry_host_options little = with_one_trader(text).value.host;
    CHECK(little.stream_memory.bytes_max == 64 * mebibyte);
    CHECK(little.feed.unsent_bytes_max == 256 * mebibyte);
}

TEST_CASE("less memory than for what is to be kept, or for each to say anything, is refused") {
    const auto order_entry = [](const std::string& more) {
        std::string text = minimal();
        return text.insert(text.find(R"("at")"), more + ", ");
    };
    check_wrong(order_entry(R"("unread_bytes_max": 1048575)"), "order_entry.unread_bytes_max",
                "expected at least kept_bytes_max, which is 1048576, but found 1048575");
    const config_reading little =
        with_one_trader(order_entry(R"("participants_max": 2, "stream_memory_max": 262143)"));
    CHECK(all_messages(little) ==
          "order_entry.stream_memory_max: expected at least 262144 for as "
          "many participants, but found 262143\n");
    CHECK(with_one_trader(order_entry(R"("participants_max": 2, "stream_memory_max": 262144)"))
              .errors.empty());
    std::string text = minimal();
    text.insert(text.find(R"("to")"), R"("unsent_bytes_max": 65536, )");
    check_wrong(text, "feed.unsent_bytes_max", "expected at least kept_bytes_max");
}

TEST_CASE("one reading finds everything that is wrong") {
    const config_reading read =
        read_config(minimal(R"(, "backend": "x", "pin_to_cpu": -1, "limits": {"a": 1}, "b": 2)"));
    CHECK(read.errors.size() == 4);
}

TEST_CASE("a configuration says where gateways connect, and the credentials who they are") {
    const std::string hash = hash_password("secret");
    const std::string traders_and =
        R"({"participants": [{"username": "alice", "session": 1, "hash": ")" + hash +
        R"("}], "gateways": [)";
    const auto gateway = [&hash](const std::string& name, const std::string& more = "") {
        return R"({"name": ")" + name + R"(", "hash": ")" + hash + R"(")" + more + "}";
    };
    const std::string wanted = R"(, "gateways": {"at": "127.0.0.1:7004", "channels_max": 77})";

    const config_reading read =
        with_credentials(traders_and + gateway("gw1") + "," +
                             gateway("gw2", R"(, "users": [{"username": "alice"}])") + "]}",
                         wanted);
    INFO("it said: ", all_messages(read));
    REQUIRE(read.errors.empty());
    CHECK(read.value.facility.gateways.at.to_string() == "127.0.0.1:7004");
    CHECK(read.value.facility.gateways.link.channels_max == 77);
    REQUIRE(read.value.host.gateways.size() == 2);
    CHECK(read.value.host.gateways[0].may_speak_for("bob"));
    CHECK_FALSE(read.value.host.gateways[1].may_speak_for("bob"));

    check_wrong(minimal(R"(, "gateways": {})"), "gateways.at", "is missing");
    check_wrong_credentials(traders_and + "]}", "positions.json: gateways", "expected one", wanted);
    check_wrong_credentials(traders_and + gateway("gw1") + "," + gateway("gw1") + "]}",
                            "positions.json: gateways[1].name", "another gateway", wanted);
    CHECK_FALSE(read_config(minimal()).value.facility.gateways.wanted());
}
