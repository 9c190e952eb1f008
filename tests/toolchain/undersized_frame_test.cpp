// SPDX-License-Identifier: BSL-1.0
//
// A co_await in a condition, in a coroutine whose outermost block declares nothing (GCC PR106188):
// g++ 12 makes the frame too small and goes on at the wrong place. The rule: await into a named local,
// then branch; begin a coroutine with a declaration.
#include <toolchain/verdict.hpp>

using namespace gyre;
using namespace gyre::testing;

namespace {

task<int> condition_without_declaration(bool answer) {
    if (co_await ready{answer}) co_return 7;
    co_return 0;
}

task<int> condition_by_the_rules(bool answer) {
    const bool awaited = co_await ready{answer};
    if (awaited) co_return 7;
    co_return 0;
}

template <class Coroutine>
bool both_ways_are_right(const Coroutine& coroutine) {
    int yes = -1;
    int no = -1;
    const auto body = [&]() -> task<> {
        yes = co_await coroutine(true);
        no = co_await coroutine(false);
    };
    run_task(body());
    return yes == 7 && no == 0;
}

}  // namespace

TEST_CASE("on record: a co_await in a condition, without a declaration before it") {
    compare_with_record({.clang_19 = verdict::right, .gcc_12 = verdict::wrong},
                        [] { return both_ways_are_right(condition_without_declaration); });
}

TEST_CASE("awaiting into a local and then branching is right on every compiler") {
    CHECK((judge([] { return both_ways_are_right(condition_by_the_rules); }) == verdict::right));
}
