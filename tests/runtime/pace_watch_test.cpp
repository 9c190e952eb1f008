// SPDX-License-Identifier: BSL-1.0
//
// When items count as short, and what a watch sees. That nothing is lost by it is in parking_test.cpp.
#include <runtime/pace_watch.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

using namespace gyre;
using namespace std::chrono_literals;

namespace {

/// What a watch asks, as told.
struct told_pool {
    static constexpr unsigned members_max = 2;

    struct told_lot {
        [[nodiscard]] std::size_t sleeping() const { return sleeping_now; }
        [[nodiscard]] bool work_in_sight() const { return in_sight; }
        void wake_one() { ++woken; }

        std::size_t sleeping_now = 0;
        bool in_sight = false;
        int woken = 0;
    };
    struct told_inbox {
        [[nodiscard]] bool empty() const { return is_empty; }
        [[nodiscard]] std::uint64_t rounds() const { return rounds_so_far; }

        bool is_empty = true;
        std::uint64_t rounds_so_far = 0;
    };
    struct told_queue {
        [[nodiscard]] std::uint64_t added() const { return added_so_far; }
        [[nodiscard]] std::uint64_t taken() const { return taken_so_far; }

        std::uint64_t added_so_far = 0;
        std::uint64_t taken_so_far = 0;
    };

    [[nodiscard]] std::size_t size() const { return members_max; }
    [[nodiscard]] const told_queue& queue(unsigned member) const { return queues[member]; }

    told_lot lot;
    told_inbox inbox;
    std::array<told_queue, members_max> queues;
    pool_pace<> pace;
};

struct told_parking {
    [[nodiscard]] bool searching() const { return is_searching; }

    bool is_searching = true;
};

}  // namespace

TEST_CASE("a pace is brisk after many short items, until one is long") {
    told_pool pool;
    pace_watch<told_pool> watch{pool};

    watch.record(63, 10us);
    CHECK_FALSE(watch.believes_brisk());
    watch.record(64, 65us);
    CHECK_FALSE(watch.believes_brisk());
    watch.record(64, 64us);
    CHECK(watch.believes_brisk());
    watch.record(1, 11us);  // It may have been a pause of the thread.
    CHECK(watch.believes_brisk());
    watch.record(1, 12us);
    CHECK_FALSE(watch.believes_brisk());
}

TEST_CASE(
    "a watch is kept while items are short, another member is awake and what waits moves on") {
    told_pool pool;
    pool.pace.brisk = true;
    pace_watch<told_pool> watch{pool};
    const time_point now{};
    CHECK(watch.alarm(now) == never);

    CHECK(watch.keep(told_parking{}));
    CHECK(pool.pace.suffices(pool));
    CHECK(watch.alarm(now) == now + 1ms);
    pool.queues[0].added_so_far = 3;
    watch.remember();
    pool.queues[0] = {.added_so_far = 4, .taken_so_far = 3};

    CHECK(watch.keep(told_parking{}));
    watch.remember();
    CHECK_FALSE(watch.keep(told_parking{}));
    CHECK_FALSE(watch.kept());
    CHECK_FALSE(pool.pace.suffices(pool));
}

TEST_CASE("a watch sees what stays in the inbox until that was set out twice") {
    told_pool pool;
    pool.pace.brisk = true;
    pool.inbox.is_empty = false;
    pace_watch<told_pool> watch{pool};
    CHECK(watch.keep(told_parking{}));

    pool.inbox.rounds_so_far = 2;
    CHECK(watch.keep(told_parking{}));
    watch.remember();
    pool.inbox.rounds_so_far = 3;
    CHECK_FALSE(watch.keep(told_parking{}));
}

TEST_CASE("there is one watch in a pool, and none without a reason") {
    told_pool pool;
    pace_watch<told_pool> watch{pool};
    pace_watch<told_pool> other{pool};
    CHECK_FALSE(watch.keep(told_parking{}));
    pool.pace.brisk = true;
    CHECK_FALSE(watch.keep(told_parking{.is_searching = false}));
    pool.lot.sleeping_now = 1;
    CHECK_FALSE(watch.keep(told_parking{}));
    pool.lot.sleeping_now = 0;

    CHECK(watch.keep(told_parking{}));
    CHECK_FALSE(other.keep(told_parking{}));
    pool.lot.sleeping_now = 2;
    CHECK_FALSE(pool.pace.suffices(pool));
}

TEST_CASE("the end of a watch wakes a member if there is work in sight") {
    told_pool pool;
    pool.pace.brisk = true;
    pace_watch<told_pool> watch{pool};
    watch.end();
    REQUIRE(watch.keep(told_parking{}));
    watch.end();
    CHECK(pool.lot.woken == 0);
    REQUIRE(watch.keep(told_parking{}));
    pool.lot.in_sight = true;

    watch.end();

    CHECK(pool.lot.woken == 1);
    CHECK_FALSE(watch.kept());
}

TEST_CASE("more short items are expected once after some came, and by the last member awake") {
    told_pool pool;
    pool.pace.brisk = true;
    pool.lot.sleeping_now = 1;
    pace_watch<told_pool> watch{pool};
    CHECK_FALSE(watch.expects_more());

    watch.feed();
    CHECK(watch.expects_more());
    CHECK_FALSE(watch.expects_more());
    watch.feed();
    pool.lot.sleeping_now = 0;
    CHECK_FALSE(watch.expects_more());
}
