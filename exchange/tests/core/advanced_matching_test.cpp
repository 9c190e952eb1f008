// SPDX-License-Identifier: BSL-1.0
//
// What exchange/core/advanced_matching.cpp promises: what the public sees of an iceberg and of stops, and
// that what they lead to is done in steps.
#include <exchange/core/matcher.hpp>

#include <exchange/tests/support/trading_fixture.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

using lines = std::vector<std::string>;

lines feed_of(const trading_fixture& it) {
    lines found;
    const lines all = it.lines();
    for (std::size_t at = 0; at < all.size(); ++at) {
        if (audience_of(it.said()[at].kind) == event_audience::public_feed)
            found.push_back(all[at]);
    }
    return found;
}

std::string text(const lines& of) {
    std::string made;
    for (const std::string& each : of) made += each + '\n';
    return made;
}

void check_feed(const trading_fixture& it, const lines& expected) {
    CHECK(text(feed_of(it)) == text(expected));
}

}  // namespace

TEST_CASE("the public sees what an iceberg shows, and each new part come last at its price") {
    trading_fixture it;
    it.tell(iceberg(it.limit_order(1, order_side::sell, 10, 100), 4));
    check_feed(it, {"book add 1.1 i1 sell 4@100", "level i1 sell 4@100 of 1",
                    "top i1 0@0 of 0 | 4@100 of 1"});
    it.enter(2, order_side::sell, 3, 100);

    it.enter(3, order_side::buy, 4, 100);
    check_feed(it, {"trade 1 i1 4@100 aggressor buy", "volume i1 4 in 1",
                    "book erase 1.1 i1 sell 0@100", "level i1 sell 3@100 of 1",
                    "statistics i1 open 100 high 100 low 100 last 100 volume 4 in 1",
                    "top i1 0@0 of 0 | 3@100 of 1", "book add 1.1 i1 sell 4@100",
                    "level i1 sell 7@100 of 2", "top i1 0@0 of 0 | 7@100 of 2"});
}

TEST_CASE("an iceberg alone at its price leaves it for a moment") {
    trading_fixture it;
    it.tell(iceberg(it.limit_order(1, order_side::sell, 5, 100), 4));
    it.enter(3, order_side::buy, 4, 100);
    check_feed(it, {"trade 1 i1 4@100 aggressor buy", "volume i1 4 in 1",
                    "book erase 1.1 i1 sell 0@100", "level i1 sell 0@100 of 0",
                    "statistics i1 open 100 high 100 low 100 last 100 volume 4 in 1",
                    "top i1 0@0 of 0 | 0@0 of 0", "book add 1.1 i1 sell 1@100",
                    "level i1 sell 1@100 of 1", "top i1 0@0 of 0 | 1@100 of 1"});
}

TEST_CASE("what is hidden changes unseen, what is shown does not") {
    trading_fixture it;
    it.tell(iceberg(it.limit_order(1, order_side::sell, 10, 100), 4));
    it.amend(1, 1, 6, 100);
    check_feed(it, {});
    it.amend(1, 1, 3, 100);
    check_feed(it, {"book modify 1.1 i1 sell 3@100", "level i1 sell 3@100 of 1",
                    "top i1 0@0 of 0 | 3@100 of 1"});
}

TEST_CASE("an iceberg that moves shows a part of itself where it comes to rest") {
    trading_fixture it;
    it.tell(iceberg(it.limit_order(1, order_side::sell, 10, 100), 4));
    it.amend(1, 1, 12, 101);
    check_feed(it, {"book erase 1.1 i1 sell 0@100", "level i1 sell 0@100 of 0",
                    "book add 1.1 i1 sell 4@101", "level i1 sell 4@101 of 1",
                    "top i1 0@0 of 0 | 4@101 of 1"});
    const book_memory& memory = it.partition().state().memory;
    CHECK(memory.open_of(memory.orders[1]) == 12);
}

TEST_CASE("the public hears nothing of a stop before it is triggered") {
    trading_fixture it;
    it.tell(stop(it.limit_order(1, order_side::buy, 5, 106), 105));
    check_feed(it, {});
    it.amend(1, 1, 4, 107);
    check_feed(it, {});
    it.cancel(1, 1);
    check_feed(it, {});
    CHECK(it.partition().state().memory.orders.in_use() == 0);
}

TEST_CASE("a hundred stops that one trade triggers are carried out in steps") {
    partition_limits limits = small_limits();
    limits.step_work_max = 5;
    trading_fixture it{limits};
    for (int each = 0; each < 100; ++each)
        it.tell(stop(it.limit_order(1, order_side::buy, 1, 50), 105));
    it.enter(2, order_side::sell, 1, 105);
    std::size_t told = 0;
    std::size_t most = 0;
    std::size_t steps = 1;
    const auto take = [&](const event_batch& batch) { told += batch.events.size(); };
    const event_sink sink = event_sink::to(take);
    it.partition().begin(2'000'000'000, it.limit_order(3, order_side::buy, 1, 105), sink);
    for (; it.partition().busy(); ++steps) {
        most = std::max(most, told);
        told = 0;
        it.partition().resume(sink);
    }
    CHECK(steps >= 100);
    CHECK(std::max(most, told) <= 5 + 20);
    CHECK(it.partition().state().markets[1].stops.waiting() == 0);
    CHECK(it.partition().state().memory.orders.in_use() == 100);
}
