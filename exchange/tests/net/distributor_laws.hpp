// SPDX-License-Identifier: BSL-1.0
//
// What a distributor promises to subscribers over real sockets, whichever library carries them.
//
// Facility, distributor, traders and subscribers run on one context over loopback. What a subscriber is
// told is judged without sockets (market_updates_test.cpp, market_data_client_test.cpp); here is what only
// the loops around that can get wrong: the feed, questions for books, doors, and their ends.
#pragma once

#include <exchange/net/application/matching_facility.hpp>
#include <exchange/server/market_data_distributor.hpp>
#include <exchange/tests/net/facility_fixture.hpp>
#include <exchange/tests/net/held_port.hpp>
#include <exchange/tests/net/hosted.hpp>
#include <exchange/tests/net/raw_client.hpp>
#include <exchange/tests/net/spoken_security.hpp>
#include <exchange/tests/net/subscriber.hpp>

#include <deque>
#include <optional>
#include <string>

namespace exchange::testing {

/// @tparam  Plain       The side's traits under which clients speak SoupBinTCP, as traders do here always.
/// @tparam  Websockets  What carries subscribers, if they speak WebSocket; void if they speak SoupBinTCP.
template <class Side, class Plain = typename Side::traits, class Websockets = void>
struct distributor_law {
    using X = typename Side::traits;
    using context = typename X::context;
    using task = typename X::template task<void>;
    using trader_of = trader<Plain>;

    static constexpr session_id eye{3};  // As whom a distributor asks for books.

    struct setting {
        setting() {
            distributor.clients.tcp = loopback(0);
            if (!std::is_void_v<Websockets>) distributor.clients.websocket = loopback(0);
            distributor.clients.timer_tick = std::chrono::milliseconds{5};
            distributor.clients.linger = std::chrono::milliseconds{200};
            distributor.clients.connections_max = 16;
            distributor.clients.tls = spoken_tls();
            distributor.clients.websockets.unsent_bytes_max = 16 * 1024;
            distributor.timer_tick = std::chrono::milliseconds{2};
            distributor.feed.source.ask_from = loopback(0);
            distributor.feed.source.receiver.first_sequence = 0;
            distributor.feed.source.receiver.new_life_after = std::chrono::milliseconds{300};
            distributor.exchange.login = login_of("eye");
            distributor.exchange.timer_tick = std::chrono::milliseconds{5};
            host.users.users = {{"carol", {"secret"}}};
            rules.participants.push_back({"eye", "secret", eye});
            rules.feed.heartbeat_after = std::chrono::milliseconds{50};
            facility.timer_tick = std::chrono::milliseconds{5};
        }

        order_entry_host_options rules = two_traders();
        facility_options facility = on_loopback();
        distributor_options distributor{};
        market_data_host_options host{};
        market_books_options books{};
    };

    /// A facility in one life.
    struct life {
        life(context& on, const setting& how, std::string_view name, const gyre::endpoint& at,
             const gyre::endpoint& feed)
            : host{named(how.rules, name), X::now(on)}, facility{on, host, to(how, at, feed)} {
            open_market(host);
            define_account account{};
            account.account = account_id{number(eye)};
            account.firm = firm_id{1};
            account.self_trade = self_trade_action::cancel_resting;
            host.apply(account);
            host.apply(define_session{eye, account.account, disconnect_policy::keep_orders});
            REQUIRE(facility.start().ok());
        }
        static order_entry_host_options named(order_entry_host_options rules,
                                              std::string_view name) {
            rules.stream.session = rules.feed.session = name;
            return rules;
        }
        static facility_options to(const setting& how, const gyre::endpoint& at,
                                   const gyre::endpoint& feed) {
            facility_options options = how.facility;
            options.order_entry = at;
            options.feed = feed;
            return options;
        }

        order_entry_host host;
        matching_facility<X> facility;
    };

    struct running_distributor {
        running_distributor(context& on, const setting& how, const gyre::endpoint& feed)
            : books{how.books, false},
              host{how.host, books, X::now(on)},
              it{on, books, host, hearing(how, feed)} {
            REQUIRE(it.start().ok());
        }
        static distributor_options hearing(const setting& how, const gyre::endpoint& feed) {
            distributor_options options = how.distributor;
            options.feed.source.group = feed;
            return options;
        }

        market_books books;
        market_data_host host;
        hosted_distributor it;
    };

    struct scene {
        scene(context& on, const setting& how) : on{on}, how{how} {
            begin_life("LIFE1", loopback(0));
        }
        void begin_life(std::string_view name, const gyre::endpoint& at) {
            lives.emplace_back(on, how, name, at, feed.at());
            order_entry = lives.back().facility.order_entry();
        }
        void begin_distributor() {
            feed.release();
            distributor.emplace(on, how, feed.at());
            distributor->it.ask(lives.back().facility.feed_requests(), order_entry);
        }
        [[nodiscard]] order_entry_client_options client(std::string_view name) const {
            order_entry_client_options options;
            options.exchange = order_entry;
            options.login = login_of(name);
            return options;
        }
        [[nodiscard]] order_entry_client_options subscription() const {
            order_entry_client_options options;
            const auto& it = distributor->it;
            options.exchange = std::is_void_v<Websockets> ? it.tcp() : it.websocket();
            options.login = login_of("carol");
            options.security = spoken_security();
            return options;
        }
        template <class Condition>
        task until(Condition enough) {
            typename X::timer timer{on};
            while (!enough())
                static_cast<void>(
                    co_await timer.wait_until(X::now(on) + std::chrono::milliseconds{1}));
        }
        void close() {
            if (distributor) distributor->it.stop();
            for (life& each : lives) each.facility.stop();
        }

        context& on;
        setting how;
        held_port feed;
        std::deque<life> lives;
        std::optional<running_distributor> distributor;
        gyre::endpoint order_entry;
    };

    /// Runs `body(scene)` on every context; what `body` begins, it ends.
    template <class Body>
    static void hold(const Body& body, const setting& how = {}) {
        Side::each_context([&](context& on) {
            scene it{on, how};
            bool ended = false;
            X::launch(on, to_the_end(body, it, ended));
            CHECK(Side::run_to_rest(on));
            CHECK(ended);
        });
    }

    static void books_trades_and_sums_are_told_as_they_change() {
        hold([](scene& it) -> task {
            it.begin_distributor();
            trader_of a{it.on, it.client("alice")};
            trader_of b{it.on, it.client("bob")};
            subscriber<X> c{it.on, it.subscription()};
            co_await a.in();
            co_await b.in();
            co_await c.in();
            c.want(instrument_id::none);  // All, though none has been spoken of yet.
            co_await c.until([&] { return c.granted == 1; });
            a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
            co_await c.until_book("100x5 |");
            b.send(limit(client_sequence{1}, order_side::sell, 102, 4));
            co_await c.until_book("100x5 |102x4 ");
            b.send(limit(client_sequence{2}, order_side::sell, 100, 2));
            co_await c.until_book("100x3 |102x4 ");
            told_market& told = c.markets[the_market];
            co_await c.until([&] { return told.trades == 1 && told.summary.trades == 1; });
            CHECK(told.summary.last == 100);
            CHECK(told.summary.volume == 2);
            CHECK(told.summary.complete);
            CHECK(it.distributor->it.counts().losses == 0);
            CHECK(it.distributor->it.recovery().questions == 0);
            co_await leave(it, c, a, b);
        });
    }

    /// It was not there when the book was made, and what the feed keeps of that is too little.
    static void one_that_comes_late_asks_for_books_and_sums() {
        setting how;
        how.rules.feed.kept_messages_max = 8;
        how.facility.timer_tick = std::chrono::milliseconds{5};
        hold(
            [](scene& it) -> task {
                trader_of a{it.on, it.client("alice")};
                trader_of b{it.on, it.client("bob")};
                co_await a.in();
                co_await b.in();
                std::string wanted;
                for (std::uint32_t each = 1; each <= levels; ++each) {
                    a.send(limit(client_sequence{each}, order_side::buy, 1000 + each, each));
                    wanted =
                        std::to_string(1000 + each) + "x" + std::to_string(each) + " " + wanted;
                    co_await a.heard_at_least(each);
                }
                b.send(limit(client_sequence{1}, order_side::sell, 1000 + levels, levels));
                co_await b.heard_at_least(2);
                wanted = wanted.substr(wanted.find(' ') + 1) + "|";

                it.begin_distributor();
                subscriber<X> c{it.on, it.subscription()};
                co_await c.in();
                c.want(instrument_id::none);
                co_await c.until_book(wanted);
                told_market& told = c.markets[the_market];
                co_await c.until([&] { return told.summary.complete; });
                CHECK(told.summary.trades == 1);
                CHECK(told.summary.volume == levels);
                CHECK(told.summary.phase == market_phase::continuous);
                CHECK(told.trades == 0);  // Of those before it came it knows the sums.
                CHECK(it.distributor->it.counts().losses > 0);
                CHECK(it.distributor->it.recovery().pages >= 3);

                // And goes on with the feed where the pages end.
                b.send(limit(client_sequence{2}, order_side::sell, 2000, 7));
                co_await c.until_book(wanted + "2000x7 ");
                co_await leave(it, c, a, b);
            },
            how);
    }

    /// One that is to replace another must not take subscribers from one that works.
    static void one_that_opens_with_its_feed_lets_in_when_it_knows_all_books() {
        setting how;
        how.distributor.opens_with_feed = true;
        how.rules.feed.kept_messages_max = 8;
        for (const bool may_ask : {true, false}) {
            if (!may_ask) how.distributor.exchange.login.password = "wrong";
            hold(
                [may_ask](scene& it) -> task {
                    trader_of a{it.on, it.client("alice")};
                    co_await a.in();
                    for (std::uint32_t each = 1; each <= levels; ++each) {
                        a.send(limit(client_sequence{each}, order_side::buy, 1000 + each, each));
                        co_await a.heard_at_least(each);
                    }
                    it.begin_distributor();
                    const market_data_distributor& judged = it.distributor->it;
                    CHECK_FALSE(judged.has_opened());
                    if (!may_ask) {
                        co_await it.until([&] {
                            return judged.counts().losses > 0 && judged.refused_by_exchange() > 0;
                        });
                        CHECK_FALSE(judged.has_opened());
                        a.client.stop();
                        co_await a.gone();
                        co_return it.close();
                    }
                    co_await it.until([&] { return judged.has_opened(); });
                    const market_book* const told = it.distributor->books.find(the_market);
                    REQUIRE(told != nullptr);
                    CHECK(told->book() == market_book::state::complete);
                    CHECK(told->levels(order_side::buy).size() == levels);
                    subscriber<X> c{it.on, it.subscription()};
                    co_await c.in();
                    co_await leave(it, c, a);
                },
                how);
        }
    }

    static void another_life_is_another_market() {
        hold([](scene& it) -> task {
            it.begin_distributor();
            std::optional<trader_of> a;
            a.emplace(it.on, it.client("alice"));
            subscriber<X> c{it.on, it.subscription()};
            co_await a->in();
            co_await c.in();
            c.want(instrument_id::none);
            a->send(limit(client_sequence{1}, order_side::buy, 100, 5));
            co_await c.until_book("100x5 |");
            a->client.stop();
            co_await a->gone();
            it.lives.back().facility.stop();
            co_await it.until([&] { return it.lives.back().facility.idle(); });

            it.begin_life("LIFE2", it.order_entry);
            it.distributor->it.ask(it.lives.back().facility.feed_requests(), it.order_entry);
            co_await c.until([&] { return !c.lives.empty() && c.client.machine().logged_in(); });
            CHECK(c.lives.back() == soup_session{"LIFE2"});
            c.want(instrument_id::none);
            trader_of again{it.on, it.client("alice")};
            co_await again.in();
            again.send(limit(client_sequence{1}, order_side::sell, 300, 1));
            co_await c.until_book("|300x1 ");
            CHECK(it.distributor->it.counts().lives == 2);
            co_await leave(it, c, again);
        });
    }

    /// Nothing is known of a market whose feed is silent, and subscribers are not told that it were.
    static void a_feed_that_falls_silent_leaves_no_complete_book() {
        setting how;
        how.distributor.feed.source.receiver.dead_after = std::chrono::milliseconds{200};
        hold(
            [](scene& it) -> task {
                it.begin_distributor();
                std::optional<trader_of> a;
                a.emplace(it.on, it.client("alice"));
                subscriber<X> c{it.on, it.subscription()};
                co_await a->in();
                co_await c.in();
                c.want(instrument_id::none);
                a->send(limit(client_sequence{1}, order_side::buy, 100, 5));
                co_await c.until_book("100x5 |");
                co_await c.until([&] { return c.markets[the_market].summary.complete; });
                a->client.stop();
                co_await a->gone();
                it.lives.back()
                    .facility.stop();  // Its end is repeated for a while, and then nothing comes.
                co_await c.until([&] { return !c.markets[the_market].summary.complete; });
                CHECK(it.distributor->it.counts().silences > 0);
                co_await leave(it, c);
            },
            how);
    }

    /// Its books could be asked for, but would grow old without a word.
    static void while_its_feed_is_silent_no_book_is_asked_for() {
        setting how;
        how.distributor.feed.source.receiver.dead_after = std::chrono::milliseconds{200};
        how.rules.feed.heartbeat_after = std::chrono::hours{1};
        hold(
            [](scene& it) -> task {
                it.begin_distributor();
                trader_of a{it.on, it.client("alice")};
                subscriber<X> c{it.on, it.subscription()};
                co_await a.in();
                co_await c.in();
                c.want(instrument_id::none);
                const told_market& told = c.markets[the_market];
                a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
                co_await c.until_book("100x5 |");
                co_await c.until([&] { return told.summary.complete; });
                const market_data_distributor& asks = it.distributor->it;
                const std::uint64_t asked = asks.recovery().questions;
                co_await c.until([&] { return !told.summary.complete; });
                const gyre::time_point until = X::now(it.on) + std::chrono::milliseconds{50};
                co_await it.until([&] { return X::now(it.on) >= until; });
                CHECK(asks.reaches_exchange());
                CHECK(asks.recovery().questions == asked);
                CHECK_FALSE(told.summary.complete);

                // The next message ends the silence.
                a.send(limit(client_sequence{2}, order_side::buy, 99, 1));
                co_await c.until([&] { return told.summary.complete; });
                co_await c.until_book("100x5 99x1 |");
                CHECK(asks.recovery().questions > asked);
                co_await leave(it, c, a);
            },
            how);
    }

    static void a_wrong_password_subscribes_to_nothing() {
        hold([](scene& it) -> task {
            it.begin_distributor();
            order_entry_client_options wrong = it.subscription();
            wrong.login.password = "guess";
            subscriber<X> c{it.on, wrong};
            co_await c.gone();
            CHECK(c.client.machine().rejected() == soup_reject::not_authorized);
            CHECK(it.distributor->host.counts().refused == 1);
            it.close();
        });
    }

    /// What it cannot ask for stays incomplete, and its watcher is told.
    static void a_login_that_the_exchange_refuses_is_told() {
        setting how;
        how.distributor.exchange.login.password = "guess";
        how.distributor.exchange.reconnect_after_max = std::chrono::milliseconds{5};
        hold(
            [](scene& it) -> task {
                struct counting final : distributor_watcher {
                    void life_begun(const soup_session&) noexcept override {}
                    void feed_lost(std::uint64_t) noexcept override {}
                    void feed_silent() noexcept override {}
                    void feed_ended() noexcept override {}
                    void exchange_refuses() noexcept override { ++refusals; }

                    int refusals = 0;
                };
                counting watch;
                it.begin_distributor();
                it.distributor->it.be_watched(&watch);
                co_await it.until([&watch] { return watch.refusals >= 2; });
                CHECK(it.distributor->it.refused_by_exchange() >= 2);
                CHECK_FALSE(it.distributor->it.reaches_exchange());
                it.distributor->it.be_watched(nullptr);
                it.close();
            },
            how);
    }

    /// The subscriber's connection is cut, and it comes again, to a book that has changed meanwhile.
    static void one_that_comes_again_subscribes_again() {
        hold([](scene& it) -> task {
            it.begin_distributor();
            trader_of a{it.on, it.client("alice")};
            subscriber<X> c{it.on, it.subscription()};
            co_await a.in();
            co_await c.in();
            c.want(instrument_id::none);
            a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
            co_await c.until_book("100x5 |");
            c.client.hang_up();
            co_await c.until([&] { return c.disconnects == 1 && c.client.machine().logged_in(); });
            a.send(limit(client_sequence{2}, order_side::buy, 101, 6));
            c.want(the_market, 1);
            co_await c.until_book("101x6 |");
            CHECK(it.distributor->host.counts().logins == 2);
            co_await leave(it, c, a);
        });
    }

    /// It is through only when the exchange has heard that its user does not come again.
    static void one_that_drains_alone_is_through_when_it_has_logged_out() {
        hold([](scene& it) -> task {
            it.begin_distributor();
            co_await it.until([&] { return it.distributor->it.reaches_exchange(); });
            it.distributor->it.drain();
            co_await it.until([&] { return it.distributor->it.left(); });
            CHECK_FALSE(it.lives.back().host.participants()[number(eye) - 1U].is_expected());
            it.close();
        });
    }

    /// Subscribers read on until they go, and the exchange is not left waiting for its user.
    static void one_that_drains_lets_subscribers_leave_and_logs_out() {
        hold([](scene& it) -> task {
            it.begin_distributor();
            subscriber<X> c{it.on, it.subscription()};
            co_await c.in();
            co_await it.until([&] { return it.distributor->it.reaches_exchange(); });
            it.distributor->it.drain();
            const participant& asks = it.lives.back().host.participants()[number(eye) - 1U];
            CHECK(asks.is_expected());
            co_await it.until([&asks] { return !asks.is_expected(); });
            CHECK_FALSE(it.distributor->it.left());
            CHECK(c.client.machine().logged_in());
            c.client.stop();
            co_await c.gone();
            co_await it.until([&] { return it.distributor->it.left(); });
            CHECK(c.disconnects == 1);
            CHECK_FALSE(it.distributor->it.reaches_exchange());
            it.close();
        });
    }

    /// Nothing is lost for a subscriber that comes again, so one that stays to the end is told to.
    static void one_that_drains_sends_those_away_who_stay() {
        hold([](scene& it) -> task {
            it.begin_distributor();
            raw_client<X> c{it.on};
            co_await c.connect(it.subscription().exchange);
            c.log_in("carol");
            co_await c.write();
            co_await c.hear(1);
            it.distributor->it.drain();
            CHECK_FALSE(c.ended);
            it.distributor->it.send_away();
            co_await c.hear_the_end();
            CHECK(c.last_words() == describe(soup_ending::gateway_goes));
            co_await c.leave();
            co_await it.until([&] { return it.distributor->it.left(); });
            it.close();
        });
    }

    /// What it sends once more is the feed, whatever it does with it besides.
    static void what_is_heard_is_sent_once_more_if_it_is_to_be() {
        setting how;
        held_port second;
        how.distributor.feed.send_from = how.distributor.feed.requests = loopback(0);
        how.distributor.feed.out.group = second.at();
        hold(
            [&second](scene& it) -> task {
                second.release();
                feed_listener_options hearing;
                hearing.group = second.at();
                hearing.ask_from = loopback(0);
                listener<X> behind{it.on, hearing};
                REQUIRE(behind.feed.start().ok());
                it.begin_distributor();
                trader_of a{it.on, it.client("alice")};
                subscriber<X> c{it.on, it.subscription()};
                co_await a.in();
                co_await c.in();
                c.want(instrument_id::none);
                a.send(limit(client_sequence{1}, order_side::buy, 100, 5));
                co_await c.until_book("100x5 |");
                const std::uint64_t said = it.distributor->it.counts().heard;
                co_await behind.heard_at_least(said);
                CHECK(behind.feed.receiver().session() == mold_session{"LIFE1"});
                behind.feed.stop();
                co_await leave(it, c, a);
            },
            how);
    }

private:
    static constexpr std::uint32_t levels = 150;  // More than two pages.

    static task leave(scene& it, subscriber<X>& c) {
        c.client.stop();
        co_await c.gone();
        it.close();
    }
    static task leave(scene& it, subscriber<X>& c, trader_of& a) {
        a.client.stop();
        co_await a.gone();
        co_await leave(it, c);
    }
    static task leave(scene& it, subscriber<X>& c, trader_of& a, trader_of& b) {
        b.client.stop();
        co_await b.gone();
        co_await leave(it, c, a);
    }
    template <class Body>
    static task to_the_end(const Body& body, scene& it, bool& ended) {
        co_await body(it);
        ended = true;
    }
};

}  // namespace exchange::testing
