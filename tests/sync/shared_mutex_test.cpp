// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/shared_mutex.hpp promises. How its waits end when stopped: waiting_laws_test.cpp.
#include <gyre/sync/shared_mutex.hpp>

#include <gyre/interop/future.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/pools.hpp>
#include <support/settle.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> read(shared_mutex& under, std::string& order, char name) {
    auto locked = co_await under.lock_shared();
    const shared_mutex::shared_guard held = locked.take();
    order += name;
    co_await yield();
    order += name;
}

task<> write(shared_mutex& under, std::string& order, char name) {
    auto locked = co_await under.lock();
    const shared_mutex::guard held = locked.take();
    order += name;
    co_await yield();
    order += name;
}

}  // namespace

TEST_CASE("readers read together, and a writer is alone") {
    shared_mutex lock;

    shared_mutex::shared_guard first = lock.try_lock_shared();
    shared_mutex::shared_guard second = lock.try_lock_shared();
    CHECK((first.owns() && second.owns()));
    CHECK_FALSE(lock.try_lock().owns());
    first.unlock();
    CHECK_FALSE(lock.try_lock().owns());
    second.unlock();

    const shared_mutex::guard alone = lock.try_lock();
    CHECK(alone.owns());
    CHECK_FALSE(lock.try_lock().owns());
    CHECK_FALSE(lock.try_lock_shared().owns());
}

TEST_CASE("readers and writers have their turns in the order of asking") {
    on_every_backend([](io_context&) -> task<> {
        shared_mutex lock;
        std::string order;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(read(lock, order, 'a'));
            group.spawn(read(lock, order, 'b'));
            group.spawn(write(lock, order, 'W'));
            group.spawn(read(lock, order, 'c'));
            group.spawn(read(lock, order, 'd'));
            group.spawn(write(lock, order, 'X'));
            co_return;
        };

        co_await with_group(body);

        CHECK(order == "ababWWcdcdXX");
    });
}

TEST_CASE("a writer becomes a reader without letting another writer in") {
    on_every_backend([](io_context&) -> task<> {
        shared_mutex lock;
        std::string order;
        const auto body = [&](task_group& group) -> task<> {
            auto locked = co_await lock.lock();
            group.spawn(read(lock, order, 'a'));
            group.spawn(write(lock, order, 'W'));
            co_await settle();
            const shared_mutex::shared_guard reading = shared_mutex::downgrade(locked.take());
            CHECK(reading.owns());
            co_await settle();
            CHECK(order == "aa");
        };

        co_await with_group(body);

        CHECK(order == "aaWW");
    });
}

TEST_CASE("storm: what a writer changes on any thread is seen whole by readers") {
    with_pools(2, [](io_context&, io_pool& pool) {
        constexpr int rounds = 300;
        shared_mutex lock;
        int first = 0;  // Not atomic: TSan would tell.
        int second = 0;
        std::atomic<int> torn{0};
        const auto writing = [&]() -> task<> {
            for (int round = 0; round < rounds; ++round) {
                auto locked = co_await lock.lock();
                const shared_mutex::guard held = locked.take();
                ++first;
                co_await yield();
                ++second;
            }
        };
        const auto reading = [&]() -> task<> {
            for (int round = 0; round < rounds; ++round) {
                auto locked = co_await lock.lock_shared();
                const shared_mutex::shared_guard held = locked.take();
                if (first != second) ++torn;
                co_await yield();
                if (first != second) ++torn;
            }
        };
        std::vector<std::future<void>> ends;
        for (std::size_t each = 0; each < 2; ++each) {
            ends.push_back(to_future(pool[each], writing()));
            ends.push_back(to_future(pool[each], reading()));
            ends.push_back(to_future(pool[each], reading()));
        }
        std::thread blocking{[&] {
            for (int round = 0; round < rounds; ++round) {
                {
                    auto locked = lock.lock_blocking();
                    const shared_mutex::guard held = locked.take();
                    ++first;
                    ++second;
                }
                auto locked = lock.lock_shared_blocking();
                const shared_mutex::shared_guard held = locked.take();
                if (first != second) ++torn;
            }
        }};

        for (std::future<void>& each : ends) each.get();
        blocking.join();

        CHECK(torn == 0);
        CHECK(first == 3 * rounds);
        CHECK(lock.try_lock().owns());
    });
}

TEST_CASE("a thread that gets no lock waits until its deadline") {
    shared_mutex lock;
    const shared_mutex::shared_guard reading = lock.try_lock_shared();
    const time_point deadline = std::chrono::steady_clock::now() + 1ms;

    const auto written = lock.lock_blocking(deadline);
    const auto read_too = lock.lock_shared_blocking(deadline);

    CHECK(written.error() == errc::timed_out);
    CHECK(read_too.ok());
}
