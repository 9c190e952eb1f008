// SPDX-License-Identifier: BSL-1.0
//
// A distributor as a process, between an exchange and its subscribers, used as exchange/docs/distributor.md
// says.
#include <exchange/net/gyre/traits.hpp>
#include <exchange/tests/net/subscriber.hpp>
#include <exchange/tests/programs/running_exchange.hpp>
#include <exchange/tests/support/plain_http.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

#include <chrono>
#include <csignal>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using namespace std::chrono_literals;
using gyre::task;
using gyre::testing::program;

namespace {

/// A distributor of an exchange, as its sample has it but for addresses.
class running_distributor {
public:
    running_distributor(const running_exchange& exchange, const std::string& backend,
                        const std::function<void(nlohmann::json&)>& change = {})
        : credentials_{gyre::testing::text_of_file(EXCHANGE_SAMPLE_FOLDER
                                                   "/distributor_credentials.json")},
          backend_{backend} {
        const auto parse = [](const std::string& text) {
            return nlohmann::json::parse(text, nullptr, true, true);
        };
        nlohmann::json it =
            parse(gyre::testing::text_of_file(EXCHANGE_SAMPLE_FOLDER "/distributor.json"));
        const nlohmann::json of = parse(gyre::testing::text_of_file(exchange.config_path()));
        it["feed"]["from"] = of["feed"]["to"];
        it["feed"]["requests"] = exchange.requests();
        it["exchange"]["at"] = exchange.order_entry();
        it["subscribers"]["at"] =
            "127.0.0.1:" + std::to_string(20'000 + std::random_device{}() % 10'000);
        it["subscribers"].erase("websocket_at");
        it["credentials_file"] = credentials_.path();
        if (change) change(it);
        configs_.emplace_back(it.dump(1));
        start();
    }

    void start() {
        it_.emplace(EXCHANGE_MARKET_DATA_DISTRIBUTOR,
                    std::vector<std::string>{configs_.back().path(), "--backend", backend_});
        ready_ = it_->next_line();
        const std::string word = "ready: subscribers ";
        INFO("it has printed: ", ready_);
        REQUIRE(ready_.starts_with(word));
        at_ = ready_.substr(word.size(), ready_.find(',') - word.size());
    }
    void kill() {
        it_->send(SIGKILL);
        REQUIRE(it_->wait() == 128 + SIGKILL);
    }

    [[nodiscard]] program& it() noexcept { return *it_; }
    [[nodiscard]] const std::string& at() const noexcept { return at_; }
    [[nodiscard]] const std::string& ready_line() const noexcept { return ready_; }

private:
    written_config credentials_;  // Which nobody else can read.
    std::string backend_;
    std::deque<written_config> configs_;
    std::optional<program> it_;
    std::string ready_;
    std::string at_;
};

order_entry_client_options subscription_to(const running_distributor& it) {
    order_entry_client_options options;
    options.exchange = gyre::endpoint::parse(it.at()).value();
    options.login = {.username = "diana", .password = "secret", .session = {}, .sequence = 1};
    return options;
}

/// A book as `exchange_ctl show book` prints it, in the words of `told_market::book`.
std::string book_of_exchange(const running_exchange& exchange, int instrument) {
    const auto [status, text] =
        exchange.ctl({"show", "book", std::to_string(instrument), "--levels", "10000"});
    REQUIRE_MESSAGE(status == 0, text);
    std::string bids;
    std::string asks;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line};
        std::string side;
        std::string price;
        std::string quantity;
        words >> side >> price >> quantity;  // "bid 999: 38 in 3 orders"
        if (!price.empty()) price.pop_back();
        if (side == "bid") bids += price + "x" + quantity + " ";
        if (side == "ask") asks += price + "x" + quantity + " ";
    }
    return bids + "|" + asks;
}

/// Waits until a subscriber of the distributor is told these books, and leaves.
task<> be_told(gyre::io_context& on, const running_distributor& by, std::string first,
               std::string second) {
    subscriber<gyre_traits> it{on, subscription_to(by)};
    co_await it.in();
    it.want(instrument_id::none);
    co_await it.until_book(first, instrument_id{1});
    co_await it.until_book(second, instrument_id{2});
    co_await it.until([&it] {
        return it.markets[instrument_id{1}].summary.complete &&
               it.markets[instrument_id{2}].summary.complete;
    });
    it.client.stop();
    co_await it.gone();
}

void check_told_as_the_exchange_says(const running_exchange& exchange,
                                     const running_distributor& by) {
    gyre::io_context on;
    REQUIRE_FALSE(on.status());
    bool told = false;
    const auto look = [&]() -> task<> {
        co_await be_told(on, by, book_of_exchange(exchange, 1), book_of_exchange(exchange, 2));
        told = true;
    };
    gyre::launch(on, look(), gyre::or_terminate{});
    on.run_for(gyre::testing::patience);
    REQUIRE(told);
}

}  // namespace

TEST_CASE("a subscriber of a distributor is told the exchange's own books, on every backend") {
    for (const std::string& backend : backends()) {
        CAPTURE(backend);
        running_exchange exchange{backend};
        running_distributor by{exchange, backend};
        CHECK(by.ready_line().ends_with(", backend " + backend));
        const auto [status, report] = exchange.load({"--orders", "3000", "--seed", "1"});
        REQUIRE_MESSAGE(status == 0, report);
        check_told_as_the_exchange_says(exchange, by);

        by.it().send(SIGTERM);
        const std::string summary = by.it().rest_of_output();
        CHECK(by.it().wait() == 0);
        CHECK_MESSAGE(summary.find("logins 1, refused 0, ") != std::string::npos, summary);
        // Log lines may precede it: a busy machine's kernel drops datagrams of the feed.
        CHECK_MESSAGE(("\n" + summary).find("\nfeed messages ") != std::string::npos, summary);
        exchange.facility().send(SIGTERM);
        CHECK(exchange.facility().wait() == 0);
    }
}

TEST_CASE("a distributor that is killed and started again has the books it never heard") {
    running_exchange exchange{backends().front()};
    running_distributor by{exchange, backends().front()};
    for (int seed = 1; seed <= 3; ++seed) {
        const auto [status, report] =
            exchange.load({"--orders", "1000", "--seed", std::to_string(seed)});
        REQUIRE_MESSAGE(status == 0, report);
        by.kill();
        by.start();
        check_told_as_the_exchange_says(exchange, by);
    }
    by.it().send(SIGTERM);
    CHECK(by.it().rest_of_output().find("pages asked for 0,") == std::string::npos);
    CHECK(by.it().wait() == 0);
}

TEST_CASE(
    "an exchange that is killed takes its books along, and subscribers hear of the next life") {
    running_exchange exchange{backends().front()};
    running_distributor by{exchange, backends().front()};
    const auto [status, report] = exchange.load({"--orders", "500", "--seed", "7"});
    REQUIRE_MESSAGE(status == 0, report);
    gyre::io_context on;
    REQUIRE_FALSE(on.status());
    bool told = false;
    const auto look = [&]() -> task<> {
        subscriber<gyre_traits> it{on, subscription_to(by)};
        co_await it.in();
        it.want(instrument_id::none);
        co_await it.until_book(book_of_exchange(exchange, 1));
        exchange.kill();
        exchange.start_again();
        co_await it.until([&it] { return !it.lives.empty() && it.client.machine().logged_in(); });
        CHECK(it.lives.back().view() == exchange.life());
        it.want(instrument_id::none);
        const auto again = exchange.load({"--orders", "500", "--seed", "8"});
        CHECK_MESSAGE(again.status == 0, again.text);
        co_await it.until_book(book_of_exchange(exchange, 1));
        it.client.stop();
        co_await it.gone();
        told = true;
    };
    gyre::launch(on, look(), gyre::or_terminate{});
    on.run_for(gyre::testing::patience);
    CHECK(told);
}

TEST_CASE(
    "an admin port counts what a distributor sends once more, and nothing where there is none") {
    running_exchange exchange{backends().front()};
    const auto with_admin = [](nlohmann::json& it) { it["admin"]["at"] = "127.0.0.1:0"; };
    const auto with_relay = [&](nlohmann::json& it) {
        with_admin(it);
        std::random_device seed;
        it["redistribution"] = {{"to", "239.195.71." + std::to_string(1 + seed() % 250) + ":" +
                                           std::to_string(20'000 + seed() % 10'000)},
                                {"interface", "lo"},
                                {"from", "127.0.0.1:0"},
                                {"requests", "127.0.0.1:0"}};
    };
    running_distributor by{exchange, backends().front(), with_relay};
    running_distributor without{exchange, backends().front(), with_admin};
    const auto counts_of = [](const running_distributor& which) {
        const std::string word = ", admin ";
        const std::string& line = which.ready_line();
        const std::size_t at = line.find(word);
        REQUIRE_MESSAGE(at != std::string::npos, line);
        const std::size_t from = at + word.size();
        const http_answer it =
            ask(port_of(line.substr(from, line.find(',', from) - from)), "GET /status");
        REQUIRE(it.status == 200);
        return nlohmann::json::parse(it.body)["counts"];
    };
    const auto [status, report] = exchange.load({"--orders", "500", "--seed", "1"});
    REQUIRE_MESSAGE(status == 0, report);

    nlohmann::json counts;
    const auto limit = std::chrono::steady_clock::now() + gyre::testing::patience;
    do counts = counts_of(by);
    while (std::chrono::steady_clock::now() < limit &&
           (counts["relay_messages"] < 500 || counts["relay_datagrams"] == 0));
    CHECK_MESSAGE(counts["relay_messages"] >= 500, counts.dump());
    CHECK(counts["relay_datagrams"] > 0);
    CHECK(counts["relay_lives"] == 1);
    CHECK(counts["relay_too_long"] == 0);
    CHECK(counts["relay_requests_refused"] == 0);
    CHECK_FALSE(counts_of(without).contains("relay_messages"));
}

TEST_CASE("a distributor's configuration can be checked without running it") {
    const auto [status, said] = outcome_of(EXCHANGE_MARKET_DATA_DISTRIBUTOR,
                                           {EXCHANGE_SAMPLE_FOLDER "/distributor.json", "--check"});
    CHECK_MESSAGE(status == 0, said);
    CHECK(said.find("in order") != std::string::npos);
    const written_config bad{R"({"feed": 7})"};
    CHECK(outcome_of(EXCHANGE_MARKET_DATA_DISTRIBUTOR, {bad.path()}).status == 2);
}
