// SPDX-License-Identifier: BSL-1.0
//
// Admin ports of an exchange and of a gateway while they trade, as docs/admin.md of the exchange says.
#include <exchange/tests/programs/running_exchange.hpp>
#include <exchange/tests/support/plain_http.hpp>

#include <support/harness.hpp>

#include <chrono>
#include <csignal>
#include <deque>
#include <sstream>
#include <string>
#include <vector>

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>

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

/// The first in which so much of this was counted: one may be a tenth of a second old.
nlohmann::json status_with(std::uint16_t admin, const char* counter, std::uint64_t at_least) {
    nlohmann::json made = status_of(admin);
    while (made["counts"][counter] < at_least) made = status_of(admin);
    return made;
}

const nlohmann::json* session_in(const nlohmann::json& status, const std::string& user) {
    for (const nlohmann::json& each : status["sessions"])
        if (each["user"] == user) return &each;
    return nullptr;
}

/// The lines of JSON in what a process has said, beside what people read.
std::vector<nlohmann::json> events_in(const std::string& text) {
    std::vector<nlohmann::json> found;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("{")) found.push_back(nlohmann::json::parse(line));
    return found;
}

/// Stops one thread of a child, as long as this lives: the others go on.
class held_thread {
public:
    explicit held_thread(pid_t it) : it_{it} {
        held_ = ::ptrace(PTRACE_SEIZE, it, nullptr, nullptr) == 0;
        if (!held_) return;  // This machine does not permit it.
        REQUIRE(::ptrace(PTRACE_INTERRUPT, it, nullptr, nullptr) == 0);
        int status = 0;
        REQUIRE(::waitpid(it, &status, __WALL) == it);
        REQUIRE(WIFSTOPPED(status));
    }
    held_thread(const held_thread&) = delete;
    held_thread& operator=(const held_thread&) = delete;
    ~held_thread() {
        if (held_) ::ptrace(PTRACE_DETACH, it_, nullptr, nullptr);
    }

    [[nodiscard]] bool held() const noexcept { return held_; }

private:
    pid_t it_;
    bool held_ = false;
};

}  // namespace

TEST_CASE("an admin port tells how an exchange is while it trades, on every backend") {
    for (const std::string& backend : backends()) {
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

        nlohmann::json status = status_with(admin, "commands", 5000);
        while ((*session_in(status, "alice"))["connected"] == true) status = status_of(admin);
        CHECK(status["process"] == "matching_facility");
        CHECK(status["backend"] == backend);
        CHECK(status["life"] == exchange.life());
        CHECK(status["state"] == "ready");
        CHECK(status["counts"]["feed_messages"] > 5000);
        CHECK(status["counts"]["logins"] >= 3);
        CHECK(status["counts"]["logins_refused"] == 0);
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
    running_exchange exchange{backends().front(), with_admin};
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
    const nlohmann::json status = status_with(admin, "messages_forwarded", 100);
    CHECK(status["counts"]["logins"] == 3);
    const nlohmann::json* const bob = session_in(status, "bob");
    REQUIRE(bob != nullptr);
    CHECK((*bob)["connected"] == true);
    CHECK(std::string{(*bob)["address"]}.starts_with("127.0.0.1:"));
    CHECK(bob->contains("unread_bytes"));
    CHECK((*bob)["transport"] == "soup");
    const nlohmann::json at_facility = status_of(admin_of(exchange.ready_line()));
    const nlohmann::json* const through = session_in(at_facility, "bob");
    REQUIRE(through != nullptr);
    CHECK((*through)["transport"] == "link");

    gateway.send(SIGTERM);
    while (ask(admin, "GET /ready").status == 200) {
    }
    CHECK(ask(admin, "GET /ready").body == "draining\n");
    while (status_of(admin)["state"] != "draining") {
    }
    load.send(SIGKILL);
    static_cast<void>(load.wait());
    const std::string told = gateway.rest_of_output();
    CHECK(gateway.wait() == 0);
    std::vector<std::string> events;
    for (const nlohmann::json& each : events_in(told)) events.push_back(each["event"]);
    const std::vector<std::string> story{"ready", "link_up", "draining", "ended"};
    CHECK_MESSAGE(events == story, told);
    exchange.facility().send(SIGTERM);
    CHECK(exchange.facility().wait() == 0);
}

TEST_CASE("a facility counts the logins that it refuses, and logs whose they were") {
    running_exchange exchange{backends().front(), with_admin_alone};
    const std::uint16_t admin = admin_of(exchange.ready_line());
    const written_config wrong{sample_passwords([](nlohmann::json& other) {
        for (nlohmann::json& each : other["users"]) each["password"] = "guess";
    })};
    const auto [refused, why] =
        outcome_of(EXCHANGE_EXCHANGE_CTL,
                   {"-c", exchange.config_path(), "--order-entry", exchange.order_entry(),
                    "--credentials", wrong.path(), "phase", "1", "halted"});
    CHECK_MESSAGE(refused == 3, why);

    CHECK(status_of(admin)["counts"]["logins_refused"] == 1);
    CHECK(status_of(admin)["counts"]["logins"] == 0);
    exchange.facility().send(SIGTERM);
    const std::string told = exchange.facility().rest_of_output();
    CHECK(exchange.facility().wait() == 0);
    std::size_t refusals = 0;
    for (const nlohmann::json& each : events_in(told)) {
        if (each["event"] != "login_refused") continue;
        ++refusals;
        CHECK(each["level"] == "warning");
        CHECK(each["process"] == "matching_facility");
        CHECK(each["user"] == "ops");
        CHECK(each["why"] == "wrong_password");
        CHECK(std::string{each["address"]}.starts_with("127.0.0.1:"));
        CHECK(each["untold"] == 0);
    }
    CHECK_MESSAGE(refusals == 1, told);
    CHECK(told.find("guess") == std::string::npos);
}

TEST_CASE("a facility whose loop stands still is neither healthy nor ready, until it goes on") {
    for (const std::string& backend : backends()) {
        CAPTURE(backend);
        running_exchange exchange{backend, [](nlohmann::json& it) {
                                      it["admin"]["at"] = "127.0.0.1:0";
                                      it["admin"]["answer_within_ms"] = 100;
                                  }};
        const std::uint16_t admin = admin_of(exchange.ready_line());
        nlohmann::json status;
        while (status.is_null()) {  // It may take longer than that on a machine that is busy.
            const http_answer it = ask(admin, "GET /status");
            if (it.status == 200) status = nlohmann::json::parse(it.body);
        }
        {
            const held_thread held{status["pid"].get<pid_t>()};
            if (!held.held()) {
                MESSAGE("skipped: no thread of a child can be held here");
                return;
            }
            // An answer that was fresh serves for a tenth of a second.
            while (ask(admin, "GET /health").status == 200) {
            }
            CHECK(ask(admin, "GET /health").status == 503);
            CHECK(ask(admin, "GET /ready").status == 503);
            CHECK(ask(admin, "GET /metrics").status == 503);
            CHECK(ask(admin, "GET /tasks").status == 503);
        }
        while (ask(admin, "GET /health").status != 200) {
        }
        exchange.facility().send(SIGTERM);
        CHECK(exchange.facility().wait() == 0);
    }
}

TEST_CASE("what strangers do to an admin port does not disturb who trades, nor who asks") {
    running_exchange exchange{backends().front(), [](nlohmann::json& it) {
                                  it["admin"]["at"] = "127.0.0.1:0";
                                  it["admin"]["connections_max"] = 8;
                              }};
    const std::uint16_t admin = admin_of(exchange.ready_line());
    program load = exchange.start_load({"--orders", "5000", "--seed", "1"});

    // More than there are places for: silent, or slow with a request, or with reading an answer.
    std::deque<plain_connection> strangers;
    for (int each = 0; each < 4; ++each) {
        strangers.emplace_back(admin);
        strangers.emplace_back(admin).say("GET /status HTTP/1.1\r\nHost: ");
        strangers.emplace_back(admin).say("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    CHECK(ask(admin, "GET /" + std::string(20'000, 'x')).status / 100 == 4);
    const plain_connection many_fields{admin};
    std::string head = "GET /status HTTP/1.1\r\n";
    for (int each = 0; each < 1000; ++each) head += "field-" + std::to_string(each) + ": x\r\n";
    many_fields.say(head + "\r\n");
    CHECK(answer_in(many_fields.rest()).status == 431);
    const plain_connection long_body{admin};
    long_body.say("GET /status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n");
    CHECK(answer_in(long_body.rest()).status == 413);
    const plain_connection noise{admin};
    noise.say(std::string_view{"\x16\x03\x01\x00\xff\r\n\r\n", 9});
    CHECK(answer_in(noise.rest()).status == 400);

    CHECK(ask(admin, "GET /health").status == 200);
    const auto [ended, report] = outcome_of(load);
    CHECK_MESSAGE(ended == 0, report);
    CHECK(status_with(admin, "commands", 5000)["state"] == "ready");
    // Those that sent no whole request were cut, in time.
    CHECK(answer_in(strangers[1].rest()).status == 408);
    exchange.facility().send(SIGTERM);
    CHECK(exchange.facility().wait() == 0);
}

TEST_CASE("an admin port that is taken, or that others could reach, is said before clients come") {
    running_exchange exchange{backends().front(), with_admin_alone};
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
