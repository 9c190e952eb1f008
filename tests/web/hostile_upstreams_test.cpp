// SPDX-License-Identifier: BSL-1.0
//
// `web::upstreams` between servers that do as they like with each connection, and callers that leave at any
// step: a request ends, is sent no more often than it may, and leaves nothing in flight.
#include <gyre/web/upstreams.hpp>

#include <gyre/io/serve.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/test/fuse.hpp>
#include <support/harness.hpp>
#include <support/world.hpp>
#include <web/farm.hpp>

#include <array>
#include <chrono>
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

/// False once the client takes no more.
task<bool> say(stream_socket& to, std::string_view text) {
    const io_result<std::size_t> put = co_await write_all(to, bytes_of(text));
    co_return put.ok();
}

task<> say_for_ever(stream_socket& to, std::string_view text, duration pause = {}) {
    bool taken = true;
    while (taken) {
        taken = co_await say(to, text);
        if (pause > duration{}) {
            const io_result<> slept = co_await sleep_for(pause);
            taken = taken && slept.ok();
        }
    }
}

task<> stay(stream_socket& peer) {
    std::array<std::byte, 4096> space;
    for (;;) {
        const auto got = co_await peer.read_some(space);
        if (!got.ok()) co_return;
    }
}

using manner = task<> (*)(stream_socket&);

struct hostility {
    const char* name;
    manner with;
    bool has_head;               ///< The caller gets a response, and its body ends with an error.
    std::size_t sent_elsewhere;  ///< A GET.
};

const hostility hostilities[] = {
    {"accepts, and says nothing", stay, false, 0},
    {"a head without an end",
     [](stream_socket& peer) -> task<> {
         static_cast<void>(co_await read_head(peer));
         static_cast<void>(co_await say(peer, "HTTP/1.1 200 OK\r\n"));
         co_await say_for_ever(peer, "x-more: of it\r\n");
     },
     false, 0},
    {"a head in drops",
     [](stream_socket& peer) -> task<> {
         static_cast<void>(co_await read_head(peer));
         static_cast<void>(co_await say(peer, "HTTP/1.1 200 OK\r\nx-drops: "));
         co_await say_for_ever(peer, "a", 1s);
     },
     false, 0},
    {"1xx for ever",
     [](stream_socket& peer) -> task<> {
         static_cast<void>(co_await read_head(peer));
         co_await say_for_ever(peer, "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n");
     },
     false, 0},
    {"no HTTP",
     [](stream_socket& peer) -> task<> {
         static_cast<void>(co_await say(peer, "220 mail.example ESMTP\r\n"));
         co_await stay(peer);
     },
     false, 0},
    {"closes at once", [](stream_socket&) -> task<> { co_return; }, false, 1},
    {"resets in the head",
     [](stream_socket& peer) -> task<> {
         static_cast<void>(co_await read_head(peer));
         static_cast<void>(co_await say(peer, "HTTP/1.1 200 OK\r\ncontent-le"));
         CHECK(peer.set_option(reset_on_close{{true}}).ok());
     },
     false, 1},
    {"resets in the body",
     [](stream_socket& peer) -> task<> {
         static_cast<void>(co_await read_head(peer));
         static_cast<void>(
             co_await say(peer, "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf of it"));
         static_cast<void>(co_await sleep_for(10ms));
         CHECK(peer.set_option(reset_on_close{{true}}).ok());
     },
     true, 0},
    {"a body without an end",
     [](stream_socket& peer) -> task<> {
         static_cast<void>(co_await read_head(peer));
         static_cast<void>(
             co_await say(peer, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"));
         const std::string chunk = "4000\r\n" + std::string(0x4000, 'x') + "\r\n";
         co_await say_for_ever(peer, chunk, 1ms);
     },
     true, 0},
    {"a protocol that was not asked for",
     [](stream_socket& peer) -> task<> {
         static_cast<void>(co_await read_head(peer));
         static_cast<void>(co_await say(
             peer,
             "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"));
         co_await stay(peer);
     },
     false, 0},
    {"two lengths",
     [](stream_socket& peer) -> task<> {
         static_cast<void>(co_await read_head(peer));
         static_cast<void>(co_await say(
             peer, "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"));
         co_await stay(peer);
     },
     false, 0},
};

/// Servers that are all hostile in the same way, and how many connections they have met.
struct hostile_farm {
    hostile_farm(io_context& io, std::size_t count, manner with) : how{with} {
        for (std::size_t each = 0; each < count; ++each) sites.emplace_back(io);
    }

    task<> meet(stream_socket peer) {
        ++met;
        co_await how(peer);
    }
    task<> serve_at(listening_site& site) {
        const auto session = [this](stream_socket peer) { return meet(std::move(peer)); };
        static_cast<void>(co_await serve(std::move(site.acceptor), session));
    }
    [[nodiscard]] std::vector<web::upstream> origins() const {
        std::vector<web::upstream> made;
        for (const listening_site& each : sites) {
            made.emplace_back(web::url::parse(each.url("/")).take());
        }
        return made;
    }

    template <class Body>
    task<> run(Body body) {
        const auto both = [&](task_group& group) -> task<> {
            for (listening_site& each : sites) group.spawn(serve_at(each));
            co_await body(group);
            group.request_stop();
        };
        co_await with_group(both);
    }

    manner how;
    std::deque<listening_site> sites;
    std::size_t met = 0;
};

web::client_options hasty() {
    web::client_options options;
    options.exchange.response_time_max = 30ms;
    options.exchange.body_silence_max = 30ms;
    return options;
}

}  // namespace

// -------- Hostile servers --------

TEST_CASE(
    "whatever two servers do, a request to them ends, is sent as often as it may, and is gone") {
    for (const hostility& each : hostilities) {
        CAPTURE(each.name);
        everywhere([&each](io_context& io) -> task<> {
            hostile_farm on{io, 2, each.with};
            const auto body = [&](task_group&) -> task<> {
                client web{hasty()};
                upstreams_options options;
                options.failures_max = 0;
                upstreams to{web, on.origins(), options};
                for (const http::method what : {http::method::get, http::method::post}) {
                    const std::size_t before = on.met;
                    io_result<upstream_response> got =
                        co_await to.send(a(what, "/", std::string{"text"}));
                    CHECK(got.ok() == each.has_head);
                    if (got.ok()) {
                        const upstream_response response = got.take();
                        const io_result<std::string> text = co_await response.text(1 << 20);
                        CHECK_FALSE(text.ok());
                    }
                    const bool repeats = what == http::method::get && each.sent_elsewhere > 0;
                    CHECK(on.met - before == (repeats ? 2 : 1));
                }
                CHECK(to.counters(0).in_flight + to.counters(1).in_flight == 0);
                const std::size_t failures = to.counters(0).failures + to.counters(1).failures;
                CHECK(failures == (each.has_head ? 0 : 2 + each.sent_elsewhere));
            };
            co_await on.run(body);
        });
    }
}

TEST_CASE("an answer before the request's body is handed out, whatever becomes of the connection") {
    const manner too_large = [](stream_socket& peer) -> task<> {
        static_cast<void>(co_await read_head(peer));
        static_cast<void>(
            co_await say(peer, "HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\n\r\n"));
        static_cast<void>(co_await sleep_for(10ms));  // A reset at once may overtake it.
    };
    everywhere([too_large](io_context& io) -> task<> {
        hostile_farm on{io, 2, too_large};
        const auto body = [&on](task_group&) -> task<> {
            client web;
            upstreams to{web, on.origins()};
            const answered got =
                co_await ask(to, a(http::method::put, "/", http::produced_by(write_for_ever)));
            CHECK_FALSE(got.failed);
            CHECK(got.status == http::status::content_too_large);
            CHECK(on.met == 1);
            CHECK(to.counters(0).failures + to.counters(1).failures == 0);
        };
        co_await on.run(body);
    });
}

TEST_CASE("with all servers down a request is sent as often as its options say, and no more") {
    const manner closing = [](stream_socket&) -> task<> { co_return; };
    everywhere([closing](io_context& io) -> task<> {
        hostile_farm on{io, 8, closing};
        const auto body = [&on](task_group&) -> task<> {
            client web;
            upstreams_options options;
            options.failures_max = 1;
            options.attempts_max = 4;
            upstreams to{web, on.origins(), options};
            for (int each = 0; each < 5; ++each) {
                const answered got = co_await ask(to, a(http::method::get));
                CHECK(got.failed);
            }
            CHECK(on.met <= 20);
            std::size_t in_flight = 0;
            for (std::size_t each = 0; each < to.size(); ++each) {
                in_flight += to.counters(each).in_flight;
            }
            CHECK(in_flight == 0);
        };
        co_await on.run(body);
    });
}

// -------- Ends at each step --------

namespace {

/// Sends and reads three times, or until it is stopped.
task<> use(upstreams& to) {
    for (int each = 0; each < 3; ++each) {
        io_result<upstream_response> got =
            co_await to.send(a(http::method::put, "/", std::string(100'000, 'p')));
        if (!got.ok()) co_return;
        const upstream_response response = got.take();
        const io_result<std::string> text = co_await response.text();
        if (!text.ok()) co_return;
    }
}

// Stops a caller and a check as the nth operation of their machine begins. False if they make fewer.
bool stopped_at(std::size_t nth) {
    CAPTURE(nth);
    test::world world;
    test::machine& here = world.add("here");
    test::machine& there = world.add("there");
    const auto answer = [](http::request& what) -> task<http::response> {
        static_cast<void>(co_await what.body.read_all(1 << 20));
        co_return http::response{http::status::ok, "text/plain", std::string(50'000, 'a')};
    };
    const auto serve_there = [&answer](stream_acceptor from) -> task<> {
        static_cast<void>(co_await web::serve_http(std::move(from), answer, {}));
    };
    const stop_handle serving =
        world.start(there, serve_there(stream_acceptor::listen(there.io(), there.at(80)).take()));
    client by;
    std::optional<upstreams> to{
        std::in_place, by,
        std::vector<web::upstream>{{web::url::parse("http://there:81/").take(), 1000},
                                   {web::url::parse("http://there/").take()}}};
    web::health_check how;
    how.interval = 1ms;
    how.failures_max = 100;
    const stop_handle checking = world.start(here, to->check(how));
    bool ended = false;
    const auto caller = [&]() -> task<> {
        co_await use(*to);
        ended = true;
    };
    const stop_handle calling = world.start(here, caller());
    test::fuse fault{nth, [&] {
                         calling.request_stop();
                         checking.request_stop();
                     }};
    here.set_fuse(&fault);
    const auto came = world.run_until([&] { return ended; }, 1h);
    CHECK_MESSAGE(ended, came.text());
    here.set_fuse(nullptr);
    checking.request_stop();
    for (std::size_t each = 0; each < 2; ++each) {
        CHECK(to->counters(each).in_flight == 0);
        CHECK(to->available(each));
    }
    CHECK(to->counters(1).failures == 0);
    to.reset();
    by.close_idle();
    serving.request_stop();
    const auto gone = world.run(1h);
    CHECK_MESSAGE(gone.ok(), gone.text());
    CHECK(world.open_descriptors() == 0);
    return fault.blown();
}

}  // namespace

TEST_CASE(
    "in a world: a stop at any operation leaves nothing in flight, and says nothing of a server") {
    if (!worlds_under_test()) return;
    std::size_t nth = 1;
    while (stopped_at(nth)) ++nth;
    CHECK(nth > 20);
}
