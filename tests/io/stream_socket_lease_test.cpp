// SPDX-License-Identifier: BSL-1.0
//
// What stream_socket::read promises: bytes in memory that is lent, and none that is held in silence.
#include <gyre/io/stream_socket.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <io/connections.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/past_the_loop.hpp>
#include <support/settle.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> note_lease(stream_socket& from, io_result<buffer_lease>& outcome) {
    outcome = co_await from.read();
}

// Whether the kernel takes the memory from a ring of buffers; it has to, where it can.
bool kernel_chooses(const io_context& io) {
    return io.backend().kind == backend_choice::uring_a ||
           io.backend().kind == backend_choice::uring_b;
}

std::string text_for(std::size_t number) { return "for connection " + std::to_string(number); }

// Loops whose reads find few blocks, or none, where the kernel chooses the memory.
template <class Body>
void with_few_blocks(const Body& body) {
    for (const std::size_t kept : {0U, 1U, 2U, 64U}) {
        INFO("blocks kept ", kept);
        with_every_backend([&](io_context_options options) {
            options.receive_blocks_kept = kept;
            body(options);
        });
    }
}

void run_to_end(io_context& io, task<> it) {
    launch(io, std::move(it), or_terminate{});
    io.run_for(patience);
    CHECK(io.roots().empty());
}

// Reads `total` bytes, plainly or leased and with less patience than the writer needs, as chance has it.
task<bytes> read_impatiently(stream_socket& from, std::size_t total, std::mt19937& random) {
    bytes all;
    std::array<std::byte, 700> space;
    std::vector<buffer_lease> held;
    while (all.size() < total) {
        const auto limit = std::chrono::microseconds{random() % 60};
        const_buffer arrived;
        error failed;
        if (random() % 4 == 0) {
            const auto got = co_await with_timeout(limit, from.read_some(space));
            arrived = const_buffer{space}.first(got.value());
            failed = got.error();
        } else {
            io_result<buffer_lease> got = co_await with_timeout(limit, from.read());
            failed = got.error();
            if (got.ok()) {
                held.push_back(got.take());
                arrived = held.back().bytes();
            }
        }
        all.insert(all.end(), arrived.begin(), arrived.end());
        if (failed && failed != errc::timed_out) break;
        if (random() % 8 == 0) held.clear();
    }
    co_return all;
}

task<> write_in_pieces(stream_socket& to, const bytes& all, std::mt19937& random) {
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t size = std::min<std::size_t>(all.size() - at, 1 + random() % 3000);
        const auto sent = co_await write_all(to, const_buffer{all}.subspan(at, size));
        if (!sent.ok()) co_return;
        at += size;
        if (random() % 3 == 0) {
            static_cast<void>(co_await sleep_for(std::chrono::microseconds{random() % 40}));
        }
    }
}

}  // namespace

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
            const receive_memory_use use = io.receive_memory();
            CHECK(use.blocks_kept + use.blocks_offered <= 2);
        };
        run_to_end(io, root());
    });
}

TEST_CASE("a lease may outlive its loop, and is freed all the same") {
    with_every_backend([](const io_context_options& options) {
        buffer_lease survivor;
        {
            io_context io{options};
            const auto root = [&]() -> task<> {
                socket_pair pair = connected_pair(io);
                static_cast<void>(co_await write_all(pair.client, bytes_of("still here")));
                survivor = (co_await pair.server.read()).take();
            };
            run_to_end(io, root());
        }
        CHECK(text_of(survivor.bytes()) == "still here");
    });
}

TEST_CASE("many silent connections together hold no more blocks than are kept") {
    with_few_blocks([](const io_context_options& options) {
        constexpr std::size_t connections = 100;
        io_context io{options};
        std::vector<socket_pair> pairs;
        for (std::size_t i = 0; i < connections; ++i) pairs.push_back(local_pair(io));
        std::vector<io_result<buffer_lease>> outcomes(connections);
        const auto body = [&](task_group& group) -> task<> {
            for (std::size_t i = 0; i < connections; ++i) {
                group.spawn(note_lease(pairs[i].server, outcomes[i]));
            }
            co_await settle();

            const receive_memory_use use = io.receive_memory();
            CHECK(use.blocks_lent == 0);
            CHECK(use.blocks_offered == (kernel_chooses(io) ? options.receive_blocks_kept : 0));
            for (socket_pair& each : pairs) static_cast<void>(each.client.close());
        };
        const auto root = [&]() -> task<> { co_await with_group(body); };
        run_to_end(io, root());
        CHECK(io.receive_memory().blocks_lent == 0);
    });
}

TEST_CASE(
    "with every lease held and more reads than blocks, all get their bytes and no loop spins") {
    with_few_blocks([](const io_context_options& options) {
        constexpr std::size_t connections = 100;
        io_context io{options};
        std::vector<socket_pair> pairs;
        for (std::size_t i = 0; i < connections; ++i) pairs.push_back(local_pair(io));
        std::vector<io_result<buffer_lease>> first(connections);
        std::vector<io_result<buffer_lease>> second(connections);
        const auto body = [&](task_group& group) -> task<> {
            for (std::size_t i = 0; i < connections; ++i) {
                group.spawn(note_lease(pairs[i].server, first[i]));
            }
            co_await settle();
            for (std::size_t i = 0; i < connections; ++i) say_now(io, pairs[i].client, text_for(i));
            while (io.receive_memory().blocks_lent < connections) {
                static_cast<void>(co_await sleep_for(1ms));
            }
            CHECK(io.receive_memory().blocks_lent == connections);

            for (std::size_t i = 0; i < connections; ++i) {
                group.spawn(note_lease(pairs[i].server, second[i]));
            }
            const duration before = thread_cpu_time();
            static_cast<void>(co_await sleep_for(100ms));
            CHECK(thread_cpu_time() - before < 60ms);
            for (std::size_t i = 0; i < connections; ++i)
                say_now(io, pairs[i].client, text_for(2 * i));
        };
        const auto root = [&]() -> task<> { co_await with_group(body); };
        run_to_end(io, root());

        for (std::size_t i = 0; i < connections; ++i) {
            const buffer_lease one = first[i].take();
            const buffer_lease other = second[i].take();
            CHECK(text_of(one.bytes()) == text_for(i));
            CHECK(text_of(other.bytes()) == text_for(2 * i));
        }
        CHECK(io.receive_memory().blocks_lent == 0);
        CHECK(io.receive_memory().blocks_kept <= options.receive_blocks_kept);
        // A block for each that was held, and none was asked for again and again.
        CHECK(io.receive_memory().blocks_made >= 2 * connections);
        CHECK(io.receive_memory().blocks_made <= 3 * connections);
        CHECK(io.counters().shortages <= 2 * connections);
        CHECK(io.counters().rearms <= 2 * connections);
    });
}

TEST_CASE("reads that are given up as their bytes arrive lose none of them, and no block") {
    const unsigned seed = std::random_device{}();
    MESSAGE("seed ", seed);
    with_few_blocks([seed](const io_context_options& options) {
        constexpr std::size_t connections = 4;
        io_context io{options};
        std::mt19937 random{seed};
        const bytes sent = patterned(200'000);
        std::vector<socket_pair> pairs;
        for (std::size_t i = 0; i < connections; ++i) {
            pairs.push_back(i % 2 == 0 ? connected_pair(io) : local_pair(io));
        }
        std::vector<bytes> received(connections);
        const auto note = [&](std::size_t number) -> task<> {
            received[number] = co_await read_impatiently(pairs[number].server, sent.size(), random);
        };
        const auto body = [&](task_group& group) -> task<> {
            for (std::size_t i = 0; i < connections; ++i) {
                group.spawn(note(i));
                group.spawn(write_in_pieces(pairs[i].client, sent, random));
            }
            co_return;
        };
        const auto root = [&]() -> task<> { co_await with_group(body); };
        run_to_end(io, root());

        for (const bytes& each : received) CHECK(each == sent);
        CHECK(io.receive_memory().blocks_lent == 0);
    });
}

TEST_CASE("a loop that has moved to another thread goes on lending its blocks there") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        socket_pair pair = connected_pair(io);
        const auto exchange = [&]() -> task<> {
            for (std::size_t i = 0; i < 100; ++i) {
                io_result<buffer_lease> outcome;
                const auto body = [&](task_group& group) -> task<> {
                    group.spawn(note_lease(pair.server, outcome));
                    co_await yield();
                    static_cast<void>(co_await write_all(pair.client, bytes_of(text_for(i))));
                };
                co_await with_group(body);
                CHECK(io.receive_memory().blocks_offered == 0);  // It was that block.
                CHECK(text_of(outcome.take().bytes()) == text_for(i));
            }
        };
        for (int move = 0; move < 3; ++move) {
            std::thread{[&] { run_to_end(io, exchange()); }}.join();
            CHECK(io.receive_memory().blocks_lent == 0);
        }
        run_to_end(io, exchange());
        const receive_memory_use use = io.receive_memory();
        CHECK(use.blocks_kept + use.blocks_offered <= 4);
    });
}

TEST_CASE("a loop that dies while reads wait for memory of the kernel's choice loses no block") {
    with_every_backend([](const io_context_options& options) {
        std::vector<buffer_lease> survivors;
        {
            io_context io{options};
            std::vector<socket_pair> pairs;
            for (int i = 0; i < 8; ++i) pairs.push_back(local_pair(io));
            const auto keep_reading = [&](stream_socket& from) -> task<> {
                for (;;) {
                    io_result<buffer_lease> got = co_await from.read();
                    if (!got.ok()) co_return;
                    survivors.push_back(got.take());
                }
            };
            for (socket_pair& each : pairs) launch(io, keep_reading(each.server), or_terminate{});
            io.poll();
            for (socket_pair& each : pairs) say_now(io, each.client, "still here");
            while (survivors.size() < pairs.size()) io.poll();
        }
        for (const buffer_lease& each : survivors) CHECK(text_of(each.bytes()) == "still here");
        std::thread{[taken = std::move(survivors)] { CHECK(taken.size() == 8); }}.join();
    });
}

namespace {

const std::vector<conformance_row> on_each_machine{
    {"a reset ends a leased read, before it and while it waits",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         io_result<buffer_lease> outcome;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_lease(pair.server, outcome));
             co_await settle();
             reset(pair.client);
         };
         co_await with_group(body);
         CHECK(outcome.error() == errc::connection_reset);

         socket_pair other = connected_pair(io);
         reset(other.client);
         static_cast<void>(co_await other.server.wait(readiness::readable));
         const io_result<buffer_lease> later = co_await other.server.read();
         CHECK(later.error() == errc::connection_reset);
     }},
    {"a lease may be dropped on another thread, and its block comes back",
     [](io_context& io) -> task<> {
         socket_pair pair = connected_pair(io);
         for (int round = 0; round < 100; ++round) {
             static_cast<void>(co_await write_all(pair.client, bytes_of("x")));
             io_result<buffer_lease> got = co_await pair.server.read();
             std::thread{[lease = got.take()] { CHECK(lease.size() == 1); }}.join();
         }
         CHECK(io.receive_memory().blocks_lent == 0);
         CHECK(io.receive_memory().blocks_kept <= 1);
     }},
    {"closing a connection ends its leased read, whether or not bytes have just come",
     [](io_context& io) -> task<> {
         for (int round = 0; round < 50; ++round) {
             socket_pair pair = connected_pair(io);
             socket_pair other = connected_pair(io);
             io_result<buffer_lease> outcome;
             io_result<buffer_lease> undisturbed;
             const auto body = [&](task_group& group) -> task<> {
                 group.spawn(note_lease(pair.server, outcome));
                 group.spawn(note_lease(other.server, undisturbed));
                 co_await yield();
                 if (round % 2 == 1) say_now(io, pair.client, "just now");
                 static_cast<void>(pair.server.close());
                 say_now(io, other.client, "not yours");
             };
             co_await with_group(body);

             if (outcome.ok()) {
                 CHECK(round % 2 == 1);
                 CHECK(text_of(outcome.take().bytes()) == "just now");
             } else {
                 CHECK(outcome.error() == errc::canceled);
             }
             CHECK(text_of(undisturbed.take().bytes()) == "not yours");
             CHECK(io.receive_memory().blocks_lent == 0);
         }
     }},
};

const std::vector<connection_row> over_connections_on_each_machine{
    {"a leased read yields what is there, in order, and then the end",
     [](io_context&, socket_pair& pair) -> task<> {
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
     }},
    {"a silent connection holds no memory, one with bytes a block until they are dropped",
     [](io_context& io, socket_pair& pair) -> task<> {
         io_result<buffer_lease> outcome;
         const auto body = [&](task_group& group) -> task<> {
             group.spawn(note_lease(pair.server, outcome));
             co_await settle();
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
     }},
    {"a leased read that is given up loses no byte, and holds none",
     [](io_context& io, socket_pair& pair) -> task<> {
         const io_result<buffer_lease> late = co_await with_timeout(1ms, pair.server.read());
         CHECK(late.error() == errc::timed_out);
         CHECK(io.receive_memory().blocks_lent == 0);

         static_cast<void>(co_await write_all(pair.client, bytes_of("kept")));
         io_result<buffer_lease> got = co_await pair.server.read();
         CHECK(text_of(got.take().bytes()) == "kept");
     }},
    {"plain and leased reads of one connection take turns without losing anything",
     [](io_context&, socket_pair& pair) -> task<> {
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
     }},
    {"copying from a socket needs no buffer of its own",
     [](io_context& io, socket_pair& pair) -> task<> {
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
     }},
};

const conformance_suite on_each_machine_suite{"streams", on_each_machine};
const conformance_suite over_connections_on_each_machine_suite{"streams",
                                                               over_connections_on_each_machine};

}  // namespace
