// SPDX-License-Identifier: BSL-1.0
//
// The client of exchange/client over WebSocket, as binary messages and as JSON, against a process.
#include <exchange/client/exchange_client.hpp>

#include <exchange/tests/programs/running_exchange.hpp>

#include <gyre/coro/launch.hpp>
#include <support/harness.hpp>

#include <csignal>
#include <string>
#include <string_view>

using namespace exchange;
using namespace exchange::testing;
using gyre::task;

namespace {

std::string websocket_of(const running_exchange& exchange) {
    constexpr std::string_view before = "websocket ";
    const std::string& ready = exchange.ready_line();
    const std::size_t at = ready.find(before);
    REQUIRE(at != std::string::npos);
    return ready.substr(at + before.size());
}

template <class Kind>
task<Kind> hear(exchange_client& from) {
    for (;;) {
        const auto told = co_await from.next();
        REQUIRE(told.ok());
        if (const Kind* it = told.value().template as<Kind>()) co_return *it;
    }
}

exchange_client client_at(gyre::io_context& on, const std::string& where, client_transport how,
                          const char* path = "/order-entry/v1") {
    exchange_client_options options;
    options.exchange = gyre::endpoint::parse(where).value();
    options.username = "alice";
    options.password = "secret";
    options.transport = how;
    options.websocket_path = path;
    auto opened = exchange_client::open(on, options);
    REQUIRE(opened.ok());
    return opened.take();
}

task<> quote_and_cancel(gyre::io_context& on, std::string where, client_transport how) {
    exchange_client a = client_at(on, where, how);
    static_cast<void>(co_await hear<caught_up>(a));
    enter_quotes many{};
    many.count = 2;
    many.entries[0] = {instrument_id{1}, 990, 1010, 3, 3};
    many.entries[1] = {instrument_id{1}, 991, 1009, 4, 4};
    REQUIRE(a.quote(many).ok());
    for (int sides = 0; sides < 4; ++sides) static_cast<void>(co_await hear<order_entered>(a));
    CHECK(a.orders().size() == 2);
    cancel_orders all{};
    all.account = account_id{1};
    REQUIRE(a.cancel(all).ok());
    while (a.orders().size() > 0) static_cast<void>(co_await hear<order_cancelled>(a));
    CHECK(a.unanswered() == 0);
    CHECK(a.log_out());
    const session_over over = co_await hear<session_over>(a);
    CHECK(over.why == session_end::logged_out);
}

task<> be_refused(gyre::io_context& on, std::string where) {
    exchange_client a = client_at(on, where, client_transport::websocket_json, "/somewhere");
    const auto told = co_await a.next();
    REQUIRE(told.ok());
    const auto* const over = told.value().as<session_over>();
    REQUIRE(over != nullptr);
    CHECK(over->why == session_end::upgrade_refused);
}

}  // namespace

TEST_CASE("client kit: a client over WebSocket trades, one with a wrong path is told so") {
    running_exchange exchange{"gyre_epoll", [](nlohmann::json& it) {
                                  it["order_entry"]["websocket_at"] = "127.0.0.1:0";
                              }};
    const std::string where = websocket_of(exchange);
    gyre::io_context on;
    for (const client_transport how :
         {client_transport::websocket_sbe, client_transport::websocket_json}) {
        CAPTURE(static_cast<int>(how));
        gyre::launch(on, quote_and_cancel(on, where, how), gyre::or_terminate{});
        on.run_for(gyre::testing::patience);
    }
    gyre::launch(on, be_refused(on, where), gyre::or_terminate{});
    on.run_for(gyre::testing::patience);
    exchange.facility().send(SIGTERM);
    CHECK(exchange.facility().wait() == 0);
}
