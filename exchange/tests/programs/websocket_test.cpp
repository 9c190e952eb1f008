// SPDX-License-Identifier: BSL-1.0
//
// A facility as a process that lets clients of WebSocket in beside those of TCP.
#include <exchange/tests/net/trader.hpp>
#include <exchange/tests/net/venue_with_two_traders.hpp>
#include <exchange/tests/net/websocket_side.hpp>
#include <exchange/tests/programs/running_exchange.hpp>

#include <exchange/net/gyre/traits.hpp>

#include <gyre/coro/launch.hpp>
#include <support/harness.hpp>
#include <support/skip.hpp>

#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using gyre::task;

namespace {

void with_websockets(nlohmann::json& it) { it["order_entry"]["websocket_at"] = "127.0.0.1:0"; }

order_entry_client_options client_at(const std::string& where, std::string_view name) {
    order_entry_client_options options;
    options.exchange = gyre::endpoint::parse(where).value();
    options.login = login_of(name);
    return options;
}

std::string websocket_of(const running_exchange& exchange) {
    constexpr std::string_view before = "websocket ";
    const std::string& ready = exchange.ready_line();
    const std::size_t at = ready.find(before);
    REQUIRE(at != std::string::npos);
    return ready.substr(at + before.size());
}

/// Three clients, each over a transport of its own, in one market.
task<> trade_with_each_other(gyre::io_context& on, const running_exchange& exchange) {
    const std::string websocket = websocket_of(exchange);
    std::optional<speaking_json> format{std::in_place};  // Which a client has from the start on.
    trader<over_websocket<gyre_traits>> a{on, client_at(websocket, "alice")};
    format.reset();
    trader<over_websocket<gyre_traits>> b{on, client_at(websocket, "bob")};
    trader<gyre_traits> c{on, client_at(exchange.order_entry(), "carol")};
    co_await a.in();
    co_await b.in();
    co_await c.in();
    a.send(limit(client_sequence{1}, order_side::buy, 1000, 5));
    co_await a.heard_at_least(1);
    b.send(limit(client_sequence{1}, order_side::sell, 1000, 2));
    co_await b.heard_at_least(2);
    c.send(limit(client_sequence{1}, order_side::sell, 1000, 3));
    co_await c.heard_at_least(2);
    co_await a.heard_at_least(5);

    CHECK(a.heard_of<order_entered>().size() == 1);
    CHECK(a.heard_of<order_executed>().size() == 2);
    CHECK(b.heard_of<order_executed>().size() == 1);
    CHECK(c.heard_of<trade_capture_report>().size() == 1);
    CHECK(a.disconnects + b.disconnects + c.disconnects == 0);
    a.client.stop();
    b.client.stop();
    c.client.stop();
    co_await a.gone();
    co_await b.gone();
    co_await c.gone();
}

}  // namespace

TEST_CASE("clients over WebSocket, as JSON, and over TCP trade with each other, on every backend") {
    for (const std::string& backend : backends()) {
        CAPTURE(backend);
        running_exchange exchange{backend, with_websockets};
        gyre::io_context on;
        gyre::launch(on, trade_with_each_other(on, exchange), gyre::or_terminate{});
        on.run();
        exchange.facility().send(SIGTERM);
        CHECK(exchange.facility().wait() == 0);
    }
}
