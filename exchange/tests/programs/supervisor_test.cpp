// SPDX-License-Identifier: BSL-1.0
//
// A supervised exchange: in which order it comes and goes, and what becomes of it when its parts are killed.
#include <exchange/tests/programs/supervised_exchange.hpp>

#include <exchange/tests/support/plain_http.hpp>

#include <support/harness.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

using namespace exchange;
using namespace exchange::testing;
using gyre::testing::program;

namespace {

/// Does this process run no more? One that is waited for by nobody counts as ended.
bool is_gone(int id) {
    std::ifstream file{"/proc/" + std::to_string(id) + "/stat"};
    std::string text;
    if (!std::getline(file, text)) return true;
    return text[text.rfind(')') + 2] == 'Z';
}

running_exchange::answer supervised(const nlohmann::json& children) {
    nlohmann::json how;
    how["children"] = children;
    how["log"]["level"] = "info";
    const written_config file{how.dump()};
    return outcome_of(EXCHANGE_EXCHANGE_SUPERVISOR, {file.path()});
}

}  // namespace

TEST_CASE("a supervised exchange comes in order, trades, and goes from the last to the first") {
    supervised_exchange all;
    CHECK(all.status()["state"] == "ready");
    const auto [ended, report] = all.load({"--orders", "2000", "--seed", "1"});
    CHECK_MESSAGE(ended == 0, report);
    all.it().send(SIGTERM);
    const std::string text = all.rest();
    CHECK(all.it().wait() == 0);
    const std::vector<std::string> story{"child_started facility",
                                         "child_ready facility",
                                         "child_started gateway",
                                         "child_ready gateway",
                                         "ready",
                                         "draining",
                                         "child_draining gateway",
                                         "child_ended gateway",
                                         "child_draining facility",
                                         "child_ended facility",
                                         "ended"};
    CHECK_MESSAGE(story_in(text) == story, text);
    CHECK(text.find("facility: ready: order entry ") != std::string::npos);
    CHECK(text.find("facility: commands ") != std::string::npos);
    CHECK(text.find("gateway: started 1 times") != std::string::npos);
}

TEST_CASE("whichever part of a supervised exchange is killed comes again, and trades") {
    supervised_exchange all;
    for (const char* const part : {"gateway", "facility", "gateway"}) {
        CAPTURE(part);
        all.kill_child(part);
        const auto [ended, report] =
            all.load({"--orders", "500", "--seed", "1", "--timeout", "60"});
        CHECK_MESSAGE(ended == 0, report);
    }
    all.it().send(SIGTERM);
    const std::string text = all.rest();
    CHECK(all.it().wait() == 0);
    const std::vector<std::string> story = story_in(text);
    const auto count = [&story](const char* what) { return std::ranges::count(story, what); };
    CHECK_MESSAGE(count("child_started gateway") == 3, text);
    CHECK(count("child_started facility") == 2);
    CHECK(count("child_backing_off gateway") == 2);
    CHECK(text.find("killed by SIGKILL") != std::string::npos);
}

TEST_CASE("a supervisor that is killed leaves nothing behind") {
    supervised_exchange all;
    const int facility = all.child("facility")["pid"];
    const int gateway = all.child("gateway")["pid"];
    CHECK_FALSE(is_gone(facility));
    all.it().send(SIGKILL);
    CHECK(all.it().wait() == 128 + SIGKILL);
    while (!is_gone(facility) || !is_gone(gateway)) {
    }
}

TEST_CASE("a second signal ends a supervisor and all of its children at once") {
    const nlohmann::json stubborn = {
        {{"name", "stubborn"},
         {"program", "/bin/sh"},
         {"arguments", {"-c", "trap '' TERM; echo ready: $$; while :; do sleep 1; done"}},
         {"drain_within_ms", 600'000}}};
    nlohmann::json how;
    how["children"] = stubborn;
    const written_config file{how.dump()};
    program it{EXCHANGE_EXCHANGE_SUPERVISOR, {file.path()}};
    const std::string line = it.next_line();
    REQUIRE(line.starts_with("stubborn: ready: "));
    const int child = std::stoi(line.substr(17));
    CHECK(it.next_line() == "ready: 1 children");
    it.send(SIGTERM);
    it.send(SIGINT);  // Another number, so that none is lost while the first one waits.
    CHECK(it.wait() > 128);
    while (!is_gone(child)) {
    }
}

TEST_CASE("a child that fails too often, or never becomes ready, ends the exchange with a status") {
    const nlohmann::json fails = {{{"name", "fails"},
                                   {"program", "/bin/false"},
                                   {"restart_after_ms", 1},
                                   {"failures_max", 2}}};
    const auto [status, text] = supervised(fails);
    CHECK(status == 1);
    const std::vector<std::string> story{"child_started fails",
                                         "child_ended fails",
                                         "child_backing_off fails",
                                         "child_started fails",
                                         "child_ended fails",
                                         "child_backing_off fails",
                                         "child_started fails",
                                         "child_ended fails",
                                         "gave_up fails",
                                         "draining",
                                         "ended"};
    CHECK_MESSAGE(story_in(text) == story, text);
    CHECK(text.find("exited with 1") != std::string::npos);

    const nlohmann::json silent = {{{"name", "silent"},
                                    {"program", "/bin/sleep"},
                                    {"arguments", {"100000"}},
                                    {"ready_within_ms", 50},
                                    {"failures_max", 0}}};
    const auto [killed, why] = supervised(silent);
    CHECK(killed == 1);
    CHECK_MESSAGE(why.find("child_killed") != std::string::npos, why);

    const nlohmann::json nowhere = {
        {{"name", "nowhere"}, {"program", "/nowhere/program"}, {"failures_max", 0}}};
    const auto [missing, said] = supervised(nowhere);
    CHECK(missing == 1);
    CHECK_MESSAGE(said.find("child_not_started") != std::string::npos, said);
}

TEST_CASE("a child's end is told though a process that left its group holds its output") {
    // Ends only when the other one has left the group, with which it would be killed.
    const char* const script = R"(trap 'exit 3' USR1
setsid sh -c "echo ready: \$\$; kill -USR1 $$; exec sleep 100000" 2>/dev/null &
while :; do sleep 0.01; done)";
    const nlohmann::json parent = {{{"name", "parent"},
                                    {"program", "/bin/sh"},
                                    {"arguments", {"-c", script}},
                                    {"failures_max", 0}}};
    const auto [status, text] = supervised(parent);
    CHECK(status == 1);
    CHECK_MESSAGE(text.find("exited with 3") != std::string::npos, text);
    const std::string word = "parent: ready: ";
    const std::size_t at = text.find(word);
    REQUIRE(at != std::string::npos);
    const int holder = std::stoi(text.substr(at + word.size()));
    CHECK_FALSE(is_gone(holder));
    CHECK(::kill(holder, SIGKILL) == 0);
}

TEST_CASE("who reads what a supervisor prints may hang or go away: its children are looked after") {
    std::array<int, 2> output{};
    REQUIRE(::pipe(output.data()) == 0);
    const std::string admin = own_place();
    const nlohmann::json talker{
        {"name", "talker"},
        {"program", "/bin/sh"},
        {"arguments",
         {"-c",
          "echo ready: yes; for i in $(seq 5000); do echo and says so much that no pipe has "
          "room for all of it; done; exec sleep 1000"}}};
    const written_config file{nlohmann::json{
        {"children", {talker}},
        {"admin", {{"at", admin}, {"commands", 1}}},
        {"log",
         {{"level", "info"}}}}.dump()};
    const std::string to = " >/proc/self/fd/" + std::to_string(output[1]) + " 2>&1";
    program it{"/bin/sh",
               {"-c", "exec \"$0\" \"$1\"" + to, EXCHANGE_EXCHANGE_SUPERVISOR, file.path()}};
    const auto limit = std::chrono::steady_clock::now() + gyre::testing::patience;
    const auto is_ready = [&](int starts) {
        if (!listens(port_of(admin))) return false;
        const http_answer answer = ask(port_of(admin), "GET /status");
        if (answer.status != 200) return false;
        const nlohmann::json child = nlohmann::json::parse(answer.body)["children"][0];
        return child["state"] == "ready" && child["starts"] == starts;
    };
    const auto until_ready = [&](int starts) {
        while (!is_ready(starts) && std::chrono::steady_clock::now() < limit) {
        }
        return is_ready(starts);
    };
    CHECK(until_ready(1));
    const auto lines_lost = [&] {
        const http_answer answer = ask(port_of(admin), "GET /status");
        REQUIRE(answer.status == 200);
        return nlohmann::json::parse(answer.body)["counts"]["child_lines_lost"].get<int>();
    };
    while (lines_lost() == 0 && std::chrono::steady_clock::now() < limit) {
    }
    CHECK(lines_lost() > 0);
    ::close(output[1]);
    for (const int starts : {2, 3}) {
        CAPTURE(starts);
        if (starts == 3) ::close(output[0]);  // It hung until now, and is gone.
        CHECK(ask(port_of(admin), "POST /restart?child=talker").status == 202);
        CHECK(until_ready(starts));
    }
    it.send(SIGTERM);
    CHECK(it.wait() == 0);
}

TEST_CASE("a supervisor says what is wrong with its configuration") {
    const written_config bad{R"({"children": [{"name": "a"}]})"};
    const auto [status, text] = outcome_of(EXCHANGE_EXCHANGE_SUPERVISOR, {bad.path()});
    CHECK(status == 2);
    CHECK_MESSAGE(text.find("children[0].program: is missing") != std::string::npos, text);
}

TEST_CASE("the sample of a supervised exchange is in order") {
    const auto [good, said] = outcome_of(EXCHANGE_EXCHANGE_SUPERVISOR,
                                         {EXCHANGE_SAMPLE_FOLDER "/supervisor.json", "--check"});
    CHECK_MESSAGE(good == 0, said);
}

TEST_CASE("a supervised exchange that works is in order") {
    supervised_exchange all;
    const auto [good, said] =
        outcome_of(EXCHANGE_EXCHANGE_SUPERVISOR, {all.config_path(), "--check"});
    CHECK_MESSAGE(good == 0, said);
}
