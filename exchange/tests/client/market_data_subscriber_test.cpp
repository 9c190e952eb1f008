// SPDX-License-Identifier: BSL-1.0
//
// What exchange/client/market_data_subscriber.hpp promises, beside a facility and a distributor on the same
// loop.
#include <exchange/client/exchange_client.hpp>

#include <exchange/net/transport/websocket_packets.hpp>
#include <exchange/tests/client/relay.hpp>
#include <exchange/tests/net/distributor_laws.hpp>
#include <exchange/tests/net/gyre_side.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/certificates.hpp>
#include <support/scratch_directory.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;
using gyre::errc;
using gyre::task;

namespace {

using websockets = websocket_packets<gyre_traits>;
constexpr client_transport spoken[] = {client_transport::soup, client_transport::websocket_sbe,
                                       client_transport::websocket_json};
using distributors = distributor_law<gyre_side, gyre_traits, websockets>;
using scene = distributors::scene;

market_data_options options_of(const gyre::endpoint& where) {
    market_data_options options;
    options.distributor = where;
    options.username = "carol";
    options.password = "secret";
    return options;
}
market_data_options options_of(const scene& it, client_transport by = client_transport::soup) {
    const auto& distributor = it.distributor->it;
    market_data_options options =
        options_of(by == client_transport::soup ? distributor.tcp() : distributor.websocket());
    options.transport = by;
    options.websocket_path = it.how.distributor.clients.websockets.path;
    return options;
}

market_data_subscriber subscriber_of(gyre::io_context& on, const market_data_options& options) {
    auto opened = market_data_subscriber::open(on, options);
    REQUIRE(opened.ok());
    return opened.take();
}

/// Takes news up to the first of a kind.
template <class Kind>
task<Kind> hear(market_data_subscriber& from) {
    for (;;) {
        const auto told = co_await from.next();
        REQUIRE(told.ok());
        if (const Kind* it = told.value().template as<Kind>()) co_return *it;
    }
}

/// "100x5 | 101x2 ", best first; "?" in front if it is not current.
std::string book_of(const market_data_subscriber& it) {
    const followed_market* const found = it.find(the_market);
    if (found == nullptr) return "none";
    std::string made = found->current() ? "" : "? ";
    const auto say = [&](order_side side) {
        for (std::size_t each = 0; each < found->depth(side); ++each) {
            const told_level& level = found->level(side, each);
            made += std::to_string(level.price) + "x" + std::to_string(level.quantity) + " ";
        }
    };
    say(order_side::buy);
    made += "| ";
    say(order_side::sell);
    return made;
}

/// Takes news until the book is that one.
task<> hear_book(market_data_subscriber& from, std::string wanted) {
    while (book_of(from) != wanted) {
        const auto told = co_await from.next();
        REQUIRE(told.ok());
    }
}

std::vector<std::byte> packet_of(soup_type type, std::span<const std::byte> payload) {
    std::vector<std::byte> made(soup_header_bytes + payload.size());
    write_soup_header(std::span{made}.first<soup_header_bytes>(), type, payload.size());
    std::ranges::copy(payload, made.begin() + soup_header_bytes);
    return made;
}

/// Two who trade, and what they did.
struct two_who_trade {
    explicit two_who_trade(scene& it)
        : it{it}, a{it.on, it.client("alice")}, b{it.on, it.client("bob")} {}

    task<> in() {
        co_await a.in();
        co_await b.in();
    }
    void buy(price_ticks price, contracts quantity) {
        a.send(limit(client_sequence{++a_sent}, order_side::buy, price, quantity));
    }
    void sell(price_ticks price, contracts quantity) {
        b.send(limit(client_sequence{++b_sent}, order_side::sell, price, quantity));
    }
    task<> leave() {
        a.client.stop();
        b.client.stop();
        co_await a.gone();
        co_await b.gone();
        it.close();
    }

    scene& it;
    trader<gyre_traits> a;
    trader<gyre_traits> b;
    std::uint32_t a_sent = 0;
    std::uint32_t b_sent = 0;
};

task<> tell_all(scene& it, client_transport by) {
    it.begin_distributor();
    two_who_trade who{it};
    co_await who.in();
    market_data_subscriber c = subscriber_of(it.on, options_of(it, by));
    const auto request = c.subscribe({});  // Before there is a connection.
    REQUIRE(request.ok());
    const logged_in in = co_await hear<logged_in>(c);
    CHECK(in.life == soup_session{"LIFE1"});
    CHECK(c.connected());
    const subscription_granted granted = co_await hear<subscription_granted>(c);
    CHECK(granted.request == request.value());
    CHECK(granted.instrument == instrument_id::none);

    who.buy(100, 5);
    who.buy(99, 1);
    co_await hear_book(c, "100x5 99x1 | ");
    who.sell(102, 4);
    co_await hear_book(c, "100x5 99x1 | 102x4 ");
    who.sell(100, 2);
    const market_trade trade = co_await hear<market_trade>(c);
    CHECK(trade.instrument == the_market);
    CHECK(trade.trade.price == 100);
    CHECK(trade.trade.quantity == 2);
    CHECK(trade.trade.aggressor == order_side::sell);
    co_await hear_book(c, "100x3 99x1 | 102x4 ");
    while (c.find(the_market)->summary().trades == 0)
        static_cast<void>(co_await hear<summary_changed>(c));
    CHECK(c.find(the_market)->summary().volume == 2);
    CHECK(c.markets().size() == 1);

    REQUIRE(c.unsubscribe(instrument_id::none).ok());
    CHECK(book_of(c) == "? 100x3 99x1 | 102x4 ");
    market_wish best;
    best.instrument = the_market;
    best.depth = 1;
    best.trades = false;
    REQUIRE(c.subscribe(best).ok());
    co_await hear_book(c, "100x3 | 102x4 ");

    CHECK(c.log_out());
    const session_over over = co_await hear<session_over>(c);
    CHECK(over.why == session_end::logged_out);
    const auto behind = co_await c.next();
    CHECK(behind.error() == errc::closed);
    CHECK(c.subscribe({}).error() == errc::closed);
    CHECK(c.broken_books() == 0);
    co_await who.leave();
}

}  // namespace

TEST_CASE("market data subscriber: books, trades and sums are told over every transport") {
    for (const client_transport by : spoken)
        distributors::hold([by](scene& it) -> task<> { co_await tell_all(it, by); });
}

TEST_CASE(
    "market data subscriber: a connection that is lost leaves a doubt, and the next one a new "
    "book") {
    distributors::hold([](scene& it) -> task<> {
        it.begin_distributor();
        two_who_trade who{it};
        co_await who.in();
        relay between{it.on, it.distributor->it.tcp()};
        market_data_subscriber c = subscriber_of(it.on, options_of(between.where()));
        REQUIRE(c.subscribe({}).ok());
        static_cast<void>(co_await hear<subscription_granted>(c));
        std::string wanted = "| ";
        for (int round = 1; round <= 5; ++round) {
            who.buy(100 + round, 5);
            wanted = std::to_string(100 + round) + "x5 " + wanted;
            co_await hear_book(c, wanted);
            between.swallow_down = true;  // Of this one nothing is heard, and it is not missing.
            who.sell(200 + round, 7);
            wanted += std::to_string(200 + round) + "x7 ";
            while (between.swallowed == 0)
                static_cast<void>(co_await gyre::sleep_for(std::chrono::milliseconds{1}));
            between.swallowed = 0;
            between.swallow_down = false;
            between.cut();
            static_cast<void>(co_await hear<connection_lost>(c));
            CHECK(book_of(c).starts_with("? "));
            // Told that it is in doubt, then that it is not.
            const book_changed doubted = co_await hear<book_changed>(c);
            CHECK(doubted.instrument == the_market);
            static_cast<void>(co_await hear<logged_in>(c));
            co_await hear_book(c, wanted);
        }
        CHECK(between.connections == 6);
        CHECK(it.distributor->host.counts().logins == 6);
        CHECK(c.broken_books() == 0);
        // What was granted once is not told to be granted again.
        market_news told;
        while (c.try_next(told)) CHECK(told.as<subscription_granted>() == nullptr);
        between.stop();
        c.stop();
        static_cast<void>(co_await hear<session_over>(c));
        co_await who.leave();
    });
}

TEST_CASE("market data subscriber: a program that is slow is told less, and the newest") {
    distributors::hold([](scene& it) -> task<> {
        it.begin_distributor();
        two_who_trade who{it};
        co_await who.in();
        market_data_options few = options_of(it);
        few.news_max = 4;
        market_data_subscriber c = subscriber_of(it.on, few);
        REQUIRE(c.subscribe({}).ok());
        static_cast<void>(co_await hear<subscription_granted>(c));
        who.buy(1'000, 1'000);
        for (std::uint32_t each = 1; each <= 300; ++each) {
            who.sell(1'000, 1);
            co_await who.b.heard_at_least(2 * each);
        }
        // No more waits than may, whatever it was told.
        std::size_t waited = 0;
        std::uint64_t trades = 0;
        std::size_t books = 0;
        market_news told;
        while (c.try_next(told)) {
            ++waited;
            if (told.as<market_trade>() != nullptr) ++trades;
            if (told.as<book_changed>() != nullptr) ++books;
        }
        CHECK(books <= 1);
        CHECK(waited <= 4 + told_trades_max + 16);
        while (trades < 300) {
            const auto got = co_await c.next();
            REQUIRE(got.ok());
            if (got.value().as<market_trade>() != nullptr) ++trades;
            if (const auto* missed = got.value().as<trades_missed>()) trades += missed->count;
        }
        CHECK(trades == 300);
        co_await hear_book(c, "1000x700 | ");
        c.stop();
        static_cast<void>(co_await hear<session_over>(c));
        co_await who.leave();
    });
}

TEST_CASE(
    "market data subscriber: another life is told, and what was wanted of the last one is wanted") {
    distributors::hold([](scene& it) -> task<> {
        it.begin_distributor();
        std::optional<two_who_trade> who;
        who.emplace(it);
        co_await who->in();
        market_data_subscriber c = subscriber_of(it.on, options_of(it));
        market_data_options no_other = options_of(it);
        no_other.join_next_life = false;
        market_data_subscriber leaves = subscriber_of(it.on, no_other);
        who->buy(100, 5);
        market_wish wish;
        wish.instrument = the_market;
        // Until it is spoken of it is not known.
        for (bool granted = false; !granted;) {
            REQUIRE(c.subscribe(wish).ok());
            const auto got = co_await c.next();
            REQUIRE(got.ok());
            granted = got.value().as<subscription_granted>() != nullptr;
        }
        co_await hear_book(c, "100x5 | ");
        who->a.client.stop();
        who->b.client.stop();
        co_await who->a.gone();
        co_await who->b.gone();
        it.lives.back().facility.stop();
        co_await it.until([&] { return it.lives.back().facility.idle(); });
        it.begin_life("LIFE2", it.order_entry);
        it.distributor->it.ask(it.lives.back().facility.feed_requests(), it.order_entry);

        const life_changed changed = co_await hear<life_changed>(c);
        CHECK(changed.ended == soup_session{"LIFE1"});
        CHECK(changed.next == soup_session{"LIFE2"});
        CHECK(c.find(the_market) == nullptr);
        who.emplace(it);
        co_await who->in();
        who->sell(300, 1);
        co_await hear_book(c, "| 300x1 ");
        const session_over over = co_await hear<session_over>(leaves);
        CHECK(over.why == session_end::life_ended);
        c.stop();
        static_cast<void>(co_await hear<session_over>(c));
        co_await who->leave();
    });
}

TEST_CASE(
    "market data subscriber: a distributor that begins anew is asked until it knows the market") {
    distributors::setting how;
    how.distributor.exchange.login.password = "guess";  // So it knows what it hears, and no more.
    distributors::hold(
        [](scene& it) -> task<> {
            it.begin_distributor();
            two_who_trade who{it};
            co_await who.in();
            market_data_subscriber c = subscriber_of(it.on, options_of(it));
            static_cast<void>(co_await hear<logged_in>(c));
            who.buy(100, 5);
            co_await it.until([&] { return it.distributor->books.find(the_market) != nullptr; });
            REQUIRE(c.subscribe({the_market, 0, true, true, true}).ok());
            static_cast<void>(co_await hear<subscription_granted>(c));

            it.how.distributor.clients.tcp = it.distributor->it.tcp();
            const gyre::endpoint feed = it.distributor->it.source();
            it.distributor->it.stop();
            co_await it.until([&] { return it.distributor->it.idle(); });
            it.distributor.emplace(it.on, it.how, feed);
            it.distributor->it.ask(it.lives.back().facility.feed_requests(), it.order_entry);
            static_cast<void>(co_await hear<connection_lost>(c));
            static_cast<void>(co_await hear<logged_in>(c));
            // It answers in order: when this one is denied, the other one was.
            REQUIRE(c.subscribe({instrument_id{999}, 0, true, true, true}).ok());
            const subscription_denied denied = co_await hear<subscription_denied>(c);
            CHECK(denied.instrument == instrument_id{999});
            CHECK(it.distributor->books.find(the_market) == nullptr);
            who.buy(101, 5);
            for (bool told = false; !told;) {
                const auto got = co_await c.next();
                REQUIRE(got.ok());
                CHECK(got.value().as<subscription_denied>() == nullptr);
                told = got.value().as<summary_changed>() != nullptr;
            }
            c.stop();
            static_cast<void>(co_await hear<session_over>(c));
            co_await who.leave();
        },
        how);
}

TEST_CASE(
    "market data subscriber: what was left out of all stays out when a distributor begins anew") {
    distributors::setting how;
    how.distributor.exchange.login.password = "guess";  // So it knows what it hears, and no more.
    distributors::hold(
        [](scene& it) -> task<> {
            it.begin_distributor();
            two_who_trade who{it};
            co_await who.in();
            who.buy(100, 5);
            co_await it.until([&] { return it.distributor->books.find(the_market) != nullptr; });
            market_data_subscriber c = subscriber_of(it.on, options_of(it));
            REQUIRE(c.subscribe({}).ok());
            REQUIRE(c.unsubscribe(the_market).ok());
            static_cast<void>(co_await hear<logged_in>(c));

            it.how.distributor.clients.tcp = it.distributor->it.tcp();
            const gyre::endpoint feed = it.distributor->it.source();
            it.distributor->it.stop();
            co_await it.until([&] { return it.distributor->it.idle(); });
            it.distributor.emplace(it.on, it.how, feed);
            it.distributor->it.ask(it.lives.back().facility.feed_requests(), it.order_entry);
            static_cast<void>(co_await hear<connection_lost>(c));
            static_cast<void>(co_await hear<logged_in>(c));
            // It answers in order: when this one is denied, it has heard of the exception.
            REQUIRE(c.subscribe({instrument_id{999}, 0, true, true, true}).ok());
            static_cast<void>(co_await hear<subscription_denied>(c));
            REQUIRE(it.distributor->books.find(the_market) == nullptr);
            who.buy(101, 5);
            // It is told as one of all, and then not any more.
            co_await it.until([&] {
                bool follows = false;
                it.distributor->it.for_each_client(
                    [&](const auto& each) { follows = follows || each.subscriptions() > 0; });
                return it.distributor->host.counts().messages > 0 && !follows;
            });
            market_news told;
            while (c.try_next(told)) {
                CHECK(told.as<book_changed>() == nullptr);
                CHECK(told.as<summary_changed>() == nullptr);
            }
            c.stop();
            static_cast<void>(co_await hear<session_over>(c));
            co_await who.leave();
        },
        how);
}

TEST_CASE(
    "market data subscriber: what cannot be wanted is refused at once, or by the distributor") {
    distributors::hold([](scene& it) -> task<> {
        it.begin_distributor();
        market_data_options options = options_of(it);
        options.instruments_max = 2;
        market_data_subscriber c = subscriber_of(it.on, options);
        market_wish wish;
        wish.depth = subscription_depth_max + 1;
        CHECK(c.subscribe(wish).error() == errc::invalid_argument);
        wish = {the_market, 0, false, false, false};
        CHECK(c.subscribe(wish).error() == errc::invalid_argument);
        wish = {instrument_id{999}, 0, true, true, true};
        const auto unknown = c.subscribe(wish);
        REQUIRE(unknown.ok());
        const subscription_denied denied = co_await hear<subscription_denied>(c);
        CHECK(denied.request == unknown.value());
        CHECK(denied.why == subscription_refusal::unknown_instrument);
        REQUIRE(c.subscribe({}).ok());
        for (const std::uint32_t each : {1, 2})
            REQUIRE(c.subscribe({instrument_id{each}, 0, true, true, true}).ok());
        CHECK(c.subscribe({instrument_id{3}, 0, true, true, true}).error() ==
              errc::no_buffer_space);
        c.stop();
        static_cast<void>(co_await hear<session_over>(c));
        it.close();
    });
    gyre::io_context on;
    market_data_options wrong = options_of(loopback(1));
    wrong.username = "too long";
    CHECK(market_data_subscriber::open(on, wrong).error() == errc::invalid_argument);
    wrong = options_of(loopback(1));
    wrong.levels_max = 0;
    CHECK(market_data_subscriber::open(on, wrong).error() == errc::invalid_argument);
    wrong = options_of(loopback(1));
    wrong.connect_within = {};
    CHECK(market_data_subscriber::open(on, wrong).error() == errc::invalid_argument);
    market_data_subscriber none;
    CHECK(none.subscribe({}).error() == errc::closed);
    CHECK(none.unsubscribe(the_market).error() == errc::closed);
    CHECK(none.markets().empty());
    CHECK_FALSE(none.log_out());
}

TEST_CASE(
    "market data subscriber: a refusal ends it, and a distributor that is away is told once") {
    distributors::hold([](scene& it) -> task<> {
        it.begin_distributor();
        market_data_options wrong = options_of(it);
        wrong.password = "guess";
        market_data_subscriber refused = subscriber_of(it.on, wrong);
        const session_over over = co_await hear<session_over>(refused);
        CHECK(over.why == session_end::login_refused);
        CHECK(over.reject == soup_reject::not_authorized);

        held_port away;
        away.release();
        market_data_options nowhere = options_of(away.at());
        nowhere.reconnect_after_max = std::chrono::milliseconds{10};
        market_data_subscriber c = subscriber_of(it.on, nowhere);
        const unreachable why = co_await hear<unreachable>(c);
        CHECK(why.why == errc::connection_refused);
        static_cast<void>(co_await gyre::sleep_for(std::chrono::milliseconds{100}));
        market_news told;
        CHECK_FALSE(c.try_next(told));
        c.stop();
        static_cast<void>(co_await hear<session_over>(c));
        it.close();
    });
}

TEST_CASE("market data subscriber: one that answers no login is told to be unreachable, once") {
    distributors::hold([](scene& it) -> task<> {
        it.begin_distributor();
        for (const client_transport by : spoken) {
            market_data_options options = options_of(it, by);
            options.dead_after = std::chrono::milliseconds{250};
            options.reconnect_after_max = std::chrono::milliseconds{10};
            relay between{it.on, options.distributor};
            options.distributor = between.where();
            between.swallow_up = true;
            market_data_subscriber c = subscriber_of(it.on, options);
            const unreachable silent = co_await hear<unreachable>(c);
            CHECK(silent.why == errc::timed_out);
            const int before = between.connections;
            while (between.connections < before + 2)
                static_cast<void>(co_await gyre::sleep_for(std::chrono::milliseconds{1}));
            market_news told;
            CHECK_FALSE(c.try_next(told));
            between.swallow_up = false;
            static_cast<void>(co_await hear<logged_in>(c));
            between.stop();
            c.stop();
            static_cast<void>(co_await hear<session_over>(c));
        }
        held_port away;
        away.release();
        relay hangs_up{it.on, away.at()};
        market_data_subscriber c = subscriber_of(it.on, options_of(hangs_up.where()));
        const unreachable gone = co_await hear<unreachable>(c);
        CHECK(gone.why == errc::eof);
        hangs_up.stop();
        c.stop();
        static_cast<void>(co_await hear<session_over>(c));
        it.close();
    });
}

TEST_CASE("market data subscriber: a handshake that is not answered is given up in time") {
    gyre::testing::on_every_backend([](gyre::io_context& on) -> task<> {
        // The kernel accepts connections, and that is all.
        auto listening = gyre::stream_acceptor::listen(on, loopback(0), {});
        REQUIRE(listening.ok());
        for (const bool secured : {false, true}) {
            for (const client_transport by : spoken) {
                if (!secured && by == client_transport::soup) continue;  // It has none.
                market_data_options options =
                    options_of(listening.value().local_endpoint().value());
                options.transport = by;
                options.tls.wanted = secured;
                options.tls.verify = false;
                options.connect_within = std::chrono::milliseconds{50};
                options.dead_after = std::chrono::hours{1};
                options.reconnect_after = options.reconnect_after_max = std::chrono::hours{1};
                market_data_subscriber c = subscriber_of(on, options);
                const unreachable late = co_await hear<unreachable>(c);
                CHECK(late.why == errc::timed_out);
                c.stop();
                static_cast<void>(co_await hear<session_over>(c));
            }
        }
    });
}

TEST_CASE("market data subscriber: it comes again to a proxy whose server is away, until refused") {
    gyre::testing::on_every_backend([](gyre::io_context& on) -> task<> {
        auto listening = gyre::stream_acceptor::listen(on, loopback(0), {});
        REQUIRE(listening.ok());
        gyre::stream_acceptor proxy = listening.take();
        for (const client_transport by :
             {client_transport::websocket_sbe, client_transport::websocket_json}) {
            market_data_options options = options_of(proxy.local_endpoint().value());
            options.transport = by;
            options.connect_within = std::chrono::hours{1};
            market_data_subscriber c = subscriber_of(on, options);
            for (const std::string_view status : {"502 Bad Gateway", "503 Service Unavailable",
                                                  "429 Too Many Requests", "404 Not Found"}) {
                auto accepted = co_await proxy.accept();
                REQUIRE(accepted.ok());
                gyre::stream_socket client = accepted.take();
                std::array<std::byte, 4096> asked;
                const auto got = co_await client.read_some(gyre::mutable_buffer{asked});
                REQUIRE(got.ok());
                const std::string answer =
                    "HTTP/1.1 " + std::string{status} + "\r\nContent-Length: 0\r\n\r\n";
                const auto put = co_await gyre::write_all(client, gyre::bytes_of(answer));
                REQUIRE(put.ok());
            }
            const auto first = co_await c.next();
            REQUIRE(first.ok());
            const auto* const away = first.value().as<unreachable>();
            REQUIRE(away != nullptr);
            CHECK(away->why == errc::eof);
            const auto second = co_await c.next();
            REQUIRE(second.ok());
            const auto* const over = second.value().as<session_over>();
            REQUIRE(over != nullptr);
            CHECK(over->why == session_end::upgrade_refused);
        }
    });
}

TEST_CASE("market data subscriber: a session that was refused, and is there, is logged in to") {
    distributors::hold([](scene& it) -> task<> {
        auto listening = gyre::stream_acceptor::listen(it.on, loopback(0), {});
        REQUIRE(listening.ok());
        gyre::stream_acceptor doors = listening.take();
        market_data_subscriber c = subscriber_of(it.on, options_of(doors.local_endpoint().value()));
        const std::vector<std::byte> in = packet_of(
            soup_type::login_accepted, format_soup_acceptance({soup_session{"LIFE1"}, 1}));
        const std::vector<std::byte> not_there = packet_of(
            soup_type::login_rejected, std::array{std::byte(soup_reject::session_not_available)});
        gyre::stream_socket last;
        for (const auto& answer : {in, not_there, in, in}) {
            last = {};  // The one before is lost.
            auto accepted = co_await gyre::with_timeout(std::chrono::seconds{10}, doors.accept());
            REQUIRE(accepted.ok());
            last = accepted.take();
            std::array<std::byte, soup_header_bytes + soup_login_bytes> login;
            const auto got = co_await gyre::read_exactly(last, gyre::mutable_buffer{login});
            REQUIRE(got.ok());
            const auto put = co_await gyre::write_all(last, gyre::const_buffer{answer});
            REQUIRE(put.ok());
        }
        static_cast<void>(co_await hear<logged_in>(c));
        market_news told;
        REQUIRE(c.try_next(told));
        CHECK(told.as<connection_lost>() != nullptr);
        const auto next = co_await c.next();
        REQUIRE(next.ok());
        CHECK(next.value().as<logged_in>() != nullptr);
        c.stop();
        static_cast<void>(co_await hear<session_over>(c));
        it.close();
    });
}

TEST_CASE("market data subscriber: it may go at any moment, also while it is waited for") {
    distributors::hold([](scene& it) -> task<> {
        it.begin_distributor();
        for (int turns = 0; turns < 20; ++turns) {
            std::optional<market_data_subscriber> c = subscriber_of(it.on, options_of(it));
            REQUIRE(c->subscribe({}).ok());
            for (int turn = 0; turn < turns; ++turn)
                static_cast<void>(co_await gyre::sleep_for(std::chrono::microseconds{100}));
            gyre::event ended;
            gyre::error why;
            const auto wait = [](task<gyre::io_result<market_news>> news, gyre::error& why,
                                 gyre::event& ended) -> task<> {
                why = (co_await std::move(news)).error();
                ended.set();
            };
            market_news told;
            while (c->try_next(told)) {
            }
            gyre::launch(it.on, wait(c->next(), why, ended), gyre::or_terminate{});
            static_cast<void>(co_await gyre::sleep_for(std::chrono::microseconds{100}));
            c.reset();
            static_cast<void>(co_await ended.wait());
            CHECK((why == errc::closed || !why));
            const auto stopped = co_await gyre::with_timeout(std::chrono::milliseconds{1},
                                                             market_data_subscriber{}.next());
            CHECK(stopped.error() == errc::closed);
        }
        co_await it.until([&] { return it.distributor->it.clients() == 0; });
        it.close();
    });
    // And the loop may go first.
    std::optional<gyre::io_context> on{std::in_place};
    market_data_subscriber c = subscriber_of(*on, options_of(loopback(1)));
    on->run_for(std::chrono::milliseconds{5});
    on.reset();
    market_news told;
    while (c.try_next(told)) {
    }
}

TEST_CASE("market data subscriber: a secured distributor is believed by its authority alone") {
    const gyre::testing::scratch_directory folder;
    gyre::testing::test_authority authority{"authority"};
    const gyre::testing::test_authority stranger{"stranger"};
    gyre::testing::certificate_wish certificate;
    certificate.hosts = {"IP:127.0.0.1", "DNS:exchange.example"};
    certificate.begins = -std::chrono::hours{24 * 365 * 20};  // The kit judges by the clock.
    gyre::tls::server_options serving;
    serving.identities = {authority.issue(certificate)};
    auto made = gyre::tls::context::server(std::move(serving));
    REQUIRE(made.ok());
    distributors::setting how;
    how.distributor.clients.tls = made.take();
    client_tls trusting;
    trusting.wanted = true;
    trusting.system_authorities = false;
    trusting.authorities_file = folder.put("authority.pem", authority.certificate());
    client_tls other = trusting;
    other.authorities_file = folder.put("stranger.pem", stranger.certificate());
    client_tls misnamed = trusting;
    misnamed.server_name = "another.example";
    client_tls named = trusting;
    named.server_name = "exchange.example";
    client_tls blind = other;
    blind.verify = false;

    distributors::hold(
        [&](scene& it) -> task<> {
            it.begin_distributor();
            two_who_trade who{it};
            co_await who.in();
            who.buy(100, 5);
            for (const client_transport by : spoken) {
                for (const client_tls& right : {trusting, named, blind}) {
                    market_data_options options = options_of(it, by);
                    options.tls = right;
                    market_data_subscriber c = subscriber_of(it.on, options);
                    REQUIRE(c.subscribe({}).ok());
                    co_await hear_book(c, "100x5 | ");
                    CHECK(c.log_out());
                    const session_over over = co_await hear<session_over>(c);
                    CHECK(over.why == session_end::logged_out);
                }
                for (const client_tls& wrong : {other, misnamed}) {
                    market_data_options options = options_of(it, by);
                    options.tls = wrong;
                    // Not waited for, since there is no other connection.
                    options.reconnect_after = options.reconnect_after_max = std::chrono::hours{1};
                    market_data_subscriber c = subscriber_of(it.on, options);
                    const security_failed why = co_await hear<security_failed>(c);
                    CHECK_FALSE(why.why.view().empty());
                    const session_over over = co_await hear<session_over>(c);
                    CHECK(over.why == session_end::security_refused);
                }
            }
            // One that speaks no TLS is not let in, nor told to have been refused: it may come again.
            market_data_options plain = options_of(it);
            market_data_subscriber c = subscriber_of(it.on, plain);
            static_cast<void>(co_await hear<unreachable>(c));
            CHECK_FALSE(c.connected());
            c.stop();
            static_cast<void>(co_await hear<session_over>(c));
            co_await who.leave();
        },
        how);

    gyre::io_context on;
    market_data_options missing = options_of(loopback(1));
    missing.tls = trusting;
    missing.tls.authorities_file = folder / "nowhere.pem";
    CHECK(market_data_subscriber::open(on, missing).error() == errc::certificate_unreadable);
    for (const char* wrong : {"two words", "a..b", "exchange.example:7001", "-\n"}) {
        CAPTURE(wrong);
        market_data_options options = options_of(loopback(1));
        options.tls = trusting;
        options.tls.server_name = wrong;
        CHECK(market_data_subscriber::open(on, options).error() == errc::malformed);
        options.tls.verify = false;
        CHECK(market_data_subscriber::open(on, options).error() == errc::malformed);
    }
}
