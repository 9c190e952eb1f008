// SPDX-License-Identifier: BSL-1.0
//
// Servers behind `web::upstreams` that hang, lie, break off and come back, clients of a proxy that do, and
// stops at each step: what is learned of a server has to be its own doing, and nothing stays in flight.
#include <gyre/web/upstreams.hpp>

#include <base/ending.hpp>
#include <gyre/io/serve.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>
#include <support/world.hpp>
#include <web/farm.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using web::client;
using web::upstream_response;
using web::upstreams;
using web::upstreams_options;

namespace {

/// Asks until a server answers, with a pause after each request; false after `often`.
task<bool> comes_back(upstreams& to, std::size_t server, int often) {
    for (int each = 0; each < often; ++each) {
        const answered got = co_await ask(to, a(http::method::get));
        if (got.from == server && got.status == http::status::ok) co_return true;
        static_cast<void>(co_await sleep_for(1ms));
    }
    co_return false;
}

/// A body that ends with `why`, its own error, after some of it.
http::response_body breaking_off(error why) {
    const auto write = [why](http::body_writer into) -> task<io_result<>> {
        const io_result<std::size_t> put = co_await write_all(into, bytes_of("some of it"));
        CHECK(put.ok());
        const io_result<> flushed = co_await into.flush();
        CHECK(flushed.ok());
        co_return why;
    };
    return http::produced_by(write);
}

}  // namespace

// -------- Shares --------

TEST_CASE("servers get the shares of their weights from several clients at a time") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        const auto body = [&on](task_group&) -> task<> {
            upstreams to{on.web, on.origins({10, 1})};
            const auto askers = [&to](task_group& group) -> task<> {
                for (int each = 0; each < 4; ++each) group.spawn(ask_often(to, 200));
                co_return;
            };
            co_await with_group(askers);
            CHECK(on.all[0].asked + on.all[1].asked == 800);
            // A share of 73. By the load alone it would be 200.
            CHECK(on.all[1].asked > 10);
            CHECK(on.all[1].asked < 120);
        };
        co_await on.run(body);
    });
}

// -------- Ejections --------

TEST_CASE("an ejected server is tried again while an answer of it is still read") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        const auto body = [&on](task_group&) -> task<> {
            upstreams to{on.web, on.origins({1'000'000, 1}), soon()};
            const io_result<upstream_response> events = co_await to.send(a(http::method::get));
            REQUIRE(events.ok());
            CHECK(events.value().from == 0);
            on.all[0].status = http::status::bad_gateway;
            co_await ask_often(to, 2);
            CHECK(to.counters(0).ejections == 1);

            on.all[0].status = http::status::ok;
            const bool back = co_await comes_back(to, 0, 500);
            CHECK(back);
            CHECK(to.counters(0).in_flight == 1);
        };
        co_await on.run(body);
    });
}

TEST_CASE("in a world: requests from before an ejection do not make it longer") {
    if (!worlds_under_test()) return;
    run_in_world([](io_context& io) -> task<> {
        farm on{io, 1};
        on.all[0].holds = true;
        const auto body = [&on](task_group& group) -> task<> {
            web::client_options patience;
            patience.exchange.response_time_max = 10s;
            client web{patience};
            upstreams_options options;
            options.failures_max = 1;
            options.ejected_first = 1s;
            upstreams to{web, on.origins(), options};
            std::size_t failed = 0;
            for (int each = 0; each < 3; ++each) {
                group.spawn(ask(to, a(http::method::get)), [&failed](const answered& got) {
                    if (got.failed) ++failed;
                });
                static_cast<void>(co_await sleep_for(3s));
            }
            while (failed < 3) static_cast<void>(co_await sleep_for(100ms));
            CHECK(to.counters(0).failures == 3);
            CHECK(to.counters(0).ejections == 1);
            CHECK(to.available(0));
            // A trial that fails does make it longer.
            const answered tried = co_await ask(to, a(http::method::get));
            CHECK(tried.failed == errc::timed_out);
            CHECK(to.counters(0).ejections == 2);
        };
        co_await on.run(body);
    });
}

TEST_CASE("in a world: a trial that is stopped lets the next one begin") {
    if (!worlds_under_test()) return;
    run_in_world([](io_context& io) -> task<> {
        farm on{io, 2};
        on.all[0].status = http::status::bad_gateway;
        const auto body = [&on](task_group& group) -> task<> {
            upstreams to{on.web, on.origins({1'000'000, 1}), soon()};
            while (to.counters(0).ejections == 0) co_await ask_often(to, 1);
            while (!to.available(0)) static_cast<void>(co_await sleep_for(1ms));
            on.all[0].status = http::status::ok;
            on.all[0].holds = true;
            const std::size_t before = on.all[0].asked;
            auto trial = group.spawn_child(ask(to, a(http::method::get)));
            while (on.all[0].asked == before) co_await settle();
            CHECK_FALSE(to.available(0));
            trial.request_stop();
            static_cast<void>(co_await trial.wait());
            CHECK(to.available(0));
            CHECK(to.counters(0).in_flight == 0);
            on.all[0].let_go.set();
            on.all[0].holds = false;
            const bool back = co_await comes_back(to, 0, 10);
            CHECK(back);
        };
        co_await on.run(body);
    });
}

// -------- Bodies that break off --------

TEST_CASE("a body that its own producer breaks off says nothing about the server") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        const auto body = [&on](task_group&) -> task<> {
            upstreams_options options;
            options.failures_max = 1;
            upstreams to{on.web, on.origins(), options};
            for (const errc why : {errc::eof, errc::timed_out, errc::tls_truncated}) {
                const answered got = co_await ask(to, a(http::method::put, "/", breaking_off(why)));
                CHECK(got.failed == why);
            }
            for (std::size_t each = 0; each < 2; ++each) {
                CHECK(to.counters(each).failures == 0);
                CHECK(to.counters(each).repeated == 0);
                CHECK(to.available(each));
            }
            CHECK(to.counters(0).requests + to.counters(1).requests == 3);
        };
        co_await on.run(body);
    });
}

TEST_CASE("a server that breaks off while a body is sent to it has failed") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 1};
        std::size_t met = 0;
        tcp_acceptor breaking = std::move(on.all[0].site.acceptor);
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(break_off(breaking, met));
            upstreams to{on.web, on.origins()};
            const answered got =
                co_await ask(to, a(http::method::put, "/", http::produced_by(write_for_ever)));
            CHECK(got.failed);
            CHECK(to.counters(0).failures == 1);
            CHECK(met == 1);
        };
        co_await on.run(body);
    });
}

// -------- Checks --------

TEST_CASE("a server whose connections are all in use is not down") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        on.all[0].holds = true;
        const auto body = [&on](task_group& group) -> task<> {
            web::client_options few;
            few.connections_max = 1;
            client web{few};
            upstreams to{web, on.origins({1'000'000, 1})};
            group.spawn(ask(to, a(http::method::get)), [](const answered&) {});
            while (on.all[0].asked == 0) co_await settle();

            web::health_check how;
            how.target = "/health";
            how.interval = 1ms;
            how.time_max = 1s;
            how.failures_max = 1;
            auto checking = group.spawn_child(to.check(how));
            while (to.counters(0).failed_checks + to.counters(1).failed_checks == 0 &&
                   (on.all[0].checked < 3 || on.all[1].checked < 3)) {
                static_cast<void>(co_await sleep_for(1ms));
            }
            CHECK(to.available(0));
            CHECK(to.available(1));
            checking.request_stop();
            static_cast<void>(co_await checking.wait());
            on.all[0].let_go.set();
            while (to.counters(0).in_flight > 0) co_await settle();
        };
        co_await on.run(body);
    });
}

TEST_CASE("servers that say nothing do not keep others from being checked") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 4};
        for (std::size_t each = 0; each < 3; ++each) on.all[each].silent = true;
        const auto body = [&on](task_group& group) -> task<> {
            web::client_options few;
            few.connections_max = 2;
            client web{few};
            upstreams to{web, on.origins()};
            web::health_check how;
            how.target = "/health";
            how.interval = 1ms;
            how.time_max = 50ms;
            how.failures_max = 1;
            auto checking = group.spawn_child(to.check(how));
            while (to.available(0) || to.available(1) || to.available(2)) {
                static_cast<void>(co_await sleep_for(1ms));
            }
            CHECK(to.available(3));
            CHECK(on.all[3].checked > 0);
            checking.request_stop();
            static_cast<void>(co_await checking.wait());
        };
        co_await on.run(body);
    });
}

TEST_CASE("a check takes an answer of any length, and a server whose answer has no end is down") {
    everywhere([](io_context& io) -> task<> {
        farm on{io, 2};
        on.all[0].health_text.assign(300'000, 'h');
        on.all[1].health_is_endless = true;
        const auto body = [&on](task_group& group) -> task<> {
            upstreams to{on.web, on.origins()};
            web::health_check how;
            how.target = "/health";
            how.interval = 1ms;
            how.time_max = 100ms;
            how.failures_max = 1;
            auto checking = group.spawn_child(to.check(how));
            while (to.available(1) && to.available(0)) {
                static_cast<void>(co_await sleep_for(1ms));
            }
            CHECK(to.available(0));
            CHECK_FALSE(to.available(1));
            checking.request_stop();
            static_cast<void>(co_await checking.wait());
        };
        co_await on.run(body);
    });
}

TEST_CASE("the target of a check begins with a slash, or it is the program's mistake") {
    for (const char* const target : {"health", "", "@elsewhere/", ":80/", "?a"}) {
        CAPTURE(target);
        const ending met = ending_of([target] {
            client by;
            upstreams to{by, {{web::url::parse("http://one/").take()}}};
            web::health_check how;
            how.target = target;
            static_cast<void>(to.check(how));
        });
        CHECK(met.signal == SIGABRT);
        CHECK(met.said_that("the target of a check is a path"));
    }
}
