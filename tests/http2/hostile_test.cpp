// SPDX-License-Identifier: BSL-1.0
//
// Peers that keep to the letter and cost without end, and peers that do not: each is told apart, told so, and
// costs no more than its limits.
#include <gyre/http2/serve_connection.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <http2/ends.hpp>
#include <http2/frames.hpp>
#include <support/harness.hpp>

#include <functional>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// What goes on until it is stopped.
task<http::response> wait_long(http::request&) {
    static_cast<void>(co_await sleep_for(10s));
    co_return http::response{http::status::ok};
}

struct storm {
    std::string name;
    http2::breach expected;
    std::function<std::string(std::uint32_t)> round;
};

struct outcome {
    io_result<> served = errc::busy;
    http2::breach breached = http2::breach::none;
    std::string heard;
    std::uint32_t rounds = 0;
};

// Sends `first` and then round after round until the server ends, or `rounds_max` are over; then it stays
// silent.
task<outcome> attack(std::string first, std::function<std::string(std::uint32_t)> round,
                     std::uint32_t rounds_max, http2::connection_options options,
                     http::handler handle) {
    outcome got;
    memory_pipe pipe{16 * 1024};
    memory_stream ours = std::move(pipe.first);
    any_stream theirs{std::move(pipe.second)};
    http2::connection_hooks hooks;
    hooks.on_breach = [&got](http2::breach why) { got.breached = why; };
    const auto talk = [&](task_group& group) -> task<> {
        group.spawn([&]() -> task<> {
            got.served =
                co_await http2::serve_connection(std::move(theirs), handle, options, hooks);
        });
        group.spawn([&]() -> task<> {
            std::string piece(4096, ' ');
            for (;;) {
                const io_result<std::size_t> heard = co_await ours.read_some(piece);
                if (!heard.ok()) break;
                got.heard.append(piece, 0, heard.value());
            }
            ours.close();
        });
        io_result<std::size_t> put = co_await write_all(ours, bytes_of(first));
        while (put.ok() && got.rounds < rounds_max) {
            const std::string next = round(got.rounds++);
            put = co_await write_all(ours, bytes_of(next));
        }
    };
    co_await with_group(talk);
    co_return got;
}

std::uint32_t stream_of(std::uint32_t round) { return 2 * round + 1; }

http2::connection_options brief() {
    http2::connection_options made;
    made.times.linger_max = 50ms;
    return made;
}

}  // namespace

TEST_CASE("http2: each flood ends the connection with its own reason, and with ENHANCE_YOUR_CALM") {
    // RFC 9113, 10.5.
    using http2::breach;
    const std::string update = frame_of(frame::window_update, 0, 0, number(1));
    const std::string open_head = frame_of(frame::headers, 0, 1, block_of("GET", "/"));
    const std::vector<storm> storms{
        {"rapid reset", breach::rapid_reset,
         [](std::uint32_t round) {
             return get(stream_of(round)) +
                    frame_of(frame::rst_stream, 0, stream_of(round), number(8));
         }},
        {"refused streams", breach::refused_streams,
         [](std::uint32_t round) { return get(stream_of(round)); }},
        {"ping", breach::ping_flood,
         [](std::uint32_t) { return frame_of(frame::ping, 0, 0, "12345678"); }},
        {"settings", breach::settings_flood,
         [](std::uint32_t) { return frame_of(frame::settings, 0, 0); }},
        {"priority", breach::priority_flood,
         [](std::uint32_t round) {
             return frame_of(frame::priority, 0, stream_of(round), number(0) + "x");
         }},
        {"window update", breach::window_flood, [update](std::uint32_t) { return update; }},
        {"empty data", breach::empty_frames,
         [](std::uint32_t round) {
             const std::string open =
                 frame_of(frame::headers, end_headers, 1, block_of("POST", "/"));
             return (round == 0 ? open : std::string{}) + frame_of(frame::data, 0, 1);
         }},
        {"data of padding", breach::empty_frames,
         [](std::uint32_t round) {
             const std::string open =
                 frame_of(frame::headers, end_headers, 1, block_of("POST", "/"));
             const std::string hollow = std::string(1, '\x04') + std::string(4, '\0');
             return (round == 0 ? open : std::string{}) + frame_of(frame::data, padded, 1, hollow);
         }},
        {"unknown frames", breach::unknown_frames,
         [](std::uint32_t) { return frame_of(frame::unknown, 0, 0, "?"); }},
        {"continuations", breach::continuations,
         [open_head](std::uint32_t round) {
             return round == 0 ? open_head : frame_of(frame::continuation, 0, 1, literal("a", "b"));
         }},
        {"empty continuations", breach::continuations,
         [open_head](std::uint32_t round) {
             return round == 0 ? open_head : frame_of(frame::continuation, 0, 1);
         }},
        {"a huge head", breach::head_size,
         [](std::uint32_t round) {
             std::string block = block_of("GET", "/");
             for (int each = 0; each < 130; ++each) {
                 block.append(literal("x", std::string(120, 'x')));
             }
             return round == 0
                        ? frame_of(frame::headers, 0, 1, block)
                        : frame_of(frame::continuation, 0, 1,
                                   std::string_view{block}.substr(block_of("GET", "/").size()));
         }},
        {"a bomb of HPACK", breach::head_size,
         [](std::uint32_t) {
             // RFC 7541, 6.2.1 and 6.1: one field of 4,000 bytes is put into the table, and named by
             // one byte.
             std::string block = block_of("GET", "/");
             block.append("\x40\x01x\x7f\xa1\x1e").append(4000, 'a');
             block.append(8000, '\xbe');
             return frame_of(frame::headers, end_headers | end_stream, 1, block);
         }},
        {"streams with errors", breach::stream_errors,
         [](std::uint32_t round) {
             return get(stream_of(round)) +
                    frame_of(frame::window_update, 0, stream_of(round), number(0x7fffffff));
         }},
    };
    on_every_backend([&storms](io_context&) -> task<> {
        for (const storm& each : storms) {
            http2::connection_options options = brief();
            if (each.expected == breach::head_size) options.floods.continuations_max = 100;
            if (each.expected == breach::head_size) options.head_bytes_max = 16 * 1024;
            const outcome got =
                co_await attack(greeting(), each.round, 100'000, options, wait_long);
            CAPTURE(each.name);
            CHECK(got.served.error() == errc::limit_exceeded);
            CHECK_MESSAGE(got.breached == each.expected, http2::describe(got.breached));
            CHECK(goaway_code(got.heard) == 0xbU);
            CHECK(got.rounds < 2'000);
        }
    });
}

TEST_CASE("http2: a peer that asks and does not read is given up") {
    on_every_backend([](io_context&) -> task<> {
        http2::connection_options options = brief();
        options.floods.pings = {100'000, 0};
        options.times.write_max = 5s;
        memory_pipe pipe{1024};
        memory_stream ours = std::move(pipe.first);
        any_stream theirs{std::move(pipe.second)};
        http2::connection_hooks hooks;
        http2::breach breached = http2::breach::none;
        hooks.on_breach = [&breached](http2::breach why) { breached = why; };
        const http::handler handle = echo;
        const auto talk = [&](task_group& group) -> task<> {
            group.spawn([&]() -> task<> {
                const io_result<> served =
                    co_await http2::serve_connection(std::move(theirs), handle, options, hooks);
                CHECK(served.error() == errc::limit_exceeded);
            });
            io_result<std::size_t> put = co_await write_all(ours, bytes_of(greeting()));
            const std::string ping = frame_of(frame::ping, 0, 0, "12345678");
            // The server drops what comes for a while yet, so it is the time that ends this.
            while (put.ok()) put = co_await write_all(ours, bytes_of(ping));
        };
        co_await with_group(talk);
        CHECK(breached == http2::breach::output_queue);
    });
}

TEST_CASE("http2: what the protocol forbids ends the connection with the code of the clause") {
    struct row {
        std::string name;
        std::string sent;
        http2::breach expected;
        std::uint32_t code;
    };
    using http2::breach;
    const std::vector<row> rows{
        // RFC 9113, 6.1, 6.2, 5.1.1, 6.4, 6.5, 6.7, 6.9, 4.2, 4.3, 8.4 and 3.4.
        {"data on no stream", greeting() + frame_of(frame::data, 0, 0, "x"), breach::protocol, 1},
        {"an even stream", greeting() + get(2), breach::protocol, 1},
        {"a stream number again", greeting() + get(5) + get(3), breach::protocol, 1},
        {"a reset of an idle stream", greeting() + frame_of(frame::rst_stream, 0, 7, number(8)),
         breach::protocol, 1},
        {"settings of five bytes", greeting() + frame_of(frame::settings, 0, 0, "12345"),
         breach::frame_size, 6},
        {"a short ping", greeting() + frame_of(frame::ping, 0, 0, "1234"), breach::frame_size, 6},
        {"an increment of nothing", greeting() + frame_of(frame::window_update, 0, 0, number(0)),
         breach::protocol, 1},
        {"a window beyond its bound",
         greeting() + frame_of(frame::window_update, 0, 0, number(0x7fffffff)),
         breach::flow_control, 3},
        {"a frame beyond its bound",
         greeting() + frame_of(frame::headers, end_headers, 1, std::string(16'385, 'x')),
         breach::frame_size, 6},
        {"a block that is none",
         greeting() + frame_of(frame::headers, end_headers, 1, "\xff\xff\xff\xff\xff\xff"),
         breach::compression, 9},
        {"a push", greeting() + frame_of(frame::push_promise, end_headers, 1, number(2)),
         breach::protocol, 1},
        {"a block within a block",
         greeting() + frame_of(frame::headers, 0, 1, block_of("GET", "/")) + get(3),
         breach::protocol, 1},
        {"no preface", "GET / HTTP/1.1\r\nHost: h\r\n\r\n", breach::preface, 1},
    };
    on_every_backend([&rows](io_context&) -> task<> {
        const auto nothing = [](std::uint32_t) { return std::string{}; };
        for (const row& each : rows) {
            const outcome got = co_await attack(each.sent, nothing, 0, brief(), wait_long);
            CAPTURE(each.name);
            CHECK(got.served.error() == errc::malformed);
            CHECK_MESSAGE(got.breached == each.expected, http2::describe(got.breached));
            CHECK(goaway_code(got.heard) == each.code);
        }
    });
}

// nghttp2 has gone on to read there, up to an assertion of its own (CVE-2026-27135).
TEST_CASE("http2: what comes in one piece with an end, behind it, is not judged any more") {
    using http2::breach;
    const std::vector<std::string> ends{
        greeting() + frame_of(frame::data, 0, 0, "x"), greeting() + get(2),
        greeting() + frame_of(frame::window_update, 0, 0, number(0)),
        greeting() + frame_of(frame::priority, 0, 3, number(3) + "x")};
    const std::vector<std::string> rests{
        frame_of(frame::ping, 0, 0, "123"),          frame_of(frame::rst_stream, 0, 1, "1"),
        frame_of(frame::settings, 0, 0, "12345"),    frame_of(frame::window_update, 0, 1, "1"),
        frame_of(frame::goaway, 0, 0, "1"),          frame_of(frame::priority, 0, 1, "1"),
        frame_of(frame::headers, padded, 1),         frame_of(frame::data, padded, 1),
        frame_of(frame::push_promise, 0, 1, "1"),    frame_of(frame::continuation, 0, 1, "\xff"),
        frame_of(frame::unknown, 0, 0, "?") + get(5)};
    on_every_backend([&](io_context&) -> task<> {
        const auto nothing = [](std::uint32_t) { return std::string{}; };
        for (const std::string& end : ends) {
            for (const std::string& rest : rests) {
                const outcome got = co_await attack(end + rest, nothing, 0, brief(), wait_long);
                CHECK(got.served.error() == errc::malformed);
                CHECK_MESSAGE(got.breached == breach::protocol, http2::describe(got.breached));
                CHECK(goaway_code(got.heard) == 1);
            }
        }
    });
}

TEST_CASE("http2: a malformed request is reset, and others on its connection are answered") {
    // RFC 9113, 8.1.1, 8.2.1, 8.2.2 and 8.3.
    const std::string bad_blocks[] = {
        literal(":method", "GET") + literal(":path", "/"),
        block_of("GET", "/", {{"Upper", "x"}}),
        block_of("GET", "/", {{"connection", "close"}}),
        block_of("GET", "/", {{"te", "gzip"}}),
        block_of("GET", "/", {{":late", "x"}}),
        block_of("GET", "/", {{"a", "line\nbreak"}}),
        block_of("GET", "/", {{"a", " blank"}}),
        block_of("GET", "/", {{"host", "other"}}),
        block_of("GET", "", {}),
        // RFC 9112, 3.2: what HTTP/1 refuses, HTTP/2 does.
        block_of("GET", "/admin#.png"),
        block_of("GET", "/?a#b"),
        block_of("GET", "/a\\..\\b"),
        block_of("GET", "/%zz"),
        block_of("GET", "http://h/"),
        literal(":method", "GET") + literal(":scheme", "http") + literal(":path", "/") +
            literal(":authority", "h%2fb"),
        literal(":method", "GET") + literal(":scheme", "http") + literal(":path", "/") +
            literal(":authority", ":80"),
        block_of("GET", "/", {{"host", "h"}, {"host", "h"}}),
        literal(":method", "CONNECT") + literal(":authority", "h"),
        block_of("GET", "/", {{"content-length", "5"}}),
    };
    on_every_backend([&bad_blocks](io_context&) -> task<> {
        for (const std::string& block : bad_blocks) {
            const std::string sent =
                greeting() + frame_of(frame::headers, end_headers | end_stream, 1, block) + get(3);
            http2::connection_options options = brief();
            options.times.idle_max = 20ms;
            const auto nothing = [](std::uint32_t) { return std::string{}; };
            const outcome got = co_await attack(sent, nothing, 0, options, echo);
            CAPTURE(block);
            CHECK(reset_code(got.heard, 1) == 1U);
            CHECK(got.served.ok());
            bool answered = false;
            for (const seen_frame& each : frames_in(got.heard)) {
                answered = answered || (each.type == frame::data && each.stream == 3 &&
                                        each.payload == "GET /");
            }
            CHECK(answered);
        }
    });
}
