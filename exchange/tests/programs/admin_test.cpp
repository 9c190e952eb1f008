// SPDX-License-Identifier: BSL-1.0
//
// Admin ports of an exchange and of a gateway while they trade, as docs/admin.md of the exchange says.
#include <exchange/tests/programs/running_exchange.hpp>
#include <exchange/tests/support/plain_http.hpp>

#include <support/harness.hpp>

#include <csignal>
#include <sstream>
#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using gyre::testing::program;

namespace {

void with_admin(nlohmann::json& it) {
    it["gateways"]["at"] = "127.0.0.1:0";
    it["admin"]["at"] = "127.0.0.1:0";
}
void with_admin_alone(nlohmann::json& it) { it["admin"]["at"] = "127.0.0.1:0"; }

/// What stands behind `word` in a line, up to the next comma.
std::string part_behind(const std::string& line, const std::string& word) {
    const std::size_t at = line.find(word);
    INFO(line);
    REQUIRE(at != std::string::npos);
    const std::size_t from = at + word.size();
    return line.substr(from, line.find(',', from) - from);
}
std::uint16_t admin_of(const std::string& ready_line) {
    return port_of(part_behind(ready_line, ", admin "));
}

nlohmann::json status_of(std::uint16_t admin) {
    const http_answer it = ask(admin, "GET /status");
    REQUIRE(it.status == 200);
    return nlohmann::json::parse(it.body);
}

const nlohmann::json* session_in(const nlohmann::json& status, const std::string& user) {
    for (const nlohmann::json& each : status["sessions"])
        if (each["user"] == user) return &each;
    return nullptr;
}

}  // namespace

TEST_CASE("an admin port tells how an exchange is while it trades, on every backend") {
    for (const std::string& backend : facility_backends()) {
        CAPTURE(backend);
        running_exchange exchange{backend, with_admin_alone};
        const std::uint16_t admin = admin_of(exchange.ready_line());
        CHECK(ask(admin, "GET /health").status == 200);
        CHECK(ask(admin, "GET /ready").body == "ready\n");

        program load = exchange.start_load({"--orders", "5000", "--seed", "1"});
        std::uint64_t seen = 0;
        while (seen == 0) seen = status_of(admin)["counts"]["commands"];
        const auto [ended, report] = outcome_of(load);
        CHECK_MESSAGE(ended == 0, report);

        const nlohmann::json status = status_of(admin);
        CHECK(status["process"] == "matching_facility");
        CHECK(status["backend"] == backend);
        CHECK(status["life"] == exchange.life());
        CHECK(status["state"] == "ready");
        CHECK(status["counts"]["commands"] >= 5000);
        CHECK(status["counts"]["feed_messages"] > 5000);
        CHECK(status["latency_ns"]["count"] > 0);
        CHECK(status["latency_ns"]["p50"] > 0);
        const nlohmann::json* const alice = session_in(status, "alice");
        REQUIRE(alice != nullptr);
        CHECK((*alice)["session"] == 1);
        CHECK((*alice)["connected"] == false);
        CHECK((*alice)["sequence"] > 1);
        CHECK(ask(admin, "GET /metrics").body.find("exchange_commands_total{") !=
              std::string::npos);
        const std::string tasks = ask(admin, "GET /tasks").body;
        const bool knows = backend.starts_with("gyre");
        CHECK_MESSAGE((tasks.find("does not know") == std::string::npos) == knows, tasks);

        exchange.facility().send(SIGTERM);
        CHECK(exchange.facility().wait() == 0);
    }
}

TEST_CASE("an admin port tells of a gateway, its link and its clients, and that it drains") {
    running_exchange exchange{facility_backends().front(), with_admin};
    const written_config credentials{
        gyre::testing::text_of_file(EXCHANGE_SAMPLE_FOLDER "/gateway_credentials.json")};
    nlohmann::json how = nlohmann::json::parse(
        gyre::testing::text_of_file(EXCHANGE_SAMPLE_FOLDER "/gateway.json"), nullptr, true, true);
    how["order_entry"]["at"] = "127.0.0.1:0";
    how["admin"]["at"] = "127.0.0.1:0";
    how["log"]["level"] = "info";
    how["facility"]["at"] = exchange.gateways();
    how["timing"]["drain_within_ms"] = 60'000;
    how["credentials_file"] = credentials.path();
    const written_config config{how.dump(1)};
    program gateway{EXCHANGE_ORDER_ENTRY_GATEWAY, {config.path()}};
    const std::string ready = gateway.next_line();
    const std::uint16_t admin = admin_of(ready);
    while (status_of(admin)["counts"]["link_up"] == 0) {
    }
    CHECK(status_of(admin)["life"] == exchange.life());
    CHECK(status_of(admin)["name"] == "gw1");

    // More than is sent meanwhile: its traders stay until the gateway has begun to drain.
    const std::string at = part_behind(ready, "order entry ");
    program load{
        EXCHANGE_LOAD_GENERATOR,
        {"--config", exchange.config_path(), "--order-entry", at, "--requests", exchange.requests(),
         "--credentials", exchange.passwords_path(), "--orders", "1000000", "--rate", "500"}};
    while (status_of(admin)["counts"]["messages_forwarded"] < 100) {
    }
    const nlohmann::json status = status_of(admin);
    CHECK(status["counts"]["logins"] == 3);
    const nlohmann::json* const bob = session_in(status, "bob");
    REQUIRE(bob != nullptr);
    CHECK((*bob)["connected"] == true);
    CHECK(std::string{(*bob)["address"]}.starts_with("127.0.0.1:"));
    CHECK(bob->contains("unread_bytes"));

    // What happened is told as lines of JSON, beside what people read.
    const auto events = [](const std::string& text) {
        std::vector<std::string> found;
        std::istringstream lines{text};
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with("{")) found.push_back(nlohmann::json::parse(line)["event"]);
        return found;
    };

    gateway.send(SIGTERM);
    while (ask(admin, "GET /ready").status == 200) {
    }
    CHECK(ask(admin, "GET /ready").body == "draining\n");
    CHECK(status_of(admin)["state"] == "draining");
    load.send(SIGKILL);
    static_cast<void>(load.wait());
    const std::string told = gateway.rest_of_output();
    CHECK(gateway.wait() == 0);
    const std::vector<std::string> story{"ready", "link_up", "draining", "ended"};
    CHECK_MESSAGE(events(told) == story, told);
    exchange.facility().send(SIGTERM);
    CHECK(exchange.facility().wait() == 0);
}

TEST_CASE("an admin port that is taken, or that others could reach, is said before clients come") {
    running_exchange exchange{facility_backends().front(), with_admin_alone};
    const std::string taken = part_behind(exchange.ready_line(), ", admin ");
    const written_config other{
        sample_text([&taken](nlohmann::json& it) { it["admin"]["at"] = taken; })};
    const auto [status, text] = outcome_of(EXCHANGE_MATCHING_FACILITY, {other.path()});
    CHECK(status == 1);
    CHECK_MESSAGE(text.find("cannot open its admin port") != std::string::npos, text);
    const written_config open{
        sample_text([](nlohmann::json& it) { it["admin"]["at"] = "0.0.0.0:0"; })};
    const auto [refused, why] = outcome_of(EXCHANGE_MATCHING_FACILITY, {open.path(), "--check"});
    CHECK(refused == 2);
    CHECK_MESSAGE(
        why.find("admin.at: expected an address of this machine alone") != std::string::npos, why);
}
