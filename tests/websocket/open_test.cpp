// SPDX-License-Identifier: BSL-1.0
//
// What gyre/websocket/open.hpp promises where a server does not agree, or says nothing; where it does, see
// upgrade_test.cpp.
#include <gyre/websocket/open.hpp>

#include <http/fed_stream.hpp>
#include <support/harness.hpp>
#include <websocket/bytes.hpp>

#include <string>
#include <string_view>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;
using namespace std::chrono_literals;

namespace {

struct seen {
    error failed;
    open_answer answer;
    traffic over;
};

// What comes of a server that says `said`, whatever it is asked.
task<seen> ask(std::string_view said, open_options options = {}) {
    seen it;
    it.over.in = said;
    any_stream stream{fed_stream{it.over}};
    const auto opened =
        co_await open(std::move(stream), "here:81", "/chat?room=1", options, &it.answer);
    it.failed = opened.error();
    co_return it;
}

}  // namespace

// RFC 6455, 4.1.
TEST_CASE("open: the request has what a handshake needs, and what the program adds") {
    on_every_backend([](io_context&) -> task<> {
        open_options options;
        options.fields.add("cookie", "user=7");
        options.handshake.subprotocols = {"one", "two"};
        const seen it = co_await ask("", options);
        INFO(it.over.out);
        CHECK(it.failed == errc::connection_reset);
        CHECK(it.over.out.starts_with("GET /chat?room=1 HTTP/1.1\r\nhost: here:81\r\n"));
        for (const std::string_view each :
             {"Upgrade: websocket\r\n", "connection: upgrade\r\n", "Sec-WebSocket-Version: 13\r\n",
              "Sec-WebSocket-Protocol: one, two\r\n", "cookie: user=7\r\n"}) {
            CAPTURE(each);
            CHECK(it.over.out.find(each) != std::string::npos);
        }
    });
}

TEST_CASE("open: a server that does not agree is told apart by its status, and by why") {
    on_every_backend([](io_context&) -> task<> {
        const seen page = co_await ask("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        CHECK(page.failed == errc::protocol_error);
        CHECK(page.failed.message() == "WebSocket upgrade: Protocol error (status 404)");
        CHECK(page.answer.failure == handshake_failure::not_switched);
        CHECK(page.answer.status == http::status::not_found);

        const seen stranger = co_await ask(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n");
        CHECK(stranger.failed == errc::protocol_error);
        CHECK(stranger.answer.failure == handshake_failure::wrong_accept_key);

        const seen noise = co_await ask("SSH-2.0-OpenSSH_9.2\r\n\r\n");
        CHECK(noise.failed == errc::malformed);
    });
}

TEST_CASE("open: what cannot be sent is not") {
    on_every_backend([](io_context&) -> task<> {
        open_options options;
        options.fields.add("cookie", "two\r\nlines");
        const seen it = co_await ask("", options);
        CHECK(it.failed == errc::invalid_argument);
        CHECK(it.over.out.empty());
    });
}
