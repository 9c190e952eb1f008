// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/once.hpp promises. How its wait ends when stopped: waiting_laws_test.cpp.
#include <gyre/sync/once.hpp>

#include <gyre/interop/future.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/pools.hpp>
#include <support/settle.hpp>

#include <future>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

TEST_CASE("what fails, or is stopped, is tried by the next, and what is done is done once") {
    on_every_backend([](io_context&) -> task<> {
        once it;
        event never_set;
        event stop_first;
        std::vector<error> outcomes;
        int tries = 0;
        const auto call = [&](event* until, error end) -> task<> {
            const auto initialise = [&, until, end]() -> task<io_result<>> {
                ++tries;
                if (until != nullptr) {
                    const io_result<> waited = co_await until->wait();
                    if (!waited.ok()) co_return waited;
                }
                co_return end;
            };
            const io_result<> called = co_await it.call(initialise);
            outcomes.push_back(called.error());
        };
        const auto stopped = [&](task_group& group) -> task<> {
            group.spawn(call(&never_set, error{}));
            static_cast<void>(co_await stop_first.wait());
            group.request_stop();
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn([&]() -> task<> { co_await with_group(stopped); });
            co_await settle();
            group.spawn(call(nullptr, errc::no_such_file));
            group.spawn(call(nullptr, error{}));
            group.spawn(call(nullptr, errc::file_exists));
            co_await settle();
            CHECK(tries == 1);
            stop_first.set();
        };

        co_await with_group(body);

        CHECK(tries == 3);
        CHECK(it.done());
        CHECK(outcomes == std::vector<error>{errc::canceled, errc::no_such_file, {}, {}});
    });
}

TEST_CASE("a call that is stopped while another one is at it leaves that alone") {
    on_every_backend([](io_context&) -> task<> {
        once it;
        event finish;
        io_result<> first = errc::no_such_file;
        io_result<> second;
        const auto initialise = [&]() -> task<io_result<>> {
            const io_result<> waited = co_await finish.wait();
            co_return waited;
        };
        const auto call = [&](io_result<>& outcome) -> task<> {
            outcome = co_await it.call(initialise);
        };
        const auto stopped = [&](task_group& group) -> task<> {
            group.spawn(call(second));
            co_await settle();
            group.request_stop();
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(call(first));
            co_await settle();
            co_await with_group(stopped);
            CHECK(second.error() == errc::canceled);
            finish.set();
        };

        co_await with_group(body);

        CHECK(first.ok());
        CHECK(it.done());
    });
}

TEST_CASE("storm: callers on all threads see what one of them did") {
    with_pools(3, [](io_context&, io_pool& pool) {
        constexpr int rounds = 100;
        for (int round = 0; round < rounds; ++round) {
            once it;
            int value = 0;  // Not atomic: TSan would tell.
            const auto call = [&]() -> task<int> {
                const auto initialise = [&]() -> task<io_result<>> {
                    co_await yield();
                    ++value;
                    co_return io_result<>{};
                };
                const io_result<> called = co_await it.call(initialise);
                if (called.ok()) co_return value;
                co_return -1;
            };
            std::vector<std::future<int>> seen;
            for (std::size_t each = 0; each < 6; ++each) {
                seen.push_back(to_future(pool[each % pool.size()], call()));
            }
            for (std::future<int>& each : seen) CHECK(each.get() == 1);
        }
    });
}
