// SPDX-License-Identifier: BSL-1.0
//
// Client and server of HTTP/1 on sockets of each backend: many requests, bodies of all sizes both ways,
// upgrades, stops and drains in the middle.
#include <gyre/http/client_connection.hpp>
#include <gyre/http/serve_connection.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <string>
#include <string_view>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// Sends the body back while it comes.
task<io_result<>> copy_body(http::body_reader from, http::body_writer to) {
    std::string space(5000, '\0');
    for (;;) {
        const io_result<std::size_t> got = co_await from.read_some(space);
        if (got.error() == errc::eof) co_return io_result<>{};
        if (!got.ok()) co_return got.error();
        const std::string_view piece = std::string_view{space}.substr(0, got.value());
        const io_result<std::size_t> put = co_await write_all(to, bytes_of(piece));
        if (!put.ok()) co_return put.error();
    }
}

task<http::response> mirror(http::request& what) {
    auto write = [from = what.body](http::body_writer to) { return copy_body(from, to); };
    co_return http::response{http::status::ok,
                             http::produced_by(std::move(write), what.body.size())};
}

http::request post(std::string_view target) {
    http::request what{http::method::post, target};
    what.set_authority("h");
    return what;
}

std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t at = 0; at < size; ++at) text[at] = static_cast<char>('a' + at % 23);
    return text;
}

http::response_body in_chunks(std::string text) {
    auto write = [text = std::move(text)](http::body_writer to) -> task<io_result<>> {
        const io_result<std::size_t> put = co_await write_all(to, bytes_of(text));
        co_return put.error();
    };
    return http::response_body{http::produced_by(std::move(write))};
}

// Serves one end while `talk` has the other; how the server ended.
template <class Talk>
task<error> between(socket_pair ends, const http::handler& handle, const Talk& talk) {
    const http::connection_options options;
    const http::connection_hooks hooks;
    error ended;
    const auto serves = [&]() -> task<> {
        const io_result<> outcome = co_await http::serve_connection(
            any_stream{std::move(ends.server)}, handle, options, hooks);
        ended = outcome.error();
    };
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(serves);
        http::client_connection peer{any_stream{std::move(ends.client)}};
        co_await talk(peer, group);
        peer.close();
    };
    co_await with_group(body);
    co_return ended;
}

}  // namespace

TEST_CASE("HTTP on sockets: bodies of all sizes go both ways on one connection") {
    on_every_backend([](io_context& io) -> task<> {
        for (const bool local : {false, true}) {
            socket_pair ends = local ? local_pair(io) : connected_pair(io);
            const http::handler handle = mirror;
            const auto talk = [](http::client_connection& peer, task_group&) -> task<> {
                for (const std::size_t size : {0, 1, 4095, 4096, 16'384, 65'536, 100'001}) {
                    for (const bool chunked : {false, true}) {
                        const std::string text = pattern(size);
                        const http::request what = post("/");
                        http::response_body content{text};
                        if (chunked) content = in_chunks(text);
                        auto got = co_await peer.send(what, std::move(content));
                        CHECK(got.ok());
                        if (!got.ok()) co_return;
                        CHECK(got.value().body.size().has_value() == !chunked);
                        const io_result<std::string> body =
                            co_await got.value().body.read_all(1'000'000);
                        CAPTURE(size);
                        CHECK(body.value() == text);
                        CHECK(peer.reusable());
                    }
                }
            };
            const error ended = co_await between(std::move(ends), handle, talk);
            CHECK_FALSE(ended);
        }
    });
}

// RFC 9110, 10.1.1.
TEST_CASE(
    "HTTP on sockets: a body that asks first is sent, also to one who answers while it comes") {
    on_every_backend([](io_context& io) -> task<> {
        const http::handler handle = mirror;
        const auto talk = [](http::client_connection& peer, task_group&) -> task<> {
            http::request what = post("/");
            what.fields.set("expect", "100-continue");
            auto got = co_await peer.send(what, "asked");
            CHECK(got.ok());
            const io_result<std::string> body = co_await got.value().body.read_all(100);
            CHECK(body.value() == "asked");
            CHECK(peer.reusable());
        };
        const error ended = co_await between(connected_pair(io), handle, talk);
        CHECK_FALSE(ended);
    });
}

TEST_CASE("HTTP on sockets: a server that refuses a body which asks first gets none of it") {
    on_every_backend([](io_context& io) -> task<> {
        const http::handler handle = [](http::request&) -> task<http::response> {
            co_return http::response{http::status::forbidden};
        };
        const auto talk = [](http::client_connection& peer, task_group&) -> task<> {
            http::request what = post("/");
            what.fields.set("expect", "100-continue");
            auto got = co_await peer.send(what, "secret");
            CHECK(got.ok());
            CHECK(got.value().status == http::status::forbidden);
            CHECK_FALSE(peer.reusable());
        };
        const error ended = co_await between(connected_pair(io), handle, talk);
        CHECK_FALSE(ended);
    });
}

// RFC 9112, 9.5: a client watches for an answer while it sends.
TEST_CASE("HTTP on sockets: a refusal that comes early ends the sending of a large body") {
    on_every_backend([](io_context& io) -> task<> {
        const http::handler handle = [](http::request&) -> task<http::response> {
            co_return http::response{http::status::content_too_large, "text/plain", "no"};
        };
        const auto talk = [](http::client_connection& peer, task_group&) -> task<> {
            const http::request what = post("/");
            // More than any socket's buffers hold: it could not be sent.
            const std::string text(std::size_t{64} << 20, 'x');
            auto got = co_await peer.send(what, in_chunks(text));
            CHECK(got.ok());
            CHECK(got.value().status == http::status::content_too_large);
            CHECK_FALSE(peer.reusable());
        };
        static_cast<void>(co_await between(connected_pair(io), handle, talk));
    });
}

// RFC 9110, 7.8.
TEST_CASE("HTTP on sockets: an upgrade gives both sides their stream") {
    on_every_backend([](io_context& io) -> task<> {
        const http::handler handle = [](http::request&) -> task<http::response> {
            http::response answer{http::status::switching_protocols};
            answer.fields.set("upgrade", "mirror");
            answer.upgrade = [](http::upgraded_connection to) -> task<> {
                std::string space(100, '\0');
                const io_result<std::size_t> got = co_await to.stream.read_some(space);
                space.resize(got.value());
                static_cast<void>(co_await write_all(to.stream, bytes_of(space)));
            };
            co_return answer;
        };
        const auto talk = [](http::client_connection& peer, task_group&) -> task<> {
            http::request what{http::method::get, "/"};
            what.set_authority("h");
            what.fields.set("connection", "upgrade").set("upgrade", "mirror");
            auto got = co_await peer.send(what);
            CHECK(got.value().status == http::status::switching_protocols);
            http::upgraded_connection mine = peer.take_stream();
            CHECK(mine.early.empty());
            CHECK_FALSE(peer.reusable());
            static_cast<void>(co_await write_all(mine.stream, bytes_of(std::string_view{"raw"})));
            std::string space(3, '\0');
            const io_result<std::size_t> got_back = co_await read_exactly(mine.stream, space);
            CHECK(got_back.ok());
            CHECK(space == "raw");
        };
        const error ended = co_await between(connected_pair(io), handle, talk);
        CHECK_FALSE(ended);
    });
}

TEST_CASE("HTTP on sockets: a stop ends a handler that waits, and its connection") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair ends = connected_pair(io);
        const http::connection_options options;
        const http::connection_hooks hooks;
        io_result<> handler_saw;
        io_result<> ended;
        const http::handler handle = [&](http::request&) -> task<http::response> {
            handler_saw = co_await sleep_for(10min);
            co_return http::response{};
        };
        const auto serves = [&]() -> task<> {
            ended = co_await http::serve_connection(any_stream{std::move(ends.server)}, handle,
                                                    options, hooks);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(serves);
            static_cast<void>(co_await write_all(
                ends.client, bytes_of(std::string_view{"GET / HTTP/1.1\r\nHost: h\r\n\r\n"})));
            co_await settle();
            group.request(stop_level::stop);
        };
        co_await with_group(body);

        CHECK(handler_saw.error() == errc::canceled);
        CHECK_FALSE(ended.ok());
        std::string rest(1000, '\0');
        const io_result<std::size_t> got = co_await ends.client.read_some(rest);
        CHECK_FALSE(got.ok());
    });
}

// RFC 9112, 9.6: closing with bytes unread resets the connection, and the reset may overtake the answer.
TEST_CASE(
    "HTTP on sockets: an early answer to a large upload arrives, however much is sent behind it") {
    on_every_backend([](io_context& io) -> task<> {
        constexpr std::size_t upload_bytes = std::size_t{8} << 20;
        for (const bool refused : {false, true}) {
            socket_pair ends = connected_pair(io);
            const http::handler handle = [](http::request&) -> task<http::response> {
                co_return http::response{http::status::forbidden};
            };
            http::connection_options options;
            options.linger_time_max = 20s;
            if (refused) options.body_bytes_max = 1000;
            const http::connection_hooks hooks;
            std::string heard;
            error heard_end;
            io_result<std::size_t> sent;
            const auto serves = [&]() -> task<> {
                static_cast<void>(co_await http::serve_connection(
                    any_stream{std::move(ends.server)}, handle, options, hooks));
            };
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(serves);
                std::string asked = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: ";
                asked.append(std::to_string(upload_bytes)).append("\r\n\r\n");
                static_cast<void>(co_await write_all(ends.client, bytes_of(asked)));
                const std::string upload(upload_bytes, 'u');
                sent = co_await write_all(ends.client, bytes_of(upload));
                std::string space(4096, '\0');
                while (!heard_end) {
                    const io_result<std::size_t> got = co_await ends.client.read_some(space);
                    heard.append(space, 0, got.value());
                    heard_end = got.error();
                }
                static_cast<void>(ends.client.close());
            };
            co_await with_group(body);

            CAPTURE(refused);
            CHECK(sent.ok());
            CHECK(heard.starts_with(refused ? "HTTP/1.1 413" : "HTTP/1.1 403"));
            CHECK(heard_end == errc::eof);
        }
    });
}

TEST_CASE("HTTP on sockets: a peer that sends without end is listened to for a time only") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair ends = connected_pair(io);
        const http::handler handle = [](http::request&) -> task<http::response> {
            co_return http::response{http::status::forbidden};
        };
        http::connection_options options;
        options.linger_time_max = 50ms;
        const http::connection_hooks hooks;
        error sent;
        const auto serves = [&]() -> task<> {
            static_cast<void>(co_await http::serve_connection(any_stream{std::move(ends.server)},
                                                              handle, options, hooks));
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(serves);
            const std::string_view asked =
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8000000\r\n\r\n";
            static_cast<void>(co_await write_all(ends.client, bytes_of(asked)));
            const std::string piece(64 * 1024, 'u');
            while (!sent) {
                const io_result<std::size_t> put = co_await write_all(ends.client, bytes_of(piece));
                sent = put.error();
            }
        };
        co_await with_group(body);

        CHECK((sent == errc::broken_pipe || sent == errc::connection_reset));
    });
}
