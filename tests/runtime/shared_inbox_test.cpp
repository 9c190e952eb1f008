// SPDX-License-Identifier: BSL-1.0
//
// The inbox of a pool: in order for one taker, and complete for many.
#include <runtime/shared_inbox.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

using gyre::shared_inbox;
using gyre::work;

namespace {

struct numbered : work {
    std::atomic<int> taken = 0;
};

}  // namespace

TEST_CASE("a shared inbox hands out the oldest first, as many as are asked for") {
    shared_inbox inbox;
    std::vector<numbered> items(5);
    CHECK(inbox.empty());
    for (numbered& each : items) inbox.push(each);
    std::vector<work*> got;
    const auto take = [&got](work& item) { got.push_back(&item); };

    CHECK(inbox.take_some(2, take) == 2);
    CHECK_FALSE(inbox.empty());
    CHECK(inbox.take_some(10, take) == 3);
    CHECK(inbox.empty());
    CHECK(inbox.take_some(10, take) == 0);

    REQUIRE(got.size() == 5);
    for (std::size_t each = 0; each < 5; ++each) CHECK(got[each] == &items[each]);
}

TEST_CASE("after two more rounds of a shared inbox everything from before is taken") {
    shared_inbox inbox;
    std::vector<numbered> items(3);
    const auto take = [](work& item) { ++static_cast<numbered&>(item).taken; };
    inbox.push(items[0]);
    inbox.push(items[1]);
    inbox.take_some(1, take);  // The second one is set out and waits.
    inbox.push(items[2]);
    const std::uint64_t before = inbox.rounds();
    CHECK_FALSE(inbox.being_taken());

    inbox.take_some(10, [&](work& item) {
        CHECK(inbox.being_taken());
        take(item);
    });
    inbox.take_some(10, take);
    CHECK(inbox.rounds() - before == 1);
    inbox.take_some(10, take);

    CHECK(items[1].taken == 1);
    CHECK(items[2].taken == 1);
}

TEST_CASE("with several posters and takers a shared inbox loses nothing and doubles nothing") {
    constexpr std::size_t count = 60'000;
    std::vector<numbered> items(count);
    shared_inbox inbox;
    std::atomic<std::size_t> taken = 0;
    std::vector<std::thread> threads;
    for (std::size_t poster = 0; poster < 2; ++poster) {
        threads.emplace_back([&, poster] {
            for (std::size_t each = poster; each < count; each += 2) inbox.push(items[each]);
        });
    }
    for (int taker = 0; taker < 2; ++taker) {
        threads.emplace_back([&] {
            while (taken.load() < count) {
                const std::size_t some = inbox.take_some(
                    32, [](work& item) { static_cast<numbered&>(item).taken.fetch_add(1); });
                taken.fetch_add(some);
                if (some == 0) std::this_thread::yield();
            }
        });
    }
    for (std::thread& each : threads) each.join();

    std::size_t once = 0;
    for (const numbered& each : items) once += each.taken.load() == 1 ? 1 : 0;
    CHECK(once == count);
    CHECK(inbox.empty());
}
