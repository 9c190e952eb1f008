// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/client_connection.hpp promises: one request after another, responses however they are split,
// and when a connection may be used again.
#include <gyre/http/client_connection.hpp>

#include <http/fed_stream.hpp>
#include <support/harness.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

http::request get(std::string_view target) {
    http::request what{http::method::get, target};
    what.set_authority("h");
    return what;
}

}  // namespace

TEST_CASE("responses are read however they are split, and the connection is used again") {
    on_every_backend([](io_context&) -> task<> {
        const std::deque<std::string> answers{
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nSum: 3\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"};
        for (std::size_t piece = 1; piece <= answers[1].size(); ++piece) {
            traffic over;
            over.answers = answers;
            over.piece = piece;
            http::client_connection connection{any_stream{fed_stream{over}}};
            const http::request what = get("/x");

            io_result<http::received_response> first = co_await connection.send(what);
            http::received_response one = first.take();
            const bool early = connection.reusable();
            const io_result<std::string> first_body = co_await one.body.read_all(100);
            io_result<http::received_response> second = co_await connection.send(what);
            http::received_response two = second.take();
            const io_result<std::string> second_body = co_await two.body.read_all(100);
            const std::string sum{two.body.trailers().value_or("sum")};
            io_result<http::received_response> third = co_await connection.send(what);

            CAPTURE(piece);
            CHECK(first.ok());
            CHECK_FALSE(early);
            CHECK(first_body.value() == "hello");
            CHECK(second.ok());
            CHECK(second_body.value() == "abc");
            CHECK(sum == "3");
            CHECK(third.ok());
            CHECK(third.value().status == http::status::not_found);
            CHECK_FALSE(connection.reusable());
            const std::string asked = "GET /x HTTP/1.1\r\nhost: h\r\n\r\n";
            CHECK(over.out == asked + asked + asked);
        }
    });
}

TEST_CASE(
    "a body is sent with its length or in chunks, and a method that expects one says that it is "
    "empty") {
    on_every_backend([](io_context&) -> task<> {
        const std::string answer = "HTTP/1.1 204 No Content\r\n\r\n";
        traffic over;
        http::client_connection connection{any_stream{fed_stream{over}}};
        http::request what{http::method::post, "/"};
        what.set_authority("h");
        const auto write = [](http::body_writer to) -> task<io_result<>> {
            const io_result<std::size_t> put =
                co_await write_all(to, bytes_of(std::string_view{"made"}));
            co_return put.error();
        };
        const std::string head = "POST / HTTP/1.1\r\nhost: h\r\n";

        over.in = answer;
        const auto known = co_await connection.send(what, "text");
        CHECK(known.ok());
        CHECK(over.out == head + "content-length: 4\r\n\r\ntext");
        over.out.clear();
        over.in = answer;
        const auto made = co_await connection.send(what, http::produced_by(write));
        CHECK(made.ok());
        CHECK(over.out == head + "transfer-encoding: chunked\r\n\r\n0004\r\nmade\r\n0\r\n\r\n");
        over.out.clear();
        over.in = answer;
        const auto empty = co_await connection.send(what);
        CHECK(empty.ok());
        CHECK(over.out == head + "content-length: 0\r\n\r\n");
    });
}

TEST_CASE("a request that cannot be sent is not, and the connection stays good") {
    on_every_backend([](io_context&) -> task<> {
        traffic over;
        http::client_connection connection{any_stream{fed_stream{over}}};
        const http::request split = get("/ HTTP/1.1\r\nX: y");
        http::request bad_field = get("/");
        bad_field.fields.add("x", "y\r\nz: w");
        http::request bad_host = get("/");
        bad_host.set_authority("h\r\nx: y");
        std::vector<http::request> others;
        for (const char* const target : {"/a#b", "/a\\b", "/%zz", "http://u@h/", "*", "h", ""}) {
            others.push_back(get(target));
        }
        others.push_back(get("/"));
        others.back().set_authority("h/a");
        others.push_back(http::request{http::method::connect, "h"});

        const auto first = co_await connection.send(split);
        const auto second = co_await connection.send(bad_field);
        const auto third = co_await connection.send(bad_host);

        CHECK(first.error() == errc::invalid_argument);
        CHECK(second.error() == errc::invalid_argument);
        CHECK(third.error() == errc::invalid_argument);
        for (const http::request& each : others) {
            CAPTURE(each.target());
            const auto got = co_await connection.send(each);
            CHECK(got.error() == errc::invalid_argument);
        }
        CHECK(over.out.empty());
        CHECK(connection.reusable());
    });
}

// RFC 9110, 7.8 and 15.2.2.
TEST_CASE("a change of protocol is an answer only to a request that asks for one") {
    on_every_backend([](io_context&) -> task<> {
        for (const bool asks : {false, true}) {
            traffic over;
            over.in =
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n";
            http::client_connection connection{any_stream{fed_stream{over}}};
            http::request what = get("/");
            if (asks) what.fields.set("upgrade", "x");

            const auto got = co_await connection.send(what);

            CAPTURE(asks);
            CHECK(got.ok() == asks);
            if (!asks) CHECK(got.error() == errc::malformed);
            CHECK_FALSE(connection.reusable());
            const auto next = co_await connection.send(what);
            CHECK(next.error() == errc::closed);
        }
    });
}

TEST_CASE("a connection with an unread body is busy") {
    on_every_backend([](io_context&) -> task<> {
        traffic over;
        over.in = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        http::client_connection connection{any_stream{fed_stream{over}}};
        const http::request what = get("/");

        const auto first = co_await connection.send(what);
        const auto second = co_await connection.send(what);

        CHECK(first.ok());
        CHECK(second.error() == errc::busy);
    });
}

TEST_CASE("whether a server has answered at all is told, and so is why an answer was refused") {
    on_every_backend([](io_context&) -> task<> {
        struct row {
            std::string in;
            errc code;
            bool answered;
            http::refusal why;
        };
        const std::vector<row> rows{
            {"", errc::connection_reset, false, http::refusal::none},
            {"HTTP/1.1 200", errc::connection_reset, true, http::refusal::none},
            {"HTTP/1.1 200 OK\n\n", errc::malformed, true, http::refusal::line_ending},
            {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", errc::malformed,
             true, http::refusal::length_malformed}};
        for (const row& each : rows) {
            traffic over;
            over.in = each.in;
            http::client_connection connection{any_stream{fed_stream{over}}};
            const http::request what = get("/");

            const auto got = co_await connection.send(what);

            CAPTURE(each.in);
            CHECK(got.error() == each.code);
            CHECK(connection.answered() == each.answered);
            CHECK(connection.why() == each.why);
            CHECK_FALSE(connection.reusable());
        }
    });
}

// RFC 9112, 6.3 and 8.
TEST_CASE("a body that ends with the connection is whole, and one that has a length is not") {
    on_every_backend([](io_context&) -> task<> {
        for (const bool has_length : {false, true}) {
            traffic over;
            over.in = has_length ? "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"
                                 : "HTTP/1.1 200 OK\r\n\r\nhello";
            http::client_connection connection{any_stream{fed_stream{over}}};
            const http::request what = get("/");

            io_result<http::received_response> got = co_await connection.send(what);
            http::received_response received = got.take();
            const io_result<std::string> body = co_await received.body.read_all(100);

            CHECK(body.value() == "hello");
            CHECK(body.ok() == !has_length);
            CHECK_FALSE(connection.reusable());
        }
    });
}

TEST_CASE("what comes unasked makes a connection useless") {
    on_every_backend([](io_context&) -> task<> {
        traffic over;
        over.in = "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n";
        http::client_connection connection{any_stream{fed_stream{over}}};
        const http::request what = get("/");

        const auto first = co_await connection.send(what);
        const auto second = co_await connection.send(what);

        CHECK(first.ok());
        CHECK_FALSE(connection.reusable());
        CHECK(second.error() == errc::closed);
    });
}
