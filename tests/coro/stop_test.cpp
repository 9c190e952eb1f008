// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/stop.hpp promises: how a request finds what a line of coroutines waits for.
#include <gyre/coro/stop.hpp>

#include <base/ending.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

struct listener final : stop_target {
    void request(stop_level level) noexcept override { heard.push_back(level); }
    [[nodiscard]] const char* waiting_for() const noexcept override { return "a test"; }
    std::vector<stop_level> heard;
};

}  // namespace

TEST_CASE("a new chain was not asked to stop, unless it inherits a request") {
    const stop_chain fresh;
    const stop_chain drained{stop_level::drain};
    const stop_chain stopped{stop_level::stop};

    CHECK(fresh.level() == stop_level::none);
    CHECK_FALSE(fresh.stopping());
    CHECK_FALSE(drained.stopping());
    CHECK(stopped.stopping());
}

TEST_CASE("a request reaches what is pending, once for each level") {
    stop_chain line;
    listener leaf;
    line.enter(leaf);

    line.request(stop_level::drain);
    line.request(stop_level::drain);
    line.request(stop_level::stop);
    line.request(stop_level::stop);

    CHECK(leaf.heard == std::vector{stop_level::drain, stop_level::stop});
    CHECK(line.stopping());
}

TEST_CASE("a chain never moves down") {
    stop_chain line;
    listener leaf;
    line.enter(leaf);

    line.request(stop_level::stop);
    line.request(stop_level::drain);
    line.request(stop_level::none);

    CHECK(leaf.heard == std::vector{stop_level::stop});
    CHECK(line.level() == stop_level::stop);
}

TEST_CASE("what has left a chain hears nothing, and what comes later finds the level") {
    stop_chain line;
    listener early;
    listener late;
    line.enter(early);
    line.leave();

    line.request(stop_level::stop);
    line.enter(late);

    CHECK(early.heard.empty());
    CHECK(late.heard.empty());  // It looks at the level before it waits.
    CHECK(line.pending() == &late);
    CHECK(line.stopping());
}

TEST_CASE("waiting for two things at once is a failed check") {
    const ending how = ending_of([] {
        stop_chain line;
        listener one;
        listener two;
        line.enter(one);
        line.enter(two);
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a coroutine waits for one thing at a time"));
}

TEST_CASE("a leaf has no branches") {
    listener leaf;

    CHECK(leaf.branches() == nullptr);
}
