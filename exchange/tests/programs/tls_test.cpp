// SPDX-License-Identifier: BSL-1.0
//
// A gateway and a distributor as processes with TLS at their doors, and the client kit before them.
#include <exchange/client/exchange_client.hpp>

#include <exchange/tests/programs/running_exchange.hpp>

#include <gyre/coro/launch.hpp>
#include <support/certificates.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>

#include <csignal>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using gyre::task;
using gyre::testing::program;

namespace {

std::string some_port() {
    return "127.0.0.1:" + std::to_string(20'000 + std::random_device{}() % 10'000);
}

nlohmann::json sample(const char* name) {
    return nlohmann::json::parse(
        gyre::testing::text_of_file(std::string{EXCHANGE_SAMPLE_FOLDER "/"} + name), nullptr, true,
        true);
}

/// Certificates of a server at 127.0.0.1, as files.
class server_files {
public:
    server_files() { renew("first"); }

    /// Another authority's, at the same paths.
    void renew(const std::string& name) {
        gyre::testing::test_authority authority{name};
        gyre::testing::certificate_wish wish;
        wish.hosts = {"IP:127.0.0.1"};
        wish.begins = -std::chrono::hours{24 * 365 * 20};  // Programs judge by the clock.
        const gyre::tls::identity it = authority.issue(wish);
        chain = folder_.put("chain.pem", it.certificates);
        key = folder_.put("key.pem", it.private_key);
        std::filesystem::permissions(
            key, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        trusted = folder_.put(name + ".pem", authority.certificate());
    }
    [[nodiscard]] nlohmann::json section() const {
        return {{"certificates", chain}, {"private_key", key}};
    }

    std::string chain;
    std::string key;
    std::string trusted;  ///< Its authority's, a file of its own.

private:
    gyre::testing::scratch_directory folder_;
};

/// A process of the exchange that clients come to over both transports.
class secured_program {
public:
    secured_program(std::string path, const nlohmann::json& config, const char* credentials)
        : path_{std::move(path)},
          credentials_{
              gyre::testing::text_of_file(std::string{EXCHANGE_SAMPLE_FOLDER "/"} + credentials)} {
        nlohmann::json it = config;
        it["credentials_file"] = credentials_.path();
        config_.emplace(it.dump(1));
        start();
    }
    void start() {
        it_.emplace(path_, words());
        ready_ = it_->next_line();
        INFO("it has printed: ", ready_);
        REQUIRE(ready_.starts_with("ready: "));
    }
    void end() {
        it_->send(SIGTERM);
        CHECK(it_->wait() == 0);
    }
    [[nodiscard]] std::vector<std::string> words() const {
        return {config_->path(), "--backend", "gyre_epoll"};
    }

    /// The address behind a word of its ready line.
    [[nodiscard]] gyre::endpoint at(const std::string& word) const {
        const std::size_t begin = ready_.find(word + " ");
        REQUIRE(begin != std::string::npos);
        const std::string rest = ready_.substr(begin + word.size() + 1);
        return gyre::endpoint::parse(rest.substr(0, rest.find_first_of(",\n"))).value();
    }

private:
    std::string path_;
    written_config credentials_;  // Which nobody else can read.
    std::optional<written_config> config_;
    std::optional<program> it_;
    std::string ready_;
};

nlohmann::json gateway_config(const running_exchange& exchange, const server_files& files) {
    nlohmann::json it = sample("gateway.json");
    it["order_entry"]["at"] = some_port();
    it["order_entry"]["websocket_at"] = "127.0.0.1:0";
    it["order_entry"]["tls"] = files.section();
    it["facility"]["at"] = exchange.gateways();
    return it;
}

nlohmann::json distributor_config(const running_exchange& exchange, const server_files& files) {
    nlohmann::json it = sample("distributor.json");
    const nlohmann::json of = nlohmann::json::parse(
        gyre::testing::text_of_file(exchange.config_path()), nullptr, true, true);
    it["feed"]["from"] = of["feed"]["to"];
    it["feed"]["requests"] = exchange.requests();
    it["exchange"]["at"] = exchange.order_entry();
    it["subscribers"]["at"] = some_port();
    it["subscribers"]["websocket_at"] = "127.0.0.1:0";
    it["subscribers"]["tls"] = files.section();
    return it;
}

client_tls trusting(const std::string& authority) {
    client_tls made;
    made.wanted = true;
    made.system_authorities = false;
    made.authorities_file = authority;
    return made;
}

exchange_client secured_client(gyre::io_context& on, const secured_program& gateway,
                               const char* name, client_transport by, const client_tls& tls) {
    exchange_client_options options;
    options.exchange = gateway.at(by == client_transport::soup ? "order entry" : "websocket");
    options.username = name;
    options.password = "secret";
    options.transport = by;
    options.tls = tls;
    auto opened = exchange_client::open(on, options);
    REQUIRE(opened.ok());
    return opened.take();
}

template <class Kind>
task<Kind> hear(exchange_client& from) {
    for (;;) {
        const auto told = co_await from.next();
        REQUIRE(told.ok());
        if (const Kind* it = told.value().template as<Kind>()) co_return *it;
    }
}

enter_order order_of(order_side side, price_ticks price, contracts quantity) {
    enter_order it{};
    it.instrument = instrument_id{1};
    it.side = side;
    it.type = order_type::limit;
    it.tif = time_in_force::good_till_cancel;
    it.price = price;
    it.quantity = quantity;
    return it;
}

/// Alice bids, and Bob takes it.
task<> trade_once(gyre::io_context& on, const secured_program& gateway, client_transport by,
                  client_tls tls, price_ticks price) {
    exchange_client a = secured_client(on, gateway, "alice", by, tls);
    exchange_client b = secured_client(on, gateway, "bob", by, tls);
    static_cast<void>(co_await hear<caught_up>(a));
    static_cast<void>(co_await hear<caught_up>(b));
    REQUIRE(a.enter(order_of(order_side::buy, price, 5)).ok());
    for (bool mine = false; !mine;) {
        const order_entered entered = co_await hear<order_entered>(a);
        mine = entered.price == price;
    }
    REQUIRE(b.enter(order_of(order_side::sell, price, 5)).ok());
    for (bool mine = false; !mine;) {
        const order_executed executed = co_await hear<order_executed>(a);
        mine = executed.price == price;
    }
    CHECK(a.log_out());
    CHECK(b.log_out());
    const session_over over = co_await hear<session_over>(a);
    CHECK(over.why == session_end::logged_out);
    static_cast<void>(co_await hear<session_over>(b));
}

/// Runs `body(loop)` to its end.
template <class Body>
void run(const Body& body) {
    gyre::io_context on;
    bool ended = false;
    gyre::launch(on, body(on), [&ended](gyre::task_outcome<void> outcome) {
        outcome.get();
        ended = true;
    });
    on.run_for(gyre::testing::patience);
    CHECK(ended);
}

/// The next line that it prints with `what` in it.
std::string line_with(program& of, const std::string& what) {
    for (;;) {
        std::string line = of.next_line();
        if (line.find(what) != std::string::npos || line.empty()) return line;
    }
}

void with_gateway(nlohmann::json& it) { it["gateways"]["at"] = "127.0.0.1:0"; }

}  // namespace

TEST_CASE(
    "tls: clients trade through a secured gateway, and are watched through a secured distributor") {
    running_exchange exchange{"gyre_epoll", with_gateway};
    const server_files files;
    secured_program gateway{EXCHANGE_ORDER_ENTRY_GATEWAY, gateway_config(exchange, files),
                            "gateway_credentials.json"};
    secured_program distributor{EXCHANGE_MARKET_DATA_DISTRIBUTOR,
                                distributor_config(exchange, files),
                                "distributor_credentials.json"};
    const auto watch = [&](const char* door, std::vector<std::string> more) {
        more.insert(more.begin(),
                    {distributor.at(door).to_string(), "diana", "--tls", files.trusted});
        return program{EXCHANGE_MARKET_WATCH, std::move(more), {{"EXCHANGE_PASSWORD", "secret"}}};
    };
    program binary = watch("subscribers", {});
    program json = watch("websocket", {"--json"});
    // Both are here when they have told what there is.
    CHECK(line_with(binary, "1: ") == "1: - | -");
    CHECK(line_with(json, "1: ") == "1: - | -");

    price_ticks price = 1'000;
    for (const client_transport by : {client_transport::soup, client_transport::websocket_sbe,
                                      client_transport::websocket_json}) {
        ++price;
        run([&](gyre::io_context& on) {
            return trade_once(on, gateway, by, trusting(files.trusted), price);
        });
        const std::string told = "1: traded 5 at " + std::to_string(price);
        CHECK(line_with(binary, "traded") == told);
        CHECK(line_with(json, "traded") == told);
    }
    for (program* each : {&binary, &json}) {
        each->send(SIGTERM);
        CHECK(each->wait() == 0);
    }
    distributor.end();
    gateway.end();
}

TEST_CASE("tls: a gateway that is started again has the certificates that are there then") {
    running_exchange exchange{"gyre_epoll", with_gateway};
    server_files files;
    secured_program gateway{EXCHANGE_ORDER_ENTRY_GATEWAY, gateway_config(exchange, files),
                            "gateway_credentials.json"};
    const client_tls before = trusting(files.trusted);
    run([&](gyre::io_context& on) -> task<> {
        exchange_client a = secured_client(on, gateway, "alice", client_transport::soup, before);
        static_cast<void>(co_await hear<caught_up>(a));
        a.stop();
    });
    files.renew("second");
    gateway.end();
    gateway.start();
    run([&](gyre::io_context& on) -> task<> {
        exchange_client a = secured_client(on, gateway, "alice", client_transport::soup, before);
        const security_failed failed = co_await hear<security_failed>(a);
        CHECK_FALSE(failed.why.view().empty());
        const session_over over = co_await hear<session_over>(a);
        CHECK(over.why == session_end::security_refused);
        exchange_client b =
            secured_client(on, gateway, "alice", client_transport::soup, trusting(files.trusted));
        static_cast<void>(co_await hear<caught_up>(b));
        b.stop();
    });
    gateway.end();
}

TEST_CASE("tls: a configuration whose key is another's is found before it begins") {
    running_exchange exchange{"gyre_epoll", with_gateway};
    const server_files files;
    const server_files others;
    nlohmann::json it = gateway_config(exchange, files);
    it["order_entry"]["tls"]["private_key"] = others.key;
    const written_config credentials{
        gyre::testing::text_of_file(EXCHANGE_SAMPLE_FOLDER "/gateway_credentials.json")};
    it["credentials_file"] = credentials.path();
    const written_config config{it.dump(1)};
    const auto [status, text] =
        outcome_of(EXCHANGE_ORDER_ENTRY_GATEWAY, {config.path(), "--check"});
    CHECK(status == 2);
    CHECK(text.find("order_entry.tls.private_key: " + others.key + " is not the key of") !=
          std::string::npos);
}
