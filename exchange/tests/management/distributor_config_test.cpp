// SPDX-License-Identifier: BSL-1.0
//
// What a distributor's two files say, and every way in which they can be wrong.
#include <exchange/management/distributor_config.hpp>

#include <exchange/management/password_hash.hpp>
#include <exchange/management/text_file.hpp>

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <functional>
#include <string>

using namespace exchange;
using namespace std::chrono_literals;

namespace {

using json = nlohmann::json;

json minimal() {
    return json::parse(R"({
        "feed": {"from": "239.1.2.3:7002", "interface": "lo", "requests": "127.0.0.1:7003",
                 "ask_from": "127.0.0.1:0"},
        "exchange": {"at": "127.0.0.1:7001", "username": "mdist"},
        "subscribers": {"at": "127.0.0.1:7041"},
        "credentials_file": "secrets.json"})");
}

distributor_config_reading with(const std::function<void(json&)>& change) {
    json it = minimal();
    change(it);
    return read_distributor_config(it.dump());
}

std::string all_messages(const distributor_config_reading& of) {
    std::string text;
    for (const config_error& each : of.errors) text += each.message() + '\n';
    return text;
}

void check_wrong(const std::function<void(json&)>& change, const std::string& said) {
    const distributor_config_reading read = with(change);
    INFO("it said: ", all_messages(read));
    REQUIRE(read.errors.size() == 1);
    CHECK(read.errors[0].message().find(said) != std::string::npos);
}

void check_wrong_credentials(const std::string& text, const std::string& said, bool open = false) {
    distributor_config_reading read =
        with([open](json& it) { it["subscribers"]["open_to_all"] = open ? 1 : 0; });
    REQUIRE(read.errors.empty());
    read_distributor_credentials(text, "secrets.json", read);
    INFO("it said: ", all_messages(read));
    REQUIRE(read.errors.size() == 1);
    CHECK(read.errors[0].message().find(said) != std::string::npos);
}

}  // namespace

TEST_CASE("a distributor's configuration says what it hears, asks, serves and sends") {
    const distributor_config_reading read = with([](json& it) {
        it["backend"] = "gyre_epoll";
        it["feed"]["dead_after_ms"] = 4000;
        it["subscribers"].update(json::parse(R"({"websocket_at": "127.0.0.1:7042",
            "connections_max": 99, "kernel_send_bytes": 9000, "unsent_bytes_max": 30000,
            "subscriptions_max": 7, "open_to_all": 1})"));
        it["redistribution"] = json::parse(R"({"to": "239.1.2.4:7043", "interface": "lo",
            "from": "127.0.0.1:0", "requests": "127.0.0.1:7044", "kept_messages_max": 10})");
        it["limits"] = json::parse(
            R"({"instruments_max": 3, "levels_max": 4, "changes_max": 50, "trades_max": 6})");
        it["timing"] = json::parse(
            R"({"stalled_ms": 2500, "told_every_ms": 20, "linger_ms": 70, "drain_within_ms": 9})");
    });
    INFO("it said: ", all_messages(read));
    REQUIRE(read.errors.empty());
    const distributor_config& it = read.value;
    CHECK(it.backend == process_backend::gyre_epoll);
    const feed_relay_options& feed = it.distributor.feed;
    CHECK(feed.source.group.to_string() == "239.1.2.3:7002");
    CHECK(feed.source.interface == "lo");
    CHECK(feed.source.requests.to_string() == "127.0.0.1:7003");
    CHECK(feed.source.receiver.dead_after == 4s);
    CHECK(feed.source.receiver.first_sequence == 0);
    CHECK(feed.out.group.to_string() == "239.1.2.4:7043");
    CHECK(feed.requests.to_string() == "127.0.0.1:7044");
    CHECK(feed.kept.kept_messages_max == 10);
    CHECK(it.distributor.exchange.exchange.to_string() == "127.0.0.1:7001");
    CHECK(it.distributor.exchange.login.username == "mdist");
    CHECK(it.distributor.clients.tcp.to_string() == "127.0.0.1:7041");
    CHECK(it.distributor.clients.websocket.to_string() == "127.0.0.1:7042");
    CHECK(it.distributor.clients.websockets.path == "/market-data/v1");
    CHECK(it.distributor.clients.connections_max == 99);
    CHECK(it.distributor.clients.linger == 70ms);
    CHECK(it.distributor.clients.kernel_send_bytes == 9000);
    CHECK(it.distributor.told_every == 20ms);
    CHECK(it.host.unsent_bytes_max == 30000);
    CHECK(it.host.subscriptions_max == 7);
    CHECK(it.host.stalled_max == 2500ms);
    CHECK(it.host.open);
    CHECK(it.books.instruments_max == 3);
    CHECK(it.books.levels_max == 4);
    CHECK(it.books.changes_max == 50);
    CHECK(it.books.trades_max == 6);
    CHECK(it.drain_within == 9ms);
}

TEST_CASE("a distributor without a second group sends the feed nowhere") {
    const distributor_config_reading read = with([](json&) {});
    REQUIRE(read.errors.empty());
    CHECK(read.value.distributor.feed.out.group.kind() == gyre::endpoint::family::none);
    CHECK_FALSE(read.value.host.open);
    CHECK(read.value.credentials_file == "./secrets.json");
}

TEST_CASE("what is wrong with a distributor's configuration is said with its place") {
    check_wrong([](json& it) { it.erase("feed"); }, "feed: is missing");
    check_wrong([](json& it) { it["feed"].erase("requests"); }, "feed.requests: is missing");
    check_wrong([](json& it) { it["feed"].erase("interface"); }, "feed.interface: expected one");
    check_wrong([](json& it) { it["feed"]["from"] = "127.0.0.1:7002"; },
                "feed.interface: expected none");
    check_wrong([](json& it) { it["feed"]["from"] = "239.1.2.3:0"; },
                "feed.from: expected an address with a port");
    check_wrong([](json& it) { it["feed"]["requests"] = "127.0.0.1:0"; },
                "feed.requests: expected an address with a port");
    check_wrong([](json& it) { it["feed"]["ask_from"] = "[::1]:0"; },
                "feed.ask_from: expected an address of the family of 127.0.0.1:7003");
    check_wrong(
        [](json& it) {
            it["redistribution"] = json::parse(R"({"to": "239.1.2.4:7043", "interface": "lo",
                "from": "[::1]:0", "requests": "127.0.0.1:7044"})");
        },
        "redistribution.from: expected an address of the family of 239.1.2.4:7043");
    check_wrong([](json& it) { it["exchange"]["at"] = "127.0.0.1:0"; },
                "exchange.at: expected an address with a port");
    check_wrong(
        [](json& it) {
            it["redistribution"] = json::parse(R"({"to": "239.1.2.4:0", "interface": "lo",
                "from": "127.0.0.1:0", "requests": "127.0.0.1:7044"})");
        },
        "redistribution.to: expected an address with a port");
    check_wrong([](json& it) { it.erase("exchange"); }, "exchange: is missing");
    check_wrong([](json& it) { it["exchange"].erase("username"); }, "exchange.username");
    check_wrong([](json& it) { it["subscribers"]["at"] = "nowhere"; }, "subscribers.at");
    check_wrong([](json& it) { it["subscribers"]["unsent_bytes_max"] = 10; },
                "subscribers.unsent_bytes_max");
    check_wrong([](json& it) { it["subscribers"]["colour"] = 1; }, "subscribers.colour");
    check_wrong([](json& it) { it["limits"]["changes_max"] = 1; }, "limits.changes_max");
    check_wrong([](json& it) { it["timing"]["tick_ms"] = 5000; }, "timing.tick_ms");
    check_wrong([](json& it) { it["timing"]["dead_after_ms"] = 1000; }, "timing.dead_after_ms");
    check_wrong([](json& it) { it["backend"] = "kqueue"; },
                "backend: expected one of gyre_uring, gyre_epoll");
    check_wrong([](json& it) { it.erase("credentials_file"); }, "credentials_file: is missing");
    check_wrong(
        [](json& it) {
            it["redistribution"] = json::parse(R"({"to": "239.1.2.3:7002", "from": "127.0.0.1:0",
                                                   "requests": "127.0.0.1:7044"})");
        },
        "redistribution.to: expected another place");
}

TEST_CASE("a distributor's credentials are its own password and its subscribers' secrets") {
    distributor_config_reading read = with([](json&) {});
    const std::string hash = hash_password("secret");
    const std::string good =
        R"({"exchange_password": "between us", "users": [{"username": "diana", "hash": ")" + hash +
        R"("}]})";
    read_distributor_credentials(good, "secrets.json", read);
    REQUIRE(read.errors.empty());
    CHECK(read.value.distributor.exchange.login.password == "between us");
    REQUIRE(read.value.host.users.users.size() == 1);
    CHECK(read.value.host.users.users[0].secrets.front() == hash);
    const bool hashed = read.value.host.users.passwords != is_plain_password;
    CHECK(hashed);

    check_wrong_credentials(R"({"exchange_password": "x"})",
                            "secrets.json: users: no one could log in");
    check_wrong_credentials(R"({"exchange_password": "x", "users": [{"username": "a"}]})",
                            "users[0].hash: is missing");
    check_wrong_credentials(
        R"({"exchange_password": "x", "users": [{"username": "a", "account": 1, "hash": ")" + hash +
            R"("}]})",
        "users[0].account");
    check_wrong_credentials(R"({"users": )", "secrets.json: ", true);
    distributor_config_reading open = with([](json& it) { it["subscribers"]["open_to_all"] = 1; });
    read_distributor_credentials(R"({"exchange_password": "x"})", "secrets.json", open);
    CHECK(open.errors.empty());
}

TEST_CASE("the sample of a distributor is in order") {
    const distributor_config_reading read =
        load_distributor_config(EXCHANGE_SAMPLE_FOLDER "/distributor.json");
    INFO("it said: ", all_messages(read));
    CHECK(read.errors.empty());
    CHECK(load_distributor_config("/nowhere.json").errors.size() == 1);
}
