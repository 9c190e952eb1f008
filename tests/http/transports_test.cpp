// SPDX-License-Identifier: BSL-1.0
//
// A client and a server of HTTP/1 that use all there is between them, over every transport: in pieces of any
// size, delayed, cut after any byte and broken at any moment.
#include <gyre/http/client_connection.hpp>
#include <gyre/http/serve_connection.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/transports.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// In chunks, and its size in a trailer.
task<io_result<>> write_counted(std::string what, http::body_writer to) {
    const io_result<std::size_t> put = co_await write_all(to, bytes_of(what));
    to.trailers().set("sum", std::to_string(put.value()));
    co_return put.error();
}

task<> answer_ping(http::upgraded_connection to) {
    std::string heard = std::move(to.early);
    const std::size_t early = heard.size();
    heard.resize(4);
    const io_result<std::size_t> rest = co_await read_exactly(
        to.stream, mutable_buffer{std::as_writable_bytes(std::span{heard}.subspan(early))});
    if (!rest.ok()) co_return;
    CHECK(heard == "ping");
    static_cast<void>(co_await write_all(to.stream, bytes_of(std::string_view{"pong"})));
}

task<http::response> answer(http::request& what) {
    if (what.path() == "/upgrade") {
        http::response switches{http::status::switching_protocols};
        switches.fields.set("upgrade", "ping");
        switches.upgrade = answer_ping;
        co_return switches;
    }
    io_result<std::string> body = co_await what.body.read_all(100'000);
    if (!body.ok()) co_return http::response{http::status::bad_request};
    if (what.path() == "/copy") {
        auto write = [text = body.take()](http::body_writer to) { return write_counted(text, to); };
        co_return http::response{http::status::ok, http::produced_by(std::move(write))};
    }
    co_return http::response{http::status::ok, "text/plain", body.take()};
}

task<io_result<>> serve(any_stream peer) {
    const http::handler handle{answer};
    const http::connection_options options;
    const http::connection_hooks hooks;
    const io_result<> ended =
        co_await http::serve_connection(std::move(peer), handle, options, hooks);
    co_return ended;
}

http::request asking(http::method how, std::string_view target) {
    http::request what{how, target};
    what.set_authority("server");
    return what;
}

http::response_body in_chunks(std::string text) {
    auto write = [text = std::move(text)](http::body_writer to) -> task<io_result<>> {
        const io_result<std::size_t> put = co_await write_all(to, bytes_of(text));
        co_return put.error();
    };
    return http::response_body{http::produced_by(std::move(write))};
}

// An answer that is whole is the right one.
task<io_result<>> ask(http::client_connection& by, const http::request& what,
                      http::response_body body, std::string wanted) {
    auto got = co_await by.send(what, std::move(body));
    if (!got.ok()) co_return got.error();
    http::received_response received = got.take();
    const io_result<std::string> text = co_await received.body.read_all(100'000);
    if (!text.ok()) co_return text.error();
    // A request that broke on its way is answered, too.
    if (received.status != http::status::ok) co_return errc::protocol_error;
    CHECK(text.value() == wanted);
    const std::string sum{received.body.trailers().value_or("sum")};
    CHECK(sum == (what.path() == "/copy" ? std::to_string(wanted.size()) : ""));
    co_return io_result<>{};
}

task<io_result<>> ping(http::client_connection& by) {
    http::request what = asking(http::method::get, "/upgrade");
    what.fields.set("connection", "upgrade");
    what.fields.set("upgrade", "ping");
    auto got = co_await by.send(what);
    if (!got.ok()) co_return got.error();
    CHECK(got.value().status == http::status::switching_protocols);
    http::upgraded_connection to = by.take_stream();
    const io_result<std::size_t> put =
        co_await write_all(to.stream, bytes_of(std::string_view{"ping"}));
    if (!put.ok()) co_return put.error();
    std::string heard(4, '\0');
    const io_result<std::size_t> all = co_await with_timeout(1min, read_exactly(to.stream, heard));
    CHECK((!all.ok() || heard == "pong"));
    co_return all.error();
}

task<io_result<>> visit(any_stream to) {
    http::client_connection by{std::move(to)};
    const std::string text(700, 't');
    const http::request get = asking(http::method::get, "/");
    const http::request post = asking(http::method::post, "/");
    const http::request copy = asking(http::method::post, "/copy");
    const http::request head = asking(http::method::head, "/");
    http::request careful = asking(http::method::post, "/copy");
    careful.fields.set("expect", "100-continue");

    io_result<> done = co_await ask(by, get, {}, "");
    if (done.ok()) done = co_await ask(by, post, text, text);
    if (done.ok()) done = co_await ask(by, post, in_chunks(text), text);
    if (done.ok()) done = co_await ask(by, copy, in_chunks(text), text);
    if (done.ok()) done = co_await ask(by, head, {}, "");
    if (done.ok()) done = co_await ask(by, careful, text, text);
    if (done.ok()) done = co_await ping(by);
    co_return done;
}

}  // namespace

TEST_CASE("HTTP on every transport: requests, bodies, trailers and an upgrade come through") {
    check_on_every_transport(serve, visit);
}

TEST_CASE("HTTP on a pipe that is cut after any byte: both sides end, and what is whole is right") {
    check_cut_everywhere(serve, visit);
}

TEST_CASE("HTTP in a world where connections break at any moment: both sides end") {
    check_broken_everywhere(serve, visit);
}
