// SPDX-License-Identifier: BSL-1.0
//
// The queue that thieves may take half of, alone and under attack.
#include <runtime/steal_queue.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

using gyre::steal_queue;
using gyre::work;

namespace {

struct numbered : work {
    std::atomic<int> taken = 0;
};

int number_of(const std::vector<numbered>& all, const work* item) {
    return static_cast<int>(static_cast<const numbered*>(item) - all.data());
}

}  // namespace

TEST_CASE("a steal queue hands its owner the oldest first") {
    steal_queue queue;
    std::vector<numbered> items(3);
    for (numbered& each : items) REQUIRE(queue.push(each));

    CHECK(queue.size() == 3);
    CHECK(queue.pop() == &items[0]);
    CHECK(queue.added() == 3);
    CHECK(queue.taken() == 1);
    CHECK(queue.pop() == &items[1]);
    CHECK(queue.pop() == &items[2]);
    CHECK(queue.pop() == nullptr);
    CHECK(queue.size() == 0);
}

TEST_CASE("a full steal queue takes nothing more, until something was taken") {
    steal_queue queue;
    std::vector<numbered> items(steal_queue::capacity + 1);
    for (std::size_t each = 0; each < steal_queue::capacity; ++each) {
        REQUIRE(queue.push(items[each]));
    }

    CHECK_FALSE(queue.push(items.back()));
    CHECK(queue.pop() == &items[0]);
    CHECK(queue.push(items.back()));
}

TEST_CASE("a thief gets the older half, rounded up, in order") {
    steal_queue victim;
    steal_queue thief;
    std::vector<numbered> items(5);
    for (numbered& each : items) REQUIRE(victim.push(each));

    CHECK(victim.give_half(thief) == 3);

    CHECK(number_of(items, thief.pop()) == 0);
    CHECK(number_of(items, thief.pop()) == 1);
    CHECK(number_of(items, thief.pop()) == 2);
    CHECK(number_of(items, victim.pop()) == 3);
    CHECK(number_of(items, victim.pop()) == 4);
    CHECK(victim.give_half(thief) == 0);
}

TEST_CASE("with an owner that adds and takes and three thieves, everything is taken once") {
    constexpr int count = 200'000;
    std::vector<numbered> items(count);
    steal_queue queue;
    std::atomic<int> taken = 0;
    const auto take = [&taken](work* item) {
        static_cast<numbered*>(item)->taken.fetch_add(1);
        taken.fetch_add(1);
    };

    std::vector<std::thread> thieves;
    for (int each = 0; each < 3; ++each) {
        thieves.emplace_back([&] {
            steal_queue own;
            while (taken.load() < count) {
                if (queue.give_half(own) == 0) std::this_thread::yield();
                while (work* const item = own.pop()) take(item);
            }
        });
    }
    for (int next = 0; next < count;) {
        if (queue.push(items[static_cast<std::size_t>(next)])) {
            ++next;
        } else if (work* const item = queue.pop()) {
            take(item);
        }
        if (next % 7 == 0) {
            if (work* const item = queue.pop()) take(item);
        }
    }
    while (work* const item = queue.pop()) take(item);
    for (std::thread& each : thieves) each.join();

    int once = 0;
    for (const numbered& each : items) once += each.taken.load() == 1 ? 1 : 0;
    CHECK(once == count);
}
