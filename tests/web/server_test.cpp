// SPDX-License-Identifier: BSL-1.0
//
// What gyre/web/server.hpp promises: over TLS as without, to peers that behave and to those that do not.
#include <gyre/web/server.hpp>

#include <gyre/http/router.hpp>
#include <gyre/io/serve_pool.hpp>
#include <gyre/stream/copy_bidirectional.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/tls/stream.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/settle.hpp>
#include <web/site.hpp>
#include <web/trust.hpp>

#include <array>
#include <chrono>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<http::response> greet(http::request& what) {
    co_return http::response{
        http::status::ok, "text/plain",
        std::string{what.scheme()} + " for " + (what.peer().empty() ? "nobody" : "somebody")};
}

task<stream_socket> connect_to_site(const listening_site& site) {
    io_result<stream_socket> connected = co_await stream_socket::connect(site.where);
    REQUIRE(connected.ok());
    co_return connected.take();
}

// How long a server bears a peer that says `text`, and then a byte of `drops` every few milliseconds.
task<std::string> dribble(const listening_site& site, std::string text, std::string drops) {
    stream_socket peer = co_await connect_to_site(site);
    static_cast<void>(co_await write_all(peer, bytes_of(text)));
    std::string answer;
    std::array<char, 4096> space;
    for (std::size_t at = 0;; ++at) {
        const auto got =
            co_await with_timeout(5ms, peer.read_some(std::as_writable_bytes(std::span{space})));
        answer.append(space.data(), got.value());
        if (!got.ok() && got.error() != errc::timed_out) co_return answer;
        if (drops.empty()) continue;
        const std::string_view drop{&drops[at % drops.size()], 1};
        static_cast<void>(co_await write_all(peer, bytes_of(drop)));
    }
}

constexpr std::string_view question = "GET / HTTP/1.1\r\nhost: h\r\n\r\n";

// What has come of an answer by the time that its small body has.
task<std::string> next_answer(stream_socket& peer) {
    std::string answer;
    std::array<char, 4096> space;
    while (answer.find("\r\n\r\n") == std::string::npos) {
        const auto got =
            co_await with_timeout(20s, peer.read_some(std::as_writable_bytes(std::span{space})));
        if (!got.ok()) break;
        answer.append(space.data(), got.value());
    }
    co_return answer;
}

// On a connection that is kept.
task<std::string> ask_again(stream_socket& peer) {
    static_cast<void>(co_await write_all(peer, bytes_of(question)));
    std::string answer = co_await next_answer(peer);
    co_return answer;
}

task<bool> ends(stream_socket& peer) {
    std::array<std::byte, 1> space;
    const auto got = co_await with_timeout(20s, peer.read_some(space));
    co_return got.error() == errc::eof || got.error() == errc::connection_reset;
}

}  // namespace

TEST_CASE("a handler is served over TCP and over TLS, and knows which") {
    const auto run = [](io_context& io) -> task<> {
        web::server_counters counts;
        for (const bool secure : {false, true}) {
            web::server_options options = secure ? over_tls() : web::server_options{};
            options.counters = &counts;
            const auto body = [secure](const listening_site& site) -> task<> {
                web::client web{trusting()};
                for (int count = 0; count < 3; ++count) {
                    const std::string where = site.url("/", secure ? "https" : "http");
                    io_result<web::client_response> got = co_await web.get(where);
                    CHECK_FALSE(got.error());
                    if (!got.ok()) co_return;
                    web::client_response response = got.take();
                    const io_result<std::string> text = co_await response.text();
                    CHECK(text.value() == (secure ? "https for somebody" : "http for somebody"));
                }
                CHECK(web.counters().connections == 1);
            };
            co_await with_site(io, greet, options, body);
        }
        CHECK(counts.handshakes == 1);
        CHECK(counts.handshakes_failed == 0);
        CHECK(counts.failed == 0);
    };
    on_every_backend(run);
}

TEST_CASE("a handler is told who a client's certificate says it is") {
    test_authority root{"Clients"};
    certificate_wish wish{"localhost"};
    wish.hosts = {"DNS:localhost", "IP:127.0.0.1"};
    tls::server_options serving;
    serving.identities = {root.issue(wish)};
    serving.clients = tls::client_check::if_given;
    serving.authorities = root.certificate();
    serving.judged_at = certificate_day;
    serving.protocols = web::protocols_spoken();
    certificate_wish alice{"alice"};
    alice.hosts = {"DNS:alice.example"};
    tls::client_options asking;
    asking.system_authorities = false;
    asking.authorities = root.certificate();
    asking.judged_at = certificate_day;
    asking.protocols = {"http/1.1"};
    web::server_options options;
    options.settings = tls::context::server(std::move(serving)).take();
    const http::handler tell = [](http::request& what) -> task<http::response> {
        co_return http::response{http::status::ok, "text/plain", std::string{what.client()}};
    };
    const auto name_by_host = [](const tls::certificate& of) { return of.names.front(); };

    on_every_backend([&](io_context& io) -> task<> {
        const auto told = [&](bool shows, bool by_host) -> task<std::string> {
            tls::client_options own = asking;
            if (shows) own.identities = {root.issue(alice)};
            web::client_options client;
            client.settings = tls::context::client(std::move(own)).take();
            web::server_options with = options;
            if (by_host) with.client_name = name_by_host;
            std::string text = "not answered";
            const auto body = [&](const listening_site& site) -> task<> {
                web::client web{client};
                io_result<web::client_response> got = co_await web.get(site.url("/", "https"));
                if (!got.ok()) co_return;
                web::client_response response = got.take();
                io_result<std::string> said = co_await response.text();
                text = said.take();
            };
            co_await with_site(io, tell, with, body);
            co_return text;
        };
        const std::string subject = co_await told(true, false);
        const std::string host = co_await told(true, true);
        const std::string nothing = co_await told(false, true);
        CHECK(subject == "CN=alice");
        CHECK(host == "alice.example");
        CHECK(nothing.empty());
    });
}

TEST_CASE("a Unix-domain socket and several listeners are served alike") {
    const scratch_directory there;
    const auto run = [&](io_context& io) -> task<> {
        const endpoint local = endpoint::local(there / "it.sock").value();
        io_result<stream_acceptor> on_path = stream_acceptor::listen(io, local);
        REQUIRE(on_path.ok());
        listening_site site{io};
        std::vector<stream_acceptor> both;
        both.push_back(on_path.take());
        both.push_back(std::move(site.acceptor));
        io_result<> ended{errc::busy};
        const auto serving = [&]() -> task<> {
            ended = co_await web::serve_http(std::move(both), greet);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(serving);
            for (const endpoint& where : {local, site.where}) {
                const std::string answer = co_await fetch_raw(where, "/");
                CHECK(status_of_answer(answer) == 200);
            }
            group.request_drain();
        };
        co_await with_group(body);
        CHECK_FALSE(ended.error());
    };
    on_every_backend(run);
}

TEST_CASE("a pool serves on all of its loops") {
    const auto body = [](const io_context_options& loops) {
        io_pool_options threads;
        threads.threads = 2;
        threads.loop = loops;
        io_pool pool{threads};
        REQUIRE_FALSE(pool.status());
        io_result<std::vector<stream_acceptor>> listening =
            listen_on_each(pool, {ipv4::loopback(), 0});
        REQUIRE(listening.ok());
        std::vector<stream_acceptor> acceptors = listening.take();
        const endpoint where = acceptors.front().local_endpoint().value();
        std::size_t good = 0;
        io_result<> ended{errc::busy};
        const auto main = [&](io_context&) -> task<> {
            const auto serving = [&]() -> task<> {
                web::server_options options = over_tls();
                ended = co_await web::serve_http(pool, std::move(acceptors), greet, options);
            };
            const auto all = [&](task_group& group) -> task<> {
                group.spawn(serving);
                for (int count = 0; count < 12; ++count) {
                    web::client web{trusting()};
                    io_result<web::client_response> got =
                        co_await web.get("https://" + where.to_string() + "/");
                    CHECK_FALSE(got.error());
                    if (got.ok()) ++good;
                }
                group.request_stop();
            };
            co_await with_group(all);
        };
        io_context io{loops};
        launch(io, main(io), [](task_outcome<void> outcome) { outcome.get(); });
        io.run_for(patience);
        CHECK(good == 12);
        CHECK_FALSE(ended.error());
    };
    with_every_backend(body);
}

TEST_CASE("a client is told why it does not trust the server") {
    const auto run = [](io_context& io) -> task<> {
        web::server_counters counts;
        std::vector<std::string> told;
        web::server_options options = over_tls();
        options.counters = &counts;
        options.on_handshake_failed = [&told](error, std::string_view details,
                                              const endpoint& peer) {
            told.push_back(std::string{details} + " " + peer.to_string());
        };
        const auto body = [&](const listening_site& site) -> task<> {
            const test_authority other{"Other Root"};
            web::client_options strangers;
            strangers.settings = trust::client_of(other.certificate());
            web::client stranger{std::move(strangers)};
            const io_result<web::client_response> unknown =
                co_await stranger.get(site.url("/", "https"));
            CHECK(unknown.error() == errc::certificate_unknown_issuer);
            // Neither is plain text taken for TLS, by either side.
            const std::string plain = co_await converse(site.where, "GET / HTTP/1.1\r\n\r\n");
            CHECK(plain.find("HTTP/") == std::string::npos);
        };
        co_await with_site(io, greet, options, body);
        CHECK(counts.handshakes == 0);
        CHECK(counts.handshakes_failed == 2);
        CHECK(told.size() == 2);
    };
    on_every_backend(run);
}

TEST_CASE("a client that stops in the handshake is not waited for") {
    const auto run = [](io_context& io) -> task<> {
        web::server_counters counts;
        web::server_options options = over_tls();
        options.tls.handshake_wait = 1500ms;
        options.counters = &counts;
        const auto body = [&](const listening_site& site) -> task<> {
            // Nothing at all; and the first bytes of a record.
            stream_socket silent = co_await connect_to_site(site);
            stream_socket begun = co_await connect_to_site(site);
            static_cast<void>(co_await write_all(
                begun, bytes_of(std::string_view{"\x16\x03\x01\x02\x00\x01", 6})));
            web::client web{trusting()};
            const io_result<web::client_response> meanwhile =
                co_await web.get(site.url("/", "https"));
            CHECK_FALSE(meanwhile.error());
            for (stream_socket* each : {&silent, &begun}) {
                std::array<std::byte, 64> space;
                io_result<std::size_t> got;
                while (got.ok()) got = co_await with_timeout(20s, each->read_some(space));
                CHECK(got.error() != errc::timed_out);
            }
        };
        co_await with_site(io, greet, options, body);
        CHECK(counts.handshakes == 1);
        CHECK(counts.handshakes_failed == 2);
    };
    on_every_backend(run);
}

// What slowloris and its kin do: RFC 9112, 9.5 leaves it to servers how long they wait.
TEST_CASE("peers that are slow with heads, bodies and reads are ended, and nobody else is") {
    const auto run = [](io_context& io) -> task<> {
        web::server_counters counts;
        web::server_options options;
        options.connection.head_time_max = 60ms;
        options.connection.body_silence_max = 60ms;
        options.connection.write_time_max = 60ms;
        options.connection.idle_time_max = 60ms;
        options.connection.linger_time_max = 20ms;
        options.counters = &counts;
        http::router routes;
        routes.add("/", greet)
            .add("/read",
                 [](http::request& what) -> task<http::response> {
                     const io_result<std::string> all = co_await what.body.read_all(1 << 20);
                     co_return http::response{all.ok() ? http::status::ok
                                                       : http::status::request_timeout};
                 })
            .add("/endless", [](http::request&) -> task<http::response> {
                const auto write = [](http::body_writer to) -> task<io_result<>> {
                    const std::string piece(64 * 1024, 'x');
                    for (;;) {
                        const auto sent = co_await write_all(to, bytes_of(piece));
                        if (!sent.ok()) co_return sent.error();
                    }
                };
                http::response answer;
                answer.body = http::produced_by(write);
                co_return answer;
            });
        const auto body = [&](const listening_site& site) -> task<> {
            const std::string silent = co_await dribble(site, "", "");
            CHECK(silent.empty());
            const std::string head =
                co_await dribble(site, "GET / HTTP/1.1\r\nhost: h\r\nx: ", "y");
            CHECK(status_of_answer(head) == 408);
            const std::string content = co_await dribble(
                site, "POST /read HTTP/1.1\r\nhost: h\r\ncontent-length: 10\r\n\r\nab", "");
            CHECK(status_of_answer(content) == 408);
            const std::string kept =
                co_await dribble(site, "GET / HTTP/1.1\r\nhost: h\r\n\r\n", "");
            CHECK(status_of_answer(kept) == 200);

            stream_socket unread = co_await connect_to_site(site);
            static_cast<void>(
                co_await write_all(unread, bytes_of("GET /endless HTTP/1.1\r\nhost: h\r\n\r\n")));
            for (int count = 0; count < 400 && counts.timed_out < 2; ++count) {
                static_cast<void>(co_await sleep_for(10ms));
            }
            const std::string after = co_await fetch_raw(site.where, "/");
            CHECK(status_of_answer(after) == 200);
        };
        co_await with_site(io, std::move(routes).build(), options, body);
        CHECK(counts.timed_out ==
              2);  // Head and reads. Idleness is in order, the body the handler's.
    };
    on_every_backend(run);
}

TEST_CASE("what is malformed or too large is refused, counted and told") {
    const auto run = [](io_context& io) -> task<> {
        web::server_counters counts;
        std::vector<http::refusal> told;
        web::server_options options;
        options.connection.head.bytes_max = 2048;
        options.counters = &counts;
        options.on_refused = [&told](http::refusal why, const endpoint&) { told.push_back(why); };
        const auto body = [](const listening_site& site) -> task<> {
            const std::string bad = co_await converse(site.where, "GET / HTTP/1.1\nhost: h\n\n");
            CHECK(status_of_answer(bad) == 400);
            const std::string large = co_await converse(
                site.where,
                "GET / HTTP/1.1\r\nhost: h\r\nx: " + std::string(4000, 'x') + "\r\n\r\n");
            CHECK(status_of_answer(large) == 431);
        };
        co_await with_site(io, greet, options, body);
        CHECK(counts.refused == 2);
        CHECK(told.size() == 2);
    };
    on_every_backend(run);
}

TEST_CASE("one peer has no more connections than it may") {
    const auto run = [](io_context& io) -> task<> {
        peer_limit_options each;
        each.connections_max = 2;
        peer_limits peers{each};
        serve_counters counts;
        web::server_options options;
        options.intake.peers = &peers;
        options.intake.counters = &counts;
        const auto body = [&](const listening_site& site) -> task<> {
            stream_socket first = co_await connect_to_site(site);
            stream_socket second = co_await connect_to_site(site);
            stream_socket third = co_await connect_to_site(site);
            std::array<std::byte, 1> space;
            const auto got = co_await with_timeout(20s, third.read_some(space));
            CHECK(got.error() != errc::timed_out);
            CHECK_FALSE(got.ok());
            CHECK(counts.refused_many == 1);
        };
        co_await with_site(io, greet, options, body);
    };
    on_every_backend(run);
}

TEST_CASE("a full server lets the connection go that has waited longest for a request") {
    const auto run = [](io_context& io) -> task<> {
        web::server_options options;
        options.intake.connections_max = 2;
        const auto body = [](const listening_site& site) -> task<> {
            stream_socket silent = co_await connect_to_site(site);
            stream_socket asking = co_await connect_to_site(site);
            CHECK(status_of_answer(co_await ask_again(asking)) == 200);
            stream_socket third = co_await connect_to_site(site);
            CHECK(status_of_answer(co_await ask_again(third)) == 200);
            CHECK(co_await ends(silent));
            CHECK(status_of_answer(co_await ask_again(asking)) == 200);
            // Now the third has waited longest.
            stream_socket fourth = co_await connect_to_site(site);
            CHECK(status_of_answer(co_await ask_again(fourth)) == 200);
            CHECK(co_await ends(third));
            CHECK(status_of_answer(co_await ask_again(asking)) == 200);
        };
        co_await with_site(io, greet, options, body);
    };
    on_every_backend(run);
}

TEST_CASE("a full server does not take the place of a request that is under way") {
    const auto run = [](io_context& io) -> task<> {
        web::server_options options;
        options.intake.connections_max = 1;
        event begun;
        event goes_on;
        const http::handler waits = [&](http::request&) -> task<http::response> {
            return [](event& begins, event& waited_for) -> task<http::response> {
                begins.set();
                static_cast<void>(co_await waited_for.wait());
                co_return http::response{http::status::ok, "text/plain", "done"};
            }(begun, goes_on);
        };
        const auto body = [&](const listening_site& site) -> task<> {
            stream_socket first = co_await connect_to_site(site);
            static_cast<void>(co_await write_all(first, bytes_of(question)));
            static_cast<void>(co_await begun.wait());
            begun.reset();
            stream_socket second = co_await connect_to_site(site);
            static_cast<void>(co_await write_all(second, bytes_of(question)));
            const auto early = co_await with_timeout(20ms, begun.wait());
            CHECK(early.error() == errc::timed_out);
            goes_on.set();
            CHECK(status_of_answer(co_await next_answer(first)) == 200);
            CHECK(co_await ends(first));
            CHECK(status_of_answer(co_await next_answer(second)) == 200);
        };
        co_await with_site(io, waits, options, body);
    };
    on_every_backend(run);
}

TEST_CASE("half of a head and half of a handshake make room as well") {
    const auto run = [](io_context& io) -> task<> {
        web::server_options slow;
        slow.intake.connections_max = 1;
        slow.connection.head_time_max = 1h;
        const auto half_of_head = [](const listening_site& site) -> task<> {
            stream_socket half = co_await connect_to_site(site);
            static_cast<void>(co_await write_all(half, bytes_of(question.substr(0, 5))));
            stream_socket whole = co_await connect_to_site(site);
            CHECK(status_of_answer(co_await ask_again(whole)) == 200);
            CHECK(co_await ends(half));
        };
        co_await with_site(io, greet, slow, half_of_head);

        web::server_options secure = over_tls();
        secure.intake.connections_max = 1;
        secure.tls.handshake_wait = 1h;
        const auto half_of_handshake = [](const listening_site& site) -> task<> {
            stream_socket silent = co_await connect_to_site(site);
            web::client web{trusting()};
            const io_result<web::client_response> answer = co_await web.get(site.url("/", "https"));
            CHECK_FALSE(answer.error());
            CHECK(co_await ends(silent));
        };
        co_await with_site(io, greet, secure, half_of_handshake);
    };
    on_every_backend(run);
}

TEST_CASE("a drain under load ends every request that has begun, and then the server") {
    const auto run = [](io_context& io) -> task<> {
        event drain;
        std::size_t begun = 0;
        std::size_t whole = 0;
        std::size_t closing = 0;
        io_result<> ended{errc::busy};
        listening_site site{io};
        const auto slow = [&](http::request&) -> task<http::response> {
            if (++begun == 8) drain.set();
            static_cast<void>(co_await sleep_for(20ms));
            co_return http::response{http::status::ok, "text/plain", "done"};
        };
        const auto serving = [&]() -> task<> {
            ended = co_await web::serve_http(std::move(site.acceptor), slow);
        };
        // Goes on to ask until it is told that this was the last time.
        const auto asking = [&]() -> task<> {
            stream_socket peer = co_await connect_to_site(site);
            for (;;) {
                const auto sent =
                    co_await write_all(peer, bytes_of("GET / HTTP/1.1\r\nhost: h\r\n\r\n"));
                if (!sent.ok()) co_return;
                std::string answer;
                std::array<char, 1024> space;
                while (!answer.ends_with("done")) {
                    const auto got = co_await with_timeout(
                        20s, peer.read_some(std::as_writable_bytes(std::span{space})));
                    if (!got.ok()) break;
                    answer.append(space.data(), got.value());
                }
                CHECK(answer.ends_with("done"));
                if (!answer.ends_with("done")) co_return;
                ++whole;
                if (answer.find("connection: close") == std::string::npos) continue;
                ++closing;
                co_return;
            }
        };
        const auto body = [&](task_group& clients) -> task<> {
            const auto server = [&](task_group& group) -> task<> {
                group.spawn(serving);
                for (int count = 0; count < 8; ++count) clients.spawn(asking);
                static_cast<void>(co_await drain.wait());
                group.request_drain();
            };
            co_await with_group(server);
        };
        co_await with_group(body);
        CHECK_FALSE(ended.error());
        CHECK(begun == 8);
        CHECK(whole == 8);
        CHECK(closing == 8);
    };
    on_every_backend(run);
}

TEST_CASE("a drain waits no longer than it may for a handler that does not end") {
    const auto run = [](io_context& io) -> task<> {
        bool begun = false;
        io_result<> ended{errc::busy};
        listening_site site{io};
        const auto endless = [&](http::request&) -> task<http::response> {
            begun = true;
            static_cast<void>(co_await sleep_for(1h));
            co_return http::response{};
        };
        const auto serving = [&]() -> task<> {
            web::server_options options;
            options.drain_time_max = 30ms;
            ended = co_await web::serve_http(std::move(site.acceptor), endless, options);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(serving);
            stream_socket peer = co_await connect_to_site(site);
            static_cast<void>(
                co_await write_all(peer, bytes_of("GET / HTTP/1.1\r\nhost: h\r\n\r\n")));
            while (!begun) static_cast<void>(co_await sleep_for(1ms));
            group.request_drain();
            co_await group.join();
        };
        co_await with_group(body);
        CHECK_FALSE(ended.error());
    };
    on_every_backend(run);
}

TEST_CASE("a drain does not wait for a client that has not begun its handshake") {
    const auto run = [](io_context& io) -> task<> {
        io_result<> ended{errc::busy};
        io_result<> in_time{errc::busy};
        web::server_counters counts;
        event over;
        listening_site site{io};
        const auto serving = [&]() -> task<> {
            web::server_options options = over_tls();
            options.counters = &counts;
            ended = co_await web::serve_http(std::move(site.acceptor), greet, options);
            over.set();
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(serving);
            stream_socket silent = co_await connect_to_site(site);
            // The server has accepted the one before as well, then.
            web::client web{trusting()};
            const io_result<web::client_response> answer = co_await web.get(site.url("/", "https"));
            CHECK(answer.ok());
            group.request_drain();
            in_time = co_await shielded(over.wait(), 8s);
            group.request_stop();
            CHECK(silent.is_open());
        };
        co_await with_group(body);
        CHECK(in_time.ok());  // The handshake's limit is ten seconds, the drain's thirty.
        CHECK_FALSE(ended.error());
        CHECK(counts.handshakes == 1);
        CHECK(counts.handshakes_failed == 0);
    };
    on_every_backend(run);
}

TEST_CASE("a client that had connected when a drain came has its request answered") {
    const auto run = [](io_context& io) -> task<> {
        for (const bool secure : {false, true}) {
            io_result<> ended{errc::busy};
            listening_site site{io};
            const std::string url = site.url("/", secure ? "https" : "http");
            const auto serving = [&]() -> task<> {
                const web::server_options options = secure ? over_tls() : web::server_options{};
                ended = co_await web::serve_http(std::move(site.acceptor), greet, options);
            };
            std::string answer;
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(serving);
                stream_socket early = co_await connect_to_site(site);
                // The server has accepted the one before as well, then.
                web::client web{trusting()};
                const io_result<web::client_response> other = co_await web.get(url);
                CHECK(other.ok());
                group.request_drain();
                co_await settle();
                any_stream stream{std::move(early)};
                if (secure) {
                    io_result<tls::stream> shaken =
                        co_await tls::connect(std::move(stream), trust::get().client, "localhost");
                    CHECK(shaken.ok());
                    stream = any_stream{shaken.take()};
                }
                static_cast<void>(co_await write_all(stream, bytes_of(question)));
                std::array<char, 4096> space;
                const auto got = co_await with_timeout(
                    20s, stream.read_some(std::as_writable_bytes(std::span{space})));
                answer.assign(space.data(), got.value());
                group.request_stop();
            };
            co_await with_group(body);
            CHECK(status_of_answer(answer) == 200);
            CHECK(field_of(answer, "connection") == "close");
            CHECK_FALSE(ended.error());
        }
    };
    on_every_backend(run);
}

TEST_CASE("an https proxy tunnels, and the server behind it is verified") {
    const auto run = [](io_context& io) -> task<> {
        const auto body = [&io](const listening_site& site) -> task<> {
            std::vector<std::string> asked;
            // A tunnel of one's own: CONNECT, then bytes both ways.
            const auto tunnels = [&](http::request& what) -> task<http::response> {
                asked.push_back(std::string{what.target()} + " " +
                                std::string{what.fields.value_or("proxy-authorization")});
                if (what.method() != http::method::connect) {
                    co_return http::response{http::status::bad_request};
                }
                if (!what.fields.contains("proxy-authorization")) {
                    co_return http::response{static_cast<http::status>(407)};
                }
                const endpoint there = site.where;
                http::response answer{http::status::ok};
                answer.upgrade = [there](http::upgraded_connection near) -> task<> {
                    io_result<stream_socket> far = co_await stream_socket::connect(there);
                    if (!far.ok()) co_return;
                    stream_socket server = far.take();
                    const auto early = co_await write_all(server, bytes_of(near.early));
                    if (!early.ok()) co_return;
                    static_cast<void>(co_await copy_bidirectional(near.stream, server));
                };
                co_return answer;
            };
            const auto beside = [&](const listening_site& between) -> task<> {
                web::client_options options = trusting();
                web::proxy via;
                via.host = "127.0.0.1";
                via.port = between.where.port();
                options.via = via;
                web::client unknown{options};
                const io_result<web::client_response> refused =
                    co_await unknown.get("https://localhost:4433/");
                CHECK(refused.error() == errc::permission_denied);
                CHECK(refused.error().number() == 407);

                options.via->credentials = http::basic_credentials{"a", "b"};
                web::client web{options};
                for (int count = 0; count < 2; ++count) {
                    io_result<web::client_response> got =
                        co_await web.get("https://localhost:4433/");
                    CHECK_FALSE(got.error());
                    if (!got.ok()) co_return;
                    web::client_response response = got.take();
                    const io_result<std::string> text = co_await response.text();
                    CHECK(text.value() == "https for somebody");
                }
                // Another name than the server's: the tunnel leads there all the same.
                const io_result<web::client_response> other =
                    co_await web.get("https://other.invalid/");
                CHECK(other.error() == errc::certificate_wrong_host);
                REQUIRE(asked.size() == 3);
                CHECK(asked[1] == "localhost:4433 Basic YTpi");
                CHECK(asked[2] == "other.invalid:443 Basic YTpi");
            };
            co_await with_site(io, tunnels, {}, beside);
        };
        co_await with_site(io, greet, over_tls(), body);
    };
    on_every_backend(run);
}

TEST_CASE("a redirect from https to http is refused unless it is allowed") {
    const auto run = [](io_context& io) -> task<> {
        const auto body = [&io](const listening_site& plain) -> task<> {
            const auto away = [&](http::request&) -> task<http::response> {
                http::response answer{http::status::found};
                answer.fields.set("location", plain.url("/"));
                co_return answer;
            };
            const auto beside = [&](const listening_site& site) -> task<> {
                web::client careful{trusting()};
                const io_result<web::client_response> refused =
                    co_await careful.get(site.url("/", "https"));
                CHECK(refused.error() == errc::permission_denied);
                web::client_options options = trusting();
                options.insecure_redirects = true;
                web::client careless{options};
                const io_result<web::client_response> followed =
                    co_await careless.get(site.url("/", "https"));
                CHECK_FALSE(followed.error());
            };
            co_await with_site(io, away, over_tls(), beside);
        };
        co_await with_site(io, greet, {}, body);
    };
    on_every_backend(run);
}
