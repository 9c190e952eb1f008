// SPDX-License-Identifier: BSL-1.0
//
// What exchange/client/exchange_client.hpp promises, beside a facility on the same loop.
#include <exchange/client/exchange_client.hpp>

#include <exchange/net/application/matching_facility.hpp>
#include <exchange/tests/client/relay.hpp>
#include <exchange/tests/net/facility_fixture.hpp>
#include <exchange/tests/net/gyre_side.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>

#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using gyre::errc;
using gyre::task;
using laws = facility_fixture<gyre_side, matching_facility<gyre_traits>>;

namespace {

exchange_client_options options_at(const gyre::endpoint& where, const std::string& name) {
    exchange_client_options options;
    options.exchange = where;
    options.username = name;
    options.password = "secret";
    return options;
}

exchange_client client_of(laws::fixture& it, const exchange_client_options& options) {
    auto opened = exchange_client::open(it.on, options);
    REQUIRE(opened.ok());
    return opened.take();
}
exchange_client client_of(laws::fixture& it, const std::string& name) {
    return client_of(it, options_at(it.facility->order_entry(), name));
}

/// Takes news up to the first of a kind.
template <class Kind>
task<Kind> hear(exchange_client& from) {
    for (;;) {
        const auto told = co_await from.next();
        REQUIRE(told.ok());
        if (const Kind* it = told.value().template as<Kind>()) co_return *it;
    }
}

/// Counts what it hears until the client is caught up.
struct heard_by_then {
    std::vector<std::uint64_t> entered;
    std::vector<std::uint64_t> lost;
    int rejected = 0;
    int logins = 0;
    client_sequence next = client_sequence::none;
};
task<heard_by_then> catch_up(exchange_client& from) {
    heard_by_then heard;
    for (;;) {
        const auto got = co_await from.next();
        REQUIRE(got.ok());
        const news& told = got.value();
        if (const auto* it = told.as<order_entered>())
            heard.entered.push_back(number(it->client_seq));
        if (const auto* it = told.as<command_lost>()) heard.lost.push_back(number(it->client_seq));
        if (told.as<order_rejected>() != nullptr) ++heard.rejected;
        if (told.as<logged_in>() != nullptr) ++heard.logins;
        if (const auto* it = told.as<caught_up>()) {
            heard.next = it->next_seq;
            co_return heard;
        }
    }
}

/// What is not told to anyone who could wait for it.
template <class Condition>
task<> until_not(Condition holds) {
    while (holds()) static_cast<void>(co_await gyre::sleep_for(std::chrono::milliseconds{1}));
}

enter_order buy(price_ticks price, contracts quantity) {
    return limit(client_sequence::none, order_side::buy, price, quantity);
}
enter_order sell(price_ticks price, contracts quantity) {
    return limit(client_sequence::none, order_side::sell, price, quantity);
}

}  // namespace

TEST_CASE("exchange client: orders are entered, filled, cancelled, and told") {
    laws::hold([](laws::fixture& it) -> task<> {
        exchange_client a = client_of(it, "alice");
        exchange_client b = client_of(it, "bob");
        CHECK(a.enter(buy(100, 5)).error() == errc::not_connected);
        const caught_up ready = co_await hear<caught_up>(a);
        CHECK(ready.session == alice);
        static_cast<void>(co_await hear<caught_up>(b));

        const auto entered = a.enter(buy(100, 5));
        REQUIRE(entered.ok());
        CHECK(entered.value() == ready.next_seq);
        const order_entered rests = co_await hear<order_entered>(a);
        CHECK(rests.client_seq == entered.value());
        CHECK(a.unanswered() == 0);
        REQUIRE(b.enter(sell(100, 2)).ok());
        const order_executed fill = co_await hear<order_executed>(a);
        CHECK(fill.quantity == 2);
        REQUIRE(a.orders().find(entered.value()) != nullptr);
        CHECK(a.orders().find(entered.value())->open == 3);
        static_cast<void>(co_await hear<trade_capture_report>(b));
        REQUIRE(a.cancel(entered.value()).ok());
        const order_cancelled gone = co_await hear<order_cancelled>(a);
        CHECK(gone.cancelled == 3);
        CHECK(a.orders().size() == 0);
        REQUIRE(a.cancel(entered.value()).ok());
        const order_rejected no = co_await hear<order_rejected>(a);
        CHECK(no.reason == reject_reason::unknown_order);

        CHECK(a.log_out());
        const session_over over = co_await hear<session_over>(a);
        CHECK(over.why == session_end::logged_out);
        const auto behind = co_await a.next();
        CHECK(behind.error() == errc::closed);
        CHECK(a.enter(buy(100, 5)).error() == errc::closed);
    });
}

TEST_CASE("exchange client: quotes, mass quotes, stops, icebergs, protection and mass cancels") {
    laws::hold([](laws::fixture& it) -> task<> {
        exchange_client a = client_of(it, "alice");
        static_cast<void>(co_await hear<caught_up>(a));

        enter_quote both{};
        both.instrument = the_market;
        both.bid_price = 90;
        both.ask_price = 110;
        both.bid_quantity = both.ask_quantity = 7;
        const auto quoted = a.quote(both);
        REQUIRE(quoted.ok());
        static_cast<void>(co_await hear<order_entered>(a));
        static_cast<void>(co_await hear<order_entered>(a));
        REQUIRE(a.orders().find(quoted.value(), order_side::sell) != nullptr);
        CHECK(a.orders().find(quoted.value(), order_side::sell)->price == 110);

        enter_quotes many{};
        CHECK(a.quote(many).error() == errc::invalid_argument);
        many.count = 2;
        many.entries[0] = many.entries[1] = {the_market, 91, 111, 3, 3};
        many.entries[1].bid_price = 92;
        const auto first = a.quote(many);
        REQUIRE(first.ok());
        CHECK(a.unanswered() == 2);
        for (int sides = 0; sides < 4; ++sides) static_cast<void>(co_await hear<order_entered>(a));
        CHECK(a.unanswered() == 0);
        CHECK(a.orders().size() == 2);
        const client_sequence second{number(first.value()) + 1};
        REQUIRE(a.orders().find(second, order_side::buy) != nullptr);
        CHECK(a.orders().find(second, order_side::buy)->price == 92);

        set_protection guard{};
        guard.product = product_id{1};
        guard.window_ns = 1'000'000;
        guard.trades_max = 10;
        REQUIRE(a.protect(guard).ok());
        const protection_set set = co_await hear<protection_set>(a);
        CHECK(set.trades_max == 10);

        enter_advanced_order stop{};
        stop.instrument = the_market;
        stop.side = order_side::sell;
        stop.type = order_type::stop_limit;
        stop.tif = time_in_force::good_till_cancel;
        stop.price = 60;
        stop.trigger_price = 70;
        stop.quantity = 4;
        const auto stopped = a.enter(stop);
        REQUIRE(stopped.ok());
        static_cast<void>(co_await hear<stop_entered>(a));
        REQUIRE(a.orders().find(stopped.value()) != nullptr);
        CHECK(a.orders().find(stopped.value())->waits);
        amend_stop moved{};
        moved.target.client_seq = stopped.value();
        moved.trigger_price = 75;
        moved.price = 60;
        moved.quantity = 4;
        REQUIRE(a.amend(moved).ok());
        static_cast<void>(co_await hear<trigger_amended>(a));
        CHECK(a.orders().find(stopped.value())->trigger_price == 75);

        enter_advanced_order iceberg = stop;
        iceberg.type = order_type::limit;
        iceberg.trigger_price = 0;
        iceberg.price = 120;
        iceberg.quantity = 20;
        iceberg.display_quantity = 5;
        const auto hidden = a.enter(iceberg);
        REQUIRE(hidden.ok());
        static_cast<void>(co_await hear<order_entered>(a));
        CHECK(a.orders().find(hidden.value())->display_quantity == 5);
        amend_order less{};
        less.target.client_seq = hidden.value();
        less.price = 120;
        less.quantity = 12;
        REQUIRE(a.amend(less).ok());
        static_cast<void>(co_await hear<order_amended>(a));
        CHECK(a.orders().find(hidden.value())->open == 12);

        cancel_orders all{};
        all.account = account_id{1};
        REQUIRE(a.cancel(all).ok());
        while (a.orders().size() > 0) static_cast<void>(co_await hear<order_cancelled>(a));
        CHECK(a.unanswered() == 0);
    });
}

TEST_CASE("exchange client: what was lost on its way is told, what has arrived is told once") {
    laws::hold([](laws::fixture& it) -> task<> {
        relay between{it.on, it.facility->order_entry()};
        exchange_client a = client_of(it, options_at(between.where(), "alice"));
        static_cast<void>(co_await hear<caught_up>(a));
        const auto arrives = a.enter(buy(100, 1));
        static_cast<void>(co_await hear<order_entered>(a));

        // One whose answer is lost.
        between.swallow_down = true;
        const auto unheard = a.enter(buy(101, 1));
        REQUIRE(unheard.ok());
        co_await until_not([&] { return it.open_orders(alice) < 2; });
        // And one that is lost itself.
        between.swallow_up = true;
        const auto lost = a.enter(buy(102, 1));
        REQUIRE(lost.ok());
        co_await until_not([&] { return between.swallowed == 0; });
        CHECK(a.unanswered() == 2);
        between.swallow_up = between.swallow_down = false;
        between.cut();
        const connection_lost cut = co_await hear<connection_lost>(a);
        CHECK(cut.why == soup_ending::none);
        CHECK_FALSE(a.trading());
        CHECK(a.enter(buy(103, 1)).error() == errc::not_connected);
        const heard_by_then heard = co_await catch_up(a);

        CHECK(heard.entered == std::vector{number(unheard.value())});
        CHECK(heard.lost == std::vector{number(lost.value())});
        CHECK(heard.rejected == 0);
        CHECK(a.unanswered() == 0);
        CHECK(a.orders().size() == 2);
        CHECK(it.open_orders(alice) == 2);
        CHECK(arrives.ok());
        const auto again = a.enter(buy(102, 1));
        REQUIRE(again.ok());
        const order_entered now = co_await hear<order_entered>(a);
        CHECK(now.client_seq == again.value());
        between.stop();
        a.stop();
    });
}

TEST_CASE(
    "exchange client: a program that begins anew finds its orders, and numbers that are free") {
    laws::hold([](laws::fixture& it) -> task<> {
        resume_point later;
        client_sequence last{};
        {
            exchange_client a = client_of(it, "alice");
            static_cast<void>(co_await hear<caught_up>(a));
            for (int each = 0; each < 2000; ++each) {
                static_cast<void>(co_await a.room());
                REQUIRE(a.enter(buy(100, 1)).ok());
                REQUIRE(a.cancel(cancel_order{}).ok());
                news told;
                while (a.try_next(told)) {
                }
            }
            while (a.unanswered() > 0) static_cast<void>(co_await a.next());
            later = a.resume_at();
            const auto sent = a.enter(buy(99, 3));
            REQUIRE(sent.ok());
            last = sent.value();
            co_await until_not([&] { return it.open_orders(alice) < 2001; });
        }
        CHECK(later.sequence > 4000);
        CHECK_FALSE(later.life.empty());

        exchange_client all = client_of(it, "alice");
        const heard_by_then everything = co_await catch_up(all);
        CHECK(everything.entered.size() == 2001);
        CHECK(everything.next > last);
        CHECK(all.orders().size() == 2001);
        REQUIRE(all.enter(buy(98, 1)).ok());
        static_cast<void>(co_await hear<order_entered>(all));
        all.stop();
        static_cast<void>(co_await hear<session_over>(all));

        exchange_client_options from = options_at(it.facility->order_entry(), "alice");
        from.life = later.life;
        from.sequence = later.sequence;
        exchange_client rest = client_of(it, from);
        const heard_by_then missed = co_await catch_up(rest);
        CHECK(missed.entered.size() == 2);
        CHECK(missed.entered[0] == number(last));
        rest.stop();
    });
}

TEST_CASE("exchange client: a refused login is told, and not tried again") {
    laws::hold([](laws::fixture& it) -> task<> {
        relay between{it.on, it.facility->order_entry()};
        exchange_client_options options = options_at(between.where(), "alice");
        options.password = "wrong";
        exchange_client a = client_of(it, options);

        const auto told = co_await a.next();
        REQUIRE(told.ok());
        const auto* const over = told.value().as<session_over>();
        REQUIRE(over != nullptr);
        CHECK(over->why == session_end::login_refused);
        CHECK(over->reject == soup_reject::not_authorized);
        const auto behind = co_await a.next();
        CHECK(behind.error() == errc::closed);
        const auto no_room = co_await a.room();
        CHECK(no_room.error() == errc::closed);
        CHECK(between.connections == 1);
        between.stop();
    });
}

TEST_CASE("exchange client: an exchange that is not there is told once, and found later") {
    laws::hold([](laws::fixture& it) -> task<> {
        auto reserved = gyre::stream_acceptor::listen(it.on, loopback(0), {});
        REQUIRE(reserved.ok());
        const gyre::endpoint nowhere = reserved.value().local_endpoint().value();
        static_cast<void>(reserved.take().close());
        exchange_client_options options = options_at(nowhere, "alice");
        exchange_client a = client_of(it, options);

        const unreachable told = co_await hear<unreachable>(a);
        CHECK(told.why == errc::connection_refused);
        const auto silence = co_await gyre::with_timeout(std::chrono::milliseconds{200}, a.next());
        CHECK(silence.error() == errc::timed_out);
        a.stop();
        const session_over over = co_await hear<session_over>(a);
        CHECK(over.why == session_end::stopped);
    });
}

TEST_CASE("exchange client: an exchange that answers no login is told to be unreachable, once") {
    laws::hold([](laws::fixture& it) -> task<> {
        relay between{it.on, it.facility->order_entry()};
        between.swallow_down = true;
        exchange_client_options options = options_at(between.where(), "alice");
        options.dead_after = std::chrono::milliseconds{250};
        options.reconnect_after_max = std::chrono::milliseconds{10};
        exchange_client a = client_of(it, options);
        const unreachable told = co_await hear<unreachable>(a);
        CHECK(told.why == errc::timed_out);
        const int before = between.connections;
        while (between.connections < before + 2)
            static_cast<void>(co_await gyre::sleep_for(std::chrono::milliseconds{1}));
        news more;
        CHECK_FALSE(a.try_next(more));
        between.swallow_down = false;
        static_cast<void>(co_await hear<caught_up>(a));
        a.stop();
        between.stop();
    });
}

TEST_CASE("exchange client: news that are not taken stop the reading, and none is lost") {
    laws::hold([](laws::fixture& it) -> task<> {
        exchange_client_options options = options_at(it.facility->order_entry(), "alice");
        options.news_max = 8;
        options.dead_after = std::chrono::milliseconds{200};
        exchange_client a = client_of(it, options);
        exchange_client b = client_of(it, "bob");
        static_cast<void>(co_await hear<caught_up>(a));
        static_cast<void>(co_await hear<caught_up>(b));
        const auto mine = a.enter(buy(100, 1000));
        REQUIRE(mine.ok());
        static_cast<void>(co_await hear<order_entered>(a));
        for (int each = 0; each < 200; ++each) {
            static_cast<void>(co_await b.room());
            REQUIRE(b.enter(sell(100, 1)).ok());
            static_cast<void>(co_await hear<trade_capture_report>(b));
        }
        // A pause that is longer than the exchange's silence may be.
        static_cast<void>(co_await gyre::sleep_for(std::chrono::milliseconds{400}));
        CHECK(a.enter(buy(1, 1)).error() == errc::no_buffer_space);
        CHECK(a.orders().find(mine.value())->open > 900);

        int fills = 0;
        while (fills < 200) {
            const auto told = co_await a.next();
            REQUIRE(told.ok());
            CHECK(told.value().as<connection_lost>() == nullptr);
            fills += told.value().as<order_executed>() != nullptr ? 1 : 0;
        }
        CHECK(a.orders().find(mine.value())->open == 800);
        const auto roomy = co_await a.room();
        CHECK(roomy.ok());
        a.stop();
        b.stop();
    });
}

TEST_CASE("exchange client: while news are not taken it asks for nothing") {
    laws::hold([](laws::fixture& it) -> task<> {
        {
            exchange_client before = client_of(it, "alice");
            static_cast<void>(co_await hear<caught_up>(before));
            for (int each = 0; each < 100; ++each) {
                REQUIRE(before.enter(buy(100, 1)).ok());
                static_cast<void>(co_await hear<order_entered>(before));
            }
        }
        const auto told = [&it] { return it.who(alice).stream().messages().next_sequence(); };
        const std::uint64_t history = told();
        exchange_client_options options = options_at(it.facility->order_entry(), "alice");
        options.news_max = 8;
        exchange_client a = client_of(it, options);
        exchange_client b = client_of(it, "bob");
        static_cast<void>(co_await hear<caught_up>(b));
        // Whose answer comes behind those to all that `a` has asked.
        const auto ask_behind = [&b]() -> task<> {
            REQUIRE(b.enter(buy(100, 1)).ok());
            static_cast<void>(co_await hear<order_entered>(b));
        };
        co_await until_not([&] { return told() == history; });  // The answer to its fence.
        co_await ask_behind();
        const std::uint64_t answered = told();
        // A fence goes up again after 500 ms by the same loop's clock.
        static_cast<void>(co_await gyre::sleep_for(std::chrono::milliseconds{600}));
        co_await ask_behind();
        CHECK(told() == answered);
        CHECK_FALSE(a.trading());
        const heard_by_then heard = co_await catch_up(a);
        CHECK(heard.entered.size() == 100);
        a.stop();
        b.stop();
    });
}

TEST_CASE("exchange client: commands without an answer are bounded") {
    laws::hold([](laws::fixture& it) -> task<> {
        relay between{it.on, it.facility->order_entry()};
        exchange_client_options options = options_at(between.where(), "alice");
        options.unanswered_max = 64;
        exchange_client a = client_of(it, options);
        static_cast<void>(co_await hear<caught_up>(a));

        between.swallow_up = true;
        for (int each = 0; each < 64; ++each) REQUIRE(a.enter(buy(100, 1)).ok());
        CHECK(a.enter(buy(100, 1)).error() == errc::no_buffer_space);
        const auto full = co_await gyre::with_timeout(std::chrono::milliseconds{20}, a.room());
        CHECK(full.error() == errc::timed_out);
        between.swallow_up = false;
        between.cut();
        const auto room = co_await a.room(64);

        CHECK(room.ok());
        const heard_by_then heard = co_await catch_up(a);
        CHECK(heard.lost.size() == 64);
        CHECK(it.open_orders(alice) == 0);
        between.stop();
        a.stop();
    });
}

TEST_CASE("exchange client: it may go at any moment, also while its news are waited for") {
    laws::hold([](laws::fixture& it) -> task<> {
        {
            const exchange_client unborn = client_of(it, "alice");
        }
        for (int turns = 0; turns < 30; ++turns) {
            const exchange_client brief = client_of(it, "alice");
            for (int turn = 0; turn < turns; ++turn)
                static_cast<void>(co_await gyre::sleep_for(std::chrono::microseconds{50}));
        }
        exchange_client a = client_of(it, "alice");
        static_cast<void>(co_await hear<caught_up>(a));
        static_cast<void>(a.enter(buy(100, 1)));
        static_cast<void>(co_await hear<order_entered>(a));
        const auto wait = [](exchange_client& from) -> task<gyre::io_result<>> {
            const auto told = co_await from.next();
            CHECK(told.error() == errc::closed);
            co_return gyre::io_result<>{};
        };
        const auto let_go = [](exchange_client& which) -> task<gyre::io_result<>> {
            which = exchange_client{};
            co_return gyre::io_result<>{};
        };
        static_cast<void>(co_await gyre::when_all(wait(a), let_go(a)));
        const auto none = co_await a.next();
        CHECK(none.error() == errc::closed);
        CHECK(a.enter(buy(100, 1)).error() == errc::closed);
        CHECK(a.orders().size() == 0);
    });
}

TEST_CASE("exchange client: a loop may end before its clients") {
    gyre::testing::with_every_backend([](const gyre::io_context_options& how) {
        exchange_client left;
        {
            gyre::io_context on{how};
            auto listening = gyre::stream_acceptor::listen(on, loopback(0), {});
            REQUIRE(listening.ok());
            auto opened = exchange_client::open(
                on, options_at(listening.value().local_endpoint().value(), "alice"));
            REQUIRE(opened.ok());
            left = opened.take();
            on.run_for(std::chrono::milliseconds{20});
        }
        news told;
        REQUIRE(left.try_next(told));
        CHECK(told.as<session_over>() != nullptr);
        CHECK_FALSE(left.try_next(told));
    });
}

TEST_CASE("exchange client: what no session can have is refused before anything is sent") {
    gyre::io_context on;
    const auto refused = [&on](const auto& change) {
        exchange_client_options options = options_at(loopback(1), "alice");
        change(options);
        return exchange_client::open(on, options).error() == errc::invalid_argument;
    };
    CHECK(refused([](auto& it) { it.username = ""; }));
    CHECK(refused([](auto& it) { it.username = "sevenxx"; }));
    CHECK(refused([](auto& it) { it.username = "a b"; }));
    CHECK(refused([](auto& it) { it.password = "elevenchars"; }));
    CHECK(refused([](auto& it) { it.life = "elevenchars"; }));
    CHECK(refused([](auto& it) { it.news_max = 0; }));
    CHECK(refused([](auto& it) { it.unanswered_max = 63; }));
    CHECK(refused([](auto& it) { it.orders_max = 0; }));
    CHECK(refused([](auto& it) { it.unsent_bytes_max = 100; }));
    CHECK(refused([](auto& it) { it.connect_within = {}; }));
}
