// SPDX-License-Identifier: BSL-1.0
//
// What gyre/web/client.hpp promises: against servers of ours, and against some that do as they like.
#include <gyre/web/client.hpp>

#include <base/ending.hpp>
#include <gyre/http/compression.hpp>
#include <gyre/http/router.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/settle.hpp>
#include <web/site.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
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

// Says what it was asked, so that tests see what arrived.
task<http::response> tell(http::request& what) {
    io_result<std::string> body = co_await what.body.read_all(1 << 20);
    std::string text{what.method_text()};
    text.append(" ").append(what.target());
    for (const char* const each : {"authorization", "cookie", "content-type", "x-mine"}) {
        if (what.fields.contains(each)) {
            text.append("|").append(each).append("=").append(what.fields.value_or(each));
        }
    }
    text.append("|").append(body.take());
    co_return http::response{http::status::ok, "text/plain", std::move(text)};
}

// Redirects to what its query says under "to", with the status under "by".
task<http::response> send_elsewhere(http::request& what) {
    const std::string by = what.query_value("by").value_or("302");
    http::response answer{static_cast<http::status>(std::stoi(by))};
    answer.fields.set("location", what.query_value("to").value_or("/"));
    answer.body = "moved";
    co_return answer;
}

http::handler usual_site() {
    http::router routes;
    routes.add("/tell", tell).add("/go", send_elsewhere).add("/go/{rest*}", send_elsewhere);
    routes.add("/circle", [](http::request& what) -> task<http::response> {
        http::response answer{http::status::found};
        answer.fields.set("location", what.target());
        co_return answer;
    });
    return std::move(routes).build();
}

task<std::string> text_of_get(client& web, std::string where) {
    io_result<client_response> got = co_await web.get(where);
    INFO("getting ", where);
    CHECK_FALSE(got.error());
    if (!got.ok()) co_return std::string{};
    client_response response = got.take();
    io_result<std::string> text = co_await response.text();
    CHECK_FALSE(text.error());
    co_return text.take();
}

task<error> error_of_get(client& web, std::string where) {
    io_result<client_response> got = co_await web.get(where);
    if (!got.ok()) co_return got.error();
    client_response response = got.take();
    const io_result<std::string> text = co_await response.text();
    co_return text.error();
}

client_request request_of(http::method method, const std::string& where) {
    return client_request{method, web::url::parse(where).take()};
}

// A server that does what a test says with each of its connections.
using script = std::function<task<>(stream_socket&, std::size_t number)>;

task<> play(stream_socket peer, const script& how, std::size_t number) {
    co_await how(peer, number);
}

// Runs `body(site)` beside a server that plays `how`; `number` counts its connections.
template <class Body>
task<> with_script(io_context& io, script how, Body body) {
    listening_site site{io};
    std::size_t number = 0;
    const auto session = [&](stream_socket peer) { return play(std::move(peer), how, number++); };
    const auto serving = [&]() -> task<> {
        static_cast<void>(co_await serve(std::move(site.acceptor), session));
    };
    const auto both = [&](task_group& group) -> task<> {
        group.spawn(serving);
        co_await body(site);
        group.request_stop();
    };
    co_await with_group(both);
}

task<> say(stream_socket& to, std::string text) {
    static_cast<void>(co_await write_all(to, bytes_of(text)));
}

std::string answer_of(std::string_view body, std::string_view fields = {}) {
    return "HTTP/1.1 200 OK\r\n" + std::string{fields} +
           "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string{body};
}

}  // namespace

TEST_CASE("requests one after another share a connection, and their bodies arrive") {
    const auto run = [](io_context& io) -> task<> {
        const auto body = [](const listening_site& site) -> task<> {
            client web;
            for (int count = 0; count < 5; ++count) {
                const std::string text = co_await text_of_get(web, site.url("/tell?a=b#part"));
                CHECK(text == "GET /tell?a=b|");
            }
            io_result<client_response> posted =
                co_await web.post(site.url("/tell"), "text/plain", "body");
            REQUIRE(posted.ok());
            client_response response = posted.take();
            const io_result<std::string> text = co_await response.text();
            CHECK(text.value() == "POST /tell|content-type=text/plain|body");
            CHECK(web.counters().connections == 1);
            CHECK(web.counters().reused == 5);
        };
        co_await with_site(io, usual_site(), {}, body);
    };
    on_every_backend(run);
}

TEST_CASE("what is read in part costs its connection, and nothing else") {
    const auto run = [](io_context& io) -> task<> {
        const auto big = [](http::request&) -> task<http::response> {
            co_return http::response{http::status::ok, "text/plain", std::string(1 << 20, 'x')};
        };
        const auto body = [](const listening_site& site) -> task<> {
            client web;
            for (int count = 0; count < 3; ++count) {
                io_result<client_response> got = co_await web.get(site.url("/"));
                REQUIRE(got.ok());
                const client_response dropped = got.take();
                CHECK(dropped.body.size() == 1 << 20);
            }
            CHECK(web.counters().connections == 3);
            CHECK(web.idle() == 0);
        };
        co_await with_site(io, big, {}, body);
    };
    on_every_backend(run);
}

// RFC 9112, 9.3.1.
TEST_CASE("a connection that went stale is replaced for what is idempotent, and only for that") {
    const auto run = [](io_context& io) -> task<> {
        // Each connection answers once, says that it goes on, and is closed at the next request.
        const auto once = [](stream_socket& peer, std::size_t) -> task<> {
            const bool asked = co_await read_head(peer);
            if (!asked) co_return;
            co_await say(peer, answer_of("one"));
            static_cast<void>(co_await read_head(peer));
        };
        const auto body = [](const listening_site& site) -> task<> {
            client web;
            for (int count = 0; count < 3; ++count) {
                const std::string text = co_await text_of_get(web, site.url("/"));
                CHECK(text == "one");
            }
            CHECK(web.counters().connections == 3);
            CHECK(web.counters().repeated == 2);
            // A POST may have been carried out, for all that a client knows.
            const io_result<client_response> posted =
                co_await web.post(site.url("/"), "text/plain", "x");
            CHECK_FALSE(posted.ok());
            CHECK(web.counters().repeated == 2);
        };
        co_await with_script(io, once, body);
    };
    on_every_backend(run);
}

// RFC 9112, 9.2.
TEST_CASE(
    "what a server says unasked answers no request, and an idle connection's end loses none") {
    const auto run = [](io_context& io) -> task<> {
        for (const std::string& unasked : {answer_of("forged"), std::string{}}) {
            event said;
            const auto once = [&](stream_socket& peer, std::size_t) -> task<> {
                const bool asked = co_await read_head(peer);
                if (!asked) co_return;
                co_await say(peer, answer_of("good"));
                co_await settle();
                if (unasked.empty()) static_cast<void>(peer.shutdown_send());
                else co_await say(peer, unasked);
                said.set();
                static_cast<void>(co_await read_head(peer));
            };
            const auto body = [&](const listening_site& site) -> task<> {
                client web;
                for (int count = 0; count < 2; ++count) {
                    const std::string text = co_await text_of_get(web, site.url("/"));
                    CHECK(text == "good");
                    static_cast<void>(co_await said.wait());
                    said.reset();
                }
                // Nothing was sent on the connection that has ended, so this can be sent on another one.
                const io_result<client_response> posted =
                    co_await web.post(site.url("/"), "text/plain", "x");
                CHECK(posted.ok());
                CHECK(web.counters().connections == 3);
                CHECK(web.counters().repeated == 0);
            };
            co_await with_script(io, once, body);
        }
    };
    on_every_backend(run);
}

TEST_CASE("a server that always hangs up is not asked for ever") {
    const auto run = [](io_context& io) -> task<> {
        std::size_t connections = 0;
        const auto never_answers = [&](stream_socket& peer, std::size_t) -> task<> {
            ++connections;
            static_cast<void>(co_await read_head(peer));
        };
        const auto body = [&](const listening_site& site) -> task<> {
            client web;
            const error failed = co_await error_of_get(web, site.url("/"));
            CHECK(failed == errc::connection_reset);
            CHECK(connections == 1);
        };
        co_await with_script(io, never_answers, body);
    };
    on_every_backend(run);
}

// RFC 9110, 15.4.
TEST_CASE("redirects are followed, with the method that their status asks for") {
    struct journey {
        http::method method;
        const char* by;
        const char* arrives;
    };
    static constexpr std::array journeys{
        journey{http::method::get, "301", "GET /tell|"},
        journey{http::method::get, "302", "GET /tell|"},
        journey{http::method::get, "303", "GET /tell|"},
        journey{http::method::get, "307", "GET /tell|"},
        journey{http::method::get, "308", "GET /tell|"},
        journey{http::method::post, "301", "GET /tell|"},
        journey{http::method::post, "302", "GET /tell|"},
        journey{http::method::post, "303", "GET /tell|"},
        journey{http::method::post, "307", "POST /tell|content-type=text/mine|body"},
        journey{http::method::post, "308", "POST /tell|content-type=text/mine|body"},
        journey{http::method::put, "301", "PUT /tell|content-type=text/mine|body"},
        journey{http::method::put, "303", "GET /tell|"},
    };
    const auto run = [](io_context& io) -> task<> {
        const auto body = [](const listening_site& site) -> task<> {
            client web;
            for (const journey& each : journeys) {
                CAPTURE(each.by);
                client_request what =
                    request_of(each.method, site.url(std::string{"/go?to=/tell&by="} + each.by));
                if (each.method != http::method::get) {
                    what.fields.set("content-type", "text/mine");
                    what.body = "body";
                }
                io_result<client_response> got = co_await web.send(std::move(what));
                REQUIRE(got.ok());
                client_response response = got.take();
                CHECK(response.where.target() == "/tell");
                const io_result<std::string> text = co_await response.text();
                CHECK(text.value() == each.arrives);
            }
            CHECK(web.counters().connections == 1);
            // Relative, with dots, and to where it came from.
            const std::string text =
                co_await text_of_get(web, site.url("/go/deep/er?to=../../tell%3Fx"));
            CHECK(text == "GET /tell?x|");
        };
        co_await with_site(io, usual_site(), {}, body);
    };
    on_every_backend(run);
}

TEST_CASE("redirects in a circle end, and so do those that lead nowhere") {
    const auto run = [](io_context& io) -> task<> {
        const auto body = [](const listening_site& site) -> task<> {
            client_options options;
            options.redirects_max = 4;
            client web{std::move(options)};
            const error circle = co_await error_of_get(web, site.url("/circle"));
            CHECK(circle == errc::limit_exceeded);
            CHECK(web.counters().redirected == 4);
            const error ftp = co_await error_of_get(web, site.url("/go?to=ftp%3A%2F%2Fh%2F"));
            CHECK(ftp == errc::not_supported);
            const error bad = co_await error_of_get(web, site.url("/go?to=http%3A%2F%2Fa%40b%2F"));
            CHECK(bad == errc::malformed);
            const error socket = co_await error_of_get(web, site.url("/go?to=ws%3A%2F%2Fh%2F"));
            CHECK(socket == errc::not_supported);

            client_options none;
            none.redirects_max = 0;
            client plain{std::move(none)};
            io_result<client_response> got = co_await plain.get(site.url("/go?to=/tell"));
            REQUIRE(got.ok());
            CHECK(got.value().status == http::status::found);
        };
        co_await with_site(io, usual_site(), {}, body);
    };
    on_every_backend(run);
}

namespace {

// A server that redirects with these fields, once, and then answers with the target that it is asked for.
script redirecting_with(std::string fields) {
    return [fields = std::move(fields)](stream_socket& peer, std::size_t) -> task<> {
        const std::string first = co_await head_from(peer);
        if (first.empty()) co_return;
        co_await say(peer, "HTTP/1.1 302 Found\r\n" + fields + "content-length: 2\r\n\r\nno");
        const std::string second = co_await head_from(peer);
        const std::size_t target = second.find(' ') + 1;
        if (second.empty()) co_return;
        co_await say(peer, answer_of(second.substr(target, second.find(' ', target) - target)));
    };
}

}  // namespace

// As curl and browsers take it: those bytes come back to the server that wrote them.
TEST_CASE("a redirect may name its target with blanks, and with bytes beyond ASCII") {
    struct row {
        const char* written;
        const char* asked;
    };
    static constexpr std::array rows{
        row{"/caf\xc3\xa9", "/caf%C3%A9"}, row{"/caf\xe9?q=\xe9", "/caf%E9?q=%E9"},
        row{"/a b?c d#e f", "/a%20b?c%20d"}, row{"caf%C3%A9/\xff", "/caf%C3%A9/%FF"},
        row{"?\xe2\x82\xac", "/?%E2%82%AC"}};
    const auto run = [](io_context& io) -> task<> {
        for (const row& each : rows) {
            CAPTURE(each.asked);
            std::string text;
            const auto asks = [&text](const listening_site& site) -> task<> {
                client web;
                text = co_await text_of_get(web, site.url("/"));
            };
            co_await with_script(
                io, redirecting_with("location: " + std::string{each.written} + "\r\n"), asks);
            CHECK(text == each.asked);
        }
    };
    on_every_backend(run);
}

TEST_CASE("bytes that no host has are none when they are encoded, and nothing is asked") {
    const auto run = [](io_context& io) -> task<> {
        for (const char* const each :
             {"http://caf\xc3\xa9.example/", "http://127.0.0.1 .example/", "//a b/", "/a\tb"}) {
            CAPTURE(each);
            error failed;
            const auto asks = [&failed](const listening_site& site) -> task<> {
                client web;
                failed = co_await error_of_get(web, site.url("/"));
            };
            co_await with_script(io, redirecting_with("location: " + std::string{each} + "\r\n"),
                                 asks);
            CHECK(failed == errc::malformed);
        }
    };
    on_every_backend(run);
}

// RFC 9110, 10.2.2.
TEST_CASE("a redirect that names no target is handed out, and of several none is chosen") {
    const auto run = [](io_context& io) -> task<> {
        for (const char* const each : {"", "location:\r\n", "location: \r\nlocation:\r\n"}) {
            CAPTURE(each);
            http::status said{};
            std::string text;
            const auto asks = [&](const listening_site& site) -> task<> {
                client web;
                io_result<client_response> got = co_await web.get(site.url("/"));
                REQUIRE(got.ok());
                client_response response = got.take();
                said = response.status;
                text = (co_await response.text()).take();
                CHECK(web.counters().redirected == 0);
            };
            co_await with_script(io, redirecting_with(each), asks);
            CHECK(said == http::status::found);
            CHECK(text == "no");
        }
        error failed;
        const auto chooses = [&failed](const listening_site& site) -> task<> {
            client web;
            failed = co_await error_of_get(web, site.url("/"));
            CHECK(web.counters().redirected == 0);
        };
        co_await with_script(io, redirecting_with("location: /a\r\nlocation: /b\r\n"), chooses);
        CHECK(failed == errc::malformed);
        std::string twice;
        const auto follows = [&twice](const listening_site& site) -> task<> {
            client web;
            twice = co_await text_of_get(web, site.url("/"));
        };
        co_await with_script(io, redirecting_with("location: /a\r\nlocation: /a\r\n"), follows);
        CHECK(twice == "/a");
    };
    on_every_backend(run);
}

TEST_CASE("credentials do not follow a redirect to another origin") {
    const auto run = [](io_context& io) -> task<> {
        const auto body = [&io](const listening_site& site) -> task<> {
            const auto beside = [&site](const listening_site& other) -> task<> {
                client web;
                struct journey {
                    std::string to;
                    std::string arrives;
                };
                const std::vector<journey> journeys{
                    {"/tell", "GET /tell|authorization=Bearer it|cookie=a=b|x-mine=1|"},
                    {other.url("/tell"), "GET /tell|x-mine=1|"},
                    // There and back again: what was dropped stays dropped.
                    {other.url("/go?to=" + site.url("/tell")), "GET /tell|x-mine=1|"},
                };
                for (const journey& each : journeys) {
                    CAPTURE(each.to);
                    client_request what =
                        request_of(http::method::get, site.url("/go?to=" + each.to));
                    http::set_bearer_token(what.fields, "it");
                    what.fields.set("cookie", "a=b");
                    what.fields.set("x-mine", "1");
                    io_result<client_response> got = co_await web.send(std::move(what));
                    REQUIRE(got.ok());
                    client_response response = got.take();
                    const io_result<std::string> text = co_await response.text();
                    CHECK(text.value() == each.arrives);
                }
            };
            co_await with_site(io, usual_site(), {}, beside);
        };
        co_await with_site(io, usual_site(), {}, body);
    };
    on_every_backend(run);
}

TEST_CASE("no more requests are under way than allowed, and connections never more") {
    const auto run = [](io_context& io) -> task<> {
        std::size_t now = 0;
        std::size_t most = 0;
        const auto slow = [&](http::request&) -> task<http::response> {
            most = std::max(most, ++now);
            static_cast<void>(co_await sleep_for(2ms));
            --now;
            co_return http::response{http::status::ok, "text/plain", "x"};
        };
        serve_counters counts;
        web::server_options serving;
        serving.intake.counters = &counts;
        const auto body = [&](const listening_site& site) -> task<> {
            client_options options;
            options.connections_per_origin_max = 3;
            client web{std::move(options)};
            const auto one = [&]() -> task<> {
                const std::string text = co_await text_of_get(web, site.url("/"));
                CHECK(text == "x");
            };
            const auto all = [&](task_group& group) -> task<> {
                for (int count = 0; count < 20; ++count) group.spawn(one);
                co_return;
            };
            co_await with_group(all);
            CHECK(most == 3);
            CHECK(counts.accepted == 3);
            CHECK(web.idle() == 3);
        };
        co_await with_site(io, slow, serving, body);
    };
    on_every_backend(run);
}

TEST_CASE("connections that nothing uses are closed after a while, and bounded before") {
    const auto run = [](io_context& io) -> task<> {
        const auto body = [&io](const listening_site& site) -> task<> {
            const auto beside = [&site](const listening_site& other) -> task<> {
                client_options options;
                options.idle_time_max = 30ms;
                options.idle_max = 1;
                client web{std::move(options)};
                static_cast<void>(co_await text_of_get(web, site.url("/tell")));
                CHECK(web.idle() == 1);
                static_cast<void>(co_await text_of_get(web, other.url("/tell")));
                CHECK(web.idle() == 1);
                for (int count = 0; count < 200 && web.idle() > 0; ++count) {
                    static_cast<void>(co_await sleep_for(5ms));
                }
                CHECK(web.idle() == 0);
            };
            co_await with_site(io, usual_site(), {}, beside);
        };
        co_await with_site(io, usual_site(), {}, body);
    };
    on_every_backend(run);
}

TEST_CASE("a client may go while its timer runs and its responses are read") {
    const auto run = [](io_context& io) -> task<> {
        const auto body = [](const listening_site& site) -> task<> {
            client_response left;
            {
                client web;
                static_cast<void>(co_await text_of_get(web, site.url("/tell")));
                io_result<client_response> got = co_await web.get(site.url("/tell"));
                REQUIRE(got.ok());
                left = got.take();
            }
            const io_result<std::string> text = co_await left.text();
            CHECK(text.value() == "GET /tell|");
        };
        co_await with_site(io, usual_site(), {}, body);
    };
    on_every_backend(run);
}

TEST_CASE("a server that is too slow ends with a time-out, whatever it is slow with") {
    const auto run = [](io_context& io) -> task<> {
        // By the number of the connection: no head; half a head; half a body; a body in drops.
        const auto slow = [](stream_socket& peer, std::size_t number) -> task<> {
            const bool asked = co_await read_head(peer);
            if (!asked) co_return;
            if (number == 1) co_await say(peer, "HTTP/1.1 200 O");
            if (number == 2) co_await say(peer, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf");
            if (number == 3) {
                co_await say(peer, "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
                for (;;) {
                    const io_result<> rested = co_await sleep_for(3ms);
                    if (!rested.ok()) co_return;
                    const auto sent = co_await write_all(peer, bytes_of("x"));
                    if (!sent.ok()) co_return;
                }
            }
            static_cast<void>(co_await read_head(peer));
        };
        const auto body = [](const listening_site& site) -> task<> {
            client_options options;
            options.exchange.response_time_max = 30ms;
            options.exchange.body_silence_max = 30ms;
            options.total_time_max = 200ms;
            client web{std::move(options)};
            for (int number = 0; number < 4; ++number) {
                CAPTURE(number);
                const error failed = co_await error_of_get(web, site.url("/"));
                CHECK(failed == errc::timed_out);
            }
            CHECK(web.idle() == 0);
        };
        co_await with_script(io, slow, body);
    };
    on_every_backend(run);
}

TEST_CASE("bodies are decoded from each coding, and bounded") {
    const std::string text(300'000, 'z');
    const auto coded = [&text](http::coding with, std::size_t size = SIZE_MAX) {
        std::string out;
        http::compressor it{with};
        const std::string_view those = std::string_view{text}.substr(0, size);
        CHECK(it.add(bytes_of(those), http::compressor::then::end, out).ok());
        return out;
    };
    struct sent {
        const char* coding;
        std::string bytes;
        error ends;
        std::size_t decoded;
    };
    const std::string gzip = coded(http::coding::gzip);
    const std::string deflate = coded(http::coding::deflate);
    const auto half_of = [&](http::coding with) { return coded(with, text.size() / 2); };
    const std::vector<sent> all{
        {"gzip", gzip, {}, text.size()},
        {"X-GZip", gzip, {}, text.size()},
        {"deflate", coded(http::coding::deflate), {}, text.size()},
        {"zstd", coded(http::coding::zstd), {}, text.size()},
        // RFC 1952, 2.2; RFC 8878, 3: all members, all frames.
        {"gzip", half_of(http::coding::gzip) + half_of(http::coding::gzip), {}, text.size()},
        {"gzip", gzip + std::string(40'000, '\0'), {}, text.size()},
        {"zstd", half_of(http::coding::zstd) + half_of(http::coding::zstd), {}, text.size()},
        {"zstd",
         coded(http::coding::zstd) + std::string{"\x50\x2a\x4d\x18\x01\0\0\0x", 9},
         {},
         text.size()},
        // Without the header of zlib and its sum.
        {"deflate", deflate.substr(2, deflate.size() - 6), {}, text.size()},
        {"deflate", deflate + "x", errc::malformed, text.size()},
        {"gzip", gzip.substr(0, gzip.size() / 2), errc::malformed, text.size()},
        {"gzip", gzip + "more", errc::malformed, text.size()},
        {"gzip", "nothing of the kind", errc::malformed, 0},
        {"gzip", "", {}, 0},
        {"gzip, gzip", gzip, {}, gzip.size()},
        {"identity", "plain", {}, 5},
        {"br", "as it is", {}, 8},
    };
    const auto run = [&](io_context& io) -> task<> {
        for (const sent& each : all) {
            const auto answers = [&](stream_socket& peer, std::size_t) -> task<> {
                const bool asked = co_await read_head(peer);
                if (!asked) co_return;
                const std::string field = "content-encoding: " + std::string{each.coding} + "\r\n";
                co_await say(peer, answer_of(each.bytes, field));
            };
            const auto body = [&](const listening_site& site) -> task<> {
                CAPTURE(each.coding);
                CAPTURE(each.bytes.size());
                client web;
                io_result<client_response> got = co_await web.get(site.url("/"));
                REQUIRE(got.ok());
                client_response response = got.take();
                const io_result<std::string> read = co_await response.text();
                CHECK(read.error() == each.ends);
                if (!each.ends) CHECK(read.value().size() == each.decoded);

                client_options small;
                small.decoded_bytes_max = 1000;
                client careful{std::move(small)};
                io_result<client_response> again = co_await careful.get(site.url("/"));
                REQUIRE(again.ok());
                client_response bomb = again.take();
                const io_result<std::string> part = co_await bomb.text();
                if (each.decoded == text.size()) CHECK(part.error() == errc::limit_exceeded);
                CHECK((each.decoded != text.size() || part.value().size() <= 1000));
            };
            co_await with_script(io, answers, body);
        }
    };
    on_every_backend(run);
}

// RFC 9110, 14.4.
TEST_CASE("a range is asked for without a coding, and left as it comes") {
    const auto run = [](io_context& io) -> task<> {
        std::vector<std::string> heads;
        const auto answers = [&heads](stream_socket& peer, std::size_t) -> task<> {
            heads.push_back(co_await head_from(peer));
            co_await say(peer,
                         "HTTP/1.1 206 Partial Content\r\ncontent-encoding: gzip\r\n"
                         "content-range: bytes 2-5/10\r\ncontent-length: 4\r\n\r\npart");
        };
        const auto body = [&heads](const listening_site& site) -> task<> {
            client web;
            client_request what;
            what.where = web::url::parse(site.url("/")).take();
            what.fields.set("range", "bytes=2-5");
            io_result<client_response> got = co_await web.send(std::move(what));
            REQUIRE(got.ok());
            client_response response = got.take();
            const io_result<std::string> read = co_await response.text();
            CHECK(read.value() == "part");
            CHECK(response.fields.value_or("content-encoding") == "gzip");
            REQUIRE(heads.size() == 1);
            CHECK(heads[0].find("accept-encoding: identity\r\n") != std::string::npos);
        };
        co_await with_script(io, answers, body);
    };
    on_every_backend(run);
}

TEST_CASE("a proxy is told of whom, and with which credentials") {
    const auto run = [](io_context& io) -> task<> {
        std::vector<std::string> heads;
        const auto forwards = [&](http::request& what) -> task<http::response> {
            heads.push_back(std::string{what.method_text()} + " " + std::string{what.scheme()} +
                            " " + std::string{what.authority()} + " " + std::string{what.target()} +
                            " " + std::string{what.fields.value_or("proxy-authorization")});
            co_return http::response{http::status::ok, "text/plain", "forwarded"};
        };
        const auto body = [&](const listening_site& site) -> task<> {
            client_options options;
            web::proxy via;
            via.host = "127.0.0.1";
            via.port = site.where.port();
            via.credentials = http::basic_credentials{"user", "pass"};
            options.via = via;
            options.proxied = [](const web::url& where) { return where.host() != "127.0.0.1"; };
            client web{std::move(options)};
            const std::string first = co_await text_of_get(web, "http://example.invalid/a?b");
            const std::string second = co_await text_of_get(web, "http://other.invalid:81/");
            const std::string direct = co_await text_of_get(web, site.url("/direct"));
            CHECK(first == "forwarded");
            CHECK(second == "forwarded");
            REQUIRE(heads.size() == 3);
            CHECK(heads[0] == "GET http example.invalid /a?b Basic dXNlcjpwYXNz");
            CHECK(heads[1] == "GET http other.invalid:81 / Basic dXNlcjpwYXNz");
            CHECK(heads[2] == "GET http " + site.where.to_string() + " /direct ");
            CHECK(web.counters().connections == 2);  // One to the proxy, one past it.
        };
        co_await with_site(io, forwards, {}, body);
    };
    on_every_backend(run);
}

// RFC 6455, 4.1.
TEST_CASE("a stream for another protocol goes through a tunnel of the proxy's, encrypted or not") {
    const auto run = [](io_context& io) -> task<> {
        std::string asked;
        const auto tunnels = [&](stream_socket& peer, std::size_t) -> task<> {
            std::string space(1024, '\0');
            const io_result<std::size_t> got = co_await peer.read_some(space);
            asked = space.substr(0, got.value());
            co_await say(peer, "HTTP/1.1 200 OK\r\n\r\n");
            co_await settle();
            co_await say(peer, "from behind");
            static_cast<void>(co_await read_head(peer));
        };
        const auto body = [&](const listening_site& site) -> task<> {
            client_options options;
            web::proxy via;
            via.host = "127.0.0.1";
            via.port = site.where.port();
            options.via = via;
            client web{std::move(options)};
            io_result<any_stream> made =
                co_await web.connect(web::url::parse("ws://example.invalid/chat").take());
            CHECK_FALSE(made.error());
            CHECK(asked.starts_with("CONNECT example.invalid:80 HTTP/1.1\r\n"));
            any_stream through = made.take();
            std::string heard(11, '\0');
            static_cast<void>(co_await read_exactly(through, heard));
            CHECK(heard == "from behind");
        };
        co_await with_script(io, tunnels, body);
    };
    on_every_backend(run);
}

TEST_CASE("requests that cannot be sent, and URLs that are none, touch no network") {
    const auto run = [](io_context&) -> task<> {
        client web;
        const error bad = co_await error_of_get(web, "http://[::1/");
        CHECK(bad == errc::malformed);
        const error other = co_await error_of_get(web, "gopher://localhost/");
        CHECK(other == errc::not_supported);
        const error socket = co_await error_of_get(web, "ws://localhost/");
        CHECK(socket == errc::invalid_argument);
        const io_result<client_response> unsent = co_await web.send(
            client_request{http::method::connect, web::url::parse("http://h/").take()});
        CHECK(unsent.error() == errc::invalid_argument);
        CHECK(web.counters().connections == 0);
    };
    on_every_backend(run);
}

namespace {

// Says which Host came, and by which method.
task<http::response> tell_host(http::request& what) {
    std::string text{what.method_text()};
    text.append(" ").append(what.fields.value_or("host")).append(" ").append(what.authority());
    co_return http::response{http::status::ok, "text/plain", std::move(text)};
}

task<std::string> text_of_answer(client& web, client_request what) {
    io_result<client_response> got = co_await web.send(std::move(what));
    if (!got.ok()) co_return std::string{"failed"};
    const client_response answer = got.take();
    io_result<std::string> text = co_await answer.text();
    co_return text.take();
}

}  // namespace

TEST_CASE("the Host of a request is sent as it was given, and any method") {
    const auto run = [](io_context& io) -> task<> {
        const auto body = [](listening_site& at) -> task<> {
            client web;
            client_request by_name{"PROPFIND", web::url::parse(at.url("/")).take()};
            by_name.fields.set("host", "other.example:81");
            const std::string said = co_await text_of_answer(web, std::move(by_name));
            CHECK(said == "PROPFIND other.example:81 other.example:81");
            client_request usual{"GET", web::url::parse(at.url("/")).take()};
            CHECK(usual.method == http::method::get);
            const std::string host = usual.where.authority();
            const std::string plain = co_await text_of_answer(web, std::move(usual));
            CHECK(plain == "GET " + host + " " + host);
        };
        co_await with_site(io, tell_host, {}, body);
    };
    on_every_backend(run);
}

TEST_CASE("what a request says of its framing is what is sent, or it is refused") {
    struct row {
        const char* name;
        const char* value;
        bool is_known;
        bool is_sent;
    };
    const std::vector<row> rows{{"content-length", "5", true, true},
                                {"content-length", "4", true, false},
                                {"content-length", "5", false, false},
                                {"content-length", "5x", true, false},
                                {"transfer-encoding", "chunked", false, true},
                                {"transfer-encoding", "chunked", true, false},
                                {"transfer-encoding", "gzip, chunked", false, false},
                                {"host", "a b", true, false},
                                {"host", "user@h", true, false},
                                {"host", "h/path", true, false},
                                {"host", "", true, false}};
    const auto run = [&](io_context& io) -> task<> {
        const auto body = [&](listening_site& at) -> task<> {
            for (const row& each : rows) {
                client web;
                client_request what{http::method::post, web::url::parse(at.url("/tell")).take()};
                what.fields.add(each.name, each.value);
                what.body = "hello";
                if (!each.is_known) {
                    what.body = http::produced_by([](http::body_writer to) -> task<io_result<>> {
                        const io_result<std::size_t> put =
                            co_await write_all(to, bytes_of(std::string_view{"hello"}));
                        co_return put.error();
                    });
                }
                const io_result<client_response> got = co_await web.send(std::move(what));
                CAPTURE(each.name);
                CAPTURE(each.value);
                CAPTURE(each.is_known);
                CHECK(got.error() == (each.is_sent ? errc::ok : errc::invalid_argument));
                CHECK((web.counters().connections == 0) == !each.is_sent);
            }
        };
        co_await with_site(io, usual_site(), {}, body);
    };
    on_every_backend(run);
}

TEST_CASE("a proxy is not told of another Host than that of the URL, nor is another origin") {
    const auto run = [](io_context& io) -> task<> {
        client_options by_proxy;
        by_proxy.via.emplace();
        by_proxy.via->host = "127.0.0.1";
        by_proxy.via->port = 1;
        client through{by_proxy};
        client_request forwarded{http::method::get, web::url::parse("http://h/").take()};
        forwarded.fields.set("host", "other");
        const io_result<client_response> refused = co_await through.send(std::move(forwarded));
        CHECK(refused.error() == errc::invalid_argument);

        const auto inner = [&](listening_site& there) -> task<> {
            const auto outer = [&](listening_site& here) -> task<> {
                client web;
                const std::string from = here.url("/go?to=" + there.url("/"));
                client_request what{http::method::get, web::url::parse(from).take()};
                what.fields.set("host", "other");
                const std::string said = co_await text_of_answer(web, std::move(what));
                const std::string host = there.where.to_string();
                CHECK(said == "GET " + host + " " + host);
            };
            co_await with_site(io, usual_site(), {}, outer);
        };
        co_await with_site(io, tell_host, {}, inner);
    };
    on_every_backend(run);
}

TEST_CASE("an upstream may be a Unix-domain socket") {
    const auto run = [](io_context& io) -> task<> {
        const scratch_directory here;
        const endpoint where = endpoint::local(here / "it.sock").value();
        io_result<stream_acceptor> listening = stream_acceptor::listen(io, where);
        REQUIRE(listening.ok());
        io_result<> ended{errc::busy};
        const auto both = [&](task_group& group) -> task<> {
            group.spawn(note_serving(listening.take(), tell_host, {}, ended));
            client_options options;
            options.connect_at = [&where](const web::url& asked) -> std::optional<endpoint> {
                if (asked.host() == "docker") return where;
                return std::nullopt;
            };
            client web{options};
            client_request what{http::method::get, web::url::parse("http://docker/").take()};
            const std::string said = co_await text_of_answer(web, std::move(what));
            CHECK(said == "GET docker docker");
            group.request_stop();
        };
        co_await with_group(both);
        CHECK_FALSE(ended.error());
    };
    on_every_backend(run);
}

TEST_CASE("a client without any connection would never answer, and is the program's mistake") {
    const auto making = [](std::size_t in_all, std::size_t of_one) {
        client_options options;
        options.connections_max = in_all;
        options.connections_per_origin_max = of_one;
        const client web{options};
    };
    CHECK(ending_of([&] { making(0, 8); }).said_that("a client may have a connection"));
    CHECK(ending_of([&] { making(8, 0); }).said_that("a client may have a connection"));
    CHECK(ending_of([&] { making(1, 1); }).signal == 0);
}
