// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/watch.hpp promises. How its wait ends when stopped: waiting_laws_test.cpp.
#include <gyre/sync/watch.hpp>

#include <gyre/interop/future.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/pools.hpp>
#include <support/settle.hpp>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> follow(watch<int>& of, std::vector<int>& seen) {
    std::uint64_t version = 0;
    for (;;) {
        const auto changed = co_await of.changed(version);
        if (!changed.ok()) co_return;
        version = changed.value().version;
        seen.push_back(*changed.value().value);
    }
}

/// Follows to the end; the last value, or -1 if one was older than the one before it.
task<int> last_of(watch<int>& of) {
    std::uint64_t version = 0;
    int last = 0;
    for (;;) {
        const auto changed = co_await of.changed(version);
        if (!changed.ok()) co_return last;
        const int value = *changed.value().value;
        if (value < last || changed.value().version <= version) co_return -1;
        version = changed.value().version;
        last = value;
    }
}

}  // namespace

TEST_CASE("a watch has a value from the beginning, and its versions count up") {
    watch<std::string> name{"first"};

    const auto first = name.get();
    name.set("second");
    const auto second = name.get();

    CHECK(*first.value == "first");  // It lives while it is held.
    CHECK(first.version == 1);
    CHECK(*second.value == "second");
    CHECK(second.version == 2);
}

TEST_CASE("who waits for a change is woken by each, and skips what it was too slow for") {
    on_every_backend([](io_context&) -> task<> {
        watch<int> number{1};
        std::vector<int> seen;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(follow(number, seen));
            co_await settle();
            number.set(2);
            co_await settle();
            number.set(3);
            number.set(4);
            co_await settle();
            number.set(5);
            number.close();
        };

        co_await with_group(body);

        CHECK(seen == std::vector{1, 2, 4, 5});
    });
}

TEST_CASE("the last value is seen although the watch is closed") {
    on_every_backend([](io_context&) -> task<> {
        watch<int> number{1};
        number.set(2);
        number.close();

        const auto last = co_await number.changed(1);
        const auto none = co_await number.changed(2);

        CHECK(*last.value().value == 2);
        CHECK(none.error() == errc::closed);
        CHECK(none.value().value == nullptr);
    });
}

TEST_CASE("storm: all threads see the last value, and none sees an older one after a newer") {
    with_pools(2, [](io_context&, io_pool& pool) {
        constexpr int last = 2000;
        watch<int> number{0};
        std::vector<std::future<int>> ends;
        for (std::size_t each = 0; each < 4; ++each) {
            ends.push_back(to_future(pool[each % 2], last_of(number)));
        }
        int seen_here = 0;
        std::thread blocking{[&] {
            std::uint64_t version = 0;
            for (;;) {
                const auto changed = number.changed_blocking(version);
                if (!changed.ok()) return;
                version = changed.value().version;
                seen_here = *changed.value().value;
            }
        }};

        for (int value = 1; value <= last; ++value) number.set(value);
        number.close();
        blocking.join();

        for (std::future<int>& each : ends) CHECK(each.get() == last);
        CHECK(seen_here == last);
    });
}

TEST_CASE("a thread that sees no change waits until its deadline") {
    watch<int> number{1};

    const auto none = number.changed_blocking(1, std::chrono::steady_clock::now() + 1ms);

    CHECK(none.error() == errc::timed_out);
}
