// SPDX-License-Identifier: BSL-1.0
//
// How a user's exception leaves `run`, `run_until_signal` and `serve`. Built only with exceptions.
#include <gyre/io/run.hpp>
#include <gyre/io/serve.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>

#include <array>
#include <functional>
#include <stdexcept>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

TEST_CASE("run rethrows a user's exception") {
    with_every_backend([](const io_context_options& options) {
        const auto throwing = []() -> task<int> {
            static_cast<void>(co_await sleep_for(0ms));
            throw 13;
        };
        int caught = 0;

        try {
            static_cast<void>(run(throwing(), options));
        } catch (int what) {
            caught = what;
        }

        CHECK(caught == 13);
    });
}

TEST_CASE("run_until_signal rethrows a user's exception") {
    with_every_backend([](const io_context_options& loop) {
        const child_report report = in_child([&](child_process& me) {
            const auto throwing = []() -> task<> {
                static_cast<void>(co_await sleep_for(0ms));
                throw 13;
            };
            run_options options;
            options.loop = loop;
            int caught = 0;
            try {
                static_cast<void>(run_until_signal(throwing(), options));
            } catch (int what) {
                caught = what;
            }
            me.check(caught == 13, "the same exception");
        });
        INFO(report.text);
        CHECK(report.status == 0);
    });
}

TEST_CASE("an exception ends its session and is counted, and the server goes on") {
    on_every_backend([](io_context& io) -> task<> {
        tcp_acceptor acceptor = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
        const endpoint where = acceptor.local_endpoint().value();
        serve_counters counters;
        serve_options options;
        options.counters = &counters;
        const auto session = [first = true](stream_socket peer) mutable -> task<> {
            if (std::exchange(first, false)) throw std::runtime_error{"what a peer has caused"};
            static_cast<void>(co_await peer.write_some(bytes_of("x")));
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(serve(std::move(acceptor), session, options));
            std::array<std::byte, 1> space{};
            io_result<stream_socket> unlucky = co_await stream_socket::connect(where);
            const io_result<std::size_t> none = co_await unlucky.take().read_some(space);
            CHECK(none.error() == errc::eof);
            io_result<stream_socket> next = co_await stream_socket::connect(where);
            const io_result<std::size_t> one = co_await next.take().read_some(space);
            CHECK(one.ok());
            group.request_drain();
        };

        co_await with_group(body);

        CHECK(counters.threw == 1);
        CHECK(counters.accepted == 2);
    });
}

TEST_CASE("an exception from a session stops the server and every session, if it is to") {
    struct broken {};
    on_every_backend([](io_context& io) -> task<> {
        io_result<tcp_acceptor> listening = tcp_acceptor::listen(io, {ipv4::loopback(), 0});
        tcp_acceptor acceptor = listening.take();
        const endpoint where = acceptor.local_endpoint().value();
        int begun = 0;
        bool other_ended = false;
        bool caught = false;
        const auto session = [&](stream_socket peer) -> task<> {
            ++begun;
            std::array<std::byte, 1> space{};
            const io_result<std::size_t> got = co_await peer.read_some(space);
            if (got.ok()) throw broken{};
            other_ended = got.error() == errc::canceled;
        };
        const auto server = [&](tcp_acceptor from) -> task<> {
            serve_options options;
            options.on_exception = session_exception::ends_server;
            try {
                static_cast<void>(co_await serve(std::move(from), std::cref(session), options));
            } catch (const broken&) {
                caught = true;
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(server(std::move(acceptor)));
            io_result<stream_socket> first_made = co_await stream_socket::connect(where);
            io_result<stream_socket> second_made = co_await stream_socket::connect(where);
            stream_socket first = first_made.take();
            stream_socket second = second_made.take();
            while (begun < 2) co_await yield();
            static_cast<void>(co_await second.write_some(bytes_of("x")));
            std::array<std::byte, 1> space{};
            static_cast<void>(co_await first.read_some(space));
        };

        co_await with_group(body);

        CHECK(caught);
        CHECK(other_ended);
    });
}

TEST_CASE("an exception of the call that makes a session counts as the session's") {
    struct broken {};
    on_every_backend([](io_context& io) -> task<> {
        for (const session_exception what :
             {session_exception::ends_session, session_exception::ends_server}) {
            io_result<tcp_acceptor> listening = tcp_acceptor::listen(io, {ipv4::loopback(), 0});
            tcp_acceptor acceptor = listening.take();
            const endpoint where = acceptor.local_endpoint().value();
            serve_counters counters;
            serve_options options;
            options.connections_max = 1;
            options.counters = &counters;
            options.on_exception = what;
            bool caught = false;
            const auto session = [](stream_socket) -> task<> { throw broken{}; };
            const auto server = [&](tcp_acceptor from) -> task<> {
                try {
                    static_cast<void>(co_await serve(std::move(from), session, options));
                } catch (const broken&) {
                    caught = true;
                }
            };
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(server(std::move(acceptor)));
                std::array<std::byte, 1> space{};
                io_result<stream_socket> first = co_await stream_socket::connect(where);
                static_cast<void>(co_await first.take().read_some(space));
                io_result<stream_socket> second = co_await stream_socket::connect(where);
                if (second.ok()) static_cast<void>(co_await second.take().read_some(space));
                group.request_drain();
            };

            co_await with_group(body);

            const bool ends = what == session_exception::ends_server;
            CHECK(caught == ends);
            CHECK(counters.threw == (ends ? 1 : 2));
        }
    });
}
