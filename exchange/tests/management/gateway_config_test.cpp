// SPDX-License-Identifier: BSL-1.0
//
// What a gateway's two files say, and every way in which they can be wrong.
#include <exchange/management/gateway_config.hpp>

#include <exchange/management/password_hash.hpp>
#include <exchange/management/text_file.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace exchange;
using namespace std::chrono_literals;

namespace {

std::string minimal(const std::string& more = "") {
    return R"({"order_entry": {"at": "127.0.0.1:0"},
               "facility": {"at": "127.0.0.1:7005", "name": "gw1"},
               "credentials_file": "secrets.json")" +
           more + "}";
}

const std::string& some_hash() {
    static const std::string made = hash_password("secret");
    return made;
}

std::string user(const std::string& name, const std::string& more) {
    return R"({"username": ")" + name + R"(")" + more + "}";
}
std::string with_hash(const std::string& hash = some_hash()) {
    return R"(, "hash": ")" + hash + R"(")";
}
std::string with_users(const std::string& users) {
    return R"({"link_password": "between us", "users": [)" + users + "]}";
}

std::string all_messages(const gateway_config_reading& of) {
    std::string text;
    for (const config_error& each : of.errors) text += each.message() + '\n';
    return text;
}

void check_wrong(const std::string& text, const std::string& where, const std::string& what) {
    CAPTURE(text);
    const gateway_config_reading read = read_gateway_config(text);
    INFO("it said: ", all_messages(read));
    REQUIRE(read.errors.size() == 1);
    CHECK(read.errors[0].where == where);
    CHECK(read.errors[0].what.find(what) != std::string::npos);
}

gateway_config_reading with_credentials(const std::string& text) {
    gateway_config_reading read = read_gateway_config(minimal());
    REQUIRE(read.errors.empty());
    read_gateway_credentials(text, "secrets.json", read);
    return read;
}

void check_wrong_credentials(const std::string& text, const std::string& where,
                             const std::string& what) {
    CAPTURE(text);
    const gateway_config_reading read = with_credentials(text);
    INFO("it said: ", all_messages(read));
    REQUIRE(read.errors.size() == 1);
    CHECK(read.errors[0].where == where);
    CHECK(read.errors[0].what.find(what) != std::string::npos);
}

}  // namespace

TEST_CASE("a gateway's configuration says where it is, what it may and how long it waits") {
    const gateway_config_reading read = read_gateway_config(R"({
        "backend": "gyre_epoll",
        "order_entry": {"at": "127.0.0.1:7011", "connections_max": 99, "window_bytes": 40000},
        "facility": {"at": "10.0.0.1:7004", "name": "gw7"},
        "timing": {"grace_ms": 1500, "stalled_ms": 2500, "link_dead_after_ms": 9000, "linger_ms": 70},
        "accounts": [{"id": 3, "messages_per_second_max": 10, "message_burst_max": 20}],
        "credentials_file": "secrets.json"})",
                                                            "/etc/gateway");

    INFO("it said: ", all_messages(read));
    REQUIRE(read.errors.empty());
    const gateway_config& it = read.value;
    CHECK(it.backend == process_backend::gyre_epoll);
    CHECK(it.gateway.clients.tcp.to_string() == "127.0.0.1:7011");
    CHECK(it.gateway.clients.connections_max == 99);
    CHECK(it.host.link.channels_max == 99);
    CHECK(it.host.link.window_bytes == 40'000);
    CHECK(it.host.link.dead_after == 9s);
    CHECK(it.gateway.facility.to_string() == "10.0.0.1:7004");
    CHECK(it.gateway.clients.linger == 70ms);
    CHECK(it.host.name == "gw7");
    CHECK(it.host.grace == 1500ms);
    CHECK(it.host.stalled_max == 2500ms);
    REQUIRE(it.host.users.accounts.size() == 1);
    CHECK(it.host.users.accounts[0].account == account_id{3});
    CHECK(it.host.users.accounts[0].rates.entries.per_second_max == 10);
    CHECK(it.host.users.accounts[0].rates.entries.burst_max == 20);
    CHECK(it.credentials_file == "/etc/gateway/secrets.json");
}

TEST_CASE(
    "a gateway has a place for WebSockets if one is named, and a channel for each of their "
    "clients") {
    const auto with = [](const std::string& more) {
        return read_gateway_config(
            R"({"order_entry": {"at": "127.0.0.1:7011", "connections_max": 99)" + more +
            R"(}, "facility": {"at": "127.0.0.1:1", "name": "g"}, "credentials_file": "x"})");
    };
    CHECK(with("").value.gateway.clients.websocket.kind() == gyre::endpoint::family::none);

    const gateway_config_reading read = with(
        R"(, "websocket_at": "127.0.0.1:7014", "websocket_origin": "https://trading.example")");

    CHECK_MESSAGE(read.errors.empty(), all_messages(read));
    CHECK(read.value.gateway.clients.websocket.to_string() == "127.0.0.1:7014");
    CHECK(read.value.gateway.clients.websockets.origins ==
          std::vector<std::string>{"https://trading.example"});
    CHECK(read.value.host.link.channels_max == 198);
}

TEST_CASE("everything that is wrong with a gateway's configuration is named by its place") {
    check_wrong(R"({"facility": {"at": "127.0.0.1:1", "name": "g"}, "credentials_file": "x"})",
                "order_entry", "is missing");
    check_wrong(R"({"order_entry": {"at": "127.0.0.1:1"}, "credentials_file": "x"})", "facility",
                "is missing");
    check_wrong(
        R"({"order_entry": {"at": "127.0.0.1:1"}, "facility": {"at": "127.0.0.1:1", "name": "g"}})",
        "credentials_file", "is missing");
    check_wrong(minimal(R"(, "backend": "kqueue")"), "backend",
                "expected one of gyre_uring, gyre_epoll");
    check_wrong(minimal(R"(, "timing": {"tick_ms": 2000})"), "timing.tick_ms", "no more than");
    check_wrong(minimal(R"(, "timing": {"dead_after_ms": 1000})"), "timing.dead_after_ms",
                "expected more");
    check_wrong(minimal(R"(, "timing": {"link_dead_after_ms": 1000})"), "timing.link_dead_after_ms",
                "expected more");
    check_wrong(minimal(R"(, "accounts": [{"id": 1}, {"id": 1}])"), "accounts[1].id",
                "another account");
    check_wrong(minimal(R"(, "gate": 1)"), "gate", "unknown key");
    check_wrong(R"({"order_entry": {"at": "127.0.0.1:1", "window_bytes": 100},
                    "facility": {"at": "127.0.0.1:1", "name": "g"}, "credentials_file": "x"})",
                "order_entry.window_bytes", "expected a whole number");
}

TEST_CASE("users have a password or tokens or both, and rates") {
    const gateway_config_reading read = with_credentials(with_users(
        user("alice",
             with_hash() +
                 R"(, "account": 3, "messages_per_second_max": 5, "cancels_per_second_max": 7,
             "tokens": [{"hash": ")" +
                 some_hash() + R"("}])") +
        "," + user("bob", R"(, "tokens": [{"hash": ")" + some_hash() + R"("}])")));

    INFO("it said: ", all_messages(read));
    REQUIRE(read.errors.empty());
    const gateway_host_options& it = read.value.host;
    CHECK(it.password == "between us");
    REQUIRE(it.users.users.size() == 2);
    CHECK(it.users.users[0].username == "alice");
    CHECK(it.users.users[0].secrets.size() == 2);
    CHECK(it.users.users[0].account == account_id{3});
    CHECK(it.users.users[0].rates.entries.per_second_max == 5);
    CHECK(it.users.users[0].rates.cancels.per_second_max == 7);
    CHECK(it.users.users[1].secrets == std::vector<std::string>{some_hash()});
    CHECK(it.users.passwords("secret", some_hash()));
    CHECK_FALSE(it.users.passwords("secret", it.users.dummy_secret));
}

TEST_CASE("what is wrong with a gateway's credentials is told, and no secret is") {
    check_wrong_credentials(R"({"users": [)" + user("a", with_hash()) + "]}",
                            "secrets.json: link_password", "is missing");
    check_wrong_credentials(with_users(""), "secrets.json: users", "no one could log in");
    check_wrong_credentials(with_users(user("a", "")), "secrets.json: users[0].hash", "no tokens");
    check_wrong_credentials(with_users(user("a", with_hash("plain"))),
                            "secrets.json: users[0].hash", "expected a hash");
    CHECK(all_messages(with_credentials(with_users(user("a", with_hash("plain"))))).find("plain") ==
          std::string::npos);
    check_wrong_credentials(with_users(user("a", with_hash()) + "," + user("a", with_hash())),
                            "secrets.json: users[1].username", "another user");
    check_wrong_credentials(with_users(user("a", R"(, "tokens": [{}])")),
                            "secrets.json: users[0].tokens[0].hash", "is missing");
    check_wrong_credentials(
        R"({"link_password": " blank", "users": [)" + user("a", with_hash()) + "]}",
        "secrets.json: link_password", "without a blank");
    CHECK(all_messages(with_credentials(R"({"link_password": " blank", "users": []})"))
              .find(" blank\"") == std::string::npos);
    check_wrong_credentials("{", "secrets.json", "line 1");
}

TEST_CASE("a gateway's file that cannot be read is an error like any other") {
    const gateway_config_reading read = load_gateway_config("/nowhere/gateway.json");
    CHECK(all_messages(read) == "cannot be read\n");
}

TEST_CASE("the sample of a gateway is in order") {
    const gateway_config_reading read =
        load_gateway_config(std::string{EXCHANGE_SAMPLE_FOLDER} + "/gateway.json");
    INFO("it said: ", all_messages(read));
    CHECK(read.errors.empty());
    CHECK(read.value.host.users.users.size() == 3);
    CHECK(read.value.host.password == "gateway");
}
