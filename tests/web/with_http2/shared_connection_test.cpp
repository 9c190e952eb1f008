// SPDX-License-Identifier: BSL-1.0
//
// Requests of `web::client` that share connections of HTTP/2, with servers of ours, and with some that
// refuse, reset, leave and lie: on every backend and in worlds.
#include <web/with_http2/frame_server.hpp>

#include <gyre/http2/serve_connection.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/latch.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/web/server.hpp>
#include <support/settle.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using web::client;
using web::client_options;
using web::client_request;
using web::client_response;

namespace {

web::server_options tls_on_loop() {
    web::server_options options = over_tls();
    options.steps = web::handshake_steps::on_loop;
    return options;
}

task<http::response> tell(http::request& what) {
    io_result<std::string> body = co_await what.body.read_all(1 << 22);
    std::string text{what.method_text()};
    text.append(" ").append(what.target()).append(" ").append(what.scheme());
    text.append(" ").append(std::to_string(body.value().size()));
    co_return http::response{http::status::ok, "text/plain", std::move(text)};
}

// Answers when as many requests are there at the same time.
struct meeting {
    explicit meeting(std::size_t of) : missing{of} {}

    task<http::response> join(http::request&) {
        if (--missing == 0) complete.set();
        static_cast<void>(co_await complete.wait());
        co_return http::response{http::status::ok, "text/plain", "met"};
    }

    std::size_t missing;
    event complete;
};

// How many requests are there at the most.
struct crowd_meter {
    task<http::response> answer(http::request&) {
        most = std::max(most, ++present);
        if (present == expected) {
            co_await settle();  // One more would come now.
            all_there.set();
        }
        static_cast<void>(co_await with_timeout(patience, all_there.wait()));
        --present;
        co_return http::response{http::status::ok, "text/plain", "seen"};
    }

    std::size_t expected = 6;
    std::size_t present = 0;
    std::size_t most = 0;
    event all_there;
};

// Writes `count` bytes, and notes that it was asked.
http::response_body produced(std::size_t count, std::size_t& asked) {
    return http::produced_by([count, &asked](http::body_writer to) -> task<io_result<>> {
        ++asked;
        const std::string text(count, 'p');
        const io_result<std::size_t> put = co_await write_all(to, bytes_of(text));
        co_return put.error();
    });
}

void check_all(const std::vector<fetched>& all, std::string_view text) {
    for (const fetched& each : all) {
        CHECK_FALSE(each.failed);
        CHECK(each.text == text);
        CHECK(each.version == http::version::http_2);
    }
}

}  // namespace

// -------- Sharing --------

TEST_CASE(
    "a client's requests to a server that agrees on h2 share one connection at the same time") {
    const auto run = [](io_context& io) -> task<> {
        meeting all_here{50};
        const auto handle = [&](http::request& what) { return all_here.join(what); };
        const auto body = [](const listening_site& site) -> task<> {
            client web{multiplexing()};
            const std::vector<fetched> all = co_await fetch_all(web, site.url("/", "https"), 50);
            check_all(all, "met");
            CHECK(web.counters().connections == 1);
            CHECK(web.counters().reused == 49);
            CHECK(web.idle() == 1);
        };
        co_await with_site(io, handle, tls_on_loop(), body);
    };
    everywhere(run);
}

TEST_CASE(
    "a client's requests say over HTTP/2 what they say over HTTP/1, with bodies and redirects") {
    const auto run = [](io_context& io) -> task<> {
        const auto handle = [](http::request& what) -> task<http::response> {
            if (what.path() == "/go") {
                http::response moved{http::status::temporary_redirect};
                moved.fields.set("location", "/there");
                co_return moved;
            }
            http::response told = co_await tell(what);
            co_return told;
        };
        const auto body = [](const listening_site& site) -> task<> {
            client web{multiplexing()};
            const std::string base = site.url("", "https");
            const fetched got = co_await fetch(web, request_to(base + "/a?b=c"));
            CHECK(got.text == "GET /a?b=c https 0");
            const fetched sent = co_await fetch(
                web, request_to(base + "/go", http::method::post, std::string(300'000, 'x')));
            CHECK(sent.text == "POST /there https 300000");
            std::size_t asked = 0;
            client_request made =
                request_to(base + "/p", http::method::put, produced(100'000, asked));
            const fetched put = co_await fetch(web, std::move(made));
            CHECK(put.text == "PUT /p https 100000");
            CHECK(asked == 1);
            CHECK(web.counters().connections == 1);
            CHECK(web.counters().redirected == 1);
        };
        co_await with_site(io, handle, tls_on_loop(), body);
    };
    everywhere(run);
}

TEST_CASE("a client has no more streams and connections than its options allow") {
    const auto run = [](io_context& io) -> task<> {
        crowd_meter meter;
        const auto handle = [&](http::request& what) { return meter.answer(what); };
        const auto body = [](const listening_site& site) -> task<> {
            client_options options = multiplexing();
            options.streams_max = 3;
            options.connections_per_origin_max = 2;
            client web{options};
            const std::vector<fetched> all = co_await fetch_all(web, site.url("/", "https"), 40);
            check_all(all, "seen");
            CHECK(web.counters().connections == 2);
        };
        co_await with_site(io, handle, tls_on_loop(), body);
        CHECK(meter.most == 6);
    };
    everywhere(run);
}

TEST_CASE(
    "a client opens no stream beyond what a server allows, and makes other connections for them") {
    const auto run = [](io_context& io) -> task<> {
        std::size_t most = 0;
        const auto how = [&most](frame_peer& peer, std::size_t) -> task<> {
            co_await peer.greet(streams_max(1));
            for (;;) {
                const std::uint32_t stream = co_await peer.next_request();
                if (stream == 0) co_return;
                most = std::max<std::size_t>(most, stream);
                const bool said = co_await peer.answer(stream, "one");
                if (!said) co_return;
            }
        };
        const auto body = [](const listening_site& site) -> task<> {
            client_options options = multiplexing();
            options.connections_per_origin_max = 4;
            client web{options};
            const std::vector<fetched> all = co_await fetch_all(web, site.url("/", "https"), 20);
            check_all(all, "one");
            CHECK(web.counters().connections <= 4);
            CHECK(web.counters().repeated == 0);
        };
        co_await with_frames(io, how, body);
        CHECK(most > 1);
    };
    everywhere(run);
}

TEST_CASE("a client speaks HTTP/1 to a server that does not agree on h2, and when it is told to") {
    const auto run = [](io_context& io) -> task<> {
        const auto visit = [&io](client_options asking, std::vector<std::string> known) -> task<> {
            web::server_options serving = tls_on_loop();
            serving.settings = server_choosing(std::move(known));
            const auto body = [&asking](const listening_site& site) -> task<> {
                client web{asking};
                const std::vector<fetched> all =
                    co_await fetch_all(web, site.url("/", "https"), 20);
                for (const fetched& each : all) {
                    CHECK(each.text == "GET / https 0");
                    CHECK(each.version == http::version::http_1_1);
                }
                CHECK(web.counters().connections > 1);
                CHECK(web.counters().connections <= asking.connections_per_origin_max);
            };
            co_await with_site(io, tell, serving, body);
        };
        const std::vector<std::string> old{"http/1.1"};
        const std::vector<std::string> both{"h2", "http/1.1"};
        co_await visit(multiplexing(), old);
        co_await visit(multiplexing(), std::vector<std::string>{});
        client_options none = multiplexing();
        none.http2 = false;
        co_await visit(none, both);
    };
    everywhere(run);
}

// RFC 9113, 3.3.
TEST_CASE("a client that knows beforehand speaks HTTP/2 without TLS") {
    const auto run = [](io_context& io) -> task<> {
        listening_site site{io};
        const http::handler handle = tell;
        const auto session = [&handle](stream_socket on) -> task<> {
            static_cast<void>(
                co_await http2::serve_connection(any_stream{std::move(on)}, handle, {}, {}));
        };
        const auto serving = [&]() -> task<> {
            static_cast<void>(co_await serve(std::move(site.acceptor), session));
        };
        const auto both = [&](task_group& group) -> task<> {
            group.spawn(serving);
            client_options options;
            options.prior_knowledge = [](const web::url& where) { return where.path() != "/1"; };
            client web{options};
            const std::vector<fetched> all = co_await fetch_all(web, site.url("/"), 10);
            check_all(all, "GET / http 0");
            CHECK(web.counters().connections == 1);
            group.request_stop();
        };
        co_await with_group(both);
    };
    everywhere(run);
}

// RFC 6455, 4.1.
TEST_CASE("a stream for another protocol is not offered as HTTP/2") {
    const auto run = [](io_context& io) -> task<> {
        const auto body = [](const listening_site& site) -> task<> {
            client web{multiplexing()};
            io_result<any_stream> got =
                co_await web.connect(web::url::parse(site.url("/", "wss")).take());
            REQUIRE(got.ok());
            any_stream stream = got.take();
            const std::string asks = "GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n";
            static_cast<void>(co_await write_all(stream, bytes_of(asks)));
            std::string answer(8, ' ');
            const auto read =
                co_await read_exactly(stream, std::as_writable_bytes(std::span{answer}));
            CHECK(read.ok());
            CHECK(answer == "HTTP/1.1");
        };
        co_await with_site(io, tell, tls_on_loop(), body);
    };
    everywhere(run);
}

// -------- Ends --------

TEST_CASE("a response that is dropped costs its stream, and others go on on their connection") {
    const auto run = [](io_context& io) -> task<> {
        const auto big = [](http::request&) -> task<http::response> {
            co_return http::response{http::status::ok, "text/plain", std::string(1 << 20, 'x')};
        };
        const auto body = [](const listening_site& site) -> task<> {
            client web{multiplexing()};
            for (int count = 0; count < 5; ++count) {
                io_result<client_response> got = co_await web.get(site.url("/", "https"));
                REQUIRE(got.ok());
                const client_response dropped = got.take();
                CHECK(dropped.body.size() == 1 << 20);
            }
            const fetched whole = co_await fetch(web, request_to(site.url("/", "https")));
            CHECK(whole.text.size() == 1 << 20);
            CHECK(web.counters().connections == 1);
        };
        co_await with_site(io, big, tls_on_loop(), body);
    };
    everywhere(run);
}

TEST_CASE("a request that is stopped leaves those beside it alone") {
    const auto run = [](io_context& io) -> task<> {
        meeting never_met{100};
        const auto handle = [&](http::request& what) -> task<http::response> {
            if (what.path() != "/wait") {
                http::response told = co_await tell(what);
                co_return told;
            }
            http::response met = co_await never_met.join(what);
            co_return met;
        };
        const auto body = [&](const listening_site& site) -> task<> {
            client web{multiplexing()};
            const std::string base = site.url("", "https");
            const auto many = [&](task_group& group) -> task<> {
                for (int count = 0; count < 5; ++count) {
                    group.spawn(fetch(web, request_to(base + "/wait")),
                                [](const fetched& got) { CHECK(got.failed == errc::canceled); });
                }
                while (never_met.missing > 95) static_cast<void>(co_await sleep_for(1ms));
                group.request_stop();
            };
            co_await with_group(many);
            const fetched next = co_await fetch(web, request_to(base + "/"));
            CHECK(next.text == "GET / https 0");
            CHECK(web.counters().connections == 1);
        };
        co_await with_site(io, handle, tls_on_loop(), body);
    };
    everywhere(run);
}

TEST_CASE("a body that is still sent outlives the request's sender, and ends with the response") {
    const auto run = [](io_context& io) -> task<> {
        event all_reset;
        const auto early = [&all_reset](frame_peer& peer, std::size_t) -> task<> {
            co_await peer.greet();
            for (int request = 0; request < 2; ++request) {
                const std::uint32_t stream = co_await peer.next_request();
                // The head, and then windows for more of the body.
                co_await peer.say(frame_of(frame::headers, end_headers, stream, "\x88"));
                const std::string more =
                    frame_of(frame::window_update, 0, stream, number(100'000)) +
                    frame_of(frame::window_update, 0, 0, number(100'000));
                for (int count = 0; count < 3; ++count) co_await peer.say(more);
                const bool reset = co_await peer.hear(frame::rst_stream);
                CAPTURE(request);
                CHECK(reset);
            }
            all_reset.set();
        };
        const auto body = [&all_reset](const listening_site& site) -> task<> {
            client web{multiplexing()};
            for (const bool by_producer : {false, true}) {
                std::size_t asked = 0;
                http::response_body sent = std::string(1 << 20, 'x');
                if (by_producer) sent = produced(1 << 20, asked);
                io_result<client_response> got = co_await web.send(
                    request_to(site.url("/", "https"), http::method::post, std::move(sent)));
                REQUIRE(got.ok());
                std::optional<client_response> response{got.take()};
                for (int turns = 0; turns < 20; ++turns) static_cast<void>(co_await sleep_for(1ms));
                response.reset();
            }
            static_cast<void>(co_await all_reset.wait());
        };
        co_await with_frames(io, early, body);
    };
    everywhere(run);
}

TEST_CASE("a response may outlive its client, and its connection ends with it") {
    const auto run = [](io_context& io) -> task<> {
        const auto body = [&io](const listening_site& site) -> task<> {
            std::optional<client> web;
            web.emplace(multiplexing());
            io_result<client_response> got = co_await web->get(site.url("/", "https"));
            REQUIRE(got.ok());
            std::optional<client_response> response{got.take()};
            web.reset();
            const io_result<std::string> text = co_await response->text();
            CHECK(text.value() == "GET / https 0");
            response.reset();
            CHECK(io.roots().size() <= 2);
        };
        co_await with_site(io, tell, tls_on_loop(), body);
    };
    everywhere(run);
}

TEST_CASE("idle connections of HTTP/2 are kept and closed as those of HTTP/1 are") {
    const auto run = [](io_context& io) -> task<> {
        const auto body = [](const listening_site& site) -> task<> {
            const std::string where = site.url("/", "https");
            client_options options = multiplexing();
            options.idle_time_max = 20ms;
            client web{options};
            static_cast<void>(co_await fetch(web, request_to(where)));
            CHECK(web.idle() == 1);
            while (web.idle() > 0) static_cast<void>(co_await sleep_for(1ms));
            static_cast<void>(co_await fetch(web, request_to(where)));
            CHECK(web.counters().connections == 2);
            web.close_idle();
            CHECK(web.idle() == 0);
            static_cast<void>(co_await fetch(web, request_to(where)));
            CHECK(web.counters().connections == 3);

            client_options none = multiplexing();
            none.idle_max = 0;
            client forgets{none};
            static_cast<void>(co_await fetch(forgets, request_to(where)));
            static_cast<void>(co_await fetch(forgets, request_to(where)));
            CHECK(forgets.idle() == 0);
            CHECK(forgets.counters().connections == 2);
        };
        co_await with_site(io, tell, tls_on_loop(), body);
    };
    everywhere(run);
}

TEST_CASE("an idle connection of HTTP/2 makes room for one to elsewhere") {
    const auto run = [](io_context& io) -> task<> {
        const auto body = [](const listening_site& site) -> task<> {
            client_options options = multiplexing();
            options.connections_max = 1;
            client web{options};
            const std::string by_address = site.url("/", "https");
            for (int count = 0; count < 3; ++count) {
                const fetched one = co_await fetch(web, request_to(by_address));
                CHECK_FALSE(one.failed);
                client_request other = request_to("https://localhost:1/");
                const fetched two = co_await fetch(web, std::move(other));
                CHECK(two.failed);
                CHECK(web.idle() == 0);
            }
            CHECK(web.counters().connections == 3);
        };
        co_await with_site(io, tell, tls_on_loop(), body);
    };
    everywhere(run);
}

TEST_CASE("a request for which no connection is left goes on where the next stream gets free") {
    const auto run = [](io_context& io) -> task<> {
        latch both_here{2};
        event short_may_end;
        event long_may_end;
        const auto handle = [&](http::request& what) -> task<http::response> {
            if (what.path() != "/third") both_here.count_down();
            if (what.path() == "/short") static_cast<void>(co_await short_may_end.wait());
            if (what.path() == "/long") static_cast<void>(co_await long_may_end.wait());
            co_return http::response{http::status::ok, "text/plain", "ended"};
        };
        const auto body = [&](const listening_site& site) -> task<> {
            client_options options = multiplexing();
            options.connections_max = 1;
            options.streams_max = 2;
            client web{options};
            event third_ended;
            std::vector<fetched> all;
            const auto requests = [&](task_group& group) -> task<> {
                const auto begin = [&](std::string_view target, event* ended) {
                    group.spawn(fetch(web, request_to(site.url(target, "https"))),
                                [&all, ended](fetched got) {
                                    all.push_back(std::move(got));
                                    if (ended != nullptr) ended->set();
                                });
                };
                begin("/long", nullptr);
                begin("/short", nullptr);
                static_cast<void>(co_await both_here.wait());
                begin("/third", &third_ended);
                co_await settle();
                short_may_end.set();
                const io_result<> went_on = co_await with_timeout(5s, third_ended.wait());
                CHECK(went_on.ok());
                long_may_end.set();
            };
            co_await with_group(requests);
            CHECK(all.size() == 3);
            check_all(all, "ended");
            CHECK(web.counters().connections == 1);
        };
        co_await with_site(io, handle, tls_on_loop(), body);
    };
    everywhere(run);
}

TEST_CASE("responses that are not read hold up no others on their connection") {
    const auto run = [](io_context& io) -> task<> {
        const auto handle = [](http::request&) -> task<http::response> {
            co_return http::response{http::status::ok, "text/plain", std::string(400'000, 'x')};
        };
        const auto body = [](const listening_site& site) -> task<> {
            client_options options = multiplexing();
            options.exchange.body_silence_max = 5s;
            client web{options};
            std::vector<client_response> unread;
            for (int each = 0; each < 12; ++each) {
                io_result<client_response> got = co_await web.get(site.url("/", "https"));
                REQUIRE(got.ok());
                unread.push_back(got.take());
                co_await settle();
            }
            const fetched last = co_await fetch(web, request_to(site.url("/", "https")));
            CHECK_FALSE(last.failed);
            CHECK(last.text.size() == 400'000);
            for (const client_response& each : unread) {
                const io_result<std::string> text = co_await each.text();
                CHECK(text.value().size() == 400'000);
            }
            CHECK(web.counters().connections == 1);
        };
        co_await with_site(io, handle, tls_on_loop(), body);
    };
    everywhere(run);
}

TEST_CASE("requests that wait for a first connection that fails do not wait for one attempt each") {
    const auto run = [](io_context& io) -> task<> {
        // Each attempt takes as long as it may, so 20 in a row would take 20 times as long.
        const auto silent = [](stream_socket peer) -> task<> {
            std::array<std::byte, 512> space;
            for (;;) {
                const io_result<std::size_t> got = co_await peer.read_some(space);
                if (!got.ok()) co_return;
            }
        };
        listening_site site{io};
        const auto serving = [&]() -> task<> {
            static_cast<void>(co_await serve(std::move(site.acceptor), silent));
        };
        const auto both = [&](task_group& group) -> task<> {
            group.spawn(serving);
            client_options options = multiplexing();
            options.connect_time_max = 100ms;
            options.connections_per_origin_max = 20;
            options.total_time_max = 30s;
            client web{options};
            const std::vector<fetched> all = co_await fetch_all(web, site.url("/", "https"), 20);
            for (const fetched& each : all) CHECK(each.failed == errc::timed_out);
            const time_point begun = io.read_clock();
            static_cast<void>(co_await fetch_all(web, site.url("/", "https"), 1));
            CHECK(io.read_clock() - begun < 30s);
            group.request_stop();
        };
        co_await with_group(both);
    };
    everywhere(run);
}

// -------- GOAWAY: RFC 9113, 6.8 --------

TEST_CASE(
    "a request above the last stream of GOAWAY is sent on another connection, whatever its "
    "method") {
    const auto run = [](io_context& io) -> task<> {
        const auto how = [](frame_peer& peer, std::size_t number) -> task<> {
            co_await peer.greet();
            if (number == 0) {
                const std::uint32_t first = co_await peer.next_request();
                const std::uint32_t second = co_await peer.next_request();
                CHECK(second > first);
                co_await peer.goaway(first);
                // What was begun before is still answered.
                co_await peer.answer(first, "old");
                static_cast<void>(co_await peer.next_request());
                co_return;
            }
            co_await peer.serve("new");
        };
        const auto body = [](const listening_site& site) -> task<> {
            const std::string where = site.url("/", "https");
            client web{multiplexing()};
            fetched first;
            fetched second;
            const auto two = [&](task_group& group) -> task<> {
                group.spawn(fetch(web, request_to(where, http::method::post, "1")),
                            [&](fetched got) { first = std::move(got); });
                group.spawn(fetch(web, request_to(where, http::method::post, "2")),
                            [&](fetched got) { second = std::move(got); });
                co_return;
            };
            co_await with_group(two);
            CHECK_FALSE(first.failed);
            CHECK_FALSE(second.failed);
            CHECK(first.text + second.text == "oldnew");
            CHECK(web.counters().connections == 2);
            CHECK(web.counters().repeated == 1);
        };
        co_await with_frames(io, how, body);
    };
    everywhere(run);
}

TEST_CASE("a server that says GOAWAY at once gets no request twice, and the client ends") {
    const auto run = [](io_context& io) -> task<> {
        std::size_t met = 0;
        const auto how = [&met](frame_peer& peer, std::size_t) -> task<> {
            ++met;
            co_await peer.greet();
            co_await peer.goaway(0);
            static_cast<void>(co_await peer.hear(frame::unknown));
        };
        const auto body = [](const listening_site& site) -> task<> {
            client web{multiplexing()};
            const fetched got =
                co_await fetch(web, request_to(site.url("/", "https"), http::method::post, "once"));
            CHECK(got.failed);
            CHECK(web.counters().repeated == 5);
            CHECK(web.counters().connections == 6);
            CHECK(web.idle() == 0);
        };
        co_await with_frames(io, how, body);
        CHECK(met == 6);
    };
    everywhere(run);
}

TEST_CASE("a connection that said GOAWAY while it was idle is replaced before a request meets it") {
    const auto run = [](io_context& io) -> task<> {
        event said;
        const auto how = [&said](frame_peer& peer, std::size_t) -> task<> {
            co_await peer.greet();
            const std::uint32_t stream = co_await peer.next_request();
            co_await peer.answer(stream, "once");
            co_await peer.goaway(stream);
            said.set();
            static_cast<void>(co_await peer.hear(frame::unknown));
        };
        const auto body = [&said](const listening_site& site) -> task<> {
            client web{multiplexing()};
            for (int count = 0; count < 3; ++count) {
                said.reset();
                const fetched got = co_await fetch(
                    web, request_to(site.url("/", "https"), http::method::post, "x"));
                CHECK_FALSE(got.failed);
                static_cast<void>(co_await said.wait());
                while (web.idle() > 0) static_cast<void>(co_await sleep_for(1ms));
            }
            CHECK(web.counters().connections == 3);
            CHECK(web.counters().repeated == 0);
        };
        co_await with_frames(io, how, body);
    };
    everywhere(run);
}

// -------- Refusals and resets --------

// RFC 9113, 8.7.
TEST_CASE("a stream that is refused is sent elsewhere, unless its producer was asked") {
    const auto run = [](io_context& io) -> task<> {
        const auto how = [](frame_peer& peer, std::size_t number) -> task<> {
            co_await peer.greet();
            if (number % 2 == 1) {
                co_await peer.serve("taken");
                co_return;
            }
            const std::uint32_t stream = co_await peer.next_request();
            co_await peer.reset(stream, 7);
            static_cast<void>(co_await peer.hear(frame::unknown));
        };
        const auto body = [](const listening_site& site) -> task<> {
            const std::string where = site.url("/", "https");
            std::size_t asked = 0;
            {
                client web{multiplexing()};
                const fetched text =
                    co_await fetch(web, request_to(where, http::method::post, "text"));
                CHECK(text.text == "taken");
                CHECK(web.counters().repeated == 1);
            }
            {
                client web{multiplexing()};
                client_request held = request_to(where, http::method::post, produced(1000, asked));
                held.fields.set("expect", "100-continue");
                const fetched got = co_await fetch(web, std::move(held));
                CHECK(got.text == "taken");
                CHECK(web.counters().repeated == 1);
                CHECK(asked <= 1);
            }
            asked = 0;
            {
                client web{multiplexing()};
                const fetched got = co_await fetch(
                    web, request_to(where, http::method::post, produced(1000, asked)));
                CHECK(got.failed == errc::connection_refused);
                CHECK(asked == 1);
                CHECK(web.counters().repeated == 0);
            }
        };
        co_await with_frames(io, how, body);
    };
    everywhere(run);
}

TEST_CASE("a server that refuses every stream is asked so often, and no more") {
    const auto run = [](io_context& io) -> task<> {
        std::size_t refused = 0;
        const auto how = [&refused](frame_peer& peer, std::size_t) -> task<> {
            co_await peer.greet();
            for (;;) {
                const std::uint32_t stream = co_await peer.next_request();
                if (stream == 0) co_return;
                ++refused;
                const bool said = co_await peer.reset(stream, 7);
                if (!said) co_return;
            }
        };
        const auto body = [](const listening_site& site) -> task<> {
            client web{multiplexing()};
            const fetched got = co_await fetch(web, request_to(site.url("/", "https")));
            CHECK(got.failed == errc::connection_refused);
            const std::vector<fetched> all = co_await fetch_all(web, site.url("/", "https"), 30);
            for (const fetched& each : all) CHECK(each.failed == errc::connection_refused);
        };
        co_await with_frames(io, how, body);
        CHECK(refused == 31 * 6);
    };
    everywhere(run);
}

TEST_CASE("a storm of resets ends each request once, and none is sent again") {
    const auto run = [](io_context& io) -> task<> {
        std::size_t came = 0;
        const auto how = [&came](frame_peer& peer, std::size_t) -> task<> {
            co_await peer.greet();
            for (;;) {
                const std::uint32_t stream = co_await peer.next_request();
                if (stream == 0) co_return;
                ++came;
                // INTERNAL_ERROR and CANCEL in turn.
                const std::uint32_t code = stream % 4 == 1 ? 2 : 8;
                const bool said = co_await peer.reset(stream, code);
                if (!said) co_return;
            }
        };
        const auto body = [](const listening_site& site) -> task<> {
            client_options options = multiplexing();
            options.connections_per_origin_max = 1;
            client web{options};
            const std::vector<fetched> all = co_await fetch_all(web, site.url("/", "https"), 300);
            for (const fetched& each : all) {
                CHECK((each.failed == errc::connection_aborted ||
                       each.failed == errc::connection_reset));
            }
            CHECK(web.counters().repeated == 0);
            CHECK(web.counters().connections == 1);
        };
        co_await with_frames(io, how, body);
        CHECK(came == 300);
    };
    everywhere(run);
}

TEST_CASE("a server that allows no stream is waited for as long as for a response") {
    const auto run = [](io_context& io) -> task<> {
        const auto how = [](frame_peer& peer, std::size_t) -> task<> {
            co_await peer.greet(streams_max(0));
            static_cast<void>(co_await peer.hear(frame::unknown));
        };
        const auto body = [](const listening_site& site) -> task<> {
            client_options options = multiplexing();
            options.exchange.response_time_max = 30ms;
            options.connections_per_origin_max = 2;
            client web{options};
            const std::vector<fetched> all = co_await fetch_all(web, site.url("/", "https"), 6);
            for (const fetched& each : all) CHECK(each.failed == errc::timed_out);
        };
        co_await with_frames(io, how, body);
    };
    everywhere(run);
}

TEST_CASE(
    "an idempotent request is sent again after a break of a connection that others have used") {
    const auto run = [](io_context& io) -> task<> {
        const auto how = [](frame_peer& peer, std::size_t number) -> task<> {
            co_await peer.greet();
            const std::uint32_t first = co_await peer.next_request();
            co_await peer.answer(first, "first");
            // The next one meets the break, but for the last connection.
            static_cast<void>(co_await peer.next_request());
            if (number < 2) co_return;
            co_await peer.answer(first + 2, "later");
            co_await peer.serve("later");
        };
        const auto body = [](const listening_site& site) -> task<> {
            const std::string where = site.url("/", "https");
            client web{multiplexing()};
            const fetched first = co_await fetch(web, request_to(where));
            CHECK(first.text == "first");
            const fetched again = co_await fetch(web, request_to(where));
            CHECK(again.text == "first");
            CHECK(web.counters().repeated == 1);
            const fetched told =
                co_await fetch(web, request_to(where, http::method::post, "not twice"));
            CHECK(told.failed);
            CHECK(web.counters().repeated == 1);
        };
        co_await with_frames(io, how, body);
    };
    everywhere(run);
}

// -------- Lies --------

TEST_CASE("a server that agrees on h2 and speaks HTTP/1 is malformed, once") {
    const auto run = [](io_context& io) -> task<> {
        const auto how = [](frame_peer& peer, std::size_t) -> task<> {
            co_await peer.say("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
            static_cast<void>(co_await peer.hear(frame::unknown));
        };
        const auto body = [](const listening_site& site) -> task<> {
            client web{multiplexing()};
            const fetched got = co_await fetch(web, request_to(site.url("/", "https")));
            CHECK(got.failed == errc::malformed);
            CHECK(web.counters().connections == 1);
            CHECK(web.idle() == 0);
            const std::vector<fetched> all = co_await fetch_all(web, site.url("/", "https"), 10);
            for (const fetched& each : all) CHECK(each.failed.message() == got.failed.message());
        };
        co_await with_frames(io, how, body);
    };
    everywhere(run);
}

TEST_CASE("a server that agrees on http/1.1 and speaks HTTP/2 is malformed") {
    const auto run = [](io_context& io) -> task<> {
        frame_server server;
        server.settings = server_choosing({"http/1.1"});
        server.how = [](frame_peer& peer, std::size_t) -> task<> {
            co_await peer.greet();
            static_cast<void>(co_await peer.hear(frame::unknown));
        };
        listening_site site{io};
        const auto session = [&server](stream_socket peer) { return server.play(std::move(peer)); };
        const auto serving = [&]() -> task<> {
            static_cast<void>(co_await serve(std::move(site.acceptor), session));
        };
        const auto both = [&](task_group& group) -> task<> {
            group.spawn(serving);
            client web{multiplexing()};
            const fetched got = co_await fetch(web, request_to(site.url("/", "https")));
            CHECK(got.failed == errc::malformed);
            group.request_stop();
        };
        co_await with_group(both);
    };
    everywhere(run);
}

TEST_CASE("limits of a client's exchanges hold over HTTP/2") {
    const auto run = [](io_context& io) -> task<> {
        const auto handle = [](http::request& what) -> task<http::response> {
            http::response made{http::status::ok, "text/plain", std::string(50'000, 'x')};
            if (what.path() == "/head") made.fields.set("x-long", std::string(20'000, 'h'));
            if (what.path() == "/slow") static_cast<void>(co_await sleep_for(1h));
            co_return made;
        };
        const auto body = [](const listening_site& site) -> task<> {
            client_options options = multiplexing();
            options.exchange.head.bytes_max = 8 * 1024;
            options.exchange.body_bytes_max = 10'000;
            client web{options};
            const std::string base = site.url("", "https");
            const fetched head = co_await fetch(web, request_to(base + "/head"));
            CHECK(head.failed == errc::limit_exceeded);
            const fetched large = co_await fetch(web, request_to(base + "/"));
            CHECK(large.failed == errc::limit_exceeded);
            options.exchange.response_time_max = 50ms;
            client impatient{options};
            const fetched slow = co_await fetch(impatient, request_to(base + "/slow"));
            CHECK(slow.failed == errc::timed_out);
            options.exchange.response_time_max = 30s;
            options.total_time_max = 50ms;
            client hurried{options};
            const fetched late = co_await fetch(hurried, request_to(base + "/slow"));
            CHECK(late.failed == errc::timed_out);
        };
        co_await with_site(io, handle, tls_on_loop(), body);
    };
    everywhere(run);
}
