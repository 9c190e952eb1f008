// SPDX-License-Identifier: BSL-1.0
//
// A client against servers that are written by hand: what each of their frames comes to.
#include <gyre/http2/client_connection.hpp>

#include <gyre/coro/resume.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/event.hpp>
#include <http2/by_hand.hpp>
#include <support/disposable.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;
using http2::breach;
using http2::error_code;

namespace {

std::string head(std::uint32_t stream, std::string_view status, std::uint8_t flags = 0,
                 texts more = {}) {
    std::string block = literal(":status", status);
    for (const auto& [name, value] : more) block.append(literal(name, value));
    return frame_of(frame::headers, static_cast<std::uint8_t>(end_headers | flags), stream, block);
}

std::string last_data(std::uint32_t stream, std::string_view text) {
    return frame_of(frame::data, end_stream, stream, text);
}

std::string goaway(std::uint32_t last_stream, std::uint32_t code) {
    return frame_of(frame::goaway, 0, 0, number(last_stream) + number(code));
}

// Asks once, says `said` when the request has come, and closes.
task<asked> ask_once(client_by_hand& in, std::string said) {
    asked got;
    const auto talk = [&in, &got, &said](task_group& group) -> task<> {
        group.spawn(in.ask(got, "/"));
        co_await in.greet();
        static_cast<void>(co_await in.peer.hear(frame::headers));
        static_cast<void>(co_await in.peer.say(said));
        while (got.failed == errc::busy) static_cast<void>(co_await sleep_for(1ms));
        in.client.close();
        co_await in.peer.hear_out();
    };
    co_await in.run(talk);
    co_return got;
}

}  // namespace

TEST_CASE("http2: a client of no connection asks nothing") {
    in_a_world([]() -> task<> {
        http2::client_connection none;
        CHECK_FALSE(none.reusable());
        CHECK(none.streams_free() == 0);
        CHECK(none.why() == breach::none);
        const http::request what = request_of("/");
        const io_result<http2::received_response> got = co_await none.send(what);
        CHECK(got.error() == errc::closed);
        CHECK(got.value().unprocessed);
        const io_result<> ran = co_await none.run();
        CHECK(ran.error() == errc::closed);
        none.close();
    });
}

TEST_CASE("http2: a request that cannot be sent is not sent") {
    in_a_world([]() -> task<> {
        client_by_hand in;
        const auto talk = [&in](task_group&) -> task<> {
            co_await in.greet();
            std::vector<http::request> those;
            those.push_back(request_of("/"));
            those.back().fields.add("a", "x\r\ny");
            // RFC 9113, 8.3.1: of an absolute form each part has a field.
            for (const char* const target : {"/a#b", "/a\\b", "http://h/", "*", ""}) {
                those.push_back(request_of(target));
            }
            those.push_back(request_of("h", http::method::connect));
            those.push_back(request_of("/"));
            those.back().set_authority("u@h");
            those.push_back(request_of("/"));
            those.back().set_scheme("ftp");
            for (const http::request& what : those) {
                CAPTURE(what.target());
                const io_result<http2::received_response> got = co_await in.client.send(what);
                CHECK(got.error() == errc::invalid_argument);
                CHECK(got.value().unprocessed);
            }
            in.client.close();
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
        CHECK(in.peer.count(frame::headers) == 0);
        CHECK(in.ran.ok());
    });
}

TEST_CASE("http2: an answer comes with its interim heads read over, its body and its trailers") {
    // RFC 9113, 8.1.
    in_a_world([]() -> task<> {
        client_by_hand in;
        const std::string trailers =
            frame_of(frame::headers, end_headers | end_stream, 1, literal("sum", "9"));
        const asked got = co_await ask_once(in, head(1, "103") + head(1, "102") + head(1, "200") +
                                                    frame_of(frame::data, 0, 1, "some ") +
                                                    frame_of(frame::data, 0, 1, "text") + trailers);
        CHECK_FALSE(got.failed);
        CHECK(got.status == http::status::ok);
        CHECK_FALSE(got.body_failed);
        CHECK(got.body == "some text");
        CHECK(got.sum == "9");
        CHECK(in.ran.ok());
    });
}

TEST_CASE("http2: interim heads without end are no answer") {
    in_a_world([]() -> task<> {
        http2::client_options options;
        options.interim_max = 3;
        client_by_hand in{options};
        const std::string interim = head(1, "103");
        const asked got = co_await ask_once(in, interim + interim + interim + interim);
        CHECK(got.failed == errc::malformed);
        CHECK(reset_code(in.peer.heard(), 1) == 1U);
        CHECK(in.ran.ok());
    });
}

TEST_CASE("http2: each code of a reset is an error that tells what to do") {
    // RFC 9113, 7 and 8.7.
    for (const auto code :
         {error_code::none, error_code::protocol, error_code::internal, error_code::refused_stream,
          error_code::cancel, error_code::enhance_your_calm, error_code::http_1_1_required,
          static_cast<error_code>(0x99)}) {
        CAPTURE(http2::describe(code));
        in_a_world([code]() -> task<> {
            client_by_hand in;
            const std::string reset =
                frame_of(frame::rst_stream, 0, 1, number(static_cast<std::uint32_t>(code)));
            const asked got = co_await ask_once(in, reset);
            CHECK(got.failed == http2::error_for(code).code());
            CHECK(got.reset_by == code);
            CHECK(got.unprocessed == (code == error_code::refused_stream));
            CHECK(in.client.why() == breach::none);
            CHECK(in.ran.ok());
        });
    }
}

TEST_CASE("http2: a body that ends before its time fails its reader") {
    // RFC 9113, 8.1.1.
    struct row {
        std::string said;
        errc expected;
        bool by_peer;
    };
    const std::string sized = head(1, "200", 0, {{"content-length", "9"}});
    const row rows[] = {
        {sized + last_data(1, "short"), errc::malformed, false},
        {sized + frame_of(frame::data, 0, 1, "ten bytes "), errc::malformed, false},
        {sized + frame_of(frame::data, 0, 1, "half") + frame_of(frame::rst_stream, 0, 1, number(2)),
         errc::connection_aborted, true},
        {head(1, "200") + frame_of(frame::data, 0, 1, "half") +
             frame_of(frame::rst_stream, 0, 1, number(0)),
         errc::connection_reset, true},
    };
    for (const row& each : rows) {
        CAPTURE(each.said);
        in_a_world([&each]() -> task<> {
            client_by_hand in;
            asked got;
            const auto talk = [&in, &got, &each](task_group& group) -> task<> {
                const auto ask = [&in, &got]() -> task<> {
                    co_await in.ask(got, "/");
                    in.client.close();
                };
                group.spawn(ask);
                co_await in.greet();
                static_cast<void>(co_await in.peer.hear(frame::headers));
                static_cast<void>(co_await in.peer.say(each.said));
                co_await in.peer.hear_out();
            };
            co_await in.run(talk);
            const error failed = got.failed ? got.failed : got.body_failed;
            CHECK(failed == each.expected);
            CHECK(reset_code(in.peer.heard(), 1).has_value() != each.by_peer);
            CHECK(in.ran.ok());
        });
    }
}

TEST_CASE("http2: a head that is too large, or malformed, fails its request and no other") {
    // RFC 9113, 8.1.1, 8.3.2 and 10.5.1.
    struct row {
        std::string said;
        errc expected;
        std::uint32_t code;
    };
    const std::string big(120, 'b');
    const row rows[] = {
        {head(1, "200", 0, {{"a", big}, {"b", big}, {"c", big}}), errc::limit_exceeded, 8},
        {head(1, "2000", end_stream), errc::malformed, 1},
        {head(1, "099", end_stream), errc::malformed, 1},
        {head(1, "200", end_stream, {{"connection", "close"}}), errc::malformed, 1},
        {head(1, "200", end_stream, {{"Upper", "x"}}), errc::malformed, 1},
        {head(1, "103", end_stream), errc::malformed, 1},
    };
    for (const row& each : rows) {
        CAPTURE(each.said);
        in_a_world([&each]() -> task<> {
            http2::client_options options;
            options.head_bytes_max = 400;
            client_by_hand in{options};
            asked bad;
            asked good;
            const auto talk = [&](task_group& group) -> task<> {
                const auto ask = [&]() -> task<> {
                    co_await in.ask(bad, "/bad");
                    co_await in.ask(good, "/good");
                    in.client.close();
                };
                group.spawn(ask);
                co_await in.greet();
                static_cast<void>(co_await in.peer.hear(frame::headers));
                static_cast<void>(co_await in.peer.say(each.said));
                static_cast<void>(co_await in.peer.hear(frame::headers, 2));
                static_cast<void>(co_await in.peer.say(head(3, "200") + last_data(3, "fine")));
                co_await in.peer.hear_out();
            };
            co_await in.run(talk);
            CHECK(bad.failed == each.expected);
            CHECK(bad.reset_by == error_code::none);
            CHECK(reset_code(in.peer.heard(), 1) == each.code);
            CHECK(good.body == "fine");
            CHECK(in.ran.ok());
        });
    }
}

TEST_CASE("http2: what a server may never send ends the connection") {
    struct row {
        std::string said;
        breach expected;
        std::uint32_t code;
    };
    // RFC 9113, 8.4, 5.1.1, 6.5, 6.9 and 4.3.
    const row rows[] = {
        {frame_of(frame::push_promise, end_headers, 1, number(2) + block_of("GET", "/")),
         breach::protocol, 1},
        {head(2, "200"), breach::protocol, 1},
        {frame_of(frame::settings, 0, 0, "12345"), breach::frame_size, 6},
        {frame_of(frame::window_update, 0, 0, number(0x7fff'ffff)), breach::flow_control, 3},
        {frame_of(frame::headers, end_headers, 1, "\xff\xff\xff\xff\xff\xff"), breach::compression,
         9},
    };
    for (const row& each : rows) {
        CAPTURE(each.said);
        in_a_world([&each]() -> task<> {
            client_by_hand in;
            asked got;
            const auto talk = [&in, &got, &each](task_group& group) -> task<> {
                group.spawn(in.ask(got, "/"));
                co_await in.greet();
                static_cast<void>(co_await in.peer.hear(frame::headers));
                static_cast<void>(co_await in.peer.say(each.said));
                co_await in.peer.hear_out();
            };
            co_await in.run(talk);
            CHECK_MESSAGE(in.client.why() == each.expected, http2::describe(in.client.why()));
            CHECK(goaway_code(in.peer.heard()) == each.code);
            CHECK(in.ran.error() == errc::malformed);
            CHECK(got.failed == errc::malformed);
            CHECK_FALSE(in.client.reusable());
        });
    }
}

TEST_CASE("http2: GOAWAY tells which requests may be sent again") {
    // RFC 9113, 6.8 and 8.7.
    in_a_world([]() -> task<> {
        client_by_hand in;
        std::vector<asked> got(4);
        const auto talk = [&in, &got](task_group& group) -> task<> {
            for (std::size_t each = 0; each < 3; ++each) group.spawn(in.ask(got[each], "/"));
            co_await in.greet();
            static_cast<void>(co_await in.peer.hear(frame::headers, 3));
            static_cast<void>(co_await in.peer.say(goaway(3, 0xb)));
            while (got[2].failed == errc::busy) static_cast<void>(co_await sleep_for(1ms));
            CHECK_FALSE(in.client.reusable());
            CHECK(in.client.streams_free() == 0);
            co_await in.ask(got[3], "/");
            static_cast<void>(co_await in.peer.say(head(1, "200") + last_data(1, "one")));
            static_cast<void>(co_await in.peer.say(head(3, "200") + last_data(3, "two")));
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
        CHECK(got[0].body == "one");
        CHECK(got[1].body == "two");
        CHECK(got[2].failed == errc::connection_refused);
        CHECK(got[2].unprocessed);
        CHECK(got[3].failed == errc::closed);
        CHECK(got[3].unprocessed);
        CHECK(in.client.goaway_code() == error_code::enhance_your_calm);
        CHECK(in.ran.ok());
        CHECK(in.peer.count(frame::headers) == 3);
    });
}

TEST_CASE("http2: a request that meets a stop before it has left does not leave with the GOAWAY") {
    // RFC 9113, 6.8 and 8.7.
    in_a_world([]() -> task<> {
        client_by_hand in;
        asked got;
        event asks;
        const auto ask_in_turn = [&]() -> task<> {
            static_cast<void>(co_await asks.wait());
            co_await in.ask(got, "/");
        };
        const auto talk = [&](task_group& group) -> task<> {
            const auto connection = [&](task_group& own) -> task<> {
                own.spawn(in.run());
                co_await in.greet();
                static_cast<void>(co_await in.peer.hear(frame::settings, 2));
                group.spawn(ask_in_turn);
                static_cast<void>(co_await sleep_for(1ms));
                asks.set();
                own.request_stop();
            };
            co_await with_group(connection);
            co_await in.peer.hear_out();
        };
        co_await with_group(talk);
        CHECK(got.failed == errc::canceled);
        CHECK(got.unprocessed);
        CHECK(in.peer.count(frame::headers) == 0);
        CHECK(in.peer.count(frame::goaway) == 1);
    });
}

TEST_CASE("http2: a server that ends without a word fails who waits, and nobody else") {
    // RFC 9113, 9.1.
    for (const bool waits : {false, true}) {
        CAPTURE(waits);
        in_a_world([waits]() -> task<> {
            client_by_hand in;
            asked got;
            const auto talk = [&in, &got, waits](task_group& group) -> task<> {
                if (waits) group.spawn(in.ask(got, "/"));
                co_await in.greet();
                static_cast<void>(co_await in.peer.hear(frame::settings, 2));
                if (waits) static_cast<void>(co_await in.peer.hear(frame::headers));
                in.peer.close();
            };
            co_await in.run(talk);
            CHECK(in.ran.error() == (waits ? errc::connection_reset : errc::ok));
            CHECK(got.failed == (waits ? errc::connection_reset : errc::busy));
            // It may have been seen to.
            CHECK_FALSE(got.unprocessed);
        });
    }
}

TEST_CASE(
    "http2: a body that has come whole can be read when its connection is gone, another cannot") {
    in_a_world([]() -> task<> {
        http2::received_response whole;
        http2::received_response half;
        {
            client_by_hand in;
            bool done = false;
            const auto talk = [&](task_group& group) -> task<> {
                const auto ask = [&]() -> task<> {
                    const http::request what = request_of("/");
                    io_result<http2::received_response> got = co_await in.client.send(what);
                    whole = got.take();
                    got = co_await in.client.send(what);
                    half = got.take();
                    done = true;
                };
                group.spawn(ask);
                co_await in.greet();
                static_cast<void>(co_await in.peer.hear(frame::headers));
                const std::string all = head(1, "200") + last_data(1, "all of it");
                static_cast<void>(co_await in.peer.say(all));
                static_cast<void>(co_await in.peer.hear(frame::headers, 2));
                const std::string some = head(3, "200") + frame_of(frame::data, 0, 3, "some");
                static_cast<void>(co_await in.peer.say(some));
                const auto is_done = [&done] { return done; };
                co_await come_true(is_done);
                in.peer.close();
            };
            co_await in.run(talk);
            CHECK(in.ran.error() == errc::connection_reset);
        }
        const io_result<std::string> text = co_await whole.body.read_all(100);
        CHECK(text.ok());
        CHECK(text.value() == "all of it");
        const io_result<std::string> rest = co_await half.body.read_all(100);
        CHECK(rest.error() == errc::connection_reset);
    });
}

// RFC 9113, 8.1: a server that has answered may refuse the rest of a request, which is no error.
TEST_CASE("http2: a whole answer counts, though its server resets what is left of the request") {
    in_a_world([]() -> task<> {
        client_by_hand in;
        asked first;
        asked second;
        const auto talk = [&](task_group& group) -> task<> {
            const auto ask = [&]() -> task<> {
                co_await in.ask(first, "/", std::string(200'000, 'x'));  // Beyond its window.
                co_await in.ask(second, "/");
                in.client.close();
            };
            group.spawn(ask);
            co_await in.greet();
            static_cast<void>(co_await in.peer.hear(frame::data));
            const std::string whole = head(1, "413") + last_data(1, "too large") +
                                      frame_of(frame::rst_stream, 0, 1, number(0));
            static_cast<void>(co_await in.peer.say(whole));
            static_cast<void>(co_await in.peer.hear(frame::headers, 2));
            const std::string next = head(3, "200") + last_data(3, "fine");
            static_cast<void>(co_await in.peer.say(next));
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
        CHECK(first.failed == errc::ok);
        CHECK(first.status == http::status::content_too_large);
        CHECK(first.body == "too large");
        CHECK_FALSE(first.body_failed);
        CHECK(second.body == "fine");
        CHECK(in.ran.ok());
    });
}

TEST_CASE("http2: a whole answer counts, though the end of its connection comes with it") {
    for (const bool says_goaway : {false, true}) {
        CAPTURE(says_goaway);
        in_a_world([says_goaway]() -> task<> {
            client_by_hand in;
            std::vector<asked> got(3);
            const auto talk = [&](task_group& group) -> task<> {
                for (asked& each : got) group.spawn(in.ask(each, "/"));
                co_await in.greet();
                static_cast<void>(co_await in.peer.hear(frame::headers, 3));
                std::string all = head(1, "200") + last_data(1, "one") +
                                  head(3, "204", end_stream) + head(5, "200") +
                                  frame_of(frame::data, 0, 5, "half");
                if (says_goaway) all += goaway(5, 0);
                static_cast<void>(co_await in.peer.say(all));
                in.peer.close();
            };
            co_await in.run(talk);
            CHECK(got[0].failed == errc::ok);
            CHECK(got[0].body == "one");
            CHECK_FALSE(got[0].body_failed);
            CHECK(got[1].failed == errc::ok);
            CHECK(got[1].status == http::status::no_content);
            const bool failed = got[2].failed || got[2].body_failed;
            CHECK(failed);
            CHECK_FALSE(got[2].unprocessed);
        });
    }
}

TEST_CASE("http2: a request waits until the server allows a stream") {
    // RFC 9113, 5.1.2 and 6.5.2.
    in_a_world([]() -> task<> {
        client_by_hand in;
        asked got;
        const std::string none = number(3, 2) + number(0);
        const std::string one = number(3, 2) + number(1);
        const auto talk = [&](task_group& group) -> task<> {
            co_await in.greet(none);
            static_cast<void>(co_await in.peer.hear(frame::settings, 2));
            CHECK(in.client.streams_free() == 0);
            group.spawn(in.ask(got, "/"));
            static_cast<void>(co_await sleep_for(1s));
            CHECK(got.failed == errc::busy);
            static_cast<void>(co_await in.peer.say(frame_of(frame::settings, 0, 0, one)));
            static_cast<void>(co_await in.peer.hear(frame::headers));
            static_cast<void>(co_await in.peer.say(head(1, "200", end_stream)));
            while (got.failed == errc::busy) static_cast<void>(co_await sleep_for(1ms));
            in.client.close();
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
        CHECK_FALSE(got.failed);
        CHECK(got.status == http::status::ok);
    });
}

TEST_CASE("http2: PING is answered with what it carries, and what nobody knows is passed over") {
    // RFC 9113, 6.7, 5.5 and 6.5.2.
    in_a_world([]() -> task<> {
        client_by_hand in;
        const auto talk = [&in](task_group&) -> task<> {
            co_await in.greet();
            static_cast<void>(co_await in.peer.say(frame_of(frame::unknown, 0xff, 0, "what")));
            const std::string setting = number(0xf0f0, 2) + number(7);
            static_cast<void>(co_await in.peer.say(frame_of(frame::settings, 0, 0, setting)));
            static_cast<void>(co_await in.peer.say(frame_of(frame::ping, 0, 0, "12345678")));
            static_cast<void>(co_await in.peer.hear(frame::ping));
            in.client.close();
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
        const std::vector<seen_frame> pings = in.peer.frames(frame::ping);
        REQUIRE(pings.size() == 1);
        CHECK(pings[0].flags == ack);
        CHECK(pings[0].payload == "12345678");
        CHECK(in.ran.ok());
    });
}

TEST_CASE("http2: an answer that stays away is waited for from the last byte of its request") {
    in_a_world([]() -> task<> {
        const http2::client_options options;
        client_by_hand in;
        asked got;
        const auto talk = [&in, &got](task_group& group) -> task<> {
            const auto ask = [&in, &got]() -> task<> {
                co_await in.ask(got, "/", "body");
                in.client.close();
            };
            // The body has to wait for a window.
            co_await in.greet(number(4, 2) + number(0));
            static_cast<void>(co_await in.peer.hear(frame::settings, 2));
            group.spawn(ask);
            static_cast<void>(co_await sleep_for(20s));
            static_cast<void>(
                co_await in.peer.say(frame_of(frame::window_update, 0, 1, number(4))));
            // Alive, and no more than that.
            for (int each = 0; each < 10; ++each) {
                const bool put = co_await in.peer.say(frame_of(frame::ping, 0, 0, "12345678"));
                if (!put) break;
                static_cast<void>(co_await sleep_for(10s));
            }
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
        CHECK(got.failed == errc::timed_out);
        CHECK_FALSE(got.unprocessed);
        CHECK(reset_code(in.peer.heard(), 1) == 8U);
        CHECK(in.took >= 20s + options.response_time_max);
        CHECK(in.took < 25s + options.response_time_max);
        CHECK(in.ran.ok());
    });
}

TEST_CASE(
    "http2: the turn of a request whose frame is destroyed before it goes on is another one's") {
    in_a_world([]() -> task<> {
        http2::client_options one_at_a_time;
        one_at_a_time.streams_max = 1;
        client_by_hand in{one_at_a_time};
        const auto talk = [&in](task_group&) -> task<> {
            co_await in.greet();
            while (!in.client.settled()) static_cast<void>(co_await sleep_for(1ms));
            loop& home = co_await this_task::loop();
            const http::request what = request_of("/");
            const auto send = [&]() -> disposable {
                const io_result<http2::received_response> got = co_await in.client.send(what);
                CHECK(got.ok());
            };
            stop_chain chain;
            const environment given{executor_ref{context_of(home)}, &home, &chain};
            const disposable first = send();
            first.frame.promise().env = &given;
            while (home.spend()) {
            }
            gyre::resume(first.frame);
            CHECK(in.client.streams_free() == 0);

            first.frame.destroy();

            CHECK(in.client.streams_free() == 1);
            in.client.close();
            co_await in.peer.hear_out();
        };
        co_await in.run(talk);
    });
}
