// SPDX-License-Identifier: BSL-1.0
//
// What gyre/base/spin_lock.hpp promises.
#include <gyre/base/spin_lock.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using namespace gyre;

TEST_CASE("a spin lock that is held cannot be taken until it is free") {
    spin_lock lock;

    CHECK(lock.try_lock());
    CHECK_FALSE(lock.try_lock());
    lock.unlock();
    CHECK(lock.try_lock());
    lock.unlock();
}

TEST_CASE("one thread at a time is under a spin lock") {
    constexpr int rounds = 20'000;
    spin_lock lock;
    int count = 0;  // Not atomic: two at a time would lose some, and TSan would tell.
    const auto work = [&] {
        for (int round = 0; round < rounds; ++round) {
            const std::lock_guard hold{lock};
            ++count;
        }
    };

    std::thread first{work};
    std::thread second{work};
    work();
    first.join();
    second.join();

    CHECK(count == 3 * rounds);
}

TEST_CASE("a spin lock is destroyed when the thread under it is out") {
    auto lock = std::make_unique<spin_lock>();
    std::atomic<bool> is_out = false;
    std::latch held{1};
    std::latch may_leave{1};
    std::thread other{[&, it = lock.get()] {
        it->lock();
        held.count_down();
        may_leave.wait();
        is_out = true;
        it->unlock();
    }};
    held.wait();
    std::thread last{[&] { may_leave.count_down(); }};

    lock.reset();
    const bool was_out = is_out;
    other.join();
    last.join();

    CHECK(was_out);
}
