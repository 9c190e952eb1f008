// SPDX-License-Identifier: BSL-1.0
//
// Many streams on one connection: back-pressure, cancellation, turns, GOAWAY and drains.
#include <gyre/http2/client_connection.hpp>
#include <gyre/http2/serve_connection.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/test/world.hpp>
#include <http2/ends.hpp>
#include <http2/frames.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> between(two_ends& ends, std::function<task<>()> talk) {
    const auto body = [&](task_group& group) -> task<> {
        ends.begin(group);
        co_await talk();
        ends.client.close();
    };
    co_await with_group(body);
}

}  // namespace

TEST_CASE("http2: a handler that does not read makes its peer wait within the window") {
    // RFC 9113, 5.2 and 6.9.2.
    on_every_backend([](io_context&) -> task<> {
        http2::connection_options options;
        options.windows.stream_bytes = options.windows.connection_bytes = 65'535;
        options.body_bytes_max = 10'000'000;
        event go_on;
        const auto slow = [&go_on](http::request& what) -> task<http::response> {
            static_cast<void>(co_await go_on.wait());
            const io_result<std::string> body = co_await what.body.read_all(10'000'000);
            co_return http::response{http::status::ok, std::to_string(body.value().size())};
        };
        two_ends ends{slow, 4'096, options};
        const auto talk = [&]() -> task<> {
            std::size_t written = 0;
            const auto write = [&written](http::body_writer to) -> task<io_result<>> {
                const std::string piece(10'000, 'x');
                for (int each = 0; each < 100; ++each) {
                    const io_result<std::size_t> put = co_await write_all(to, bytes_of(piece));
                    if (!put.ok()) co_return put.error();
                    written += put.value();
                }
                co_return io_result<>{};
            };
            const auto watch = [&](task_group& group) -> task<> {
                group.spawn([&]() -> task<> {
                    const auto full = [&written] { return written >= 60'000; };
                    co_await come_true(full);
                    co_await settle();
                    CHECK(written <= 65'535 + 4'096 + 3 * 16'384 + 10'000);
                    go_on.set();
                });
                const http::request what = request_of("/", http::method::post);
                io_result<http2::received_response> got =
                    co_await ends.client.send(what, http::produced_by(write));
                CHECK(got.ok());
                http2::received_response it = got.take();
                const io_result<std::string> text = co_await it.body.read_all(100);
                CHECK(text.value() == "1000000");
            };
            co_await with_group(watch);
        };
        co_await between(ends, talk);
    });
}

TEST_CASE("http2: a client that does not read makes a producer wait, and no other stream") {
    on_every_backend([](io_context&) -> task<> {
        std::size_t made = 0;
        bool stopped = false;
        const auto endless = [&](http::request& what) -> task<http::response> {
            if (what.target() == "/small") co_return http::response{http::status::ok, "small"};
            const auto write = [&](http::body_writer to) -> task<io_result<>> {
                const std::string piece(1'000, 'x');
                for (;;) {
                    const io_result<std::size_t> put = co_await write_all(to, bytes_of(piece));
                    made += put.value();
                    if (!put.ok()) {
                        stopped = true;
                        co_return put.error();
                    }
                }
            };
            co_return http::response{http::status::ok, http::produced_by(write)};
        };
        http2::client_options on_client;
        on_client.windows.stream_bytes = 65'535;
        two_ends ends{endless, 65'536, {}, on_client};
        const auto talk = [&]() -> task<> {
            const http::request what = request_of("/endless");
            io_result<http2::received_response> got = co_await ends.client.send(what);
            http2::received_response it = got.take();
            const auto full = [&made] { return made >= 65'000; };
            co_await come_true(full);
            co_await settle();
            const std::size_t before = made;
            CHECK(before <= 65'535 + 2 * 16'384);
            const http::request small = request_of("/small");
            io_result<http2::received_response> other = co_await ends.client.send(small);
            CHECK(other.ok());
            http2::received_response that = other.take();
            const io_result<std::string> text = co_await that.body.read_all(100);
            CHECK(text.value() == "small");
            CHECK(made == before);
            // Dropped: the server hears of it, and its producer is stopped.
            it = http2::received_response{};
            const auto is_stopped = [&stopped] { return stopped; };
            co_await come_true(is_stopped);
        };
        co_await between(ends, talk);
        CHECK(ends.served.ok());
    });
}

TEST_CASE("http2: a request that is given up stops its handler, and no other") {
    // RFC 9113, 5.4.2.
    on_every_backend([](io_context&) -> task<> {
        int begun = 0;
        int canceled = 0;
        const auto sleepy = [&begun, &canceled](http::request& what) -> task<http::response> {
            if (what.target() == "/sleep") {
                ++begun;
                const io_result<> slept = co_await sleep_for(10s);
                if (slept.error() == errc::canceled) ++canceled;
            }
            co_return http::response{http::status::ok, "done"};
        };
        two_ends ends{sleepy};
        const auto talk = [&]() -> task<> {
            const auto ask = [&ends]() -> task<io_result<>> {
                const http::request what = request_of("/sleep");
                const io_result<http2::received_response> got = co_await ends.client.send(what);
                co_return got.error();
            };
            const auto rounds = [&](task_group& group) -> task<> {
                for (int each = 0; each < 5; ++each) {
                    child<io_result<>> asking = group.spawn_child(ask);
                    const auto has_begun = [&begun, each] { return begun > each; };
                    co_await come_true(has_begun);
                    asking.request_stop();
                    const io_result<> given_up = co_await asking.result();
                    CHECK(given_up.error() == errc::canceled);
                    const http::request other = request_of("/");
                    const io_result<http2::received_response> fine =
                        co_await ends.client.send(other);
                    CHECK(fine.ok());
                }
            };
            co_await with_group(rounds);
            CHECK(canceled == 5);
        };
        co_await between(ends, talk);
        CHECK(ends.served.ok());
        CHECK(ends.ran.ok());
    });
}

TEST_CASE("http2: what the server allows no more of waits in turn") {
    // RFC 9113, 5.1.2.
    on_every_backend([](io_context&) -> task<> {
        http2::connection_options options;
        options.streams_max = 3;
        int running = 0;
        int most = 0;
        std::vector<std::string> order;
        const auto counted = [&](http::request& what) -> task<http::response> {
            order.emplace_back(what.target());
            most = std::max(most, ++running);
            static_cast<void>(co_await sleep_for(1ms));
            --running;
            co_return http::response{http::status::ok};
        };
        two_ends ends{counted, 65'536, options};
        const auto talk = [&]() -> task<> {
            const http::request first = request_of("/first");
            static_cast<void>(co_await ends.client.send(first));
            CHECK(ends.client.streams_free() == 3);
            const auto many = [&](task_group& group) -> task<> {
                for (int each = 0; each < 20; ++each) {
                    group.spawn([&ends, each]() -> task<> {
                        const http::request what = request_of("/" + std::to_string(each));
                        const io_result<http2::received_response> got =
                            co_await ends.client.send(what);
                        CHECK(got.ok());
                    });
                }
                co_return;
            };
            co_await with_group(many);
        };
        co_await between(ends, talk);
        CHECK(most == 3);
        CHECK(order.size() == 21);
        for (std::size_t each = 0; each < 20; ++each) {
            CHECK(order[each + 1] == "/" + std::to_string(each));
        }
    });
}

TEST_CASE("http2: a drain says GOAWAY in two steps, and lets streams end") {
    // RFC 9113, 6.8.
    on_every_backend([](io_context&) -> task<> {
        event begun;
        bool told = false;
        const auto handle = [&](http::request& what) -> task<http::response> {
            begun.set();
            static_cast<void>(co_await sleep_for(30ms));
            told = what.stopping();
            co_return http::response{http::status::ok, "ended"};
        };
        two_ends ends{handle};
        const auto body = [&](task_group& group) -> task<> {
            group.spawn([&]() -> task<> {
                const http::request what = request_of("/");
                io_result<http2::received_response> got = co_await ends.client.send(what);
                CHECK(got.ok());
                http2::received_response it = got.take();
                const io_result<std::string> text = co_await it.body.read_all(100);
                CHECK(text.value() == "ended");
                CHECK_FALSE(ends.client.reusable());
                io_result<http2::received_response> late = co_await ends.client.send(what);
                CHECK(late.error() == errc::closed);
                CHECK(late.take().unprocessed);
            });
            group.spawn([&]() -> task<> {
                const auto inner = [&](task_group& both) -> task<> {
                    ends.begin_server(both);
                    static_cast<void>(co_await begun.wait());
                    both.request_drain();
                };
                co_await with_group(inner);
            });
            ends.begin_client(group);
            co_return;
        };
        co_await with_group(body);
        CHECK(told);
        CHECK(ends.served.ok());
        CHECK(ends.ran.ok());
    });
}

TEST_CASE("http2: a stop ends the server, and requests learn that their connection is gone") {
    on_every_backend([](io_context&) -> task<> {
        event begun;
        const auto handle = [&](http::request&) -> task<http::response> {
            begun.set();
            static_cast<void>(co_await sleep_for(10s));
            co_return http::response{};
        };
        two_ends ends{handle};
        const auto body = [&](task_group& group) -> task<> {
            group.spawn([&]() -> task<> {
                const http::request what = request_of("/");
                const io_result<http2::received_response> got = co_await ends.client.send(what);
                CHECK(got.error() == errc::connection_reset);
                CHECK_FALSE(got.value().unprocessed);
            });
            group.spawn([&]() -> task<> {
                const auto inner = [&](task_group& both) -> task<> {
                    ends.begin_server(both);
                    static_cast<void>(co_await begun.wait());
                    both.request_stop();
                };
                co_await with_group(inner);
            });
            ends.begin_client(group);
            co_return;
        };
        co_await with_group(body);
        CHECK(ends.served.error() == errc::canceled);
    });
}

TEST_CASE("http2: a response outlives its connection, and reads nothing then") {
    on_every_backend([](io_context&) -> task<> {
        const auto handle = [](http::request&) -> task<http::response> {
            const auto write = [](http::body_writer to) -> task<io_result<>> {
                const io_result<> flushed = co_await to.flush();
                static_cast<void>(co_await sleep_for(10s));
                co_return flushed;
            };
            co_return http::response{http::status::ok, http::produced_by(write)};
        };
        http2::received_response kept;
        {
            two_ends ends{handle};
            const auto body = [&](task_group& group) -> task<> {
                ends.begin(group);
                const http::request what = request_of("/");
                io_result<http2::received_response> got = co_await ends.client.send(what);
                CHECK(got.ok());
                kept = got.take();
                group.request_stop();
            };
            co_await with_group(body);
        }
        std::string space(10, ' ');
        const io_result<std::size_t> read = co_await kept.body.read_some(space);
        CHECK_FALSE(read.ok());
    });
}

namespace {

struct two_machines {
    explicit two_machines(const test::link_options& links = {}) { world.set_links(links); }

    test::world world;
    test::machine& server = world.add("server");
    test::machine& client = world.add("client");
    endpoint where = server.at(7000);
    stream_acceptor acceptor = stream_acceptor::listen(server.io(), where, {}).take();
    http::handler handle = echo;
    http2::connection_options options;
    http2::connection_hooks hooks;
    error served = errc::busy;
    error ran = errc::busy;
};

task<> serve_one(two_machines& in) {
    auto accepted = co_await in.acceptor.accept();
    CHECK(accepted.ok());
    if (!accepted.ok()) co_return;
    const io_result<> ended = co_await http2::serve_connection(any_stream{accepted.take()},
                                                               in.handle, in.options, in.hooks);
    in.served = ended.error();
}

task<> converse(two_machines& in, int rounds, bool whole) {
    auto connected = co_await stream_socket::connect(in.where);
    CHECK(connected.ok());
    http2::client_connection client{any_stream{connected.take()}};
    const auto talk = [&](task_group& group) -> task<> {
        group.spawn([&]() -> task<> {
            const io_result<> ended = co_await client.run();
            in.ran = ended.error();
        });
        for (int each = 0; each < rounds; ++each) {
            const std::string text(static_cast<std::size_t>(each) * 997 % 30'000, 'x');
            const http::request what = request_of("/" + std::to_string(each), http::method::post);
            io_result<http2::received_response> got = co_await client.send(what, text);
            if (whole) CHECK(got.ok());
            if (!got.ok()) break;
            http2::received_response it = got.take();
            const io_result<std::string> body = co_await it.body.read_all(100'000);
            if (whole) CHECK(body.ok());
            if (!body.ok()) break;
            CHECK(body.value().size() ==
                  what.target().size() + 5 + (text.empty() ? 0 : 1) + text.size());
        }
        client.close();
    };
    co_await with_group(talk);
}

}  // namespace

TEST_CASE("http2 in a world: requests are answered over a link that delays and loses") {
    test::link_options bad;
    bad.latency = 20ms;
    bad.jitter = 30ms;
    bad.loss = 0.02;
    bad.bytes_per_second = 10'000'000;
    two_machines in{bad};
    in.world.start(in.server, serve_one(in));
    in.world.start(in.client, converse(in, 40, true));
    const auto outcome = in.world.run();
    CHECK_MESSAGE(outcome.ok(), outcome.text());
    CHECK(in.served == errc::ok);
    CHECK(in.ran == errc::ok);
}

TEST_CASE(
    "http2 in a world: a connection that breaks ends both sides, and soon where a request waits") {
    test::link_options link;
    link.latency = 20ms;
    for (const duration broken_after : {1'000ms, 1'007ms, 1'023ms, 1'042ms, 1'061ms}) {
        CAPTURE(broken_after.count());
        two_machines in{link};
        in.world.start(in.server, serve_one(in));
        in.world.start(in.client, converse(in, 1'000'000, false));
        static_cast<void>(in.world.run_for(broken_after));
        CHECK(in.ran == errc::busy);
        const time_point broken = in.world.now();
        in.server.break_connections();
        const auto outcome = in.world.run(10min);

        // Whose request has arrived hears nothing until it asks: the answer to its PING is a reset.
        CHECK_MESSAGE(outcome.ok(), outcome.text());
        CHECK(in.world.now() - broken < in.options.times.ping_after + 1s);
        CHECK((in.ran == errc::connection_reset || in.ran == errc::broken_pipe));
        CHECK_FALSE(in.served == errc::ok);
    }
}

TEST_CASE("http2 on sockets: requests are answered on every backend") {
    on_every_backend([](io_context&) -> task<> {
        auto acceptor = co_await tcp_acceptor::listen(endpoint::parse("127.0.0.1:0").value());
        CHECK(acceptor.ok());
        auto listening = acceptor.take();
        const auto body = [&](task_group& group) -> task<> {
            group.spawn([&]() -> task<> {
                auto accepted = co_await listening.accept();
                const http::handler handle = echo;
                const http2::connection_options options;
                const http2::connection_hooks hooks;
                const io_result<> ended = co_await http2::serve_connection(
                    any_stream{accepted.take()}, handle, options, hooks);
                CHECK(ended.ok());
            });
            auto connected = co_await stream_socket::connect(listening.local_endpoint().value());
            CHECK(connected.ok());
            http2::client_connection client{any_stream{connected.take()}};
            const auto talk = [&](task_group& inner) -> task<> {
                inner.spawn([&]() -> task<> { static_cast<void>(co_await client.run()); });
                for (int each = 0; each < 20; ++each) {
                    const http::request what = request_of("/s", http::method::post);
                    io_result<http2::received_response> got =
                        co_await client.send(what, std::string(50'000, 'y'));
                    CHECK(got.ok());
                    http2::received_response it = got.take();
                    const io_result<std::string> text = co_await it.body.read_all(100'000);
                    CHECK(text.value().size() == 50'008);
                }
                client.close();
            };
            co_await with_group(talk);
        };
        co_await with_group(body);
    });
}
