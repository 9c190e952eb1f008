// SPDX-License-Identifier: BSL-1.0
//
// What gyre/base/lease.hpp promises: a block goes back exactly once, whatever became of its lease.
#include <gyre/base/lease.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

using namespace gyre;

namespace {

class one_block final : public lease_pool {
public:
    std::byte* lend() noexcept override { return memory.data(); }
    void take_back(std::byte* block) noexcept override {
        CHECK(block == memory.data());
        ++returned;
    }

    std::array<std::byte, 8> memory{};
    int returned = 0;
};

}  // namespace

TEST_CASE("a lease gives its block back when it dies, once") {
    one_block pool;
    {
        const buffer_lease lease{pool, pool.lend(), 5};
        CHECK(lease.size() == 5);
        CHECK(lease.bytes().data() == pool.memory.data());
        CHECK(pool.returned == 0);
    }
    CHECK(pool.returned == 1);
}

TEST_CASE("a lease that was moved from is empty and returns nothing") {
    one_block pool;
    {
        buffer_lease first{pool, pool.lend(), 5};
        const buffer_lease second{std::move(first)};
        CHECK(first.empty());
        CHECK(second.size() == 5);
        first.give_back();
        CHECK(pool.returned == 0);
    }
    CHECK(pool.returned == 1);
}

TEST_CASE("assigning to a lease returns the block that it had") {
    one_block had;
    one_block gets;
    buffer_lease lease{had, had.lend(), 5};

    lease = buffer_lease{gets, gets.lend(), 3};

    CHECK(had.returned == 1);
    CHECK(gets.returned == 0);
    CHECK(lease.size() == 3);
}

TEST_CASE("a block may be given back early") {
    one_block pool;
    {
        buffer_lease lease{pool, pool.lend(), 5};
        lease.give_back();
        CHECK(lease.empty());
        CHECK(pool.returned == 1);
    }
    CHECK(pool.returned == 1);
}

TEST_CASE("bytes dropped at the front leave the block that was lent to be returned") {
    one_block pool;
    {
        buffer_lease lease{pool, pool.lend(), 5};
        lease.drop_front(2);
        CHECK(lease.size() == 3);
        CHECK(lease.bytes().data() == pool.memory.data() + 2);
        lease.drop_front(3);
        CHECK(lease.empty());
        CHECK(pool.returned == 0);
    }
    CHECK(pool.returned == 1);
}
