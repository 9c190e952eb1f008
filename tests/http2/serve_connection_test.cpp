// SPDX-License-Identifier: BSL-1.0
//
// A server against clients that are written by hand: what handlers get of their frames, and when they run.
#include <gyre/http2/serve_connection.hpp>

#include <gyre/sync/event.hpp>
#include <gyre/sync/timeout.hpp>
#include <http2/by_hand.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using http2::breach;

namespace {

std::string post(std::uint32_t stream, texts more = {}) {
    return frame_of(frame::headers, end_headers, stream, block_of("POST", "/", more));
}

}  // namespace

TEST_CASE("http2: a handler gets what a request says, in the words of HTTP/1") {
    struct row {
        std::string block;
        std::string expected;
    };
    const std::string get_only =
        literal(":method", "GET") + literal(":scheme", "http") + literal(":path", "/p?q=1");
    // RFC 9113, 8.2.3, 8.3.1 and 8.5.
    const row rows[] = {
        {block_of("GET", "/p?q=1"), "GET /p?q=1 h "},
        {block_of("GET", "/", {{"cookie", "a=1"}, {"x", "y"}, {"cookie", "b=2"}}),
         "GET / h a=1; b=2"},
        {get_only + literal("host", "named"), "GET /p?q=1 named "},
        {block_of("GET", "/", {{"host", "H"}}), "GET / h "},
        {literal(":method", "CONNECT") + literal(":authority", "far:1"), "CONNECT far:1 far:1 "},
        {block_of("OPTIONS", "*"), "OPTIONS * h "},
        {block_of("BREW", "/pot"), "BREW /pot h "},
    };
    const auto tell = [](http::request& what) -> task<http::response> {
        std::string said{what.method_text()};
        said.append(" ").append(what.target()).append(" ").append(what.authority()).append(" ");
        said.append(what.fields.value_or("cookie"));
        co_return http::response{http::status::ok, std::move(said)};
    };
    for (const row& each : rows) {
        CAPTURE(each.expected);
        in_a_world([&each, &tell]() -> task<> {
            server_by_hand in{tell};
            const auto talk = [&in, &each]() -> task<> {
                co_await in.greet();
                static_cast<void>(co_await in.peer.say(
                    frame_of(frame::headers, end_headers | end_stream, 1, each.block)));
                static_cast<void>(co_await in.peer.hear(frame::data));
                in.peer.close();
            };
            co_await in.run(talk);
            CHECK(in.peer.data(1) == each.expected);
            CHECK(in.served.ok());
        });
    }
}

TEST_CASE("http2: a body and its trailers come to the handler as they are sent") {
    // RFC 9113, 8.1.
    in_a_world([]() -> task<> {
        server_by_hand in{echo};
        const auto talk = [&in]() -> task<> {
            co_await in.greet();
            static_cast<void>(co_await in.peer.say(post(1)));
            for (const std::string_view piece : {"one ", "two ", "three"}) {
                static_cast<void>(co_await sleep_for(10s));
                static_cast<void>(co_await in.peer.say(frame_of(frame::data, 0, 1, piece)));
            }
            static_cast<void>(co_await in.peer.say(
                frame_of(frame::headers, end_headers | end_stream, 1, literal("sum", "3"))));
            static_cast<void>(co_await in.peer.hear(frame::data));
            in.peer.close();
        };
        co_await in.run(talk);
        CHECK(in.peer.data(1) == "POST / one two three sum=3");
        CHECK(in.served.ok());
    });
}

TEST_CASE("http2: a body that is not as long as its head has said is malformed for its reader") {
    // RFC 9113, 8.1.1.
    in_a_world([]() -> task<> {
        error failed = errc::busy;
        const auto handle = [&failed](http::request& what) -> task<http::response> {
            const io_result<std::string> body = co_await what.body.read_all(100);
            failed = body.error();
            co_return http::response{http::status::ok};
        };
        server_by_hand in{handle};
        const auto talk = [&in]() -> task<> {
            co_await in.greet();
            const std::string head = post(1, {{"content-length", "9"}});
            static_cast<void>(co_await in.peer.say(head + frame_of(frame::data, 0, 1, "four")));
            static_cast<void>(co_await sleep_for(1s));
            static_cast<void>(co_await in.peer.say(frame_of(frame::data, end_stream, 1, "less")));
            static_cast<void>(co_await in.peer.hear(frame::rst_stream));
            in.peer.close();
        };
        co_await in.run(talk);
        CHECK(failed == errc::malformed);
        CHECK(reset_code(in.peer.heard(), 1) == 1U);
        CHECK(in.served.ok());
    });
}

TEST_CASE("http2: a client that waits to be asked for its body is asked by the first read") {
    // RFC 9110, 10.1.1.
    in_a_world([]() -> task<> {
        server_by_hand in{echo};
        const auto talk = [&in]() -> task<> {
            co_await in.greet();
            const std::string head = post(1, {{"expect", "100-continue"}});
            static_cast<void>(co_await in.peer.say(head));
            static_cast<void>(co_await in.peer.hear(frame::headers));
            CHECK(in.peer.count(frame::data) == 0);
            static_cast<void>(co_await in.peer.say(frame_of(frame::data, end_stream, 1, "asked")));
            static_cast<void>(co_await in.peer.hear(frame::data));
            in.peer.close();
        };
        co_await in.run(talk);
        CHECK(in.peer.data(1) == "POST / asked");
        CHECK(in.peer.count(frame::headers) == 2);
    });
}

TEST_CASE("http2: streams beyond what was allowed are refused, and the others answered") {
    // RFC 9113, 5.1.2 and 8.7.
    in_a_world([]() -> task<> {
        event go_on;
        const auto handle = [&go_on](http::request&) -> task<http::response> {
            static_cast<void>(co_await go_on.wait());
            co_return http::response{http::status::ok, "done"};
        };
        server_by_hand in{handle};
        in.options.streams_max = 2;
        const auto talk = [&in, &go_on]() -> task<> {
            // It may not have seen yet how many are allowed.
            static_cast<void>(co_await in.peer.say(greeting() + get(1) + get(3) + get(5)));
            static_cast<void>(co_await in.peer.hear(frame::rst_stream));
            static_cast<void>(co_await in.peer.say(settings_ack));
            go_on.set();
            static_cast<void>(co_await in.peer.hear(frame::data, 2));
            // There is room again.
            static_cast<void>(co_await in.peer.say(get(7)));
            static_cast<void>(co_await in.peer.hear(frame::data, 3));
            in.peer.close();
        };
        co_await in.run(talk);
        CHECK(reset_code(in.peer.heard(), 5) == 7U);
        CHECK(in.peer.count(frame::rst_stream) == 1);
        for (const std::uint32_t stream : {1U, 3U, 7U}) CHECK(in.peer.data(stream) == "done");
        CHECK(in.served.ok());
    });
    // Who has acknowledged the bound and passes it is given up.
    in_a_world([]() -> task<> {
        const auto handle = [](http::request&) -> task<http::response> {
            static_cast<void>(co_await sleep_for(10s));
            co_return http::response{http::status::ok};
        };
        server_by_hand in{handle};
        in.options.streams_max = 2;
        const auto talk = [&in]() -> task<> {
            co_await in.greet();
            static_cast<void>(co_await in.peer.say(get(1) + get(3) + get(5)));
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
        CHECK(in.breached == breach::protocol);
        CHECK(goaway_code(in.peer.heard()) == 1U);
    });
}

TEST_CASE("http2: a request that is taken back before its turn costs no handler") {
    // RFC 9113, 10.5.
    in_a_world([]() -> task<> {
        int calls = 0;
        const auto handle = [&calls](http::request&) -> task<http::response> {
            ++calls;
            co_return http::response{http::status::ok, "done"};
        };
        server_by_hand in{handle};
        const auto talk = [&in]() -> task<> {
            co_await in.greet();
            static_cast<void>(co_await in.peer.say(
                get(1) + frame_of(frame::rst_stream, 0, 1, number(8)) + get(3)));
            static_cast<void>(co_await in.peer.hear(frame::data));
            in.peer.close();
        };
        co_await in.run(talk);
        CHECK(calls == 1);
        CHECK(in.peer.data(3) == "done");
        CHECK(in.served.ok());
    });
}

TEST_CASE("http2: a request whose answer is complete is cut off, without an error") {
    // RFC 9113, 8.1.
    in_a_world([]() -> task<> {
        const auto handle = [](http::request&) -> task<http::response> {
            co_return http::response{http::status::ok, "no need"};
        };
        server_by_hand in{handle};
        const auto talk = [&in]() -> task<> {
            co_await in.greet();
            static_cast<void>(co_await in.peer.say(post(1) + frame_of(frame::data, 0, 1, "and ")));
            static_cast<void>(co_await in.peer.hear(frame::rst_stream));
            in.peer.close();
        };
        co_await in.run(talk);
        CHECK(in.peer.data(1) == "no need");
        CHECK(reset_code(in.peer.heard(), 1) == 0U);
        CHECK(in.took >= in.options.times.linger_max);
        CHECK(in.took < in.options.times.linger_max + 1s);
        CHECK(in.served.ok());
    });
}

TEST_CASE("http2: a connection ends with the last of the requests that it may have") {
    // RFC 9113, 6.8.
    in_a_world([]() -> task<> {
        server_by_hand in{echo};
        in.options.requests_max = 3;
        const auto talk = [&in]() -> task<> {
            co_await in.greet();
            static_cast<void>(co_await in.peer.say(get(1, "/1") + get(3, "/3") + get(5, "/5")));
            static_cast<void>(co_await in.peer.hear(frame::ping));
            const std::string asked_for = in.peer.frames(frame::ping).back().payload;
            // On its way before the server's word has come.
            static_cast<void>(co_await in.peer.say(get(7, "/7")));
            static_cast<void>(co_await in.peer.say(frame_of(frame::ping, ack, 0, asked_for)));
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
        for (const std::uint32_t stream : {1U, 3U, 5U, 7U}) {
            CHECK(in.peer.data(stream) == "GET /" + std::to_string(stream));
        }
        const std::vector<seen_frame> said = in.peer.frames(frame::goaway);
        REQUIRE(said.size() == 2);
        CHECK(number_at(said[1].payload, 0) == 7U);
        CHECK(in.served.ok());
        CHECK(in.breached == breach::none);
    });
}

TEST_CASE("http2: a client that says GOAWAY gets what it has asked for, and then the end") {
    // RFC 9113, 6.8.
    in_a_world([]() -> task<> {
        const auto handle = [](http::request&) -> task<http::response> {
            static_cast<void>(co_await sleep_for(5s));
            co_return http::response{http::status::ok, "still"};
        };
        server_by_hand in{handle};
        const auto talk = [&in]() -> task<> {
            co_await in.greet();
            static_cast<void>(co_await in.peer.say(get(1)));
            static_cast<void>(
                co_await in.peer.say(frame_of(frame::goaway, 0, 0, number(0) + number(0))));
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
        CHECK(in.peer.data(1) == "still");
        CHECK(goaway_code(in.peer.heard()) == 0U);
        CHECK(in.served.ok());
        CHECK(in.took < 6s);
    });
}

TEST_CASE("http2: a client that goes while it is answered is an error, and stops the handler") {
    // RFC 9113, 9.1.
    in_a_world([]() -> task<> {
        bool stopped = false;
        const auto handle = [&stopped](http::request&) -> task<http::response> {
            const io_result<> slept = co_await sleep_for(1h);
            stopped = slept.error() == errc::canceled;
            co_return http::response{http::status::ok};
        };
        server_by_hand in{handle};
        const auto talk = [&in]() -> task<> {
            co_await in.greet();
            static_cast<void>(co_await in.peer.say(get(1)));
            static_cast<void>(co_await sleep_for(1s));
            in.peer.close();
        };
        co_await in.run(talk);
        CHECK(in.served.error() == errc::connection_reset);
        CHECK(stopped);
        CHECK(in.breached == breach::none);
    });
}

TEST_CASE("http2: a handler and a producer learn that their client waits no longer") {
    // RFC 9113, 5.4.2 and 9.1.
    for (const bool produces : {false, true}) {
        for (const bool resets : {false, true}) {
            in_a_world([produces, resets]() -> task<> {
                io_result<> stopped;
                bool left = false;
                io_result<> waited = errc::busy;
                const auto waits = [&](http::request& what) -> task<io_result<>> {
                    waited = co_await shielded(what.until_peer_left(), 1h);
                    stopped = co_await sleep_for(1h);
                    left = what.peer_left();
                    co_return stopped;
                };
                const auto handle = [&](http::request& what) -> task<http::response> {
                    if (produces) {
                        auto write = [&](http::body_writer) { return waits(what); };
                        co_return http::response{http::status::ok,
                                                 http::produced_by(std::move(write))};
                    }
                    static_cast<void>(co_await waits(what));
                    co_return http::response{http::status::ok};
                };
                server_by_hand in{handle};
                std::vector<http::answer_end> told;
                in.hooks.on_answered = [&](const http::request&, const http::answer_end& end) {
                    told.push_back(end);
                };
                const auto talk = [&]() -> task<> {
                    co_await in.greet();
                    static_cast<void>(co_await in.peer.say(get(1)));
                    static_cast<void>(co_await sleep_for(1s));
                    if (resets) {
                        const std::string reset = frame_of(frame::rst_stream, 0, 1, number(8));
                        static_cast<void>(co_await in.peer.say(reset));
                        static_cast<void>(co_await sleep_for(1s));
                    }
                    in.peer.close();
                };
                co_await in.run(talk);
                CHECK(waited.ok());
                CHECK(told.size() == 1);
                CHECK(told.at(0).how == http::answer_end::kind::client_left);
                CHECK(stopped.error() == errc::canceled);
                CHECK(left);
                CHECK(in.took < 1min);
            });
        }
    }
}

TEST_CASE(
    "http2: an answer of which all declared bytes were sent is complete, and its reset no flood") {
    // A client may have enough when it has the declared size: curl resets the stream then, and does not wait
    // for the frame that ends it.
    for (const std::uint64_t declared : {std::uint64_t{5}, std::uint64_t{6}}) {
        in_a_world([declared]() -> task<> {
            const auto writes = [](http::body_writer to) -> task<io_result<>> {
                static_cast<void>(co_await write_all(to, bytes_of(std::string_view{"12345"})));
                static_cast<void>(co_await to.flush());
                const io_result<> slept = co_await sleep_for(1h);
                co_return slept;
            };
            const auto handle = [&](http::request&) -> task<http::response> {
                co_return http::response{http::status::ok, http::produced_by(writes, declared)};
            };
            server_by_hand in{handle};
            const bool whole = declared == 5;
            const int requests = whole ? 300 : 50;
            int complete = 0;
            int left = 0;
            in.hooks.on_answered = [&](const http::request&, const http::answer_end& end) {
                CHECK(end.body_bytes == 5);
                if (end.how == http::answer_end::kind::complete) ++complete;
                if (end.how == http::answer_end::kind::client_left) ++left;
            };
            const auto talk = [&]() -> task<> {
                co_await in.greet();
                for (int each = 0; each < requests; ++each) {
                    const auto id = static_cast<std::uint32_t>(2 * each + 1);
                    const std::string asks = get(id);
                    static_cast<void>(co_await in.peer.say(asks));
                    const auto answers = static_cast<std::size_t>(each) + 1;
                    const bool came = co_await in.peer.hear(frame::data, answers);
                    if (!came) break;
                    const std::string reset = frame_of(frame::rst_stream, 0, id, number(8));
                    static_cast<void>(co_await in.peer.say(reset));
                }
                static_cast<void>(co_await sleep_for(1s));
                in.peer.close();
            };
            co_await in.run(talk);
            CHECK(complete == (whole ? requests : 0));
            CHECK(left == (whole ? 0 : requests));
        });
    }
}
