// SPDX-License-Identifier: BSL-1.0
//
// Connections of a client that nothing uses: they keep no loop running, and end with a word to their server,
// on every backend and in worlds.
#include <web/with_http2/frame_server.hpp>

#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/web/server.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using web::client;
using web::client_options;
using web::client_response;

namespace {

task<http::response> greet(http::request&) {
    co_return http::response{http::status::ok, "text/plain", "hello"};
}

// Long, so that what waits for it is seen.
client_options resting_long(bool multiplexed) {
    client_options options = multiplexing();
    options.http2 = multiplexed;
    options.idle_time_max = 24h;
    return options;
}

task<> get_once(client& by, std::string where, http::version expected) {
    const fetched got = co_await fetch(by, request_to(where));
    CHECK(got.text == "hello");
    CHECK(got.version == expected);
}

web::server_options served_on_loop() {
    web::server_options options = over_tls();
    options.steps = web::handshake_steps::on_loop;
    return options;
}

constexpr http::version version_of(bool multiplexed) {
    return multiplexed ? http::version::http_2 : http::version::http_1_1;
}

/// Runs two loops on this thread in turn until `done()`; false if it takes too long.
template <class Done>
bool run_both(io_context& one, io_context& other, const Done& done) {
    const time_point until = deadline_after(one.read_clock(), patience);
    while (!done()) {
        one.run_for(1ms);
        other.run_for(1ms);
        if (one.read_clock() > until) return false;
    }
    return true;
}

// What a server hears of a connection that its client closes.
struct last_words {
    bool goaway = false;
    bool ended = false;
    event over;

    task<> hear(frame_peer& peer, std::size_t) {
        co_await peer.greet();
        const std::uint32_t stream = co_await peer.next_request();
        co_await peer.answer(stream, "hello");
        goaway = co_await peer.hear(frame::goaway);
        const bool more = co_await peer.hear(frame::unknown);
        ended = !more;
        over.set();
    }
};

/// How a client ends its connection to the server of `url`, after its one request.
using farewell = std::function<task<>(std::optional<client>& web, std::string url)>;

void check_says_goaway(const client_options& options, const farewell& end) {
    const auto run = [&](io_context& io) -> task<> {
        last_words heard;
        const auto how = [&heard](frame_peer& peer, std::size_t number) {
            return heard.hear(peer, number);
        };
        const auto body = [&](const listening_site& site) -> task<> {
            std::optional<client> web{std::in_place, options};
            co_await end(web, site.url("/", "https"));
            const io_result<> over = co_await with_timeout(patience, heard.over.wait());
            CHECK(over.ok());
        };
        co_await with_frames(io, how, body);
        CHECK(heard.goaway);
        CHECK(heard.ended);
    };
    everywhere(run);
}

}  // namespace

TEST_CASE("connections that rest keep no loop running, of HTTP/2 as little as of HTTP/1") {
    with_every_backend([](const io_context_options& options) {
        for (const bool multiplexed : {true, false}) {
            CAPTURE(multiplexed);
            io_context serving{options};
            io_context asking{options};
            listening_site site{serving};
            const std::string where = site.url("/", "https");
            io_result<> ended{errc::busy};
            const stop_handle server = launch(
                serving, note_serving(std::move(site.acceptor), greet, served_on_loop(), ended),
                or_terminate{});
            std::optional<client> web{std::in_place, resting_long(multiplexed)};
            bool done = false;

            launch(asking, get_once(*web, where, version_of(multiplexed)),
                   [&done](task_outcome<void>) { done = true; });
            CHECK(run_both(asking, serving, [&] { return done; }));
            CHECK(web->idle() == 1);
            asking.run_for(2s);

            CHECK_FALSE(asking.has_work());
            // Its end does, and that is short.
            web.reset();
            CHECK(run_both(asking, serving, [&] { return asking.roots().empty(); }));
            CHECK_FALSE(asking.has_work());
            server.request_stop();
            CHECK(run_both(serving, asking, [&] { return server.ended(); }));
        }
    });
}

TEST_CASE("a client whose loop has ended leaves it its connections to close") {
    with_every_backend([](const io_context_options& options) {
        io_context serving{options};
        last_words heard;
        frame_server frames;
        frames.how = [&heard](frame_peer& peer, std::size_t number) {
            return heard.hear(peer, number);
        };
        listening_site site{serving};
        const std::string where = site.url("/", "https");
        const auto session = [&frames](stream_socket peer) { return frames.play(std::move(peer)); };
        const auto accept = [&]() -> task<> {
            static_cast<void>(co_await serve(std::move(site.acceptor), session));
        };
        const stop_handle server = launch(serving, accept, or_terminate{});
        {
            io_context asking{options};
            client web{resting_long(true)};
            bool done = false;
            launch(asking, get_once(web, where, http::version::http_2),
                   [&done](task_outcome<void>) { done = true; });
            CHECK(run_both(asking, serving, [&] { return done; }));
        }

        CHECK(heard.goaway == false);
        serving.run_for(1ms);
        const time_point until = deadline_after(serving.read_clock(), patience);
        while (!heard.ended && serving.read_clock() < until) serving.run_for(1ms);
        CHECK(heard.goaway);
        CHECK(heard.ended);
        server.request_stop();
        serving.run();
    });
}

TEST_CASE("connections that rest keep no machine of a world running") {
    if (!worlds_under_test()) return;
    for (const bool multiplexed : {true, false}) {
        CAPTURE(multiplexed);
        test::world world;
        test::machine& there = world.add("server");
        test::machine& here = world.add("client");
        const endpoint where = there.at(8443);
        io_result<> ended{errc::busy};
        std::optional<client> web{std::in_place, resting_long(multiplexed)};
        const stop_handle server =
            world.start(there, note_serving(stream_acceptor::listen(there.io(), where).take(),
                                            greet, served_on_loop(), ended));

        world.start(here, get_once(*web, "https://server:8443/", version_of(multiplexed)));
        const auto rests = [&here] { return !here.io().has_work(); };
        const auto rested = world.run_until(rests, 1min);
        CHECK_MESSAGE(rested.ok(), rested.text());
        CHECK(web->idle() == 1);

        web.reset();
        const auto closed = world.run_until([&] { return here.open_descriptors() == 0; }, 1min);
        CHECK_MESSAGE(closed.ok(), closed.text());
        server.request_stop();
        const auto over = world.run(1min);
        CHECK_MESSAGE(over.ok(), over.text());
    }
}

// RFC 9113, 6.8.
TEST_CASE("a client that goes says GOAWAY on the connections that rest") {
    check_says_goaway(multiplexing(), [](std::optional<client>& web, std::string url) -> task<> {
        co_await get_once(*web, url, http::version::http_2);
        CHECK(web->idle() == 1);
        web.reset();
    });
}

TEST_CASE("a client that closes what is idle says GOAWAY") {
    check_says_goaway(multiplexing(), [](std::optional<client>& web, std::string url) -> task<> {
        co_await get_once(*web, url, http::version::http_2);
        web->close_idle();
        CHECK(web->idle() == 0);
    });
}

TEST_CASE("a connection that has rested for long enough says GOAWAY") {
    client_options soon = multiplexing();
    soon.idle_time_max = 5ms;
    check_says_goaway(soon, [](std::optional<client>& web, std::string url) -> task<> {
        co_await get_once(*web, url, http::version::http_2);
        while (web->idle() > 0) static_cast<void>(co_await sleep_for(1ms));
    });
}

TEST_CASE("a connection that ends with its response says GOAWAY, though its client has gone") {
    check_says_goaway(multiplexing(), [](std::optional<client>& web, std::string url) -> task<> {
        io_result<client_response> got = co_await web->get(url);
        CHECK(got.ok());
        const client_response response = got.take();
        web.reset();
        const io_result<std::string> text = co_await response.text();
        CHECK(text.value() == "hello");
    });
}
