// SPDX-License-Identifier: BSL-1.0
//
// What every backend owes the loops above it (gyre/runtime/loop_backend.hpp), opcode by opcode.
//
// Each law runs on epoll and on every tier of io_uring. Nothing here may name a backend: a difference
// that a law has to know about is a bug in one of them.
#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/runtime/loop_backend.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// Writes text from outside of any loop.
void put(const stream_socket& to, std::string_view text) {
    REQUIRE(::send(to.native_handle(), text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
}

// Fills both kernel buffers until the next write would block.
void fill(const stream_socket& to) {
    const std::vector<char> chunk(64 * 1024, 'x');
    while (::send(to.native_handle(), chunk.data(), chunk.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >
           0) {
    }
}

std::string text(std::span<const std::byte> bytes) { return std::string{text_of(bytes)}; }

}  // namespace

TEST_CASE("receive: takes what is there, waits for what is not, ends with the stream") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);
        std::array<std::byte, 16> space;

        put(client, "here already");
        const auto first = co_await server.read_some(mutable_buffer{space});
        CHECK(text(std::span{space}.first(first.value())) == "here already");

        stream_socket& writer = client;
        const auto later = [&]() -> task<io_result<std::size_t>> {
            co_await yield();
            const auto sent = co_await writer.write_some(bytes_of("later"));
            co_return sent;
        };
        const auto both = co_await when_all(server.read_some(mutable_buffer{space}), later());
        CHECK(text(std::span{space}.first(std::get<0>(both).value())) == "later");

        static_cast<void>(client.close());
        const auto last = co_await server.read_some(mutable_buffer{space});
        CHECK(last.error() == errc::eof);
        const auto again = co_await server.read_some(mutable_buffer{space});
        CHECK(again.error() == errc::eof);
    });
}

TEST_CASE("receive: a short read does not hide what follows it") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);
        std::array<std::byte, 8> space;
        std::string got;

        for (int round = 0; round < 200; ++round) {
            put(client, "abc");
            const auto read = co_await with_timeout(10s, server.read_some(mutable_buffer{space}));
            REQUIRE(read.ok());
            got += text(std::span{space}.first(read.value()));
        }

        CHECK(got.size() == 600);
    });
}

TEST_CASE("receive: what arrived together with the end is read before the end") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);
        std::array<std::byte, 4> space;
        put(client, "ten bytes!");
        static_cast<void>(client.close());
        std::string got;

        for (;;) {
            const auto read = co_await with_timeout(10s, server.read_some(mutable_buffer{space}));
            if (!read.ok()) {
                CHECK(read.error() == errc::eof);
                break;
            }
            got += text(std::span{space}.first(read.value()));
        }

        CHECK(got == "ten bytes!");
    });
}

TEST_CASE("lease: takes what is there, waits for what is not, ends with the stream") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);

        put(client, "here already");
        auto first = co_await server.read();
        CHECK(text(first.take().bytes()) == "here already");

        stream_socket& writer = client;
        const auto later = [&]() -> task<io_result<std::size_t>> {
            co_await yield();
            const auto sent = co_await writer.write_some(bytes_of("later"));
            co_return sent;
        };
        auto both = co_await when_all(server.read(), later());
        CHECK(text(std::get<0>(both).take().bytes()) == "later");

        put(client, "the last");
        static_cast<void>(client.close());
        auto last = co_await server.read();
        CHECK(text(last.take().bytes()) == "the last");
        const auto end = co_await server.read();
        CHECK(end.error() == errc::eof);
        const auto again = co_await server.read();
        CHECK(again.error() == errc::eof);
        CHECK(io.receive_memory().blocks_lent == 0);
    });
}

TEST_CASE("receive: several waiting on one descriptor are served in their order") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);
        stream_socket& from = server;
        std::string order;
        const auto read = [&](char name) -> task<> {
            std::array<std::byte, 1> space;
            const auto got = co_await from.read_some(mutable_buffer{space});
            CHECK(got.ok());
            order += name;
            order += text(space);
        };
        stream_socket& to = client;
        const auto body = [&](task_group& group) -> task<> {
            for (const char name : {'a', 'b', 'c'}) group.spawn(read(name));
            co_await yield();
            const auto sent = co_await to.write_some(bytes_of("123"));
            CHECK(sent.value() == 3);
        };

        co_await with_group(body);

        CHECK(order == "a1b2c3");
    });
}

TEST_CASE("send: takes what fits, waits for room, fails when the peer has closed") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = local_pair(io);
        fill(client);
        stream_socket& reader = server;
        const auto make_room = [&]() -> task<io_result<std::size_t>> {
            std::vector<std::byte> space(1 << 20);
            co_await yield();
            const auto got = co_await reader.read_some(mutable_buffer{space});
            co_return got;
        };

        const auto waited = co_await when_all(client.write_some(bytes_of("more")), make_room());
        CHECK(std::get<0>(waited).value() == 4);

        static_cast<void>(server.close());
        const auto broken = co_await client.write_some(bytes_of("closed"));
        CHECK((broken.error() == errc::broken_pipe || broken.error() == errc::connection_reset));
    });
}

TEST_CASE("send: a waiting one is ended by a stop and nothing of it is sent") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = local_pair(io);
        fill(client);

        const auto sent = co_await with_timeout(5ms, client.write_some(bytes_of("late")));

        CHECK(sent.error() == errc::timed_out);
        CHECK(sent.value() == 0);
    });
}

TEST_CASE("scatter and gather: buffers are filled and sent in their order") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);
        const std::array<const_buffer, 3> parts{bytes_of("one "), const_buffer{}, bytes_of("two")};
        std::array<std::byte, 2> left{};
        std::array<std::byte, 8> right{};
        const std::array<mutable_buffer, 2> into{mutable_buffer{left}, mutable_buffer{right}};

        const auto sent = co_await client.write_some(const_buffers{parts});
        const auto got = co_await server.read_some(mutable_buffers{into});

        CHECK(sent.value() == 7);
        CHECK(got.value() == 7);
        CHECK(text(left) == "on");
        CHECK(text(std::span{right}.first(5)) == "e two");
    });
}

TEST_CASE("scatter: waits like a plain receive, and ends with the stream") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);
        std::array<std::byte, 4> space{};
        const std::array<mutable_buffer, 1> into{mutable_buffer{space}};
        const auto waited = co_await with_timeout(2ms, server.read_some(mutable_buffers{into}));
        static_cast<void>(client.close());

        const auto ended = co_await server.read_some(mutable_buffers{into});

        CHECK(waited.error() == errc::timed_out);
        CHECK(ended.error() == errc::eof);
    });
}

TEST_CASE("batch: waits for the first, takes what is there, sends what there is room for") {
    on_every_backend([](io_context& io) -> task<> {
        udp_socket from = udp_socket::bind(io, endpoint{ipv4::loopback(), 0}).take();
        udp_socket to = udp_socket::bind(io, endpoint{ipv4::loopback(), 0}).take();
        const endpoint address = to.local_endpoint().value();
        datagram_batch out{64, 1024};
        datagram_batch in{64, 1024};
        const std::vector<std::byte> bytes(1024);

        const auto waited = co_await with_timeout(2ms, to.receive(in));
        std::size_t sent = 0;
        std::size_t received = 0;
        while (received < 1000) {
            while (sent < 1000 && out.append(bytes, address)) ++sent;
            const auto gone = co_await from.send(out);
            CHECK(gone.ok());
            const auto got = co_await to.receive(in);
            CHECK(got.ok());
            if (!got.ok()) co_return;
            received += got.value();
        }
        const auto nothing = co_await with_timeout(2ms, to.receive(in));

        CHECK(waited.error() == errc::timed_out);
        CHECK(received == 1000);
        CHECK(nothing.error() == errc::timed_out);
    });
}

TEST_CASE("accept and connect: each connection comes out once, with its peer's address") {
    on_every_backend([](io_context& io) -> task<> {
        auto listening = stream_acceptor::listen(io, endpoint{ipv4::loopback(), 0});
        REQUIRE(listening.ok());
        stream_acceptor acceptor = listening.take();
        const endpoint where = acceptor.local_endpoint().value();

        for (int round = 0; round < 20; ++round) {
            auto both = co_await when_all(acceptor.accept_from(), stream_socket::connect(where));
            auto& [failed, accepted, peer] = std::get<0>(both);
            stream_socket client = std::get<1>(both).take();

            CHECK_FALSE(failed);
            CHECK(peer == client.local_endpoint().value());
            CHECK(accepted.remote_endpoint().value() == peer);
            put(client, "x");
            std::array<std::byte, 1> space;
            const auto got = co_await accepted.read_some(mutable_buffer{space});
            CHECK(got.ok());
        }
    });
}

TEST_CASE("connect: a port without a listener refuses, at once and every time") {
    on_every_backend([](io_context& io) -> task<> {
        endpoint unused;
        {
            auto listening = stream_acceptor::listen(io, endpoint{ipv4::loopback(), 0});
            unused = listening.value().local_endpoint().value();
        }

        for (int round = 0; round < 3; ++round) {
            const auto connected = co_await stream_socket::connect(unused);
            CHECK(connected.error() == errc::connection_refused);
        }
    });
}

TEST_CASE("wait_ready: tells when a read or a write would not block") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);
        const auto writable = co_await client.wait(readiness::writable);
        const auto too_early = co_await with_timeout(2ms, server.wait(readiness::readable));
        put(client, "!");
        const auto readable = co_await server.wait(readiness::readable);
        fill(client);

        const auto full = co_await with_timeout(2ms, client.wait(readiness::writable));

        CHECK(writable.ok());
        CHECK(too_early.error() == errc::timed_out);
        CHECK(readable.ok());
        CHECK(full.error() == errc::timed_out);
    });
}

TEST_CASE("call: runs elsewhere, comes back here, and may be taken back before it began") {
    on_every_backend([](io_context& io) -> task<> {
        const auto here = std::this_thread::get_id();
        const auto there = co_await blocking([] { return std::this_thread::get_id(); });
        CHECK(there.ok());
        CHECK(there.value() != here);
        CHECK(std::this_thread::get_id() == here);
        CHECK(io.running_on_this_thread());

        std::atomic<bool> release = false;
        const auto occupy = [&] { release.wait(false); };
        const auto body = [&](task_group& group) -> task<> {
            const auto hold = [&]() -> task<> { static_cast<void>(co_await blocking(occupy)); };
            for (int worker = 0; worker < 4; ++worker) group.spawn(hold());
            co_await yield();
            const auto queued = co_await with_timeout(2ms, blocking([] { return 1; }));
            CHECK(queued.error() == errc::timed_out);
            release = true;
            release.notify_all();
        };
        co_await with_group(body);
    });
}

TEST_CASE("an adopted descriptor that does not block is waited for all the same") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);
        ::fcntl(server.native_handle(), F_SETFL, O_NONBLOCK);
        std::array<std::byte, 4> space;
        stream_socket& to = client;
        const auto later = [&]() -> task<> {
            co_await settle();
            put(to, "now");
        };

        const auto both = co_await when_all(server.read_some(mutable_buffer{space}), later());

        CHECK(std::get<0>(both).value() == 3);
    });
}

TEST_CASE("closing ends what is pending, and a reused number never meets its past") {
    on_every_backend([](io_context& io) -> task<> {
        for (int round = 0; round < 50; ++round) {
            auto [client, server] = connected_pair(io);
            stream_socket& from = server;
            error failed;
            const auto read = [&]() -> task<> {
                std::array<std::byte, 4> space;
                const auto got = co_await from.read_some(mutable_buffer{space});
                failed = got.error();
            };
            stream_socket& to = client;
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(read());
                co_await yield();
                put(to, "late");  // An event for the old number may already be on its way.
                static_cast<void>(from.close());
                co_return;
            };
            co_await with_group(body);
            CHECK((failed == errc::canceled || !failed));

            // The next pair has the same numbers.
            auto [next_client, next_server] = connected_pair(io);
            std::array<std::byte, 4> space;
            const auto quiet =
                co_await with_timeout(1ms, next_server.read_some(mutable_buffer{space}));
            CHECK(quiet.error() == errc::timed_out);
        }
    });
}

TEST_CASE("a released descriptor stays open, is forgotten, and works when it is adopted again") {
    on_every_backend([](io_context& io) -> task<> {
        auto [client, server] = connected_pair(io);
        std::array<std::byte, 4> space;
        const auto waited = co_await with_timeout(1ms, server.read_some(mutable_buffer{space}));
        const int number = server.release();
        CHECK(::fcntl(number, F_GETFD) >= 0);
        put(client, "ok");

        stream_socket again = stream_socket::adopt(io, number);
        const auto got = co_await again.read_some(mutable_buffer{space});

        CHECK(waited.error() == errc::timed_out);
        CHECK(got.value() == 2);
    });
}

TEST_CASE("posts from other threads wake a waiting loop, however they fall") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        constexpr int posters = 4;
        constexpr int each = 5'000;
        std::atomic<int> ran = 0;
        event all_ran;
        const auto wait = [&]() -> task<> { CHECK((co_await all_ran.wait()).ok()); };
        launch(io, wait(), or_terminate{});
        std::vector<std::thread> threads;
        for (int poster = 0; poster < posters; ++poster) {
            threads.emplace_back([&] {
                for (int count = 0; count < each; ++count) {
                    io.post([&] {
                        if (++ran == posters * each) all_ran.set();
                    });
                    if (count % 64 == 0) std::this_thread::yield();  // Lets the loop fall asleep.
                }
            });
        }

        io.run_for(patience);
        for (std::thread& thread : threads) thread.join();

        CHECK(ran == posters * each);
    });
}

TEST_CASE("a turn without waiting does not wait, a turn with a deadline keeps it") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        const io_context::work_guard guard{io};
        CHECK(io.poll() == 0);

        const auto begin = std::chrono::steady_clock::now();
        io.run_for(20ms);
        const auto waited = std::chrono::steady_clock::now() - begin;

        CHECK(waited >= 20ms);
    });
}

TEST_CASE("a loop inside another event loop says when it has something to do") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        auto [client, server] = connected_pair(io);
        io_result<std::size_t> got;
        const auto read = [&]() -> task<> {
            std::array<std::byte, 8> space;
            got = co_await server.read_some(mutable_buffer{space});
        };
        launch(io, read(), or_terminate{});
        io.poll();
        CHECK(io.next_deadline() == never);

        pollfd watched{io.native_wait_handle(), POLLIN, 0};
        CHECK(::poll(&watched, 1, 0) == 0);
        put(client, "wake");
        CHECK(::poll(&watched, 1, 10'000) == 1);
        io.poll();
        CHECK(got.value() == 4);

        bool posted = false;
        std::thread poster{[&] { io.post([&] { posted = true; }); }};
        poster.join();
        CHECK(::poll(&watched, 1, 10'000) == 1);
        io.poll();
        CHECK(posted);
    });
}

TEST_CASE("a loop moves to another thread when nothing is in flight") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        auto [client, server] = connected_pair(io);
        int reads = 0;
        const auto read = [&]() -> task<> {
            std::array<std::byte, 8> space;
            const auto got = co_await server.read_some(mutable_buffer{space});
            reads += got.ok() ? 1 : 0;
        };
        for (int round = 0; round < 3; ++round) {
            std::thread runner{[&] {
                launch(io, read(), or_terminate{});
                put(client, "x");
                io.run_for(patience);
            }};
            runner.join();
        }

        CHECK(reads == 3);
    });
}

TEST_CASE("destroying a loop ends its coroutines and loses no descriptor") {
    with_every_backend([](const io_context_options& options) {
        const std::size_t before = open_descriptors();
        int ended = 0;
        {
            stream_socket peer;  // Outlives the loop, so that the read has nothing else to end it.
            io_context io{options};
            auto pair = connected_pair(io);
            peer = std::move(pair.client);
            auto listening = stream_acceptor::listen(io, endpoint{ipv4::loopback(), 0});
            stream_acceptor acceptor = listening.take();
            const auto read = [](stream_socket from) -> task<> {
                std::array<std::byte, 8> space;
                const auto got = co_await from.read_some(mutable_buffer{space});
                CHECK(got.error() == errc::canceled);
            };
            const auto accept = [](stream_acceptor on) -> task<> {
                const auto taken = co_await on.accept();
                CHECK(taken.error() == errc::canceled);
            };
            const auto rest = []() -> task<> {
                const auto slept = co_await sleep_for(1h);
                CHECK(slept.error() == errc::canceled);
            };
            const auto count = [&](task_outcome<void> outcome) {
                outcome.get();
                ++ended;
            };
            launch(io, read(std::move(pair.server)), count);
            launch(io, accept(std::move(acceptor)), count);
            launch(io, rest(), count);
            io.poll();
        }

        CHECK(ended == 3);
        CHECK(open_descriptors() == before);
    });
}

TEST_CASE("a thousand pending reads complete in one harvest or many, each once") {
    on_every_backend([](io_context& io) -> task<> {
        constexpr std::size_t pairs = 300;
        std::vector<socket_pair> sockets;
        for (std::size_t index = 0; index < pairs; ++index) sockets.push_back(local_pair(io));
        std::vector<int> counts(pairs, 0);
        const auto read = [&](std::size_t index) -> task<> {
            for (int round = 0; round < 4; ++round) {
                std::array<std::byte, 1> space;
                const auto got = co_await sockets[index].server.read_some(mutable_buffer{space});
                counts[index] += got.ok() ? 1 : 0;
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            for (std::size_t index = 0; index < pairs; ++index) group.spawn(read(index));
            for (int round = 0; round < 4; ++round) {
                co_await settle();
                for (socket_pair& each : sockets) put(each.client, "x");
            }
        };

        co_await with_group(body);

        CHECK(counts == std::vector<int>(pairs, 4));
    });
}
