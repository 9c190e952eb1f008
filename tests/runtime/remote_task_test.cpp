// SPDX-License-Identifier: BSL-1.0
//
// Tasks on other loops: where they run, what comes back, and how they are stopped.
#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/runtime/remote_task.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/harness.hpp>
#include <support/pools.hpp>
#include <support/settle.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <latch>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<const io_context*> name_the_loop() { co_return io_context::current(); }

task<std::unique_ptr<int>> make_owned(int value) { co_return std::make_unique<int>(value); }

struct noting_end {
    explicit noting_end(std::atomic<bool>& flag) noexcept : ended{&flag} {}
    noting_end(noting_end&& other) noexcept : ended{std::exchange(other.ended, nullptr)} {}
    noting_end& operator=(noting_end&&) = delete;
    ~noting_end() {
        if (ended != nullptr) *ended = true;
    }
    std::atomic<bool>* ended;
};

task<> hold(noting_end) { co_await yield(); }

task<errc> sleep_until_stopped() {
    const io_result<> slept = co_await sleep_for(1h);
    co_return slept.ok() ? errc::timed_out : static_cast<errc>(slept.error().code());
}

}  // namespace

TEST_CASE("a task runs on the loop it is sent to, and its caller resumes on its own") {
    with_pools(2, [](io_context& io, io_pool& pool) {
        const auto ask = [&]() -> task<> {
            const io_context* const there = co_await on(pool[1], name_the_loop());
            CHECK(there == &pool[1]);
            CHECK(io_context::current() == &io);

            const io_context* const here = co_await on(io, name_the_loop());
            CHECK(here == &io);

            const io_context* const anywhere = co_await on(pool, name_the_loop());
            CHECK((anywhere == &pool[0] || anywhere == &pool[1]));

            const std::unique_ptr<int> owned = co_await on(pool, make_owned(7));
            CHECK(*owned == 7);
        };
        run_here(io, ask());
    });
}

TEST_CASE("the frame of a task that was sent away is gone when its caller resumes") {
    with_pools(1, [](io_context& io, io_pool& pool) {
        const auto check = [&]() -> task<> {
            for (int round = 0; round < 200; ++round) {
                std::atomic<bool> gone = false;
                co_await on(pool, hold(noting_end{gone}));
                REQUIRE(gone.load());
            }
        };
        run_here(io, check());
    });
}

TEST_CASE("a stop reaches the task on the other loop, and its result comes back") {
    with_pools(1, [](io_context& io, io_pool& pool) {
        const auto stop = [&]() -> task<> {
            for (int round = 0; round < 100; ++round) {
                errc outcome = errc::ok;
                const auto child = [&]() -> task<> {
                    outcome = co_await on(pool[0], sleep_until_stopped());
                };
                const auto body = [&](task_group& group) -> task<> {
                    group.spawn(child());
                    if (round % 2 == 0) co_await yield();
                    group.request_stop();
                };
                co_await with_group(body);
                REQUIRE(outcome == errc::canceled);
            }
        };
        run_here(io, stop());
    });
}

TEST_CASE("a pool that ends waits for its tasks on loops that are not of it") {
    with_every_backend([](const io_context_options& each) {
        io_pool_options one;
        one.threads = 1;
        one.loop = each;
        io_pool elsewhere{one};
        std::latch let_go{1};
        std::latch busy{1};
        std::atomic<bool> returned = false;
        const auto hold = [&]() -> task<> {
            busy.count_down();
            let_go.wait();  // It does not even hear of the stop.
            co_return;
        };
        const auto ask = [&]() -> task<> {
            co_await on(elsewhere[0], hold());
            returned = true;
        };
        std::thread opener;
        {
            io_pool pool{one};
            launch(pool, ask(), or_terminate{});
            busy.wait();
            pool.request_stop();
            // Its loop has heard of the stop and sleeps again, or is about to.
            const std::uint64_t turns = pool[0].counters().turns;
            CHECK(eventually(
                [&pool, turns] { return pool[0].counters().turns > turns || pool[0].asleep(); }));
            opener = std::thread{[&let_go, &pool] {
                CHECK(eventually([&pool] { return pool[0].asleep(); }));
                let_go.count_down();
            }};
            pool.wait();
            CHECK(returned);
            opener.join();
        }
    });
}

TEST_CASE("remote tasks are counted, and the least loaded loop is the one with the fewest") {
    with_pools(4, [](io_context& io, io_pool& pool) {
        const auto crowd = [&]() -> task<> {
            const auto guest = [](io_context& where) -> task<> {
                static_cast<void>(co_await on(where, sleep_until_stopped()));
            };
            const auto body = [&](task_group& group) -> task<> {
                for (int each = 0; each < 8; ++each) {
                    io_context& where = pool.least_loaded();
                    group.spawn(guest(where));
                    co_await yield();  // It has gone.
                }
                for (std::size_t each = 0; each < pool.size(); ++each) {
                    CHECK(pool[each].remote_tasks() == 2);
                }
                group.request_stop();
            };
            co_await with_group(body);
            for (std::size_t each = 0; each < pool.size(); ++each)
                CHECK(pool[each].remote_tasks() == 0);
        };
        run_here(io, crowd());
    });
}

namespace {

task<> echo_until_end(stream_socket peer) {
    std::array<std::byte, 512> space;
    for (;;) {
        const io_result<std::size_t> got = co_await peer.read_some(space);
        if (!got.ok()) co_return;
        const auto sent = co_await write_all(peer, const_buffer{space}.first(got.value()));
        if (!sent.ok()) co_return;
    }
}

task<> echo_there(int number) {
    co_await echo_until_end(stream_socket::adopt(*io_context::current(), number));
}

}  // namespace

TEST_CASE("sockets work on the loop that they were sent to, under stops from everywhere") {
    const std::uint32_t seed = std::random_device{}();
    INFO("seed ", seed);
    with_pools(3, [seed](io_context& io, io_pool& pool) {
        const std::size_t before = open_descriptors();
        std::mt19937 random{seed};
        std::atomic<int> echoed = 0;
        const auto client = [&](stream_socket socket, int rounds) -> task<> {
            std::array<std::byte, 64> out{};
            std::array<std::byte, 64> back{};
            for (int round = 0; round < rounds; ++round) {
                out.fill(static_cast<std::byte>(round));
                const auto sent = co_await write_all(socket, out);
                if (!sent.ok()) co_return;
                const auto got = co_await read_exactly(socket, mutable_buffer{back});
                if (!got.ok()) co_return;
                REQUIRE(out == back);
                ++echoed;
            }
        };
        const auto server = [&](io_context& where, int number) -> task<> {
            co_await on(where, echo_there(number));
        };
        const auto session = [&](int rounds, bool cut) -> task<> {
            auto [near, far] = connected_pair(io);
            const int number = far.release();
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(server(pool.least_loaded(), number));
                if (!cut) {
                    co_await client(std::move(near), rounds);
                    co_return;
                }
                group.spawn(client(std::move(near), 1'000'000));
                for (int pause = 0; pause < rounds; ++pause) co_await yield();
                group.request_stop();
            };
            co_await with_group(body);
        };
        const auto all = [&]() -> task<> {
            const auto body = [&](task_group& group) -> task<> {
                for (int each = 0; each < 60; ++each) {
                    group.spawn(session(static_cast<int>(random() % 20), each % 2 == 0));
                    if (each % 4 == 0) co_await yield();
                }
                co_return;
            };
            co_await with_group(body);
        };
        run_here(io, all());
        pool.wait();

        CHECK(open_descriptors() == before);
        CHECK(echoed > 0);
    });
}
