// SPDX-License-Identifier: BSL-1.0
//
// The client of exchange/client and its example against facilities and gateways that are processes.
#include <exchange/client/exchange_client.hpp>

#include <exchange/tests/programs/running_exchange.hpp>

#include <gyre/coro/launch.hpp>
#include <support/harness.hpp>

#include <csignal>
#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using gyre::task;

namespace {

exchange_client_options options_at(const std::string& where, const std::string& name) {
    exchange_client_options options;
    options.exchange = gyre::endpoint::parse(where).value();
    options.username = name;
    options.password = "secret";
    return options;
}

exchange_client client_at(gyre::io_context& on, const exchange_client_options& options) {
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

enter_order limit_order(order_side side, price_ticks price, contracts quantity) {
    enter_order it{};
    it.instrument = instrument_id{1};
    it.side = side;
    it.type = order_type::limit;
    it.tif = time_in_force::good_till_cancel;
    it.price = price;
    it.quantity = quantity;
    return it;
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

gyre::testing::program market_maker(const running_exchange& exchange,
                                    std::vector<std::string> words) {
    words.insert(words.begin(), exchange.order_entry());
    return gyre::testing::program{
        EXCHANGE_MARKET_MAKER, std::move(words), {{"EXCHANGE_PASSWORD", "secret"}}};
}

}  // namespace

TEST_CASE("client kit: the market maker of the example quotes, is filled, and moves") {
    for (const std::string& backend : backends()) {
        CAPTURE(backend);
        running_exchange exchange{backend};
        gyre::testing::program maker = market_maker(exchange, {"alice", "1", "1000", "2"});
        CHECK(maker.next_line() == "quotes 10 at 998");
        CHECK(maker.next_line() == "quotes 10 at 1002");

        run([&](gyre::io_context& on) -> task<> {
            exchange_client taker = client_at(on, options_at(exchange.order_entry(), "bob"));
            static_cast<void>(co_await hear<caught_up>(taker));
            REQUIRE(taker.enter(limit_order(order_side::sell, 998, 3)).ok());
            const order_executed sold = co_await hear<order_executed>(taker);
            CHECK(sold.price == 998);
            CHECK(maker.next_line() == "bought 3 at 998");
            CHECK(maker.next_line() == "quotes 10 at 997");
            CHECK(maker.next_line() == "quotes 10 at 1001");
            REQUIRE(taker.enter(limit_order(order_side::buy, 1001, 10)).ok());
            const order_executed bought = co_await hear<order_executed>(taker);
            CHECK(bought.price == 1001);
            CHECK(taker.log_out());
            static_cast<void>(co_await hear<session_over>(taker));
        });

        CHECK(maker.next_line() == "sold 10 at 1001");
        CHECK(maker.next_line() == "over: logged out");
        CHECK(maker.wait() == 0);
        exchange.facility().send(SIGTERM);
        CHECK(exchange.facility().wait() == 0);
    }
}

TEST_CASE("client kit: the market maker says why it may not trade, and ends at a signal") {
    running_exchange exchange{"gyre_epoll"};
    gyre::testing::program nobody = market_maker(exchange, {"mallet", "1", "1000"});
    CHECK(nobody.next_line() == "over: the login was refused");
    CHECK(nobody.wait() == 1);

    gyre::testing::program maker = market_maker(exchange, {"alice", "1", "1000"});
    CHECK(maker.next_line() == "quotes 10 at 998");
    maker.send(SIGTERM);
    CHECK(maker.wait() == 0);
}

TEST_CASE("client kit: a client goes on in the next life of an exchange that has crashed") {
    running_exchange exchange{"gyre_epoll"};
    run([&](gyre::io_context& on) -> task<> {
        exchange_client a = client_at(on, options_at(exchange.order_entry(), "alice"));
        exchange_client_options leaves = options_at(exchange.order_entry(), "bob");
        leaves.join_next_life = false;
        exchange_client b = client_at(on, leaves);
        const logged_in first = co_await hear<logged_in>(a);
        CHECK(first.life.view() == exchange.life());
        static_cast<void>(co_await hear<caught_up>(a));
        static_cast<void>(co_await hear<caught_up>(b));
        REQUIRE(a.enter(limit_order(order_side::buy, 900, 5)).ok());
        static_cast<void>(co_await hear<order_entered>(a));
        CHECK(a.orders().size() == 1);

        exchange.kill();
        static_cast<void>(co_await hear<connection_lost>(a));
        CHECK(a.orders().size() == 1);  // It may still be there.
        exchange.start_again();

        const life_changed other = co_await hear<life_changed>(a);
        CHECK(other.ended == first.life);
        CHECK(other.next.view() == exchange.life());
        CHECK(a.orders().size() == 0);
        static_cast<void>(co_await hear<caught_up>(a));
        REQUIRE(a.enter(limit_order(order_side::buy, 901, 5)).ok());
        static_cast<void>(co_await hear<order_entered>(a));
        static_cast<void>(co_await hear<life_changed>(b));
        const session_over over = co_await hear<session_over>(b);
        CHECK(over.why == session_end::life_ended);
        a.stop();
        static_cast<void>(co_await hear<session_over>(a));
    });
}
