// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/task_node.hpp promises: each coroutine knows whom it awaits, on which line, since
// when.
#include <gyre/coro/task_node.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/sync/event.hpp>

#include <coro/manual_loop.hpp>

#include <doctest/doctest.h>

#include <string_view>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

int line_of_leaf = 0;
int line_of_child = 0;

task<> child(event& until) {
    line_of_leaf = __LINE__ + 1;
    static_cast<void>(co_await until.wait());
}

task<> parent(event& until, event& afterwards) {
    line_of_child = __LINE__ + 1;
    co_await child(until);
    static_cast<void>(co_await afterwards.wait());
}

const task_node& only_root(manual_loop& loop) { return *loop.roots().front().chain.top; }

}  // namespace

TEST_CASE("a node knows nothing before its coroutine starts") {
    event never;
    const task<> unstarted = child(never);

    const task_node& node = *unstarted.node();

    CHECK(node.env == nullptr);
    CHECK(node.awaiting == nullptr);
    CHECK(node.where.line() == 0);
}

TEST_CASE("a node knows which coroutine it awaits, and on which line") {
    manual_loop loop;
    event until;
    event afterwards;
    launch(loop, parent(until, afterwards), or_terminate{});

    loop.run();

    const task_node& top = only_root(loop);
    CHECK(top.where.line() == static_cast<unsigned>(line_of_child));
    CHECK(std::string_view{top.where.file_name()}.ends_with("task_node_test.cpp"));
    const task_node* below = top.awaiting;
    CHECK(below != nullptr);
    if (below != nullptr) {
        CHECK(below->where.line() == static_cast<unsigned>(line_of_leaf));
        CHECK(below->awaiting == nullptr);
        CHECK(below->env == top.env);
    }
    until.set();
    afterwards.set();
    loop.run();
}

TEST_CASE("a node forgets a coroutine that has ended") {
    manual_loop loop;
    event until;
    event afterwards;
    launch(loop, parent(until, afterwards), or_terminate{});
    loop.run();

    until.set();
    loop.run();

    CHECK(only_root(loop).awaiting == nullptr);
    afterwards.set();
    loop.run();
}

TEST_CASE("a node tells when its wait began, by the loop's clock") {
    manual_loop loop;
    event until;
    event afterwards;
    launch(loop, parent(until, afterwards), or_terminate{});
    const time_point start = loop.now();
    loop.run();

    loop.advance(5s);
    CHECK(only_root(loop).since == start);
    until.set();
    loop.run();

    CHECK(only_root(loop).since == start + 5s);
    afterwards.set();
    loop.run();
}
