// SPDX-License-Identifier: BSL-1.0
//
// What gyre/web/upstreams.hpp promises: who is asked, who is asked no more, and what goes elsewhere. On every
// backend and in worlds, where back-off takes no time and a seed says who is drawn.
#include <gyre/web/upstreams.hpp>

#include <base/ending.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>
#include <support/world.hpp>
#include <web/farm.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using web::client;
using web::client_request;
using web::upstream_response;
using web::upstreams;
using web::upstreams_options;

// -------- Who is asked --------

TEST_CASE("a request goes to one of the servers, with its target and body, and the server's name") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 1};
        const auto body = [&on](task_group&) -> task<> {
            upstreams to{on.web, on.origins()};
            const answered got =
                co_await ask(to, a(http::method::post, "//x/a?b=c", std::string{"hello"}));
            CHECK_FALSE(got.failed);
            CHECK(got.text == "//x/a?b=c");
            CHECK(got.from == 0);
            CHECK(on.all[0].last_body == "hello");
            CHECK(on.all[0].last_host == on.all[0].url().authority());
            client_request named = a(http::method::get);
            named.fields.set("host", "shop.example");
            const answered other = co_await ask(to, std::move(named));
            CHECK_FALSE(other.failed);
            CHECK(on.all[0].last_host == "shop.example");
            CHECK(to.counters(0).requests == 2);
            CHECK(to.counters(0).failures == 0);
        };
        co_await on.run(body);
    });
}

TEST_CASE("requests are shared out by the servers' weights") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 3};
        const auto body = [&on](task_group&) -> task<> {
            upstreams to{on.web, on.origins({1, 3, 4})};
            co_await ask_often(to, 800);
            // Five standard deviations and more.
            CHECK(on.all[0].asked > 50);
            CHECK(on.all[0].asked < 150);
            CHECK(on.all[1].asked > 230);
            CHECK(on.all[1].asked < 370);
            CHECK(on.all[0].asked + on.all[1].asked + on.all[2].asked == 800);
        };
        co_await on.run(body);
    });
}

TEST_CASE("a server that is slow gets no more while others have less to do") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        on.all[0].holds = true;
        const auto body = [&on](task_group& group) -> task<> {
            upstreams to{on.web, on.origins()};
            std::size_t answers = 0;
            // Until the slow one has one.
            while (on.all[0].asked == 0) {
                group.spawn(ask(to, a(http::method::get)), [&answers](answered) { ++answers; });
                co_await settle();
            }
            const std::size_t load = to.counters(0).in_flight;
            for (int each = 0; each < 50; ++each) {
                const answered got = co_await ask(to, a(http::method::get));
                if (got.from == 0) break;
                CHECK(got.from == 1);
            }
            CHECK(load == 1);
            on.all[0].let_go.set();
            while (to.counters(0).in_flight > 0) co_await settle();
            CHECK(answers >= 1);
        };
        co_await on.run(body);
    });
}

TEST_CASE("servers that are slow have as much in flight as their weights say") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        for (replica& each : on.all) each.holds = true;
        const auto body = [&on](task_group& group) -> task<> {
            upstreams to{on.web, on.origins({3, 1})};
            for (int each = 0; each < 8; ++each) {
                group.spawn(ask(to, a(http::method::get)), [](const answered&) {});
                co_await settle();
            }
            CHECK(to.counters(0).in_flight == 6);
            CHECK(to.counters(1).in_flight == 2);
            for (replica& each : on.all) each.let_go.set();
            while (to.counters(0).in_flight + to.counters(1).in_flight > 0) co_await settle();
        };
        co_await on.run(body);
    });
}

TEST_CASE("a request is in flight until its response goes, which may be after all else") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 1};
        const auto body = [&on](task_group&) -> task<> {
            std::optional<upstreams> to{std::in_place, on.web, on.origins()};
            io_result<upstream_response> got = co_await to->send(a(http::method::get));
            CHECK(got.ok());
            std::optional<upstream_response> response{got.take()};
            CHECK(to->counters(0).in_flight == 1);
            upstream_response moved = std::move(*response);
            response.reset();
            CHECK(to->counters(0).in_flight == 1);
            to.reset();
            const io_result<std::string> text = co_await moved.text();
            CHECK(text.value() == "/");
        };
        co_await on.run(body);
    });
}

// -------- What goes elsewhere --------

TEST_CASE("what a dead server has not seen goes to another one, whatever its method and body") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        on.all[0].die();
        const auto body = [&on](task_group&) -> task<> {
            upstreams to{on.web, on.origins({1'000'000, 1})};
            const answered sent = co_await ask(to, a(http::method::post, "/", std::string{"text"}));
            CHECK_FALSE(sent.failed);
            CHECK(sent.from == 1);
            CHECK(on.all[1].last_body == "text");
            std::size_t asked = 0;
            const auto write = [&asked](http::body_writer into) -> task<io_result<>> {
                ++asked;
                const std::string text(100'000, 'p');
                const io_result<std::size_t> put = co_await write_all(into, bytes_of(text));
                co_return put.error();
            };
            const answered put =
                co_await ask(to, a(http::method::put, "/", http::produced_by(write)));
            CHECK_FALSE(put.failed);
            CHECK(on.all[1].last_body.size() == 100'000);
            CHECK(asked == 1);
            CHECK(to.counters(0).failures == to.counters(0).requests);
            CHECK(to.counters(0).repeated == to.counters(0).requests);
            CHECK(to.counters(1).requests == 2);
        };
        co_await on.run(body);
    });
}

TEST_CASE("what a server may have seen goes to another one only if it is idempotent") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        std::size_t met = 0;
        tcp_acceptor breaking = std::move(on.all[0].site.acceptor);
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(break_off(breaking, met));
            upstreams_options options;
            options.failures_max = 0;
            upstreams to{on.web, on.origins({1'000'000, 1}), options};
            const answered got = co_await ask(to, a(http::method::get));
            CHECK_FALSE(got.failed);
            CHECK(got.from == 1);
            const std::size_t before = met;
            CHECK(before == 1);
            const answered posted = co_await ask(to, a(http::method::post, "/", std::string{"1"}));
            CHECK(posted.failed);
            CHECK(met == before + 1);
            CHECK(on.all[1].asked == 1);
            CHECK(to.counters(0).failures == 2);
            CHECK(to.counters(0).repeated == 1);
        };
        co_await on.run(body);
    });
}

TEST_CASE("a request that takes too long is not sent again, and counts as a failure") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        for (replica& each : on.all) each.holds = true;
        const auto body = [&on](task_group&) -> task<> {
            web::client_options options;
            options.exchange.response_time_max = 20ms;
            client impatient{options};
            upstreams to{impatient, on.origins()};
            const answered got = co_await ask(to, a(http::method::get));
            CHECK(got.failed == errc::timed_out);
            CHECK(on.all[0].asked + on.all[1].asked == 1);
            CHECK(to.counters(0).failures + to.counters(1).failures == 1);
            CHECK(to.counters(0).in_flight + to.counters(1).in_flight == 0);
        };
        co_await on.run(body);
    });
}

TEST_CASE("a request that is stopped ends, and says nothing about its server") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 1};
        on.all[0].holds = true;
        const auto body = [&on](task_group&) -> task<> {
            upstreams to{on.web, on.origins()};
            answered got;
            const auto asking = [&](task_group& group) -> task<> {
                group.spawn(ask(to, a(http::method::get)), [&](answered it) { got = it; });
                while (on.all[0].asked == 0) co_await settle();
                group.request_stop();
            };
            co_await with_group(asking);
            CHECK(got.failed == errc::canceled);
            CHECK(to.counters(0).failures == 0);
            CHECK(to.counters(0).in_flight == 0);
        };
        co_await on.run(body);
    });
}

TEST_CASE("a request that cannot be sent touches no server") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        const auto body = [&on](task_group&) -> task<> {
            upstreams to{on.web, on.origins()};
            client_request bad = a(http::method::get);
            bad.fields.add("x", "a\r\nb");
            const answered got = co_await ask(to, std::move(bad));
            CHECK(got.failed == errc::invalid_argument);
            CHECK(to.counters(0).failures + to.counters(1).failures == 0);
            CHECK(to.counters(0).requests + to.counters(1).requests == 1);
        };
        co_await on.run(body);
    });
}

// -------- Who is asked no more --------

TEST_CASE("a server that fails in a row is ejected, and gets no requests") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        on.all[0].die();
        const auto body = [&on](task_group&) -> task<> {
            upstreams_options options;
            options.failures_max = 2;
            options.ejected_first = 1h;
            upstreams to{on.web, on.origins({1'000'000, 1}), options};
            co_await ask_often(to, 2);
            CHECK(to.counters(0).failures == 2);
            CHECK(to.counters(0).ejections == 1);
            CHECK_FALSE(to.available(0));
            co_await ask_often(to, 20);
            CHECK(to.counters(0).requests == 2);
            CHECK(to.counters(1).requests == 22);
        };
        co_await on.run(body);
    });
}

TEST_CASE("a server that was ejected gets one request at a time, and all once that has succeeded") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        on.all[0].status = http::status::bad_gateway;
        const auto body = [&on](task_group& group) -> task<> {
            upstreams to{on.web, on.origins({1'000'000, 1}), soon()};
            co_await ask_often(to, 2);
            CHECK(to.counters(0).ejections == 1);
            while (!to.available(0)) static_cast<void>(co_await sleep_for(1ms));

            on.all[0].status = http::status::ok;
            on.all[0].holds = true;
            answered first;
            group.spawn(ask(to, a(http::method::get)), [&first](answered got) { first = got; });
            while (on.all[0].asked < 3) co_await settle();
            CHECK_FALSE(to.available(0));
            co_await ask_often(to, 10);
            CHECK(on.all[0].asked == 3);
            on.all[0].let_go.set();
            while (to.counters(0).in_flight > 0) co_await settle();
            CHECK(first.from == 0);
            CHECK(to.available(0));
            co_await ask_often(to, 2);
            CHECK(on.all[0].asked == 5);
        };
        co_await on.run(body);
    });
}

TEST_CASE("a server that was dead is found when it listens again") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        on.all[0].die();
        const auto body = [&on](task_group& group) -> task<> {
            upstreams to{on.web, on.origins({1'000'000, 1}), soon()};
            co_await ask_often(to, 2);
            CHECK(to.counters(0).ejections == 1);
            group.spawn(on.all[0].serve());
            answered back;
            while (back.from != 0) {
                back = co_await ask(to, a(http::method::get));
                static_cast<void>(co_await sleep_for(1ms));
            }
            CHECK(to.available(0));
        };
        co_await on.run(body);
    });
}

TEST_CASE("each ejection in a row is twice as long, up to a bound") {
    if (!worlds_under_test()) return;
    run_in_world([](io_context& io) -> task<> {
        farm on{io, 2};
        on.all[0].die();
        const auto body = [&on, &io](task_group&) -> task<> {
            upstreams_options options;
            options.failures_max = 1;
            options.ejected_first = 1s;
            options.ejected_max = 5s;
            upstreams to{on.web, on.origins({1'000'000, 1}), options};
            for (const duration expected : {1s, 2s, 4s, 5s, 5s}) {
                co_await ask_often(to, 1);
                CHECK_FALSE(to.available(0));
                const time_point begun = io.now();
                while (!to.available(0)) static_cast<void>(co_await sleep_for(100ms));
                const duration took = io.now() - begun;
                CHECK(took > expected - 200ms);
                CHECK(took <= expected);
            }
        };
        co_await on.run(body);
    });
}

TEST_CASE("responses of 503 count as failures, are handed out, and are not asked for again") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        on.all[0].status = http::status::service_unavailable;
        const auto body = [&on](task_group&) -> task<> {
            upstreams_options options;
            options.failures_max = 2;
            options.ejected_first = 1h;
            upstreams to{on.web, on.origins({1'000'000, 1}), options};
            for (int each = 0; each < 2; ++each) {
                const answered got = co_await ask(to, a(http::method::get));
                CHECK(got.from == 0);
                CHECK(got.status == http::status::service_unavailable);
            }
            CHECK_FALSE(to.available(0));
            co_await ask_often(to, 10);
            CHECK(on.all[0].asked == 2);

            options.is_failure = [](http::status) { return false; };
            upstreams content{on.web, on.origins({1'000'000, 1}), options};
            co_await ask_often(content, 10);
            CHECK(content.available(0));
        };
        co_await on.run(body);
    });
}

TEST_CASE("a success between failures begins the count anew") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 1};
        const auto body = [&on](task_group&) -> task<> {
            upstreams to{on.web, on.origins(), soon()};
            for (int each = 0; each < 6; ++each) {
                on.all[0].status =
                    each % 2 == 0 ? http::status::bad_gateway : http::status::not_found;
                const answered got = co_await ask(to, a(http::method::get));
                CHECK_FALSE(got.failed);
            }
            CHECK(to.counters(0).failures == 3);
            CHECK(to.counters(0).ejections == 0);
        };
        co_await on.run(body);
    });
}

TEST_CASE("where all servers are ejected all are asked, and the first that is back is found") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        for (replica& each : on.all) each.die();
        const auto body = [&on](task_group& group) -> task<> {
            upstreams_options options;
            options.failures_max = 1;
            options.ejected_first = 1h;
            upstreams to{on.web, on.origins(), options};
            const answered got = co_await ask(to, a(http::method::get));
            CHECK(got.failed == errc::connection_refused);
            CHECK(to.counters(0).requests + to.counters(1).requests == 2);
            CHECK_FALSE(to.available(0));
            CHECK_FALSE(to.available(1));
            group.spawn(on.all[1].serve());
            co_await settle();
            const answered found = co_await ask(to, a(http::method::get));
            CHECK(found.from == 1);
            CHECK(to.available(1));

            options.available_min_percent = 0;
            on.all[1].status = http::status::bad_gateway;
            upstreams strict{on.web, on.origins(), options};
            while (strict.available(0) || strict.available(1)) {
                static_cast<void>(co_await ask(strict, a(http::method::get)));
            }
            const answered none = co_await ask(strict, a(http::method::get));
            CHECK(none.failed == errc::host_down);
        };
        co_await on.run(body);
    });
}

TEST_CASE("where too few servers are left, health counts for nothing") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 4};
        for (std::size_t each = 0; each < 3; ++each) {
            on.all[each].status = http::status::bad_gateway;
        }
        const auto body = [&on](task_group&) -> task<> {
            upstreams_options options;
            options.failures_max = 1;
            options.ejected_first = 1h;
            options.available_min_percent = 50;
            upstreams to{on.web, on.origins(), options};
            for (int each = 0; each < 200; ++each) {
                const answered got = co_await ask(to, a(http::method::get));
                CHECK_FALSE(got.failed);
            }
            // Of 200 the last one alone would have had nearly all.
            CHECK(on.all[3].asked < 150);
        };
        co_await on.run(body);
    });
}

// -------- Checks --------

TEST_CASE("checks find that a server is down, and up again, without a request") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        const auto body = [&on](task_group& group) -> task<> {
            upstreams to{on.web, on.origins({1'000'000, 1})};
            web::health_check how;
            how.target = "/health";
            how.interval = 2ms;
            how.time_max = 10s;
            auto checking = group.spawn_child(to.check(how));
            while (on.all[0].checked < 3 || on.all[1].checked < 3) {
                static_cast<void>(co_await sleep_for(1ms));
            }
            CHECK(to.available(0));
            on.all[0].lives = false;
            while (to.available(0)) static_cast<void>(co_await sleep_for(1ms));
            CHECK(to.counters(0).failed_checks >= 3);
            co_await ask_often(to, 10);
            CHECK(on.all[0].asked == 0);
            on.all[0].lives = true;
            while (!to.available(0)) static_cast<void>(co_await sleep_for(1ms));
            CHECK(to.counters(0).requests == 0);

            on.all[1].lives = false;
            while (to.available(1)) static_cast<void>(co_await sleep_for(1ms));
            checking.request_stop();
            static_cast<void>(co_await checking.wait());
            CHECK(to.available(1));
        };
        co_await on.run(body);
    });
}

TEST_CASE("a server that accepts and says nothing is down, and others are checked meanwhile") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        on.all[0].silent = true;
        const auto body = [&on](task_group& group) -> task<> {
            upstreams to{on.web, on.origins()};
            web::health_check how;
            how.target = "/health";
            how.interval = 1ms;
            how.time_max = 30ms;
            how.failures_max = 1;
            auto checking = group.spawn_child(to.check(how));
            while (to.available(0) || on.all[1].checked < 3) {
                static_cast<void>(co_await sleep_for(1ms));
            }
            CHECK(on.all[0].checked <= on.all[1].checked);
            checking.request_stop();
            static_cast<void>(co_await checking.wait());
        };
        co_await on.run(body);
    });
}

// -------- In a world --------

namespace {

// Who answers, in order.
std::string drawn_with(std::uint64_t seed) {
    std::string order;
    test::world_options options;
    options.seed = seed;
    test::world world{options};
    test::machine& here = world.add("here");
    const on_machine mark{here};
    const auto run = [&order](io_context& io) -> task<> {
        farm on{io, 3};
        const auto body = [&](task_group&) -> task<> {
            upstreams to{on.web, on.origins()};
            for (int each = 0; each < 60; ++each) {
                const answered got = co_await ask(to, a(http::method::get));
                order += std::to_string(got.from);
            }
        };
        co_await on.run(body);
    };
    auto outcome = world.run(here, run(here.io()), 1h);
    CHECK_MESSAGE(outcome.ok(), outcome.text());
    if (outcome.ok()) outcome.take();
    return order;
}

}  // namespace

TEST_CASE("upstreams in a world: the seed says who is asked") {
    if (!worlds_under_test()) return;
    const std::string one = drawn_with(1);
    CHECK(one.size() == 60);
    CHECK(one == drawn_with(1));
    CHECK(one != drawn_with(2));
}

TEST_CASE("upstreams in a world: a partition costs requests its time to connect, and heals") {
    if (!worlds_under_test()) return;
    test::world world;
    test::machine& proxy = world.add("proxy");
    test::machine& one = world.add("one");
    test::machine& other = world.add("other");
    const auto serve = [](stream_acceptor from) -> task<> {
        const auto hello = [](http::request&) -> task<http::response> {
            co_return http::response{http::status::ok, "text/plain", "hello"};
        };
        static_cast<void>(co_await web::serve_http(std::move(from), hello, {}));
    };
    std::vector<stop_handle> serving;
    for (test::machine* const each : {&one, &other}) {
        stream_acceptor from = stream_acceptor::listen(each->io(), each->at(80)).take();
        serving.push_back(world.start(*each, serve(std::move(from))));
    }
    web::client_options options;
    options.connect_time_max = 1s;
    client by{options};
    upstreams to{by,
                 {{web::url::parse("http://one/").take(), 1000},
                  {web::url::parse("http://other/").take(), 1}},
                 soon()};
    const auto visit = [&]() -> task<> {
        co_await ask_often(to, 10);
        world.partition(proxy, one);
        by.close_idle();
        co_await ask_often(to, 50);
        CHECK(to.counters(0).ejections >= 1);
        CHECK(to.counters(1).requests >= 50);
        world.heal(proxy, one);
        answered back;
        for (int each = 0; back.from != 0 && each < 1000; ++each) {
            back = co_await ask(to, a(http::method::get));
            static_cast<void>(co_await sleep_for(100ms));
        }
        CHECK(back.from == 0);
        by.close_idle();
    };
    auto outcome = world.run(proxy, visit(), 1h);
    REQUIRE_MESSAGE(outcome.ok(), outcome.text());
    outcome.take();
    for (const stop_handle& each : serving) each.request_stop();
    const auto ended = world.run(1h);
    CHECK_MESSAGE(ended.ok(), ended.text());
}

TEST_CASE("upstreams without a server, or with one without a share, are the program's mistake") {
    const ending none = ending_of([] {
        client by;
        const upstreams to{by, {}};
    });
    CHECK(none.signal == SIGABRT);
    CHECK(none.said_that("a request has a server to go to"));
    const ending weightless = ending_of([] {
        client by;
        const upstreams to{by, {{web::url::parse("http://one/").take(), 0}}};
    });
    CHECK(weightless.signal == SIGABRT);
    CHECK(weightless.said_that("a server without a share gets no requests"));
}
