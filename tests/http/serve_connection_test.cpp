// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/serve_connection.hpp promises: answers in order, by one write where requests came together,
// the same however their bytes are split; refusals that end the connection; limits, and ends of every kind.
#include <gyre/http/serve_connection.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <http/fed_stream.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>
#include <support/transports.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view get_a = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr std::string_view get_and_close =
    "GET /z HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

// Says what it was asked, its body included.
task<http::response> echo(http::request& what) {
    std::string said{what.method_text()};
    said.append(" ").append(what.target());
    const io_result<std::string> body = co_await what.body.read_all(SIZE_MAX);
    if (!body.ok()) said.append(" failed");
    else if (!body.value().empty()) said.append(" ").append(body.value());
    for (const http::field each : what.body.trailers()) {
        said.append(" ").append(each.name).append("=").append(each.value);
    }
    co_return http::response{http::status::ok, "text/plain", std::move(said)};
}

task<http::response> ignore_body(http::request&) {
    co_return http::response{http::status::ok, "text/plain", http::static_text{"ok"}};
}

template <unsigned Code>
task<http::response> ignore_body_and_produce(http::request&) {
    auto write = [](http::body_writer to) -> task<io_result<>> {
        const io_result<std::size_t> put = co_await write_all(to, bytes_of(std::string_view{"ok"}));
        co_return put.error();
    };
    co_return http::response{http::status{Code}, http::produced_by(std::move(write))};
}

// Their answers are there, are made while they are sent, and are not sent with their bodies.
const http::handler ignoring_handlers[] = {ignore_body, ignore_body_and_produce<200>,
                                           ignore_body_and_produce<204>};

std::string with_length(std::string_view body) {
    return ("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n").append(body);
}

std::string in_chunks(std::string_view body) {
    std::string text = "Transfer-Encoding: chunked\r\n\r\n";
    for (; !body.empty(); body.remove_prefix(1)) {
        text.append("1\r\n").append(1, body.front()).append("\r\n");
    }
    return text.append("0\r\n\r\n");
}

// Whether a second request is answered when up to 1000 bytes are dropped.
task<bool> goes_on_behind(std::string framed_body, std::size_t piece, const http::handler& handle) {
    traffic over;
    over.piece = piece;
    over.in = "POST / HTTP/1.1\r\nHost: h\r\n" + framed_body + std::string{get_a};
    http::connection_options options;
    options.dropped_bytes_max = 1000;

    const io_result<> ended = co_await serve_traffic(over, handle, options);

    CHECK(ended.ok());
    co_return over.out.find("HTTP/1.1", 1) != std::string::npos;
}

std::string answer_of(std::string_view body, std::string_view more = {}) {
    std::string text = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";
    text.append(date_of_tests).append("content-length: ").append(std::to_string(body.size()));
    return text.append("\r\n").append(more).append("\r\n").append(body);
}

bool is_refused(const traffic& over, unsigned code) {
    return over.out.starts_with("HTTP/1.1 " + std::to_string(code)) &&
           over.out.find("connection: close\r\n") != std::string::npos && over.send_ended;
}

}  // namespace

TEST_CASE("requests that come together are answered in order, by one read and one write") {
    on_every_backend([](io_context&) -> task<> {
        traffic over;
        for (int at = 0; at < 16; ++at) over.in.append(get_a);
        over.in.append(get_and_close);

        const io_result<> ended = co_await serve_traffic(over, ignore_body);

        std::string expected;
        for (int at = 0; at < 16; ++at) expected.append(answer_of("ok"));
        expected.append(answer_of("ok", "connection: close\r\n"));
        CHECK(ended.ok());
        CHECK(over.out == expected);
        CHECK(over.writes == 1);
        CHECK(over.reads == 2);  // The requests, and the peer's end.
    });
}

TEST_CASE("requests are answered the same however their bytes are split") {
    on_every_transport([](io_context&) -> task<> {
        const std::string text = std::string{get_a} +
                                 "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
                                 "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                                 "3\r\nabc\r\n4;x\r\ndefg\r\n0\r\nSum: 7\r\n\r\n"
                                 "HEAD /d HTTP/1.1\r\nHost: h\r\n\r\n" +
                                 std::string{get_and_close};
        std::string head_only = answer_of("HEAD /d");
        head_only.resize(head_only.size() - 7);
        const std::string expected = answer_of("GET /a") + answer_of("POST /b hello") +
                                     answer_of("POST /c abcdefg Sum=7") + head_only +
                                     answer_of("GET /z", "connection: close\r\n");
        for (std::size_t piece = 1; piece < text.size(); piece += piece < 40 ? 1 : 17) {
            traffic over;
            over.in = text;
            over.piece = piece;

            const io_result<> ended = co_await serve_traffic(over, echo);

            CAPTURE(piece);
            CHECK(ended.ok());
            CHECK(over.out == expected);
            if (!on_kernel_sockets()) break;  // It splits by itself.
        }
    });
}

TEST_CASE("what is refused gets an answer of its own, and nothing behind it is read") {
    on_every_transport([](io_context&) -> task<> {
        struct row {
            std::string text;
            unsigned code;
        };
        const std::vector<row> rows{
            {"GET / HTTP/1.1\nHost: h\n\n", 400},
            {"GET / HTTP/1.1\r\nHost: h\r\nX: y\r\n z\r\n\r\n", 400},
            {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
            {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
            {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
             400},
            {"GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n", 431},
            {"GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\nHost: h\r\n\r\n", 414},
            {"GET / HTTP/3.0\r\nHost: h\r\n\r\n", 505},
            {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n", 413},
            {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: more\r\n\r\n", 417}};
        for (const row& each : rows) {
            for (const std::size_t piece : {std::size_t{1}, std::size_t{64}, SIZE_MAX}) {
                traffic over;
                over.in = each.text + std::string{get_a};
                over.piece = piece;
                int told = 0;
                http::connection_hooks hooks;
                hooks.on_refused = [&told](http::refusal) { ++told; };

                const io_result<> ended = co_await serve_traffic(over, ignore_body, {}, hooks);

                CAPTURE(each.text.substr(0, 80));
                CAPTURE(piece);
                CHECK(told == 1);
                CHECK(is_refused(over, each.code));
                CHECK_FALSE(ended.ok());
                CHECK(over.out.find("HTTP/1.1", 1) == std::string::npos);
                if (!on_kernel_sockets()) break;
            }
        }
    });
}

TEST_CASE("a handler's mistake cannot split a response") {
    on_every_transport([](io_context&) -> task<> {
        traffic over;
        over.in = get_and_close;
        const auto bad = [](http::request&) -> task<http::response> {
            http::response answer{http::status::ok, "text/plain", "x"};
            answer.fields.add("location", "/\r\nset-cookie: a=b");
            co_return answer;
        };

        const io_result<> ended = co_await serve_traffic(over, bad);

        CHECK(ended.ok());
        CHECK(over.out.starts_with("HTTP/1.1 500 "));
        CHECK(over.out.find("set-cookie") == std::string::npos);
    });
}

TEST_CASE("an exception of a handler is told and answered with 500, and the connection goes on") {
    if constexpr (!exceptions_enabled) return;
    on_every_transport([](io_context&) -> task<> {
        traffic over;
        over.in = std::string{get_a} + std::string{get_and_close};
        int told = 0;
        http::connection_hooks hooks;
        hooks.on_exception = [&told](const http::request&, exception_slot&) { ++told; };
        const auto bad = [](http::request& what) -> task<http::response> {
            if (what.target() == "/a") static_cast<void>(std::string{}.at(1));
            co_return http::response{http::status::no_content};
        };

        const io_result<> ended = co_await serve_traffic(over, bad, {}, hooks);

        CHECK(ended.ok());
        CHECK(told == 1);
        CHECK(over.out.starts_with("HTTP/1.1 500 "));
        CHECK(over.out.find("HTTP/1.1 204 ") != std::string::npos);
    });
}

TEST_CASE("a status that cannot be sent is a mistake of the handler") {
    on_every_transport([](io_context&) -> task<> {
        for (const unsigned code : {0U, 99U, 100U, 600U}) {
            traffic over;
            over.in = get_and_close;
            const auto bad = [code](http::request&) -> task<http::response> {
                co_return http::response{static_cast<http::status>(code)};
            };

            const io_result<> ended = co_await serve_traffic(over, bad);

            CHECK(ended.ok());
            CHECK(over.out.starts_with("HTTP/1.1 500 "));
        }
    });
}

TEST_CASE("a body that is made while it is sent comes in chunks, with trailers behind it") {
    on_every_transport([](io_context&) -> task<> {
        traffic over;
        over.in = get_and_close;
        const auto made = [](http::request&) -> task<http::response> {
            auto write = [](http::body_writer to) -> task<io_result<>> {
                for (const std::string_view each : {"one ", "two ", "three"}) {
                    const io_result<std::size_t> put = co_await write_all(to, bytes_of(each));
                    if (!put.ok()) co_return put.error();
                }
                to.trailers().set("sum", "13");
                co_return io_result<>{};
            };
            co_return http::response{http::status::ok, http::produced_by(std::move(write))};
        };

        const io_result<> ended = co_await serve_traffic(over, made);

        CHECK(ended.ok());
        CHECK(over.out == "HTTP/1.1 200 OK\r\n" + std::string{date_of_tests} +
                              "transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
                              "000d\r\none two three\r\n0\r\nsum: 13\r\n\r\n");
    });
}

TEST_CASE("a producer that writes less than it has declared ends the connection without an end") {
    on_every_transport([](io_context&) -> task<> {
        traffic over;
        over.in = std::string{get_a} + std::string{get_a};
        const auto made = [](http::request&) -> task<http::response> {
            auto write = [](http::body_writer to) -> task<io_result<>> {
                const io_result<std::size_t> put =
                    co_await write_all(to, bytes_of(std::string_view{"12"}));
                co_return put.error();
            };
            co_return http::response{http::status::ok, http::produced_by(std::move(write), 3)};
        };

        const io_result<> ended = co_await serve_traffic(over, made);

        CHECK(ended.error() == errc::malformed);
        CHECK(over.out.find("HTTP/1.1", 1) == std::string::npos);
    });
}

// RFC 9112, 9.3 and 6.1.
TEST_CASE("a client of HTTP/1.0 gets no chunks, and is kept only if it asks") {
    on_every_transport([](io_context&) -> task<> {
        traffic over;
        over.in = "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /b HTTP/1.0\r\n\r\n";
        const auto made = [](http::request& what) -> task<http::response> {
            if (what.target() == "/a") co_return http::response{http::status::ok, "x"};
            auto write = [](http::body_writer to) -> task<io_result<>> {
                const io_result<std::size_t> put =
                    co_await write_all(to, bytes_of(std::string_view{"plain"}));
                co_return put.error();
            };
            co_return http::response{http::status::ok, http::produced_by(std::move(write))};
        };

        const io_result<> ended = co_await serve_traffic(over, made);

        CHECK(ended.ok());
        const std::string date{date_of_tests};
        CHECK(over.out == "HTTP/1.1 200 OK\r\n" + date +
                              "content-length: 1\r\nconnection: keep-alive\r\n\r\nx"
                              "HTTP/1.1 200 OK\r\n" +
                              date + "connection: close\r\n\r\nplain");
        CHECK(over.send_ended);
    });
}

TEST_CASE("others have their turn while one peer's requests that came together are answered") {
    on_every_backend([](io_context&) -> task<> {
        constexpr std::size_t requests = 200;
        constexpr std::size_t in_a_row_max = 50;
        constexpr std::size_t in_a_row_wanted = 32;
        traffic over;
        for (std::size_t each = 0; each < requests; ++each) over.in += get_a;
        std::size_t answered = 0;
        std::size_t in_a_row = 0;
        std::size_t longest = 0;
        const auto counted = [&](http::request&) -> task<http::response> {
            ++answered;
            longest = std::max(longest, ++in_a_row);
            co_return http::response{http::status::ok, "text/plain", http::static_text{"ok"}};
        };
        const auto others = [&]() -> task<> {
            while (answered < requests) {
                in_a_row = 0;
                co_await yield();
            }
        };
        const auto serves = [&]() -> task<> {
            static_cast<void>(co_await serve_traffic(over, counted));
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(others());
            group.spawn(serves());
            co_return;
        };
        co_await with_group(body);

        CHECK(answered == requests);
        CHECK(longest <= in_a_row_max);
        CHECK(longest >= in_a_row_wanted / 2);
    });
}

TEST_CASE("an answer is let go of once it was written, though another request has begun to come") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{64 * 1024};
        const auto held = std::make_shared<int>(1);
        const std::weak_ptr<int> watched = held;
        std::shared_ptr<int> given = held;
        const http::handler with = [&given](http::request&) -> task<http::response> {
            auto write = [kept = std::move(given)](http::body_writer) -> task<io_result<>> {
                co_return io_result<>{};
            };
            co_return http::response{http::status::ok, http::produced_by(std::move(write), 0)};
        };
        const http::connection_options options;
        const http::connection_hooks hooks;
        bool let_go = false;
        const auto serves = [&]() -> task<> {
            static_cast<void>(co_await http::serve_connection(any_stream{std::move(pipe.second)},
                                                              with, options, hooks));
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(serves());
            const std::string said = std::string{get_a} + "GET /b HT";
            static_cast<void>(co_await write_all(pipe.first, bytes_of(said)));
            std::string space(4096, '\0');
            static_cast<void>(co_await pipe.first.read_some(space));
            for (int turn = 0; turn < 20; ++turn) co_await yield();
            let_go = watched.use_count() == 1;  // Ours.
            pipe.first.close();
        };
        co_await with_group(body);

        CHECK(let_go);
    });
}

// RFC 9110, 10.1.1.
TEST_CASE("a client that waits for 100 Continue is told when the body is wanted, and only then") {
    on_every_backend([](io_context& io) -> task<> {
        memory_pipe pipe{1024};
        const std::string head =
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
        const http::connection_options options;
        const http::connection_hooks hooks;
        const http::handler with = echo;
        io_result<> ended{errc::busy};
        const auto serve_one = [&]() -> task<> {
            ended = co_await http::serve_connection(any_stream{std::move(pipe.second)}, with,
                                                    options, hooks);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(serve_one);
            static_cast<void>(co_await write_all(pipe.first, bytes_of(head)));
            std::string space(25, '\0');
            const io_result<std::size_t> got = co_await read_exactly(pipe.first, space);
            CHECK(got.ok());
            CHECK(space == "HTTP/1.1 100 Continue\r\n\r\n");
            static_cast<void>(co_await write_all(pipe.first, bytes_of(std::string_view{"hi"})));
            std::string answer(1024, '\0');
            const io_result<std::size_t> more = co_await pipe.first.read_some(answer);
            answer.resize(more.value());
            CHECK(answer.ends_with("POST / hi"));
            pipe.first.close();
        };
        co_await with_group(body);

        CHECK(ended.ok());
        static_cast<void>(io);
    });
}

TEST_CASE("a body that nobody has read is dropped up to a bound, and then the connection ends") {
    on_every_backend([](io_context&) -> task<> {
        for (const std::size_t size : {std::size_t{1000}, std::size_t{1001}}) {
            for (const std::size_t piece : {std::size_t{1}, std::size_t{100}}) {
                for (const http::handler& each : ignoring_handlers) {
                    const std::string body(size, 'x');
                    const bool by_length = co_await goes_on_behind(with_length(body), piece, each);
                    const bool by_chunks = co_await goes_on_behind(in_chunks(body), piece, each);

                    CAPTURE(piece);
                    CAPTURE(&each - ignoring_handlers);
                    CHECK(by_length == (size == 1000));
                    CHECK(by_chunks == (size == 1000));
                }
            }
        }
    });
}

TEST_CASE(
    "a head that does not end in time is answered with 408, and an idle connection just ends") {
    on_every_backend([](io_context&) -> task<> {
        http::connection_options options;
        options.head_time_max = 20ms;
        options.idle_time_max = 20ms;
        options.linger_time_max = 1ms;
        const http::connection_hooks hooks;
        const http::handler with = ignore_body;
        for (const std::string_view begun : {"GET / HT", ""}) {
            memory_pipe pipe{1024};
            if (!begun.empty()) static_cast<void>(co_await write_all(pipe.first, bytes_of(begun)));

            const io_result<> ended = co_await http::serve_connection(
                any_stream{std::move(pipe.second)}, with, options, hooks);

            std::string answer(1024, '\0');
            const io_result<std::size_t> got = co_await pipe.first.read_some(answer);
            answer.resize(got.value());
            CHECK(answer.starts_with("HTTP/1.1 408 ") == !begun.empty());
            CHECK(ended.ok() == begun.empty());
        }
    });
}

TEST_CASE("a drain ends a connection between two requests at once") {
    on_every_backend([](io_context&) -> task<> {
        const http::connection_options options;
        const http::connection_hooks hooks;
        const http::handler with = ignore_body;
        memory_pipe pipe{1024};
        io_result<> ended{errc::busy};
        const auto serve_one = [&]() -> task<> {
            ended = co_await http::serve_connection(any_stream{std::move(pipe.second)}, with,
                                                    options, hooks);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(serve_one);
            static_cast<void>(co_await write_all(pipe.first, bytes_of(get_a)));
            co_await settle();
            group.request(stop_level::drain);
            co_await settle();
            CHECK(ended.ok());
        };
        co_await with_group(body);
    });
}

TEST_CASE("a first request that was on its way when a drain came is answered") {
    on_every_backend([](io_context&) -> task<> {
        // Begun before the drain, or accepted just before it.
        for (const bool waits_already : {true, false}) {
            const http::connection_options options;
            const http::connection_hooks hooks;
            const http::handler with = ignore_body;
            memory_pipe pipe{1024};
            io_result<> ended{errc::busy};
            const auto serve_one = [&]() -> task<> {
                ended = co_await http::serve_connection(any_stream{std::move(pipe.second)}, with,
                                                        options, hooks);
            };
            std::string answer(1024, '\0');
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(serve_one);
                if (waits_already) co_await settle();
                group.request(stop_level::drain);
                co_await settle();
                static_cast<void>(co_await write_all(pipe.first, bytes_of(get_a)));
                const io_result<std::size_t> got = co_await pipe.first.read_some(answer);
                answer.resize(got.value());
                pipe.first.close();
            };
            co_await with_group(body);

            CHECK(answer.starts_with("HTTP/1.1 200 "));
            CHECK(answer.find("connection: close\r\n") != std::string::npos);
            CHECK(ended.ok());
        }
    });
}

TEST_CASE("a drain waits for a first request a second, and not while it is stopped") {
    on_every_backend([](io_context& io) -> task<> {
        for (const stop_level then : {stop_level::drain, stop_level::stop}) {
            const http::connection_options options;
            const http::connection_hooks hooks;
            const http::handler with = ignore_body;
            memory_pipe pipe{1024};
            io_result<> ended{errc::busy};
            const auto serve_one = [&]() -> task<> {
                ended = co_await http::serve_connection(any_stream{std::move(pipe.second)}, with,
                                                        options, hooks);
            };
            const time_point begun = io.read_clock();
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(serve_one);
                co_await settle();
                group.request(stop_level::drain);
                co_await settle();
                CHECK(ended.error() == errc::busy);
                group.request(then);
                if (then == stop_level::stop) {
                    co_await settle();
                    CHECK(ended.error() == errc::canceled);
                }
            };
            co_await with_group(body);

            if (then == stop_level::drain) {
                CHECK(ended.ok());
                CHECK(io.read_clock() - begun >= 1s);
            }
        }
    });
}

TEST_CASE("a connection makes room at once, whether it has asked for something or not") {
    on_every_backend([](io_context& io) -> task<> {
        for (const bool asks : {false, true}) {
            http::waiting_connections waiting;
            http::waiting_connections::place place{&waiting};
            const http::connection_options options;
            http::connection_hooks hooks;
            hooks.place = &place;
            const http::handler with = ignore_body;
            memory_pipe pipe{1024};
            bool over = false;
            const auto serve_one = [&]() -> task<> {
                static_cast<void>(co_await http::serve_connection(
                    any_stream{std::move(pipe.second)}, with, options, hooks));
                over = true;
            };
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(serve_one);
                if (asks) static_cast<void>(co_await write_all(pipe.first, bytes_of(get_a)));
                co_await settle();
                CHECK_FALSE(over);
                static_cast<void>(waiting.make_room(io.read_clock() + 1s));
                co_await settle();
                CHECK(over);
            };
            co_await with_group(body);
        }
    });
}

TEST_CASE("a write that was stopped is not sent twice, and goes on where it can") {
    on_every_backend([](io_context&) -> task<> {
        // A small piece is collected and can be sent later, one of 32 KiB is gone with its write.
        for (const std::size_t size : {std::size_t{8} * 1024, std::size_t{32} * 1024}) {
            const bool is_collected = size < 16 * 1024;
            memory_pipe pipe{1000};
            event gave_up;
            const auto impatient = [&](http::body_writer to) -> task<io_result<>> {
                const std::string piece(size, 'x');
                for (;;) {
                    const auto put = co_await with_timeout(5ms, write_all(to, bytes_of(piece)));
                    if (!put.ok()) break;
                }
                gave_up.set();
                co_return io_result<>{};
            };
            const http::handler with = [&](http::request&) -> task<http::response> {
                co_return http::response{http::status::ok, http::produced_by(impatient)};
            };
            const http::connection_options options;
            const http::connection_hooks hooks;
            io_result<> ended{errc::busy};
            const auto serve_one = [&]() -> task<> {
                ended = co_await http::serve_connection(any_stream{std::move(pipe.second)}, with,
                                                        options, hooks);
            };
            std::string got;
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(serve_one);
                static_cast<void>(co_await write_all(pipe.first, bytes_of(get_and_close)));
                static_cast<void>(co_await gave_up.wait());
                std::string space(4096, '\0');
                for (;;) {
                    const io_result<std::size_t> more = co_await pipe.first.read_some(space);
                    if (!more.ok()) break;
                    got.append(space, 0, more.value());
                }
            };
            co_await with_group(body);

            CAPTURE(size);
            CHECK(got.starts_with("HTTP/1.1 200 OK\r\n"));
            CHECK(got.find("HTTP/1.1", 1) == std::string::npos);
            CHECK(got.ends_with("\r\n0\r\n\r\n") == is_collected);
            CHECK(ended.error() == (is_collected ? errc::ok : errc::broken_pipe));
        }
    });
}

TEST_CASE("limits of no bytes and of all that there are do what they say") {
    on_every_backend([](io_context&) -> task<> {
        http::connection_options greatest;
        greatest.head.bytes_max = greatest.head.target_bytes_max = greatest.head.fields_max =
            SIZE_MAX;
        greatest.body_bytes_max = UINT64_MAX;
        greatest.write_bytes_max = SIZE_MAX;
        http::connection_options least;
        least.read_bytes_first = 0;
        least.write_bytes_max = 0;
        for (const http::connection_options& each : {greatest, least}) {
            traffic over;
            over.in = std::string{get_a} + std::string{get_and_close};

            const io_result<> ended = co_await serve_traffic(over, echo, each);

            CHECK(ended.ok());
            CHECK(over.out.find("GET /a") != std::string::npos);
            CHECK(over.out.ends_with("GET /z"));
        }
    });
}

// RFC 9110, 7.8.
TEST_CASE("an upgrade gets the stream, and what came behind the request") {
    on_every_backend([](io_context&) -> task<> {
        traffic over;
        over.in =
            "GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nearly late";
        over.piece = 65;
        std::string seen;
        const auto upgrade = [&seen](http::request&) -> task<http::response> {
            http::response answer{http::status::switching_protocols};
            answer.fields.set("upgrade", "x");
            answer.upgrade = [&seen](http::upgraded_connection to) -> task<> {
                std::string rest(16, '\0');
                seen = to.early;
                const io_result<std::size_t> got = co_await to.stream.read_some(rest);
                seen.append("|").append(rest, 0, got.value());
            };
            co_return answer;
        };

        const io_result<> ended = co_await serve_traffic(over, upgrade);

        CHECK(ended.ok());
        CHECK(over.out == "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n" +
                              std::string{date_of_tests} + "connection: upgrade\r\n\r\n");
        CHECK(seen.find("early") == 0);
        CHECK(seen.ends_with("late"));
    });
}

TEST_CASE("an upgrade that nobody has asked for is a mistake of the handler") {
    on_every_transport([](io_context&) -> task<> {
        traffic over;
        over.in = get_and_close;
        const auto upgrade = [](http::request&) -> task<http::response> {
            http::response answer{http::status::switching_protocols};
            answer.upgrade = [](http::upgraded_connection) -> task<> { co_return; };
            co_return answer;
        };

        const io_result<> ended = co_await serve_traffic(over, upgrade);

        CHECK(ended.ok());
        CHECK(over.out.starts_with("HTTP/1.1 500 "));
    });
}

TEST_CASE("a large body that is there already goes out uncopied, whole") {
    on_every_backend([](io_context&) -> task<> {
        traffic over;
        over.in = get_and_close;
        const std::string large(300'000, 'x');
        const shared_bytes shared = shared_bytes::copy_of(bytes_of(large));
        const auto send = [&shared](http::request&) -> task<http::response> {
            co_return http::response{http::status::ok, "text/plain", shared};
        };

        const io_result<> ended = co_await serve_traffic(over, send);

        CHECK(ended.ok());
        CHECK(over.out == answer_of(large, "connection: close\r\n"));
        CHECK(over.writes == 2);  // Head and body: this stream takes one buffer at a time.
    });
}

TEST_CASE("a peer that ends inside of a message is told from one that ends between two") {
    on_every_transport([](io_context&) -> task<> {
        const std::vector<std::pair<std::string, errc>> rows{
            {std::string{get_a}, errc::ok},
            {"", errc::ok},
            {std::string{get_a} + "GET", errc::connection_reset}};
        for (const auto& [text, code] : rows) {
            traffic over;
            over.in = text;

            const io_result<> ended = co_await serve_traffic(over, echo);

            CAPTURE(text);
            CHECK(ended.error() == code);
        }
    });
}
