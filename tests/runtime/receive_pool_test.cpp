// SPDX-License-Identifier: BSL-1.0
//
// What src/runtime/receive_pool.hpp promises. A sanitizer sees blocks that are lost or freed twice.
#include <runtime/receive_pool.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/runtime/io_context.hpp>
#include <support/harness.hpp>

#include <cstddef>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

constexpr std::size_t block_size = 4096;
constexpr std::size_t kept_max = 4;

// A pool whose owner is `io`, closed at the end of its life.
struct owned_pool {
    explicit owned_pool(const io_context& io) : pool{*new receive_pool{io, block_size, kept_max}} {}
    owned_pool(const owned_pool&) = delete;
    owned_pool& operator=(const owned_pool&) = delete;
    ~owned_pool() { pool.close(); }

    receive_pool& pool;
};

// Runs `body` on the loop, which is where a pool's blocks are lent.
template <class Body>
void on_loop(io_context& io, Body body) {
    io.post([&body] { body(); });
    io.poll();
}

}  // namespace

TEST_CASE("the block that was returned last is lent first") {
    io_context io;
    owned_pool owned{io};
    receive_pool& pool = owned.pool;
    on_loop(io, [&] {
        std::byte* const first = pool.lend();
        std::byte* const second = pool.lend();
        std::memset(first, 1, block_size);
        std::memset(second, 2, block_size);
        CHECK(pool.lent() == 2);

        pool.take_back(second);
        pool.take_back(first);
        CHECK(pool.lent() == 0);
        CHECK(pool.kept() == 2);

        std::byte* const again = pool.lend();
        CHECK(again == first);
        pool.take_back(again);
    });
}

TEST_CASE("no more free blocks are kept than the bound allows") {
    io_context io;
    owned_pool owned{io};
    receive_pool& pool = owned.pool;
    on_loop(io, [&] {
        std::vector<std::byte*> lent;
        for (std::size_t i = 0; i < 3 * kept_max; ++i) lent.push_back(pool.lend());
        for (std::byte* each : lent) pool.take_back(each);
        CHECK(pool.kept() == kept_max);
        CHECK(pool.lent() == 0);
    });
}

TEST_CASE("blocks returned by other threads are lent again") {
    io_context io;
    owned_pool owned{io};
    receive_pool& pool = owned.pool;
    std::set<std::byte*> lent;
    on_loop(io, [&] {
        for (std::size_t i = 0; i < kept_max; ++i) lent.insert(pool.lend());
    });

    std::thread{[&] {
        for (std::byte* each : lent) pool.take_back(each);
    }}.join();

    CHECK(pool.lent() == 0);
    on_loop(io, [&] {
        for (std::size_t i = 0; i < kept_max; ++i) {
            std::byte* const again = pool.lend();
            CHECK(lent.erase(again) == 1);
            CHECK(pool.kept() == kept_max - 1 - i);
            lent.insert(again);
        }
    });
    CHECK(pool.lent() == kept_max);
    for (std::byte* each : lent) pool.take_back(each);
}

TEST_CASE("what the kernel may fill counts apart from what leases hold") {
    io_context io;
    owned_pool owned{io};
    receive_pool& pool = owned.pool;
    on_loop(io, [&] {
        std::byte* const filled = pool.offer();
        std::byte* const unused = pool.offer();
        CHECK(pool.offered() == 2);
        CHECK(pool.lent() == 0);

        pool.note_taken();
        CHECK(pool.offered() == 1);
        CHECK(pool.lent() == 1);

        pool.withdraw(unused);
        CHECK(pool.offered() == 0);
        CHECK(pool.lent() == 1);
        pool.take_back(filled);
        CHECK(pool.lent() == 0);
        CHECK(pool.kept() == 2);
    });
}

TEST_CASE("a closed pool waits for what the kernel had, and the last block frees it") {
    io_context io;
    auto* const pool = new receive_pool{io, block_size, kept_max};
    std::byte* lent = nullptr;
    std::byte* offered = nullptr;
    on_loop(io, [&] {
        lent = pool->lend();
        offered = pool->offer();
    });
    pool->close();
    std::thread{[&] { pool->take_back(lent); }}.join();
    CHECK(pool->offered() == 1);
    pool->withdraw(offered);
}

TEST_CASE("a pool lives until its last block has come back, from whichever thread") {
    constexpr int blocks = 64;
    constexpr int rounds = 50;
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::byte*> lent;
        std::byte* last = nullptr;
        receive_pool* pool = nullptr;
        std::vector<std::thread> returning;
        {
            io_context io;
            pool = new receive_pool{io, block_size, kept_max};
            on_loop(io, [&] {
                for (int i = 0; i < blocks; ++i) lent.push_back(pool->lend());
                last = pool->lend();
            });
            for (int half = 0; half < 2; ++half) {
                returning.emplace_back([&, half] {
                    for (int i = half; i < blocks; i += 2) {
                        pool->take_back(lent[static_cast<std::size_t>(i)]);
                    }
                });
            }
            pool->close();
        }
        for (std::thread& each : returning) each.join();

        // The loop has gone, and all blocks but one are back: the pool is still there to ask. What has been
        // freed is filled with something else while tests run.
        REQUIRE(pool->made() == blocks + 1);
        REQUIRE(pool->kept() == 0);
        pool->take_back(last);
    }
}

TEST_CASE("a block of a closed pool is not mistaken for one of a loop at the same address") {
    alignas(io_context) std::byte place[sizeof(io_context)];
    auto* before = new (place) io_context;
    auto* const pool = new receive_pool{*before, block_size, kept_max};
    std::byte* block = nullptr;
    std::byte* last = nullptr;
    on_loop(*before, [&] {
        block = pool->lend();
        last = pool->lend();
    });
    pool->close();
    before->~io_context();

    auto* after = new (place) io_context;
    on_loop(*after, [&] {
        pool->take_back(block);
        CHECK(pool->kept() == 0);  // For its own loop it would keep it.
        CHECK(pool->made() == 2);
        pool->take_back(last);  // It frees the pool.
    });
    after->~io_context();
}
