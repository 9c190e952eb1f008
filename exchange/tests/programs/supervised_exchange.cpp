// SPDX-License-Identifier: BSL-1.0
//
// Configurations of a supervisor and its children: see supervised_exchange.hpp.
#include <exchange/tests/programs/supervised_exchange.hpp>

#include <exchange/tests/support/plain_http.hpp>

#include <support/harness.hpp>

#include <csignal>
#include <filesystem>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

namespace exchange::testing {
namespace {

/// For a listener, and for datagrams.
bool is_free(std::uint16_t port) {
    bool free = true;
    for (const int kind : {SOCK_STREAM, SOCK_DGRAM}) {
        const int probe = ::socket(AF_INET, kind | SOCK_CLOEXEC, 0);
        REQUIRE(probe >= 0);
        sockaddr_in name{};
        name.sin_family = AF_INET;
        name.sin_port = htons(port);
        name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        free = ::bind(probe, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 && free;
        ::close(probe);
    }
    return free;
}

}  // namespace

std::string own_place() {
    static std::mt19937 dice{std::random_device{}()};
    static std::set<std::uint16_t> given;
    for (;;) {
        const auto port = static_cast<std::uint16_t>(20'000 + dice() % 10'000);
        if (is_free(port) && given.insert(port).second) return "127.0.0.1:" + std::to_string(port);
    }
}

std::string sample_of(const std::string& name, const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json it = nlohmann::json::parse(
        gyre::testing::text_of_file(EXCHANGE_SAMPLE_FOLDER "/" + name), nullptr, true, true);
    change(it);
    return it.dump(1);
}

supervised_exchange::supervised_exchange(const supervised_options& how)
    : order_entry_{own_place()},
      requests_{own_place()},
      gateways_{own_place()},
      through_gateway_{own_place()},
      facility_{sample_text([&](nlohmann::json& it) {
          it["order_entry"]["at"] = order_entry_;
          it["feed"]["requests"] = requests_;
          it["gateways"]["at"] = gateways_;
          it["operators"].erase("audit_file");
          if (how.facility) how.facility(it);
      })},
      gateway_credentials_{how.gateway_credentials},
      gateway_{sample_of("gateway.json",
                         [&](nlohmann::json& it) {
                             it["order_entry"]["at"] = through_gateway_;
                             it["facility"]["at"] = gateways_;
                             it["credentials_file"] = gateway_credentials_.path();
                             it["log"]["level"] = "info";
                             if (how.gateway) how.gateway(it);
                         })},
      subscribers_{own_place()},
      distributor_credentials_{
          gyre::testing::text_of_file(EXCHANGE_SAMPLE_FOLDER "/distributor_credentials.json")},
      distributor_{sample_of("distributor.json",
                             [this](nlohmann::json& it) {
                                 const auto facility = nlohmann::json::parse(
                                     gyre::testing::text_of_file(facility_.path()));
                                 it["feed"]["from"] = facility["feed"]["to"];
                                 it["feed"]["requests"] = requests_;
                                 it["exchange"]["at"] = order_entry_;
                                 it["subscribers"] = {{"at", subscribers_}};
                                 it["credentials_file"] = distributor_credentials_.path();
                             })},
      passwords_{how.passwords},
      supervisor_{supervisor_text(how)},
      it_{EXCHANGE_EXCHANGE_SUPERVISOR, {supervisor_.path()}} {
    std::string line = it_.next_line();
    for (int each = 0; each < 100 && !line.starts_with("ready: "); ++each) {
        lines_ += line + '\n';
        line = it_.next_line();
    }
    INFO(lines_);
    const std::string word =
        how.distributor ? "ready: 3 children, admin " : "ready: 2 children, admin ";
    REQUIRE(line.starts_with(word));
    admin_ = port_of(line);
}

std::string supervised_exchange::supervisor_text(const supervised_options& how) const {
    const auto child = [&how](const char* name, const char* program, const std::string& config) {
        return nlohmann::json{{"name", name},
                              {"program", std::filesystem::absolute(program).string()},
                              {"arguments", {config, "--backend", how.backend}},
                              {"ready_within_ms", 120'000},
                              {"drain_within_ms", 120'000}};
    };
    nlohmann::json gateway = child("gateway", EXCHANGE_ORDER_ENTRY_GATEWAY, gateway_.path());
    gateway["after"] = {"facility"};
    gateway["ready_within_ms"] =
        std::chrono::duration_cast<std::chrono::milliseconds>(how.gateway_ready_within).count();
    nlohmann::json facility = child("facility", EXCHANGE_MATCHING_FACILITY, facility_.path());
    if (how.held) {
        facility["listen"] = {order_entry_, gateways_};
        gateway["listen"] = {through_gateway_};
        gateway["replaceable"] = 1;
    }
    nlohmann::json it;
    it["children"] = {facility, gateway};
    if (how.distributor) {
        nlohmann::json distributor =
            child("distributor", EXCHANGE_MARKET_DATA_DISTRIBUTOR, distributor_.path());
        distributor["after"] = {"facility"};
        distributor["listen"] = {subscribers_};
        it["children"].push_back(distributor);
    }
    it["admin"] = {{"at", "127.0.0.1:0"}, {"commands", 1}};
    it["log"]["level"] = "info";
    return it.dump(1);
}

nlohmann::json supervised_exchange::status() const {
    const http_answer answer = ask(admin_, "GET /status");
    REQUIRE(answer.status == 200);
    return nlohmann::json::parse(answer.body);
}

nlohmann::json supervised_exchange::child(const std::string& name) const {
    const nlohmann::json now = status();
    for (const nlohmann::json& each : now["children"])
        if (each["name"] == name) return each;
    return {};
}

void supervised_exchange::kill_child(const std::string& name) const {
    const nlohmann::json before = child(name);
    REQUIRE(::kill(before["pid"], SIGKILL) == 0);
    while (!is_settled(name, before["starts"].get<unsigned>() + 1)) {
    }
}

int supervised_exchange::command(const std::string& what, const std::string& child) const {
    return ask(admin_, "POST /" + what + "?child=" + child).status;
}

bool supervised_exchange::is_settled(const std::string& name, unsigned starts) const {
    const nlohmann::json now = child(name);
    return now["starts"] == starts && now["state"] == "ready" && !now.contains("beside");
}

running_exchange::answer supervised_exchange::load(std::vector<std::string> words) const {
    words.insert(words.begin(), {"--config", facility_.path(), "--order-entry", through_gateway_,
                                 "--requests", requests_, "--credentials", passwords_.path()});
    return outcome_of(EXCHANGE_LOAD_GENERATOR, std::move(words));
}

running_exchange::answer supervised_exchange::ctl(std::vector<std::string> words) const {
    words.insert(words.begin(), {"--config", facility_.path(), "--order-entry", order_entry_,
                                 "--credentials", passwords_.path()});
    return outcome_of(EXCHANGE_EXCHANGE_CTL, std::move(words));
}

std::vector<std::string> story_in(const std::string& text) {
    std::vector<std::string> made;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("{")) continue;
        const nlohmann::json it = nlohmann::json::parse(line);
        if (it["process"] != "exchange_supervisor") continue;
        std::string event = it["event"];
        if (it.contains("name")) event += ' ' + std::string{it["name"]};
        made.push_back(std::move(event));
    }
    return made;
}

}  // namespace exchange::testing
