// SPDX-License-Identifier: BSL-1.0
//
// Trees of tasks sent to a pool from everywhere, at random: beside each other, against each other, with
// limits of time, in groups, from strands and from other loops, with exceptions. Each coroutine resumes where
// it began.
#include <gyre/coro/this_task.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/strand.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/sync/when_any.hpp>
#include <support/harness.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

struct shared {
    io_pool* pool = nullptr;
    std::atomic<long> live = 0;
    std::atomic<long> strayed = 0;
    std::atomic<long> ran = 0;
};

std::uint64_t mixed(std::uint64_t from) {
    from += 0x9e3779b97f4a7c15;
    from = (from ^ (from >> 30)) * 0xbf58476d1ce4e5b9;
    from = (from ^ (from >> 27)) * 0x94d049bb133111eb;
    return from ^ (from >> 31);
}

// A value whose owner is counted, and whose move may throw.
struct payload {
    explicit payload(shared& in, bool throws_when_moved) : in_{&in}, throws{throws_when_moved} {
        ++in_->live;
    }
    payload(payload&& other) : in_{other.in_}, throws{other.throws} {
        if (throws && --other.moves == 0) throw std::runtime_error{"moved"};
        ++in_->live;
    }
    payload& operator=(payload&&) = delete;
    ~payload() { --in_->live; }

    shared* in_;
    bool throws;
    int moves = 1;
};

struct place {
    io_context* loop = io_context::current();
    std::thread::id thread = std::this_thread::get_id();

    void check(shared& in) const {
        if (io_context::current() != loop || std::this_thread::get_id() != thread) ++in.strayed;
    }
};

task<int> node(shared& in, std::uint64_t seed, int depth);

task<payload> carrier(shared& in, std::uint64_t seed, int depth) {
    static_cast<void>(co_await node(in, seed, depth));
    co_return payload{in, seed % 16 == 0};
}

task<> nothing_much(shared& in, std::uint64_t seed, int depth) {
    static_cast<void>(co_await node(in, seed, depth));
}

task<int> careful(shared& in, std::uint64_t seed, int depth) {
    const place here;
    int got = 0;
    bool threw = false;
    try {
        got = co_await on(*in.pool, node(in, seed, depth));
    } catch (const std::runtime_error&) {
        threw = true;
    }
    here.check(in);
    co_return threw ? 0 : got;
}

task<int> node(shared& in, std::uint64_t seed, int depth) {
    const place here;
    ++in.ran;
    seed = mixed(seed);
    if (depth == 0) {
        if (seed % 32 == 0) throw std::runtime_error{"leaf"};
        if (seed % 32 < 4)
            static_cast<void>(co_await sleep_for(std::chrono::microseconds{seed % 300}));
        if (seed % 32 < 8) co_await yield();
        here.check(in);
        co_return 1;
    }
    const auto child = [&](std::uint64_t number) { return node(in, seed + number, depth - 1); };
    int sum = 0;
    switch (seed % 9) {
        case 0: sum = co_await on(*in.pool, child(1)); break;
        case 1: {
            auto both = co_await when_all(on(*in.pool, child(1)), on(*in.pool, child(2)));
            sum = std::get<0>(both) + std::get<1>(both);
            break;
        }
        case 2: {
            auto some = co_await when_any(on(*in.pool, child(1)), child(2), on(*in.pool, child(3)));
            static_cast<void>(some);
            sum = 1;
            break;
        }
        case 3: {
            const auto body = [&](task_group& group) -> task<> {
                for (std::uint64_t each = 0; each < 3; ++each)
                    group.spawn(careful(in, seed + each, depth - 1), [](int) {});
                if (seed % 5 == 0) group.request_stop();
                co_return;
            };
            co_await with_group(body);
            sum = 3;
            break;
        }
        case 4: {
            const auto slow = [&]() -> task<io_result<int>> {
                const int got = co_await on(*in.pool, child(1));
                const io_result<> slept = co_await sleep_for(std::chrono::microseconds{seed % 500});
                co_return io_result<int>{slept.error(), got};
            };
            const io_result<int> got =
                co_await with_timeout(std::chrono::microseconds{seed % 400}, slow());
            sum = got.value();
            break;
        }
        case 5: {
            const payload got = co_await on(*in.pool, carrier(in, seed + 1, depth - 1));
            sum = 1;
            break;
        }
        case 6: {
            io_context& mine = *io_context::current();
            strand one{mine};
            const auto within = [&]() -> task<int> {
                const int got = co_await on(*in.pool, child(1));
                co_return got;
            };
            sum = co_await on(one, within());
            break;
        }
        case 7: {
            std::vector<remote_task<io_pool, int>> all;
            for (std::uint64_t each = 0; each < 4; ++each)
                all.push_back(on(*in.pool, careful(in, seed + each, depth - 1)));
            for (const int each : co_await when_all(std::move(all))) sum += each;
            break;
        }
        default: co_await on(*in.pool, nothing_much(in, seed + 1, depth - 1)); break;
    }
    here.check(in);
    co_return sum;
}

}  // namespace

TEST_CASE(
    "storm: tasks that are sent to a pool from everywhere come back to where they were sent from") {
    const char* const wish = std::getenv("GYRE_REMOTE_STORMS");
    const std::uint64_t rounds = wish != nullptr ? std::strtoull(wish, nullptr, 10) : 5;
    with_every_backend([&](const io_context_options& each) {
        for (const unsigned threads : {1U, 2U, 4U}) {
            CAPTURE(threads);
            shared in;
            {
                io_pool_options options;
                options.threads = threads;
                options.loop = each;
                io_pool pool{options};
                REQUIRE_FALSE(pool.status());
                in.pool = &pool;
                io_context outside{each};
                for (std::uint64_t round = 0; round < rounds; ++round) {
                    for (std::uint64_t tree = 0; tree < 8; ++tree) {
                        const std::uint64_t seed = round * 8 + tree;
                        auto stop = launch(pool, careful(in, seed, 6), [](task_outcome<int> it) {
                            static_cast<void>(it.get());
                        });
                        if (seed % 7 == 0) stop.request_stop();
                        launch(outside, careful(in, ~seed, 5),
                               [](task_outcome<int> it) { static_cast<void>(it.get()); });
                    }
                    outside.run();
                    if (round % 2 == 0) pool.wait();
                }
                if (rounds % 2 == 0) pool.wait();
            }
            CHECK(in.live == 0);
            CHECK(in.strayed == 0);
            CHECK(in.ran > 0);
        }
    });
}
