// SPDX-License-Identifier: BSL-1.0
//
// Messages both ways: whole however they are split, with trailers, interim answers and bodies of every kind.
#include <gyre/http2/client_connection.hpp>
#include <gyre/http2/serve_connection.hpp>

#include <gyre/http/compression.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <http2/ends.hpp>
#include <support/harness.hpp>

#include <functional>
#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

std::string long_text(std::size_t size) {
    std::string made(size, ' ');
    for (std::size_t at = 0; at < size; ++at) made[at] = static_cast<char>('a' + at * 7 % 26);
    return made;
}

task<io_result<>> write_pieces(http::body_writer to) {
    for (int each = 0; each < 5; ++each) {
        const std::string piece = "piece " + std::to_string(each) + ";";
        const io_result<std::size_t> put = co_await write_all(to, bytes_of(piece));
        if (!put.ok()) co_return put.error();
        if (each == 2) {
            const io_result<> flushed = co_await to.flush();
            if (!flushed.ok()) co_return flushed;
        }
    }
    to.trailers().set("sum", "5");
    co_return io_result<>{};
}

constexpr std::string_view all_pieces = "piece 0;piece 1;piece 2;piece 3;piece 4;";

// Answers in each way that a response can be made.
task<http::response> any_kind(http::request& what) {
    if (what.target() == "/text") co_return http::response{http::status::ok, long_text(50'000)};
    if (what.target() == "/static") {
        co_return http::response{http::status::ok, http::static_text{"static"}};
    }
    if (what.target() == "/shared") {
        co_return http::response{http::status::ok, shared_bytes::copy_of(bytes_of("shared"))};
    }
    if (what.target() == "/made") {
        co_return http::response{http::status::ok, http::produced_by(write_pieces)};
    }
    if (what.target() == "/counted") {
        co_return http::response{http::status::ok,
                                 http::produced_by(write_pieces, all_pieces.size())};
    }
    if (what.target() == "/nothing") co_return http::response{http::status::no_content};
    if (what.target() == "/trailed") {
        http::response made{http::status::ok, http::static_text{"short"}};
        made.trailers.set("sum", "1");
        co_return made;
    }
    http::response made = co_await echo(what);
    co_return made;
}

struct said {
    http::status status = http::status::internal_server_error;
    std::string body;
    std::string sum;
    std::string length;
};

task<said> ask(two_ends& ends, std::string_view target, http::method by = http::method::get,
               std::string body = {}) {
    said got;
    const http::request what = request_of(target, by);
    io_result<http2::received_response> answer = co_await ends.client.send(what, std::move(body));
    CHECK_MESSAGE(answer.ok(), answer.error().message());
    if (!answer.ok()) co_return got;
    http2::received_response it = answer.take();
    got.status = it.status;
    got.length = it.fields.value_or("content-length");
    io_result<std::string> text = co_await it.body.read_all(1'000'000);
    CHECK_MESSAGE(text.ok(), text.error().message());
    got.body = text.take();
    got.sum = it.body.trailers().value_or("sum");
    co_return got;
}

// Both ends on a pipe, and `talk` between them.
task<> between(two_ends& ends, std::function<task<>()> talk) {
    const auto body = [&](task_group& group) -> task<> {
        ends.begin(group);
        co_await talk();
        ends.client.close();
    };
    co_await with_group(body);
}

}  // namespace

TEST_CASE("http2: bodies of every kind come whole, however the bytes between both ends are split") {
    on_every_backend([](io_context&) -> task<> {
        for (const std::size_t pipe : {1, 7, 9, 10, 24, 100, 4'096, 100'000}) {
            CAPTURE(pipe);
            two_ends ends{any_kind, pipe};
            const auto talk = [&]() -> task<> {
                said got = co_await ask(ends, "/text");
                CHECK(got.body == long_text(50'000));
                CHECK(got.length == "50000");
                got = co_await ask(ends, "/static");
                CHECK(got.body == "static");
                got = co_await ask(ends, "/shared");
                CHECK(got.body == "shared");
                got = co_await ask(ends, "/made");
                CHECK(got.body == all_pieces);
                CHECK(got.length.empty());
                CHECK(got.sum == "5");
                got = co_await ask(ends, "/counted");
                CHECK(got.body == all_pieces);
                CHECK(got.length == std::to_string(all_pieces.size()));
                got = co_await ask(ends, "/nothing");
                CHECK(got.status == http::status::no_content);
                CHECK(got.length.empty());
                // RFC 9113, 8.1: trailers behind bodies that are short, or made.
                got = co_await ask(ends, "/trailed");
                CHECK(got.body == "short");
                CHECK(got.sum == "1");
                // RFC 9110, 9.3.2.
                got = co_await ask(ends, "/text", http::method::head);
                CHECK(got.body.empty());
                CHECK(got.length == "50000");
                const std::string long_body = long_text(20'000);
                got = co_await ask(ends, "/e", http::method::post, long_body);
                CHECK(got.body == "POST /e " + long_body);
            };
            co_await between(ends, talk);
            CHECK_MESSAGE(ends.served.ok(), ends.served.error().message());
            CHECK_MESSAGE(ends.ran.ok(), ends.ran.error().message());
        }
    });
}

TEST_CASE("http2: a request's body is made while it is sent, with trailers") {
    on_every_backend([](io_context&) -> task<> {
        two_ends ends{echo};
        const auto talk = [&]() -> task<> {
            const http::request what = request_of("/p", http::method::put);
            io_result<http2::received_response> answer =
                co_await ends.client.send(what, http::produced_by(write_pieces));
            CHECK(answer.ok());
            http2::received_response it = answer.take();
            const io_result<std::string> text = co_await it.body.read_all(1'000);
            CHECK(text.value() == "PUT /p " + std::string{all_pieces} + " sum=5");
        };
        co_await between(ends, talk);
    });
}

TEST_CASE("http2: fields that may not follow a body are not sent there, or left out, both ways") {
    // RFC 9110, 6.5.1; RFC 9113, 8.2.2.
    const auto names_of = [](const http::fields& of) {
        std::string names;
        for (const http::field each : of) names.append(each.name).append(" ");
        return names;
    };
    const auto add_all = [](http::fields& to) {
        to.add("connection", "close").add("Transfer-Encoding", "chunked").add("TE", "gzip");
        to.add("content-length", "3").add("host", "other").add("upgrade", "h2c");
        to.add("trailer", "x").add("authorization", "Basic eDp5").add("cookie", "a=b");
        to.add("set-cookie", "a=b").add("content-type", "a/b").add("content-range", "bytes 0-1/2");
        to.add("content-encoding", "gzip").add("x-sum", "5");
    };
    on_every_backend([&](io_context&) -> task<> {
        std::string asked;
        const auto handle = [&](http::request& what) -> task<http::response> {
            const io_result<std::string> body = co_await what.body.read_all(100);
            CHECK(body.value() == "asked");
            asked = names_of(what.body.trailers());
            http::response made{http::status::ok, http::static_text{"answered"}};
            add_all(made.trailers);
            co_return made;
        };
        const auto write = [&](http::body_writer to) -> task<io_result<>> {
            const io_result<std::size_t> put = co_await write_all(to, bytes_of("asked"));
            add_all(to.trailers());
            co_return put.error();
        };
        two_ends ends{handle};
        const auto talk = [&]() -> task<> {
            const http::request what = request_of("/p", http::method::put);
            io_result<http2::received_response> answer =
                co_await ends.client.send(what, http::produced_by(write));
            CHECK_MESSAGE(answer.ok(), answer.error().message());
            http2::received_response it = answer.take();
            const io_result<std::string> text = co_await it.body.read_all(100);
            CHECK(text.value() == "answered");
            CHECK(names_of(it.body.trailers()) == "x-sum ");
        };
        co_await between(ends, talk);
        CHECK(asked == "x-sum ");
    });
}

TEST_CASE("http2: a body that is expected is sent once the server asks for it, or not at all") {
    // RFC 9110, 10.1.1.
    on_every_backend([](io_context&) -> task<> {
        bool made = false;
        const auto write = [&made](http::body_writer to) -> task<io_result<>> {
            made = true;
            const io_result<std::size_t> put = co_await write_all(to, bytes_of("wanted"));
            co_return put.error();
        };
        const auto picky = [&made](http::request& what) -> task<http::response> {
            CHECK_FALSE(made);
            if (what.target() == "/no") {
                co_return http::response{http::status::forbidden};
            }
            http::response said_so = co_await echo(what);
            co_return said_so;
        };
        http2::client_options options;
        options.continue_time_max = 10s;
        two_ends ends{picky, 65'536, {}, options};
        const auto talk = [&]() -> task<> {
            http::request what = request_of("/no", http::method::post);
            what.fields.set("expect", "100-continue");
            io_result<http2::received_response> answer =
                co_await ends.client.send(what, http::produced_by(write));
            CHECK(answer.value().status == http::status::forbidden);
            CHECK_FALSE(made);
            what.set_target("/yes");
            answer = co_await ends.client.send(what, http::produced_by(write));
            CHECK(answer.ok());
            http2::received_response it = answer.take();
            const io_result<std::string> text = co_await it.body.read_all(1'000);
            CHECK(text.value() == "POST /yes wanted");
            what.fields.set("expect", "tea");
            answer = co_await ends.client.send(what);
            CHECK(answer.value().status == http::status::expectation_failed);
        };
        co_await between(ends, talk);
    });
}

TEST_CASE("http2: heads and bodies beyond their bounds are answered, and no reason to end") {
    on_every_backend([](io_context&) -> task<> {
        http2::connection_options options;
        options.head_bytes_max = 4'096;
        options.body_bytes_max = 1'000;
        two_ends ends{any_kind, 65'536, options};
        const auto talk = [&]() -> task<> {
            http::request what = request_of("/");
            what.fields.set("x", std::string(5'000, 'x'));
            io_result<http2::received_response> answer = co_await ends.client.send(what);
            CHECK(answer.value().status == http::status::header_fields_too_large);
            said got = co_await ask(ends, "/", http::method::post, std::string(1'001, 'x'));
            CHECK(got.status == http::status::content_too_large);
            // Of no declared size: the read beyond fails.
            const auto write = [](http::body_writer to) -> task<io_result<>> {
                const std::string much(5'000, 'x');
                const io_result<std::size_t> put = co_await write_all(to, bytes_of(much));
                co_return put.error();
            };
            what = request_of("/m", http::method::post);
            answer = co_await ends.client.send(what, http::produced_by(write));
            CHECK(answer.ok());
            http2::received_response it = answer.take();
            const io_result<std::string> text = co_await it.body.read_all(1'000);
            CHECK(text.value() == "POST /m failed");
            got = co_await ask(ends, "/static");
            CHECK(got.body == "static");
        };
        co_await between(ends, talk);
    });
}

TEST_CASE("http2: an answer that cannot be sent becomes 500") {
    // RFC 9113, 8.6: there is no upgrade.
    on_every_backend([](io_context&) -> task<> {
        const auto wrong = [](http::request& what) -> task<http::response> {
            http::response made;
            if (what.target() == "/field") made.fields.set("a", "x\ny");
            if (what.target() == "/interim") made.status = http::status::early_hints;
            if (what.target() == "/upgrade") {
                made.upgrade = [](http::upgraded_connection) -> task<> { co_return; };
            }
            co_return made;
        };
        two_ends ends{wrong};
        const auto talk = [&]() -> task<> {
            for (const std::string_view target : {"/field", "/interim", "/upgrade"}) {
                const said got = co_await ask(ends, target);
                CHECK(got.status == http::status::internal_server_error);
            }
        };
        co_await between(ends, talk);
    });
}

TEST_CASE("http2: a producer that fails, or writes too little, resets its stream and no other") {
    // RFC 9113, 5.4.2.
    on_every_backend([](io_context&) -> task<> {
        const auto broken = [](http::request& what) -> task<http::response> {
            const auto write = [](http::body_writer to) -> task<io_result<>> {
                const io_result<std::size_t> put = co_await write_all(to, bytes_of("half"));
                co_return put.error();
            };
            if (what.target() == "/half") {
                co_return http::response{http::status::ok, http::produced_by(write, 8)};
            }
            co_return http::response{http::status::ok, http::static_text{"whole"}};
        };
        two_ends ends{broken};
        const auto talk = [&]() -> task<> {
            const http::request what = request_of("/half");
            io_result<http2::received_response> answer = co_await ends.client.send(what);
            if (answer.ok()) {
                http2::received_response it = answer.take();
                const io_result<std::string> text = co_await it.body.read_all(1'000);
                CHECK(text.error() == errc::connection_aborted);
            } else {
                CHECK(answer.error() == errc::connection_aborted);
            }
            const said got = co_await ask(ends, "/");
            CHECK(got.body == "whole");
        };
        co_await between(ends, talk);
        CHECK(ends.served.ok());
    });
}

TEST_CASE("http2: what a producer has written before it fails arrives, and nothing that ends it") {
    on_every_backend([](io_context&) -> task<> {
        for (const std::size_t bytes : {0, 500, 100'000}) {
            for (const bool waits : {false, true}) {
                const auto fails = [=](http::body_writer to) -> task<io_result<>> {
                    const std::string text(bytes, 'x');
                    if (!text.empty()) static_cast<void>(co_await write_all(to, bytes_of(text)));
                    if (waits) static_cast<void>(co_await sleep_for(1ms));
                    co_return error{errc::no_buffer_space, activity::read};
                };
                const http::handler broken = [=](http::request&) -> task<http::response> {
                    co_return http::response{http::status::ok, http::produced_by(fails)};
                };
                two_ends ends{broken};
                std::vector<http::answer_end> told;
                ends.hooks.on_answered = [&](const http::request&, const http::answer_end& end) {
                    told.push_back(end);
                };
                http::status status{};
                std::string got;
                error ended;
                const auto talk = [&]() -> task<> {
                    const http::request what = request_of("/");
                    io_result<http2::received_response> answer = co_await ends.client.send(what);
                    ended = answer.error();
                    if (!answer.ok()) co_return;
                    http2::received_response it = answer.take();
                    status = it.status;
                    std::string space(5'000, ' ');
                    while (!ended) {
                        const io_result<std::size_t> more = co_await it.body.read_some(space);
                        got.append(space, 0, more.value());
                        ended = more.error();
                    }
                };
                co_await between(ends, talk);

                CAPTURE(bytes);
                CAPTURE(waits);
                const bool too_late = bytes > 0 || waits;
                CHECK(status ==
                      (too_late ? http::status::ok : http::status::internal_server_error));
                CHECK(got == std::string(bytes, 'x'));
                CHECK(told.size() == 1);
                CHECK(told.at(0).status == status);
                CHECK(told.at(0).body_bytes == bytes);
                CHECK(told.at(0).how ==
                      (too_late ? http::answer_end::kind::cut : http::answer_end::kind::complete));
                CHECK(ended == (too_late ? errc::connection_aborted : errc::eof));
            }
        }
    });
}

TEST_CASE(
    "http2: what describes a compressed representation is the same to GET, HEAD, 304 and 206") {
    // RFC 9110, 8.6, 9.3.2, 15.3.7 and 15.4.5.
    on_every_backend([](io_context&) -> task<> {
        const auto file = [](http::request& what) -> task<http::response> {
            http::response made{http::status::ok, "text/plain", std::string(5'000, 'x')};
            made.fields.set("etag", "\"a\"");
            if (what.target() == "/304") {
                made.status = http::status::not_modified;
                made.body = {};
                made.fields.remove("content-type");
            }
            if (what.target() == "/206") {
                made.status = http::status::partial_content;
                made.fields.set("content-range", "bytes 0-4999/10000");
            }
            if (what.target() == "/bare") {
                made.fields.set("content-length", "5000");
                if (what.method() == http::method::head) made.body = {};
            }
            co_return made;
        };
        two_ends ends{http::compress_responses()(file)};
        const auto talk = [&]() -> task<> {
            struct row {
                const char* target;
                http::method by;
                bool coded;
            };
            const row rows[] = {
                {"/", http::method::get, true},     {"/", http::method::head, true},
                {"/bare", http::method::get, true}, {"/bare", http::method::head, true},
                {"/304", http::method::get, false}, {"/304", http::method::head, false},
                {"/206", http::method::get, false}};
            for (const row& each : rows) {
                http::request what = request_of(each.target, each.by);
                what.fields.set("accept-encoding", "gzip");
                io_result<http2::received_response> got = co_await ends.client.send(what);
                CAPTURE(each.target);
                CAPTURE(http::name_of(each.by));
                CHECK(got.ok());
                http2::received_response it = got.take();
                static_cast<void>(co_await it.body.read_all(10'000));
                CHECK(it.fields.value_or("etag") == "W/\"a\"");
                CHECK(it.fields.value_or("vary") == "accept-encoding");
                CHECK(it.fields.value_or("content-encoding") == (each.coded ? "gzip" : ""));
                const std::string_view length = it.fields.value_or("content-length");
                if (each.coded) CHECK((length != "5000" && length != "0"));
            }
        };
        co_await between(ends, talk);
    });
}
