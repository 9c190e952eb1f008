// SPDX-License-Identifier: BSL-1.0
//
// A gateway as a process, between an exchange and its clients, used as exchange/docs/connect.md says.
#include <exchange/tests/programs/running_exchange.hpp>

#include <exchange/management/password_hash.hpp>

#include <support/harness.hpp>

#include <csignal>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using gyre::testing::program;

namespace {

void with_gateways(nlohmann::json& it) { it["gateways"]["at"] = "127.0.0.1:0"; }

/// One that the kernel gives to no client: while the gateway is dead, one that connects to it could be
/// given its port to connect from.
unsigned own_port() { return 20'000 + std::random_device{}() % 10'000; }

/// A gateway in front of an exchange, as its sample has it but for addresses.
class running_gateway {
public:
    explicit running_gateway(const running_exchange& exchange, const std::string& backend)
        : credentials_{gyre::testing::text_of_file(EXCHANGE_SAMPLE_FOLDER
                                                   "/gateway_credentials.json")},
          backend_{backend} {
        nlohmann::json it = nlohmann::json::parse(
            gyre::testing::text_of_file(EXCHANGE_SAMPLE_FOLDER "/gateway.json"), nullptr, true,
            true);
        it["order_entry"]["at"] = "127.0.0.1:" + std::to_string(own_port());
        it["facility"]["at"] = exchange.gateways();
        it["credentials_file"] = credentials_.path();
        configs_.emplace_back(it.dump(1));
        start();
    }

    void start() {
        gateway_.emplace(EXCHANGE_ORDER_ENTRY_GATEWAY,
                         std::vector<std::string>{configs_.back().path(), "--backend", backend_});
        ready_ = gateway_->next_line();
        const std::string word = "ready: order entry ";
        INFO("it has printed: ", ready_);
        REQUIRE(ready_.starts_with(word));
        at_ = ready_.substr(word.size(), ready_.find(',') - word.size());
    }
    void kill() {
        gateway_->send(SIGKILL);
        REQUIRE(gateway_->wait() == 128 + SIGKILL);
    }

    [[nodiscard]] program& it() noexcept { return *gateway_; }
    [[nodiscard]] const std::string& at() const noexcept { return at_; }
    [[nodiscard]] const std::string& ready_line() const noexcept { return ready_; }

private:
    written_config credentials_;  // Which nobody else can read.
    std::string backend_;
    std::deque<written_config> configs_;
    std::optional<program> gateway_;
    std::string ready_;
    std::string at_;
};

std::vector<std::string> load_through(const running_gateway& gateway,
                                      const running_exchange& exchange,
                                      std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"--config", exchange.config_path(), "--order-entry", gateway.at(), "--requests",
                  exchange.requests(), "--credentials", exchange.passwords_path()});
    return words;
}

void wait_for_a_bid(const running_exchange& it) {
    while (it.ctl({"show", "book", "1"}).text.find("\nbid ") == std::string::npos) {
    }
}

}  // namespace

TEST_CASE("a load trades through a gateway, and everything agrees, on every backend") {
    for (const std::string& backend : backends()) {
        CAPTURE(backend);
        running_exchange exchange{backend, with_gateways};
        running_gateway gateway{exchange, backend};
        CHECK(gateway.ready_line().find("facility " + exchange.gateways()) != std::string::npos);
        CHECK(gateway.ready_line().ends_with(", backend " + backend));

        const auto [status, report] =
            outcome_of(EXCHANGE_LOAD_GENERATOR,
                       load_through(gateway, exchange, {"--orders", "5000", "--seed", "1"}));
        CHECK_MESSAGE(status == 0, report);
        CHECK_MESSAGE(report.find("everything agrees") != std::string::npos, report);
        CHECK_MESSAGE(report.find("sent 5000 messages") != std::string::npos, report);

        gateway.it().send(SIGTERM);
        const std::string summary = gateway.it().rest_of_output();
        CHECK(gateway.it().wait() == 0);
        CHECK_MESSAGE(summary.find("logins 3, refused 0, ") != std::string::npos, summary);
        CHECK_MESSAGE(summary.find("clients shed 0, links 1\n") != std::string::npos, summary);
        exchange.facility().send(SIGTERM);
        CHECK(exchange.facility().wait() == 0);
    }
}

TEST_CASE("a load goes on though its gateway is killed and started again, and everything agrees") {
    const std::string backend = backends().front();
    running_exchange exchange{backend, with_gateways};
    running_gateway gateway{exchange, backend};
    program load{
        EXCHANGE_LOAD_GENERATOR,
        load_through(gateway, exchange, {"--orders", "6000", "--rate", "2000", "--seed", "1"})};
    wait_for_a_bid(exchange);

    for (int round = 0; round < 3; ++round) {
        gateway.kill();
        gateway.start();
        wait_for_a_bid(exchange);
    }

    const auto [status, text] = outcome_of(load);
    CHECK_MESSAGE(status == 0, text);
    CHECK_MESSAGE(text.find("everything agrees") != std::string::npos, text);
}

TEST_CASE("a load goes on though the exchange behind its gateway is killed, in the new life") {
    const std::string backend = backends().front();
    running_exchange exchange{backend, with_gateways};
    running_gateway gateway{exchange, backend};
    program load{
        EXCHANGE_LOAD_GENERATOR,
        load_through(gateway, exchange, {"--orders", "6000", "--rate", "2000", "--seed", "1"})};
    wait_for_a_bid(exchange);

    exchange.kill();
    exchange.start_again();

    const auto [status, text] = outcome_of(load);
    CHECK_MESSAGE(status == 0, text);
    CHECK_MESSAGE(text.find("everything agrees") != std::string::npos, text);
    CHECK_MESSAGE(text.find("lives of the exchange: 2 to traders, 2 in the feed; messages of "
                            "another one 0\n") != std::string::npos,
                  text);
}

TEST_CASE("a gateway's configuration is judged by --check, and a bad one is refused") {
    const running_exchange::answer good = outcome_of(
        EXCHANGE_ORDER_ENTRY_GATEWAY, {EXCHANGE_SAMPLE_FOLDER "/gateway.json", "--check"});
    CHECK(good.status == 0);
    CHECK_MESSAGE(good.text.ends_with("gateway.json: in order\n"), good.text);

    const written_config bad{R"({"order_entry": {"at": "nowhere"}, "gate": 1})"};
    const running_exchange::answer refused = outcome_of(EXCHANGE_ORDER_ENTRY_GATEWAY, {bad.path()});
    CHECK(refused.status == 2);
    CHECK(outcome_of(EXCHANGE_ORDER_ENTRY_GATEWAY,
                     {EXCHANGE_SAMPLE_FOLDER "/gateway.json", "--backend", "kqueue"})
              .status == 2);
}

TEST_CASE("a new token is printed with its hash, and lets its user in") {
    const auto [status, text] = outcome_of(EXCHANGE_ORDER_ENTRY_GATEWAY, {"--new-token"});
    REQUIRE(status == 0);
    const std::size_t end_of_line = text.find('\n');
    const std::string token = text.substr(6, end_of_line - 6);
    const std::string hash = text.substr(end_of_line + 6, text.size() - end_of_line - 7);
    CHECK(text.starts_with("token "));
    CHECK_MESSAGE(is_hashed_password(token, hash), text);
}
