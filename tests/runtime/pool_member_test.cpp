// SPDX-License-Identifier: BSL-1.0
//
// Members without their threads: what they take, and from whom. What they do together is in
// io_pool_test.cpp, and how they sleep in parking_test.cpp.
#include <runtime/pool_member.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory>

using namespace gyre;

namespace {

/// Two members that nothing runs, as an io_pool makes them.
class two_members {
public:
    two_members() {
        state.steal_threshold = 0;
        for (unsigned number = 0; number < 2; ++number) {
            state.members.push_back(
                std::make_unique<pool_member>(state, number, io_context_options{}));
        }
    }

    pool_state state;
    pool_member& first() { return *state.members[0]; }
    pool_member& second() { return *state.members[1]; }
};

}  // namespace

TEST_CASE("of what one member shares another one steals the older half, and each takes in order") {
    two_members pool;
    std::array<work, 4> items;
    for (work& each : items) pool.first().share(each);

    CHECK(pool.second().search());

    CHECK(pool.second().stolen.value() == 2);
    for (const std::size_t each : {0U, 1U}) CHECK(pool.second().take() == &items[each]);
    for (const std::size_t each : {2U, 3U}) CHECK(pool.first().take() == &items[each]);
    CHECK(pool.first().take() == nullptr);
    CHECK_FALSE(pool.second().search());
}

TEST_CASE("a member that sleeps is woken by one that shares, and takes that") {
    two_members pool;
    work item;
    REQUIRE(pool.second().prepare_to_sleep());

    pool.first().share(item);

    CHECK(pool.second().loop.counters().wakeups == 1);
    pool.second().woke_up();
    CHECK(pool.second().take() == &item);
    CHECK(pool.first().take() == nullptr);
}

TEST_CASE("a member does not sleep beside what another one shares") {
    two_members pool;
    work item;
    pool.first().share(item);

    CHECK_FALSE(pool.second().prepare_to_sleep());
    CHECK(pool.first().take() == &item);
    CHECK(pool.first().take() == nullptr);
    CHECK(pool.second().prepare_to_sleep());
}

TEST_CASE(
    "what comes from outside is taken after a while though a member is never out of its own") {
    two_members pool;
    work from_outside;
    work own;
    pool.state.inbox.push(from_outside);
    std::size_t taken_before = 0;

    pool.first().share(own);
    while (pool.first().take() == &own) {
        pool.first().share(own);
        ++taken_before;
    }

    CHECK(pool.state.inbox.empty());
    CHECK(taken_before == 4 * steal_queue::capacity);
    CHECK(pool.first().take() == &own);
}
