// SPDX-License-Identifier: BSL-1.0
//
// HTTP/1 on networks that are slow, lose packets and break connections, and with peers that are slow on
// purpose, in worlds.
#include <gyre/http/client_connection.hpp>
#include <gyre/http/serve_connection.hpp>

#include <gyre/coro/this_task.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/test/world.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace gyre;
using namespace std::chrono_literals;

namespace {

// The body that came, or "/slow": an answer that takes its time.
task<http::response> echo(http::request& what) {
    if (what.path() == "/slow") static_cast<void>(co_await sleep_for(10s));
    io_result<std::string> body = co_await what.body.read_all(1'000'000);
    if (!body.ok()) co_return http::response{http::status::bad_request};
    co_return http::response{http::status::ok, "text/plain", body.take()};
}

task<http::response> send_much(http::request&) {
    co_return http::response{http::status::ok, "text/plain", std::string(2'000'000, 'm')};
}

struct served_world {
    explicit served_world(const test::link_options& links = {}) { world.set_links(links); }

    // Connections one after the other, each by a task of its own.
    task<> serve() {
        stream_acceptor acceptor = stream_acceptor::listen(server.io(), where).take();
        const auto body = [&](task_group& group) -> task<> {
            for (;;) {
                auto taken = co_await acceptor.accept();
                if (!taken.ok()) co_return;
                group.spawn(serve_one(taken.take()));
            }
        };
        co_await with_group(body);
    }

    task<> serve_one(stream_socket peer) {
        loop& home = co_await this_task::loop();
        const io_result<> ended =
            co_await http::serve_connection(any_stream{std::move(peer)}, handle, options, hooks);
        endings.push_back(ended.error());
        ended_at.push_back(home.now());
    }

    task<http::client_connection> connect() {
        auto connected = co_await stream_socket::connect(where);
        co_return http::client_connection{any_stream{connected.take()}};
    }

    http::handler handle = echo;
    http::connection_options options;
    http::connection_hooks hooks;
    std::vector<error> endings;
    std::vector<time_point> ended_at;

    // At its end what is pending is stopped, and uses what stands above.
    test::world world;
    test::machine& server = world.add("server");
    test::machine& client = world.add("client");
    endpoint where = server.at(8080);
};

test::link_options bad_link() {
    test::link_options options;
    options.latency = 20ms;
    options.jitter = 15ms;
    options.loss = 0.05;
    options.bytes_per_second = 1'000'000;
    return options;
}

http::request post(std::string_view target) {
    http::request what{http::method::post, target};
    what.set_authority("server");
    return what;
}

http::response_body in_chunks(std::string text) {
    auto write = [text = std::move(text)](http::body_writer to) -> task<io_result<>> {
        std::string_view rest{text};
        while (!rest.empty()) {
            const std::string_view piece = rest.substr(0, 3000);
            const io_result<std::size_t> put = co_await write_all(to, bytes_of(piece));
            if (!put.ok()) co_return put.error();
            rest.remove_prefix(piece.size());
        }
        co_return io_result<>{};
    };
    return http::response_body{http::produced_by(std::move(write))};
}

// What a peer that speaks byte by byte sends, and how long it was listened to.
task<duration> dribble(served_world& in, std::string_view head, duration pause) {
    auto connected = co_await stream_socket::connect(in.where);
    stream_socket peer = connected.take();
    const time_point begun = in.client.io().now();
    static_cast<void>(co_await write_all(peer, bytes_of(head)));
    for (int each = 0; each < 1000 && in.endings.empty(); ++each) {
        const io_result<std::size_t> put =
            co_await peer.write_some(bytes_of(std::string_view{"x"}));
        if (!put.ok()) break;
        static_cast<void>(co_await sleep_for(pause));
    }
    co_return in.ended_at.empty() ? duration::max() : in.ended_at.front() - begun;
}

}  // namespace

TEST_CASE("HTTP in a world: bodies come back over a link that delays and loses") {
    served_world in{bad_link()};
    in.world.start(in.server, in.serve());
    const auto talk = [&]() -> task<int> {
        http::client_connection peer = co_await in.connect();
        int right = 0;
        for (const std::size_t size : {0, 1, 5000, 70'000, 300'000}) {
            const std::string text(size, 'w');
            const http::request what = post("/");
            http::response_body content{text};
            if (size % 2 != 0) content = in_chunks(text);
            auto got = co_await peer.send(what, std::move(content));
            if (!got.ok()) co_return right;
            const io_result<std::string> body = co_await got.value().body.read_all(1'000'000);
            if (body.ok() && body.value() == text && peer.reusable()) ++right;
        }
        co_return right;
    };

    auto outcome = in.world.run(in.client, talk());

    REQUIRE_MESSAGE(outcome.ok(), outcome.text());
    CHECK(outcome.take() == 5);
}

TEST_CASE("HTTP in a world: a connection that breaks is no end, on either side") {
    served_world in{bad_link()};
    in.world.start(in.server, in.serve());
    const auto talk = [&]() -> task<error> {
        http::client_connection peer = co_await in.connect();
        error outcome;
        const auto breaks = [&]() -> task<> {
            static_cast<void>(co_await sleep_for(1s));
            in.server.break_connections();
            // Whatever is sent now is answered by a reset.
            static_cast<void>(co_await sleep_for(20s));
        };
        const auto asks = [&]() -> task<> {
            const http::request what = post("/");
            for (int each = 0; each < 1000 && !outcome; ++each) {
                auto got = co_await peer.send(what, std::string(20'000, 'x'));
                outcome = got.error();
                if (!got.ok()) continue;
                const io_result<std::string> body = co_await got.value().body.read_all(1'000'000);
                outcome = body.error();
            }
            CHECK_FALSE(peer.reusable());
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(breaks());
            group.spawn(asks());
            co_return;
        };
        co_await with_group(body);
        co_return outcome;
    };

    auto outcome = in.world.run(in.client, talk());

    REQUIRE_MESSAGE(outcome.ok(), outcome.text());
    const error failed = outcome.take();
    CHECK((failed == errc::connection_reset || failed == errc::broken_pipe));
    REQUIRE(in.endings.size() == 1);
    CHECK_FALSE(in.endings[0] == errc::ok);
}

TEST_CASE("HTTP in a world: a head byte by byte ends after its time, an answer tells why") {
    served_world in{bad_link()};
    in.world.start(in.server, in.serve());

    auto outcome = in.world.run(in.client, dribble(in, "GET / HTTP/1.1\r\nHost: h\r\nX: ", 1s));

    REQUIRE_MESSAGE(outcome.ok(), outcome.text());
    CHECK(outcome.take() < in.options.head_time_max + in.options.linger_time_max + 1s);
    REQUIRE(in.endings.size() == 1);
    CHECK(in.endings[0] == errc::timed_out);
}

TEST_CASE("HTTP in a world: a body byte by byte is no longer waited for than one that stays away") {
    for (const std::string_view head :
         {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n"}) {
        CAPTURE(head);
        served_world in{bad_link()};
        in.world.start(in.server, in.serve());

        auto outcome = in.world.run(in.client, dribble(in, head, 1s));

        REQUIRE_MESSAGE(outcome.ok(), outcome.text());
        const duration took = outcome.take();
        CHECK(took > in.options.body_silence_max - 1s);
        CHECK(took < in.options.body_silence_max + in.options.linger_time_max + 2s);
    }
}

TEST_CASE("HTTP in a world: a slow body is read to its end if its peer keeps to the rate") {
    served_world in;
    in.world.start(in.server, in.serve());
    const auto talk = [&]() -> task<std::string> {
        auto connected = co_await stream_socket::connect(in.where);
        stream_socket peer = connected.take();
        constexpr std::string_view head =
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 30000\r\nConnection: close\r\n\r\n";
        static_cast<void>(co_await write_all(peer, bytes_of(head)));
        const std::string piece(600, 'x');
        for (int each = 0; each < 50; ++each) {  // 300 bytes a second, for 100 s.
            static_cast<void>(co_await sleep_for(2s));
            static_cast<void>(co_await write_all(peer, bytes_of(piece)));
        }
        std::string answer(100'000, '\0');
        const io_result<std::size_t> got = co_await read_exactly(peer, answer);
        answer.resize(got.value());
        co_return answer;
    };

    auto outcome = in.world.run(in.client, talk());

    REQUIRE_MESSAGE(outcome.ok(), outcome.text());
    const std::string answer = outcome.take();
    CHECK(answer.starts_with("HTTP/1.1 200 "));
    CHECK(answer.ends_with(std::string(30'000, 'x')));
}

TEST_CASE("HTTP in a world: a handler that takes its time does not count as a slow peer") {
    served_world in;
    in.options.body_silence_max = 2s;
    in.world.start(in.server, in.serve());
    const auto talk = [&]() -> task<bool> {
        http::client_connection peer = co_await in.connect();
        const http::request what = post("/slow");
        auto got = co_await peer.send(what, in_chunks(std::string(30'000, 'x')));
        if (!got.ok()) co_return false;
        const io_result<std::string> body = co_await got.value().body.read_all(1'000'000);
        co_return body.value().size() == 30'000;
    };

    auto outcome = in.world.run(in.client, talk());

    REQUIRE_MESSAGE(outcome.ok(), outcome.text());
    CHECK(outcome.take());
}

TEST_CASE("HTTP in a world: who does not read its answer, or hardly, is not waited for for ever") {
    for (const std::size_t piece : {std::size_t{0}, std::size_t{10}}) {
        CAPTURE(piece);
        served_world in;
        in.handle = send_much;
        in.world.start(in.server, in.serve());
        const auto talk = [&]() -> task<duration> {
            auto connected = co_await stream_socket::connect(in.where);
            stream_socket peer = connected.take();
            const time_point begun = in.client.io().now();
            static_cast<void>(co_await write_all(
                peer, bytes_of(std::string_view{"GET / HTTP/1.1\r\nHost: h\r\n\r\n"})));
            std::string space(piece, '\0');
            for (int each = 0; each < 10'000 && in.endings.empty(); ++each) {
                if (piece > 0) static_cast<void>(co_await peer.read_some(space));
                static_cast<void>(co_await sleep_for(1s));
            }
            co_return in.ended_at.empty() ? duration::max() : in.ended_at.front() - begun;
        };

        auto outcome = in.world.run(in.client, talk());

        REQUIRE_MESSAGE(outcome.ok(), outcome.text());
        // What fits in the kernel's buffers counts as taken: 256 KiB here, 1,092 s at 240 bytes a second.
        CHECK(outcome.take() < in.options.write_time_max + 1200s);
        REQUIRE(in.endings.size() == 1);
        CHECK(in.endings[0] == errc::timed_out);
    }
}

namespace {

// Takes nothing, and says nothing until it is given up.
class deaf_stream {
public:
    [[nodiscard]] task<io_result<std::size_t>> read_some(read_space) {
        const io_result<> over = co_await sleep_for(24h);
        co_return io_result<std::size_t>{error{over.error().code(), activity::read}};
    }
    [[nodiscard]] task<io_result<std::size_t>> write_some(const_buffer) {
        co_return io_result<std::size_t>{error{errc::broken_pipe, activity::write}};
    }
    void shutdown_send() noexcept {}
};

}  // namespace

TEST_CASE("a server that takes nothing is not waited for as long as one that has to answer") {
    test::world world;
    test::machine& here = world.add("here");
    error failed;
    duration took{};
    const auto ask = [&]() -> task<> {
        loop& home = co_await this_task::loop();
        const time_point begun = home.read_clock();
        http::client_connection connection{any_stream{deaf_stream{}}};
        http::request what{http::method::get, "/"};
        what.set_authority("h");
        const auto got = co_await connection.send(what);
        failed = got.error();
        took = home.read_clock() - begun;
    };

    auto ended = world.run(here, ask(), 1h);

    REQUIRE_MESSAGE(ended.ok(), ended.text());
    CHECK(failed == errc::broken_pipe);
    CHECK(took == 1s);
}
