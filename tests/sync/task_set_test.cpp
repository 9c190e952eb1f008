// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/task_set.hpp promises. exception_test.cpp has what becomes of exceptions.
#include <gyre/sync/task_set.hpp>

#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/conformance.hpp>
#include <support/waiting_laws.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<std::unique_ptr<int>> number_when(event& ready, int value) {
    static_cast<void>(co_await ready.wait());
    co_return std::make_unique<int>(value);
}

/// Has no null state.
struct only_made {
    explicit only_made(int of) noexcept : value{of} {}
    int value;
};

}  // namespace

TEST_CASE("results come in the order in which the children end, and then the end") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        std::array<event, 3> ready;
        const auto body = [&](task_group& group) -> task<> {
            task_set<std::unique_ptr<int>> set{group, 3};
            for (int each = 0; each < 3; ++each) {
                set.spawn(number_when(ready[static_cast<std::size_t>(each)], each));
            }
            const auto opens = [&]() -> task<> {
                for (const std::size_t each : {2, 0, 1}) {
                    co_await settle();
                    ready[each].set();
                }
            };
            group.spawn(opens());

            std::vector<int> order;
            error ended;
            while (!ended) {
                io_result<std::unique_ptr<int>> next = co_await set.next();
                ended = next.error();
                if (next.ok()) order.push_back(*next.take());
            }

            CHECK(order == std::vector{2, 0, 1});
            CHECK(ended == errc::eof);
            CHECK(set.empty());
        };

        co_await with_group(body);
    });
}

TEST_CASE("results wait for whoever comes late, and count against the bound") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        const auto body = [&](task_group& group) -> task<> {
            task_set<only_made> set{group, 2};
            set.spawn([]() -> task<only_made> { co_return only_made{1}; });
            set.spawn([]() -> task<only_made> { co_return only_made{2}; });
            CHECK(set.full());
            CHECK_FALSE(set.try_next());
            co_await settle();
            CHECK(set.full());
            CHECK(group.size() == 0);

            const std::optional<only_made> first = set.try_next();
            CHECK_FALSE(set.full());
            set.spawn([]() -> task<only_made> { co_return only_made{3}; });
            const io_result<std::optional<only_made>> second = co_await set.next();
            const io_result<std::optional<only_made>> third = co_await set.next();

            CHECK(first->value == 1);
            CHECK(second.value()->value == 2);
            CHECK(third.value()->value == 3);
        };

        co_await with_group(body);
    });
}

TEST_CASE("so many at a time as there is room for, however many there are to do") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        int running = 0;
        int running_most = 0;
        int done = 0;
        const auto counts = [&]() -> task<> {
            running_most = std::max(running_most, ++running);
            co_await yield();
            --running;
        };
        const auto body = [&](task_group& group) -> task<> {
            task_set<> set{group, 4};
            for (int each = 0; each < 100; ++each) {
                if (set.full()) {
                    const io_result<nothing> next = co_await set.next();
                    if (next.ok()) ++done;
                }
                set.spawn(counts());
            }
            while (!set.empty()) {
                const io_result<nothing> next = co_await set.next();
                if (next.ok()) ++done;
            }
        };

        co_await with_group(body);

        CHECK(done == 100);
        CHECK(running_most == 4);
    });
}

TEST_CASE("the end of a set stops its children, for which the group waits, and no others") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        std::vector<error> of_set;
        error of_group = errc::malformed;
        const auto waits = [&]() -> task<int> {
            const io_result<> waited = co_await unset.wait();
            of_set.push_back(waited.error());
            co_return 1;
        };
        const auto other = [&]() -> task<> {
            const io_result<> waited = co_await unset.wait();
            of_group = waited.error();
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(other());
            {
                task_set<int> set{group, 3};
                set.spawn(waits());
                co_await settle();
                set.spawn(waits());
            }
            co_await settle();
            CHECK(group.size() == 1);
            unset.set();
        };

        co_await with_group(body);

        CHECK(of_set == std::vector<error>{errc::canceled, errc::canceled});
        CHECK_FALSE(of_group);
    });
}

TEST_CASE("a stop of a set ends its children, whose results still come") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        const auto waits = [&]() -> task<io_result<>> {
            const io_result<> waited = co_await unset.wait();
            co_return waited;
        };
        const auto body = [&](task_group& group) -> task<> {
            task_set<io_result<>> set{group, 2};
            set.spawn(waits());
            set.spawn(waits());
            co_await settle();
            set.request_stop();
            for (int each = 0; each < 2; ++each) {
                const io_result<io_result<>> next = co_await set.next();
                CHECK(next.ok());
                CHECK(next.value().error() == errc::canceled);
            }
            CHECK(set.empty());
        };

        co_await with_group(body);
    });
}

TEST_CASE("a wait for the next result that is canceled takes none, and the children go on") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event ready;
        const auto body = [&](task_group& group) -> task<> {
            task_set<std::unique_ptr<int>> set{group, 1};
            set.spawn(number_when(ready, 5));
            const io_result<std::unique_ptr<int>> late = co_await with_timeout(1ms, set.next());
            CHECK(late.error() == errc::timed_out);
            ready.set();
            const io_result<std::unique_ptr<int>> next = co_await set.next();
            CHECK(*next.value() == 5);
        };

        co_await with_group(body);
    });
}

TEST_CASE("several may wait for results: each has one, or hears that there is none") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event ready;
        std::vector<error> heard;
        const auto body = [&](task_group& group) -> task<> {
            task_set<std::unique_ptr<int>> set{group, 1};
            set.spawn(number_when(ready, 5));
            const auto takes = [&]() -> task<> {
                const io_result<std::unique_ptr<int>> next = co_await set.next();
                heard.push_back(next.error());
            };
            const auto takers = [&](task_group& inner) -> task<> {
                inner.spawn(takes());
                inner.spawn(takes());
                co_await settle();
                ready.set();
            };
            co_await with_group(takers);
        };

        co_await with_group(body);

        CHECK(heard == std::vector<error>{errc::ok, errc::eof});
    });
}
