// SPDX-License-Identifier: BSL-1.0
//
// Two ends of a WebSocket over every transport: in pieces of any size, delayed, cut after any byte and broken
// at any moment.
#include <gyre/websocket/connection.hpp>
#include <gyre/websocket/open.hpp>
#include <gyre/websocket/upgrade.hpp>

#include <gyre/http/serve_connection.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/transports.hpp>
#include <websocket/ends.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;

namespace {

task<io_result<>> echo_messages(connection& on) {
    io_result<message> got = co_await on.receive();
    while (got.ok()) {
        const io_result<> sent = co_await on.send(got.value().kind, got.value().bytes);
        if (!sent.ok()) co_return sent;
        got = co_await on.receive();
    }
    if (got.error() != errc::eof) co_return got.error();
    const io_result<> closed = co_await on.close();
    co_return closed;
}

task<io_result<>> expect_message(connection& on, message_kind kind, std::string text) {
    const io_result<message> back = co_await on.receive();
    if (!back.ok()) co_return back.error();
    CHECK(back.value().kind == kind);
    CHECK(back.value().text() == text);
    co_return io_result<>{};
}

task<io_result<>> send_and_expect(connection& on, message_kind kind, std::string text) {
    const io_result<> sent = co_await on.send(kind, bytes_of(text));
    if (!sent.ok()) co_return sent;
    const io_result<> back = co_await expect_message(on, kind, text);
    co_return back;
}

// A message in fragments, with a ping between them.
task<io_result<>> write_parts(connection& on) {
    io_result<message_writer> begun = co_await on.begin_message(message_kind::text);
    if (!begun.ok()) co_return begun.error();
    message_writer writer = begun.take();
    io_result<> sent = co_await writer.write(bytes_of("half of \xce"));
    if (sent.ok()) sent = co_await on.ping(bytes_of("now"));
    if (sent.ok()) sent = co_await writer.finish(bytes_of("\xba and the rest"));
    co_return sent;
}

// The pong may fit nowhere until it is read.
task<io_result<>> send_in_parts(connection& on) {
    const auto [sent, back] = co_await when_all(
        write_parts(on), expect_message(on, message_kind::text, "half of \xce\xba and the rest"));
    co_return sent.ok() ? back : sent;
}

task<io_result<>> converse(connection& on) {
    io_result<> done = co_await send_and_expect(on, message_kind::text, "Hello");
    if (done.ok()) done = co_await send_and_expect(on, message_kind::text, "");
    if (done.ok()) {
        done = co_await send_and_expect(on, message_kind::binary, std::string(126, '\xff'));
    }
    if (done.ok()) done = co_await send_in_parts(on);
    if (done.ok()) {
        done = co_await send_and_expect(on, message_kind::text, std::string(1000, 'x'));
    }
    if (done.ok()) done = co_await on.close({close_code::going_away, "enough"});
    co_return done;
}

end_talk one_side(role we, agreement agreed) {
    return [we, agreed](any_stream peer) -> task<io_result<>> {
        connection on{std::move(peer), we, agreed};
        io_result<> ended;
        if (we == role::server) ended = co_await echo_messages(on);
        else ended = co_await converse(on);
        co_return ended;
    };
}

// The same behind a handshake.

task<http::response> answer(http::request& asked) {
    upgrade_options options;
    options.handshake.deflate.emplace();
    const auto session = [](connection& on) -> task<> {
        static_cast<void>(co_await echo_messages(on));
    };
    co_return upgrade(asked, options, session);
}

task<io_result<>> serve(any_stream peer) {
    const http::handler handle{answer};
    const http::connection_options options;
    const http::connection_hooks hooks;
    const io_result<> ended =
        co_await http::serve_connection(std::move(peer), handle, options, hooks);
    co_return ended;
}

task<io_result<>> visit(any_stream to) {
    open_options options;
    options.handshake.deflate.emplace();
    auto opened = co_await open(std::move(to), "server", "/chat", options);
    if (!opened.ok()) co_return opened.error();
    const std::unique_ptr<connection> on = opened.take();
    CHECK(on->agreement().deflate.has_value());
    const io_result<> done = co_await converse(*on);
    co_return done;
}

}  // namespace

TEST_CASE("websocket on every transport: messages, fragments and closes come through") {
    for (const agreement& agreed : {agreement{}, deflated(false), deflated(true)}) {
        check_on_every_transport(one_side(role::server, agreed), one_side(role::client, agreed));
    }
    check_on_every_transport(serve, visit);
}

TEST_CASE(
    "websocket on a pipe that is cut after any byte: both sides end, and what is whole is right") {
    check_cut_everywhere(one_side(role::server, {}), one_side(role::client, {}));
    check_cut_everywhere(serve, visit);
}

TEST_CASE("websocket in a world where connections break at any moment: both sides end") {
    check_broken_everywhere(one_side(role::server, {}), one_side(role::client, {}));
    check_broken_everywhere(serve, visit);
}
