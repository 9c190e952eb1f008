// SPDX-License-Identifier: BSL-1.0
//
// Handlers and producers that wait, throw or answer by other means, as src/http/started_handler.hpp and
// serve_connection.hpp promise.
#include <gyre/http/serve_connection.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <http/fed_stream.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>
#include <support/transports.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view get_fast = "GET /fast HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr std::string_view get_slow = "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n";

// Reads up to the end of a text, or of the stream.
task<std::string> read_up_to(memory_stream& from, std::string_view end) {
    std::string text;
    std::string space(500, '\0');
    while (!text.ends_with(end)) {
        const io_result<std::size_t> got = co_await from.read_some(space);
        if (!got.ok()) break;
        text.append(space, 0, got.value());
    }
    co_return text;
}

// Serves `pipe.second` while `talk` has the other end.
template <class Talk>
task<error> served(memory_pipe& pipe, const http::handler& handle, const Talk& talk,
                   const http::connection_options& options = {},
                   const http::connection_hooks& hooks = {}) {
    error ended;
    const auto serves = [&]() -> task<> {
        const io_result<> outcome = co_await http::serve_connection(
            any_stream{std::move(pipe.second)}, handle, options, hooks);
        ended = outcome.error();
    };
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(serves);
        co_await talk(group);
        pipe.first.close();
    };
    co_await with_group(body);
    co_return ended;
}

}  // namespace

TEST_CASE("answers that are finished do not wait for a handler that waits") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{4096};
        event go;
        const http::handler handle = [&go](http::request& what) -> task<http::response> {
            if (what.target() == "/slow") static_cast<void>(co_await go.wait());
            co_return http::response{http::status::ok, "text/plain", what.target()};
        };
        const auto talk = [&](task_group&) -> task<> {
            const std::string asked = std::string{get_fast} + std::string{get_fast} +
                                      std::string{get_slow} + std::string{get_fast};
            static_cast<void>(co_await write_all(pipe.first, bytes_of(asked)));
            const std::string first = co_await read_up_to(pipe.first, "/fast");
            CHECK(first.find("HTTP/1.1 200", 1) != std::string::npos);  // Both, by one write.
            CHECK_FALSE(go.is_set());
            go.set();
            const std::string rest = co_await read_up_to(pipe.first, "/fast");
            CHECK(rest.find("/slow") != std::string::npos);
        };
        const error ended = co_await served(pipe, handle, talk);
        CHECK_FALSE(ended);
    });
}

TEST_CASE("answers that the peer does not take do not keep a stop from the handler") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{
            64};  // Both requests, and less than an answer: who does not read holds it up.
        io_result<> handler_saw;
        const http::handler handle = [&](http::request& what) -> task<http::response> {
            if (what.target() == "/slow") handler_saw = co_await sleep_for(10min);
            co_return http::response{http::status::ok, "text/plain", what.target()};
        };
        const auto talk = [&](task_group& group) -> task<> {
            const std::string asked = std::string{get_fast} + std::string{get_slow};
            static_cast<void>(co_await write_all(pipe.first, bytes_of(asked)));
            co_await settle();
            group.request(stop_level::stop);
        };
        const error ended = co_await served(pipe, handle, talk);
        CHECK(handler_saw.error() == errc::canceled);
        CHECK(ended == errc::canceled);
    });
}

TEST_CASE("a handler whose earlier answers cannot be written is stopped") {
    on_every_backend([](io_context&) -> task<> {
        memory_pipe pipe{64};
        io_result<> handler_saw;
        http::connection_options options;
        options.write_time_max = 20ms;
        const http::handler handle = [&](http::request& what) -> task<http::response> {
            if (what.target() == "/slow") handler_saw = co_await sleep_for(10min);
            co_return http::response{http::status::ok, "text/plain", what.target()};
        };
        const auto talk = [&](task_group& group) -> task<> {
            const std::string asked = std::string{get_fast} + std::string{get_slow};
            static_cast<void>(co_await write_all(pipe.first, bytes_of(asked)));
            static_cast<void>(co_await group.join());
        };
        const error ended = co_await served(pipe, handle, talk, options);
        CHECK(handler_saw.error() == errc::canceled);
        CHECK(ended == errc::timed_out);
    });
}

TEST_CASE(
    "an exception out of a producer is told, and ends the connection with an error of its own") {
    if constexpr (!exceptions_enabled) return;
    on_every_backend([](io_context&) -> task<> {
        traffic over;
        over.in = std::string{get_fast} + std::string{get_fast};
        int told = 0;
        http::connection_hooks hooks;
        hooks.on_exception = [&told](const http::request&, exception_slot& failure) {
            ++told;
            CHECK_FALSE(failure.empty());
        };
        const auto made = [](http::request&) -> task<http::response> {
            auto write = [](http::body_writer to) -> task<io_result<>> {
                static_cast<void>(co_await write_all(to, bytes_of(std::string_view{"half"})));
                static_cast<void>(std::string{}.at(1));
                co_return io_result<>{};
            };
            co_return http::response{http::status::ok, http::produced_by(std::move(write))};
        };

        const io_result<> ended = co_await serve_traffic(over, made, {}, hooks);

        CHECK(ended.error() == errc::broken_promise);
        CHECK(told == 1);
        CHECK(over.out.find("\r\n0\r\n") == std::string::npos);  // The peer sees no end.
    });
}

// RFC 9112, 8.
TEST_CASE("a request that came in part only has no success, whatever its handler says") {
    on_every_backend([](io_context&) -> task<> {
        for (const std::string_view rest :
             {"Content-Length: 5\r\n\r\nhel", "Transfer-Encoding: chunked\r\n\r\n5\r\nhel"}) {
            for (const std::size_t piece : {std::size_t{1}, SIZE_MAX}) {
                traffic over;
                over.in = "POST / HTTP/1.1\r\nHost: h\r\n" + std::string{rest};
                over.piece = piece;
                const auto careless = [](http::request& what) -> task<http::response> {
                    static_cast<void>(co_await what.body.read_all(100));
                    co_return http::response{http::status::ok, "text/plain", "stored"};
                };

                static_cast<void>(co_await serve_traffic(over, careless));

                CAPTURE(rest);
                CHECK(over.out.starts_with("HTTP/1.1 400 "));
                CHECK(over.out.find("connection: close\r\n") != std::string::npos);
            }
        }
    });
}

TEST_CASE("a body longer than allowed is answered with 413, unless the handler has said better") {
    on_every_backend([](io_context&) -> task<> {
        http::connection_options options;
        options.body_bytes_max = 4;
        for (const bool says : {false, true}) {
            traffic over;
            over.in =
                "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                "5\r\nhello\r\n0\r\n\r\n";
            const auto reads = [says](http::request& what) -> task<http::response> {
                const io_result<std::string> body = co_await what.body.read_all(100);
                CHECK(body.error() == errc::limit_exceeded);
                co_return http::response{says ? http::status::forbidden : http::status::ok};
            };

            static_cast<void>(co_await serve_traffic(over, reads, options));

            CHECK(over.out.starts_with(says ? "HTTP/1.1 403 " : "HTTP/1.1 413 "));
        }
    });
}

// RFC 9110, 10.1.1: after the final status nothing can tell the client to go on.
TEST_CASE("a producer that reads the body of a client which waits to send it gets it") {
    on_every_backend([](io_context&) -> task<> {
        for (const http::status code : {http::status::ok, http::status::forbidden}) {
            memory_pipe pipe{4096};
            const http::handler handle = [code](http::request& what) -> task<http::response> {
                auto write = [from = what.body](http::body_writer to) mutable -> task<io_result<>> {
                    const io_result<std::string> body = co_await from.read_all(100);
                    const std::string text = body.ok() ? body.value() : "nothing";
                    const io_result<std::size_t> put = co_await write_all(to, bytes_of(text));
                    co_return put.error();
                };
                co_return http::response{code, http::produced_by(std::move(write))};
            };
            const auto talk = [&](task_group&) -> task<> {
                const std::string head =
                    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n"
                    "Expect: 100-continue\r\n\r\n";
                static_cast<void>(co_await write_all(pipe.first, bytes_of(head)));
                if (code == http::status::ok) {
                    std::string space(25, '\0');
                    static_cast<void>(co_await read_exactly(pipe.first, space));
                    CHECK(space == "HTTP/1.1 100 Continue\r\n\r\n");
                    static_cast<void>(
                        co_await write_all(pipe.first, bytes_of(std::string_view{"hi"})));
                }
                const std::string answer = co_await read_up_to(pipe.first, "0\r\n\r\n");
                const std::string body = code == http::status::ok ? "hi" : "nothing";
                CHECK(answer.ends_with("\r\n" + body + "\r\n0\r\n\r\n"));
                CHECK((answer.find("connection: close") != std::string::npos) ==
                      (code != http::status::ok));
            };
            const error ended = co_await served(pipe, handle, talk);
            CHECK_FALSE(ended);
        }
    });
}

TEST_CASE("a body of known size may be sent by other means, behind its head") {
    on_every_backend([](io_context&) -> task<> {
        traffic over;
        over.in =
            std::string{get_fast} + "HEAD /fast HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
        std::string out_at_sending;
        int asked = 0;
        http::connection_hooks hooks;
        hooks.send_body = [&](http::body_producer&,
                              std::uint64_t size) -> std::optional<task<io_result<>>> {
            ++asked;
            const auto send = [](traffic& to, std::string& seen,
                                 std::uint64_t bytes) -> task<io_result<>> {
                seen = to.out;
                to.out.append(bytes, 's');
                co_return io_result<>{};
            };
            return send(over, out_at_sending, size);
        };
        const auto made = [](http::request&) -> task<http::response> {
            auto write = [](http::body_writer) -> task<io_result<>> {
                CHECK(false);  // The other way is taken.
                co_return io_result<>{};
            };
            co_return http::response{http::status::ok, http::produced_by(std::move(write), 7)};
        };

        const io_result<> ended = co_await serve_traffic(over, made, {}, hooks);

        CHECK(ended.ok());
        CHECK(asked == 1);  // To HEAD nothing is sent.
        CHECK(out_at_sending.ends_with("content-length: 7\r\n\r\n"));
        CHECK(over.out.find("\r\n\r\nsssssssHTTP/1.1 200 OK\r\n") != std::string::npos);
    });
}

namespace {

// Writes so many bytes, and fails.
http::handler fails_behind(std::size_t bytes, std::optional<std::uint64_t> declared,
                           bool flushes = false) {
    return [=](http::request&) -> task<http::response> {
        auto write = [=](http::body_writer to) -> task<io_result<>> {
            const std::string text(bytes, 'x');
            if (!text.empty()) static_cast<void>(co_await write_all(to, bytes_of(text)));
            if (flushes) static_cast<void>(co_await to.flush());
            co_return error{errc::no_buffer_space, activity::read};
        };
        co_return http::response{http::status::ok, http::produced_by(std::move(write), declared)};
    };
}

}  // namespace

// RFC 9112, 8.
TEST_CASE("what a producer has written before it fails arrives, and nothing that ends it") {
    on_every_transport([](io_context&) -> task<> {
        for (const std::size_t bytes : {500, 40'000}) {
            for (const bool declared : {false, true}) {
                for (const bool newest : {false, true}) {
                    std::optional<std::uint64_t> size;
                    if (declared) size = 50'000;
                    traffic over;
                    over.in = newest ? "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
                                     : "GET / HTTP/1.0\r\nHost: h\r\n\r\n";
                    over.in.append(newest ? get_fast : "");

                    const io_result<> ended =
                        co_await serve_traffic(over, fails_behind(bytes, size));

                    CAPTURE(bytes);
                    CAPTURE(declared);
                    CAPTURE(newest);
                    CHECK(ended.error() == errc::no_buffer_space);
                    CHECK(over.out.starts_with("HTTP/1.1 200 "));
                    CHECK(over.out.find("HTTP/1.1", 1) == std::string::npos);
                    const std::size_t head = std::min(over.out.size(), over.out.find("\r\n\r\n"));
                    CHECK(std::ranges::count(over.out.substr(head), 'x') ==
                          static_cast<std::ptrdiff_t>(bytes));
                    CHECK_FALSE(over.out.ends_with("0\r\n\r\n"));
                }
            }
        }
    });
}

TEST_CASE("a producer that fails before its head has left is answered with 500") {
    on_every_transport([](io_context&) -> task<> {
        for (const bool flushes : {false, true}) {
            traffic over;
            over.in = std::string{get_slow} + std::string{get_fast};

            const io_result<> ended =
                co_await serve_traffic(over, fails_behind(0, std::nullopt, flushes));

            CAPTURE(flushes);
            CHECK(ended.error() == errc::no_buffer_space);
            CHECK(over.out.starts_with(flushes ? "HTTP/1.1 200 " : "HTTP/1.1 500 "));
            CHECK(over.out.find("HTTP/1.1", 1) == std::string::npos);
            CHECK((over.out.find("connection: close") == std::string::npos) == flushes);
        }
    });
}
