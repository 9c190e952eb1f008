// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/message_pool.hpp promises: connections that share what messages need see nothing of each
// other.
#include <gyre/http/message_pool.hpp>
#include <gyre/http/serve_connection.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <http/fed_stream.hpp>
#include <support/harness.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// Says all that it knows of its request.
task<http::response> tell(http::request& what) {
    std::string said{what.method_text()};
    said.append(" ").append(what.scheme()).append(" ").append(what.authority());
    said.append(" ").append(what.target()).append(" ").append(what.peer());
    for (const http::field each : what.fields)
        said.append("\n").append(each.name).append("=").append(each.value);
    if (what.path() == "/unread") {
        co_return http::response{http::status::ok, "text/plain", std::move(said)};
    }
    const io_result<std::string> body = co_await what.body.read_all(SIZE_MAX);
    said.append("\n").append(body.ok() ? body.value() : "failed");
    for (const http::field each : what.body.trailers())
        said.append("\n").append(each.name).append("=").append(each.value);
    co_return http::response{http::status::ok, "text/plain", std::move(said)};
}

constexpr std::string_view conversations[] = {
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: b\r\nX: y\r\n\r\n",
    "GET http://h/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "GET / HTTP/1.1\r\nHo",
    "\r\nGE",
    "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel",
    "POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nhel",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: u\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nz",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n",
};

// What a peer has heard, and how the connection has ended.
task<std::string> talk(std::string_view in, http::message_pool& by,
                       const http::connection_options& options = {}) {
    traffic over;
    over.in = in;
    http::connection_hooks hooks;
    hooks.messages = &by;
    const http::handler with = tell;
    const io_result<> ended = co_await serve_traffic(over, with, options, hooks);
    co_return over.out + ended.error().message();
}

}  // namespace

TEST_CASE("a connection sees nothing of what another one's message has left") {
    on_every_backend([](io_context&) -> task<> {
        for (const std::string_view before : conversations) {
            for (const std::string_view in : conversations) {
                CAPTURE(before);
                CAPTURE(in);
                http::message_pool fresh;
                http::message_pool shared;
                const std::string wanted = co_await talk(in, fresh);
                static_cast<void>(co_await talk(before, shared));
                const std::string found = co_await talk(in, shared);

                CHECK(found == wanted);
            }
        }
    });
}

TEST_CASE("connections with other limits share a pool, and keep their limits") {
    on_every_backend([](io_context&) -> task<> {
        http::message_pool shared;
        http::connection_options narrow;
        narrow.head.bytes_max = 20;
        http::connection_options few;
        few.chunks.trailers_max = 0;
        const std::string_view trailers = conversations[11];

        const std::string wide = co_await talk(conversations[0], shared);
        const std::string refused = co_await talk(conversations[0], shared, narrow);
        const std::string with_trailers = co_await talk(trailers, shared);
        const std::string without = co_await talk(trailers, shared, few);

        CHECK(wide.starts_with("HTTP/1.1 200"));
        CHECK(refused.starts_with("HTTP/1.1 431"));
        CHECK(with_trailers.starts_with("HTTP/1.1 200"));
        CHECK(without.starts_with("HTTP/1.1 4"));
    });
}

TEST_CASE("requests whose handlers wait have a message each, however many they are") {
    on_every_backend([](io_context&) -> task<> {
        constexpr std::size_t crowd = 2 * http::message_pool::messages_max + 3;
        http::message_pool shared;
        event go;
        std::size_t waiting = 0;
        const http::handler waits = [&](http::request& what) -> task<http::response> {
            ++waiting;
            static_cast<void>(co_await go.wait());
            co_return http::response{http::status::ok, "text/plain", std::string{what.target()}};
        };
        std::vector<traffic> each(crowd);
        http::connection_hooks hooks;
        hooks.messages = &shared;
        const auto serve_one = [&](std::size_t which) -> task<> {
            each[which].in = "GET /" + std::to_string(which) + " HTTP/1.1\r\nHost: h\r\n\r\n";
            static_cast<void>(co_await serve_traffic(each[which], waits, {}, hooks));
        };
        const auto body = [&](task_group& group) -> task<> {
            for (std::size_t i = 0; i < crowd; ++i) group.spawn(serve_one(i));
            while (waiting < crowd) co_await yield();
            go.set();
        };
        co_await with_group(body);

        for (std::size_t i = 0; i < crowd; ++i) {
            CHECK(each[i].out.ends_with("\r\n\r\n/" + std::to_string(i)));
        }
    });
}

TEST_CASE("a connection that is stopped while its handler waits leaves a message that is good") {
    on_every_backend([](io_context&) -> task<> {
        http::message_pool shared;
        http::message_pool fresh;
        event never;
        const http::handler waits = [&](http::request&) -> task<http::response> {
            static_cast<void>(co_await never.wait());
            co_return http::response{http::status::ok};
        };
        traffic over;
        over.in = conversations[8];
        http::connection_hooks hooks;
        hooks.messages = &shared;

        static_cast<void>(co_await with_timeout(1ms, serve_traffic(over, waits, {}, hooks)));
        const std::string found = co_await talk(conversations[11], shared);
        const std::string wanted = co_await talk(conversations[11], fresh);

        CHECK(found == wanted);
    });
}
