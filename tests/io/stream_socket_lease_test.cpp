// SPDX-License-Identifier: BSL-1.0
//
// What stream_socket::read promises: bytes in memory that is lent, and none that is held in silence.
#include <gyre/io/stream_socket.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <io/connections.hpp>
#include <support/harness.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> note_lease(stream_socket& from, io_result<buffer_lease>& outcome) {
    outcome = co_await from.read();
}

}  // namespace

TEST_CASE("a leased read yields what is there, in order, and then the end") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        static_cast<void>(co_await write_all(pair.client, bytes_of("hello")));
        io_result<buffer_lease> first = co_await pair.server.read();
        static_cast<void>(co_await write_all(pair.client, bytes_of("world")));
        io_result<buffer_lease> second = co_await pair.server.read();
        static_cast<void>(pair.client.close());
        const io_result<buffer_lease> end = co_await pair.server.read();
        const io_result<buffer_lease> still = co_await pair.server.read();

        CHECK(text_of(first.take().bytes()) == "hello");
        CHECK(text_of(second.take().bytes()) == "world");
        CHECK(end.error() == errc::eof);
        CHECK(still.error() == errc::eof);
    });
}

TEST_CASE("a silent connection holds no memory, one with bytes a block until they are dropped") {
    on_every_connection([](io_context& io, socket_pair& pair) -> task<> {
        io_result<buffer_lease> outcome;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_lease(pair.server, outcome));
            static_cast<void>(co_await sleep_for(1ms));
            CHECK(io.receive_memory().blocks_lent == 0);
            static_cast<void>(co_await write_all(pair.client, bytes_of("now")));
        };
        co_await with_group(body);

        CHECK(io.receive_memory().blocks_lent == 1);
        {
            const buffer_lease lease = outcome.take();
            CHECK(text_of(lease.bytes()) == "now");
        }
        CHECK(io.receive_memory().blocks_lent == 0);
        CHECK(io.receive_memory().blocks_kept == 1);
    });
}

TEST_CASE("much arrives in blocks of the size that was asked for, warm ones, byte for byte") {
    with_every_backend([](io_context_options options) {
        options.receive_block_size = 4096;
        options.receive_blocks_kept = 2;
        io_context io{options};
        const auto root = [&]() -> task<> {
            socket_pair pair = connected_pair(io);
            const bytes sent = patterned(1 << 20);
            bytes received;
            std::size_t largest = 0;
            const auto body = [&](task_group& group) -> task<> {
                io_result<std::size_t> written;
                group.spawn(note_write_all(pair.client, sent, written));
                while (received.size() < sent.size()) {
                    io_result<buffer_lease> got = co_await pair.server.read();
                    if (!got.ok()) break;
                    const buffer_lease lease = got.take();
                    received.insert(received.end(), lease.bytes().begin(), lease.bytes().end());
                    largest = std::max(largest, lease.size());
                }
            };
            co_await with_group(body);
            CHECK(received == sent);
            CHECK(largest == 4096);
            CHECK(io.receive_memory().blocks_kept == 1);
        };
        launch(io, root(), or_terminate{});
        io.run_for(patience);
        CHECK(io.roots().empty());
    });
}

TEST_CASE("a leased read that is given up loses no byte, and holds none") {
    on_every_connection([](io_context& io, socket_pair& pair) -> task<> {
        const io_result<buffer_lease> late = co_await with_timeout(1ms, pair.server.read());
        CHECK(late.error() == errc::timed_out);
        CHECK(io.receive_memory().blocks_lent == 0);

        static_cast<void>(co_await write_all(pair.client, bytes_of("kept")));
        io_result<buffer_lease> got = co_await pair.server.read();
        CHECK(text_of(got.take().bytes()) == "kept");
    });
}

TEST_CASE("plain and leased reads of one connection take turns without losing anything") {
    on_every_connection([](io_context&, socket_pair& pair) -> task<> {
        static_cast<void>(co_await write_all(pair.client, bytes_of("abcdef")));
        std::array<std::byte, 2> two;
        const io_result<std::size_t> plain = co_await pair.server.read_some(two);
        io_result<buffer_lease> rest = co_await pair.server.read();
        static_cast<void>(co_await write_all(pair.client, bytes_of("gh")));
        std::array<std::byte, 8> more;
        const io_result<std::size_t> last = co_await pair.server.read_some(more);

        CHECK(plain.value() == 2);
        CHECK(text_of(two) == "ab");
        CHECK(text_of(rest.take().bytes()) == "cdef");
        CHECK(text_of(std::span{more}.first(last.value())) == "gh");
    });
}

TEST_CASE("a reset ends a leased read, before it and while it waits") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = connected_pair(io);
        io_result<buffer_lease> outcome;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_lease(pair.server, outcome));
            static_cast<void>(co_await sleep_for(1ms));
            reset(pair.client);
        };
        co_await with_group(body);
        CHECK(outcome.error() == errc::connection_reset);

        socket_pair other = connected_pair(io);
        reset(other.client);
        static_cast<void>(co_await sleep_for(1ms));
        const io_result<buffer_lease> later = co_await other.server.read();
        CHECK(later.error() == errc::connection_reset);
    });
}

TEST_CASE("a lease may be dropped on another thread, and its block comes back") {
    on_every_backend([](io_context& io) -> task<> {
        socket_pair pair = connected_pair(io);
        for (int round = 0; round < 100; ++round) {
            static_cast<void>(co_await write_all(pair.client, bytes_of("x")));
            io_result<buffer_lease> got = co_await pair.server.read();
            std::thread{[lease = got.take()] { CHECK(lease.size() == 1); }}.join();
        }
        CHECK(io.receive_memory().blocks_lent == 0);
        CHECK(io.receive_memory().blocks_kept <= 1);
    });
}

TEST_CASE("a lease may outlive its loop, which tells nobody and loses nothing") {
    with_every_backend([](const io_context_options& options) {
        buffer_lease survivor;
        {
            io_context io{options};
            const auto root = [&]() -> task<> {
                socket_pair pair = connected_pair(io);
                static_cast<void>(co_await write_all(pair.client, bytes_of("still here")));
                survivor = (co_await pair.server.read()).take();
            };
            launch(io, root(), or_terminate{});
            io.run_for(patience);
        }
        CHECK(text_of(survivor.bytes()) == "still here");
    });
}

TEST_CASE("copying from a socket needs no buffer of its own") {
    on_every_connection([](io_context& io, socket_pair& pair) -> task<> {
        socket_pair onward = connected_pair(io);
        const bytes sent = patterned(300'000);
        bytes received;
        error ended;
        io_result<std::uint64_t> copied;
        const auto body = [&](task_group& group) -> task<> {
            io_result<std::size_t> written;
            const auto pump = [&]() -> task<> {
                copied = co_await copy(pair.server, onward.client);
                static_cast<void>(onward.client.shutdown(shutdown_side::send));
            };
            const auto feed = [&]() -> task<> {
                written = co_await write_all(pair.client, sent);
                static_cast<void>(pair.client.shutdown(shutdown_side::send));
            };
            group.spawn(pump());
            group.spawn(feed());
            received = co_await read_all(onward.server, ended);
        };
        co_await with_group(body);

        CHECK(copied.ok());
        CHECK(copied.value() == sent.size());
        CHECK(received == sent);
        CHECK(ended == errc::eof);
        CHECK(io.receive_memory().blocks_lent == 0);
    });
}
