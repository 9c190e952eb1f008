// SPDX-License-Identifier: BSL-1.0
//
// How much memory a tree of forks takes: as much as its depth needs, however many tasks it has; and that its
// depth is not the native stack's.
//
// Each coroutine of these trees has its frame in a resource that counts, so the tests ask for a number of
// frames and not for an amount of memory or time.
#include <gyre/coro/frame_memory.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/generator.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/task_set.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/sync/when_any.hpp>
#include <support/conformance.hpp>
#include <support/counted_frames.hpp>
#include <support/settle.hpp>

#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

constexpr auto here = std::allocator_arg;
using tag = std::allocator_arg_t;

task<long> fib(tag, counted_frames* in, int n) {
    if (n < 2) co_return n;
    const auto [one, two] = co_await when_all(fib(here, in, n - 1), fib(here, in, n - 2));
    co_return one + two;
}

task<long> fib_of_two_phases(tag, counted_frames* in, int n) {
    if (n < 2) co_return n;
    const auto first = co_await when_all(fib_of_two_phases(here, in, n - 2), fib(here, in, 1));
    const auto second = co_await when_all(fib(here, in, 0), fib_of_two_phases(here, in, n - 1));
    co_return std::get<0>(first) + std::get<1>(second);
}

task<long> fib_of_races(tag, counted_frames* in, int n) {
    if (n < 2) co_return n;
    const auto race =
        co_await when_any(fib_of_races(here, in, n - 1), fib_of_races(here, in, n - 2));
    co_return std::get<0>(race.results) + std::get<1>(race.results);
}

task<long> fib_that_receives(tag, counted_frames* in, event* ready, int n) {
    if (n < 2) {
        static_cast<void>(co_await ready->wait());
        co_return n;
    }
    const auto [one, two] = co_await when_all(fib_that_receives(here, in, ready, n - 1),
                                              fib_that_receives(here, in, ready, n - 2));
    co_return one + two;
}

task<long> fib_that_yields(tag, counted_frames* in, int n) {
    if (n < 2) {
        co_await yield();
        co_return n;
    }
    const auto [one, two] =
        co_await when_all(fib_that_yields(here, in, n - 1), fib_that_yields(here, in, n - 2));
    co_return one + two;
}

task<long> fib_of_groups(tag, counted_frames* in, int n) {
    if (n < 2) co_return n;
    long sum = 0;
    const auto body = [in, n, &sum](task_group& group) -> task<> {
        group.spawn(fib_of_groups(here, in, n - 1), [&sum](long one) { sum += one; });
        group.spawn(fib_of_groups(here, in, n - 2), [&sum](long two) { sum += two; });
        co_return;
    };
    co_await with_group(body);
    co_return sum;
}

task<long> fib_of_sets(tag, counted_frames* in, int n) {
    if (n < 2) co_return n;
    long sum = 0;
    const auto body = [in, n, &sum](task_group& group) -> task<> {
        task_set<long> both{group, 2};
        both.spawn(fib_of_sets(here, in, n - 1));
        both.spawn(fib_of_sets(here, in, n - 2));
        while (!both.empty()) {
            const auto [error, one] = co_await both.next();
            sum += one;
        }
    };
    co_await with_group(body);
    co_return sum;
}

generator<long> fibs(counted_frames* in, int n) {
    const auto both = co_await when_all(fib(here, in, n - 1), fib(here, in, n - 2));
    co_yield std::get<0>(both);
    co_yield std::get<1>(both);
}

task<long> fib_of_generators(tag, counted_frames* in, int n) {
    if (n < 12) {
        const long small = co_await fib(here, in, n);
        co_return small;
    }
    generator<long> both = fibs(in, n);
    const auto one = co_await both.next();
    const auto two = co_await both.next();
    const auto rest =
        co_await when_all(fib_of_generators(here, in, n - 1), fib_of_generators(here, in, n - 2));
    CHECK(*one == std::get<0>(rest));
    CHECK(*two == std::get<1>(rest));
    co_return *one + *two;
}

task<long> skynet(tag, counted_frames* in, long first, long leaves) {
    if (leaves == 1) co_return first;
    std::vector<task<long>> children;
    for (long each = 0; each < 10; ++each) {
        children.push_back(skynet(here, in, first + each * leaves / 10, leaves / 10));
    }
    const std::vector<long> numbers = co_await when_all(std::move(children));
    long sum = 0;
    for (const long each : numbers) sum += each;
    co_return sum;
}

// Forks within each other, which end with what waits for `go` at the bottom.

task<long> nest_all(event* go, long deep) {
    if (deep == 0) static_cast<void>(co_await go->wait());
    if (deep == 0) co_return 0;
    const auto [below] = co_await when_all(nest_all(go, deep - 1));
    co_return below + 1;
}

task<long> nest_all_of_vectors(event* go, long deep) {
    if (deep == 0) static_cast<void>(co_await go->wait());
    if (deep == 0) co_return 0;
    std::vector<task<long>> one;
    one.push_back(nest_all_of_vectors(go, deep - 1));
    const std::vector<long> below = co_await when_all(std::move(one));
    co_return below.front() + 1;
}

task<long> nest_any(event* go, long deep) {
    if (deep == 0) static_cast<void>(co_await go->wait());
    if (deep == 0) co_return 0;
    const auto race = co_await when_any(nest_any(go, deep - 1));
    co_return std::get<0>(race.results) + 1;
}

task<long> nest_bodies(event* go, long deep) {
    if (deep == 0) static_cast<void>(co_await go->wait());
    if (deep == 0) co_return 0;
    long below = 0;
    const auto body = [&](task_group&) -> task<> { below = co_await nest_bodies(go, deep - 1); };
    co_await with_group(body);
    co_return below + 1;
}

task<long> nest_children(event* go, long deep) {
    if (deep == 0) static_cast<void>(co_await go->wait());
    if (deep == 0) co_return 0;
    long below = 0;
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(nest_children(go, deep - 1), [&below](long it) { below = it; });
        co_return;
    };
    co_await with_group(body);
    co_return below + 1;
}

// Others that are always ready, which make each share of the turn a short one.
task<> keep_busy(const bool& over) {
    while (!over) co_await yield();
}

enum class company { none, others };

template <class Tree>
void check_most_frames(company beside, long value, std::size_t tasks, std::size_t most,
                       const Tree& tree) {
    on_each_backend_of("coordination", [&](io_context&) -> task<> {
        counted_frames frames;
        long sum = 0;
        bool over = false;
        const auto body = [&](task_group& group) -> task<> {
            if (beside == company::others) {
                for (int each = 0; each < 3; ++each) group.spawn(keep_busy(over));
            }
            sum = co_await tree(frames);
            over = true;
        };

        co_await with_group(body);

        CHECK(sum == value);
        CHECK(frames.made() >= tasks);
        CHECK(frames.most() <= most);
        CHECK(frames.live() == 0);
    });
}

}  // namespace

TEST_CASE("a fork of two takes memory by its depth, not by its tasks") {
    for (const company beside : {company::none, company::others}) {
        check_most_frames(beside, 4181, 10'000, 200,
                          [](counted_frames& in) { return fib(here, &in, 19); });
    }
}

TEST_CASE("a fork of ten of a vector takes memory by its depth, not by its tasks") {
    for (const company beside : {company::none, company::others}) {
        check_most_frames(beside, 49'995'000, 11'000, 500,
                          [](counted_frames& in) { return skynet(here, &in, 0, 10'000); });
    }
}

TEST_CASE("two forks one after the other take memory by their depth, not by their tasks") {
    for (const company beside : {company::none, company::others}) {
        check_most_frames(beside, 4181, 10'000, 300,
                          [](counted_frames& in) { return fib_of_two_phases(here, &in, 19); });
    }
}

TEST_CASE("a race of two takes memory by its depth, not by its tasks") {
    for (const company beside : {company::none, company::others}) {
        check_most_frames(beside, 4181, 10'000, 200,
                          [](counted_frames& in) { return fib_of_races(here, &in, 19); });
    }
}

TEST_CASE("a group's children that have groups take memory by their depth, not by their number") {
    for (const company beside : {company::none, company::others}) {
        check_most_frames(beside, 4181, 10'000, 200,
                          [](counted_frames& in) { return fib_of_groups(here, &in, 19); });
    }
}

TEST_CASE("forks inside of generators take memory by their depth, not by their tasks") {
    for (const company beside : {company::none, company::others}) {
        check_most_frames(beside, 4181, 10'000, 300,
                          [](counted_frames& in) { return fib_of_generators(here, &in, 19); });
    }
}

TEST_CASE("task sets in task sets take as much as a turn begins, not more") {
    for (const company beside : {company::none, company::others}) {
        check_most_frames(beside, 4181, 10'000, 1'200,
                          [](counted_frames& in) { return fib_of_sets(here, &in, 19); });
    }
}

TEST_CASE("tasks that find what they wait for take as much as a turn begins, not more") {
    for (const company beside : {company::none, company::others}) {
        event ready;
        ready.set();
        check_most_frames(beside, 4181, 10'000, 1'200, [&](counted_frames& in) {
            return fib_that_receives(here, &in, &ready, 19);
        });
    }
}

TEST_CASE("tasks that give way take as much as a turn begins, not more") {
    for (const company beside : {company::none, company::others}) {
        check_most_frames(beside, 4181, 10'000, 1'200,
                          [](counted_frames& in) { return fib_that_yields(here, &in, 19); });
    }
}

TEST_CASE("forks within each other are as deep as memory allows") {
    constexpr long deep = 20'000;
    using nest = task<long> (*)(event*, long);
    for (const nest each :
         {&nest_all, &nest_all_of_vectors, &nest_any, &nest_bodies, &nest_children}) {
        for (const bool set_before : {true, false}) {
            on_each_backend_of("coordination", [=](io_context&) -> task<> {
                event go;
                if (set_before) go.set();
                const auto set_later = [&go]() -> task<> {
                    co_await settle();
                    go.set();
                };

                const auto [depth, done] = co_await when_all(each(&go, deep), set_later());

                CHECK(depth == deep);
            });
        }
    }
}
