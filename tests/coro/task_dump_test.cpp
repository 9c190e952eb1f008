// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/task_dump.hpp promises: who waits for what, where, and since when.
#include <gyre/coro/task_dump.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/sync/when_any.hpp>
#include <support/harness.hpp>

#include <base/ending.hpp>
#include <coro/manual_loop.hpp>
#include <support/settle.hpp>

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

int line_of_leaf = 0;

task<io_result<>> fetch_page(event& until) {
    line_of_leaf = __LINE__ + 1;
    const io_result<> waited = co_await until.wait();
    co_return waited;
}

task<> visit_site(event& until) {
    const io_result<> fetched = co_await fetch_page(until);
    static_cast<void>(fetched);
}

task<> crawl_web(event& until) { co_await visit_site(until); }

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = text.find('\n', start);
        lines.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return lines;
}

std::size_t depth_of(std::string_view line) { return line.find_first_not_of(' ') / 2; }

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// In how many lines `part` stands; g++ tells a coroutine's name more than once in each.
std::size_t lines_with(const std::string& text, std::string_view part) {
    std::size_t count = 0;
    for (const std::string& line : lines_of(text)) count += contains(line, part);
    return count;
}

task<> nest(event& until, int deep) {
    if (deep == 0) static_cast<void>(co_await until.wait());
    else co_await nest(until, deep - 1);
}

task<> nest_forks(event& until, int deep) {
    if (deep == 0) static_cast<void>(co_await until.wait());
    else static_cast<void>(co_await when_all(nest_forks(until, deep - 1)));
}

// The dump while `it` waits; afterwards `let_go` is set and everything ends.
std::string dump_while_waiting(task<> it, event& let_go, duration passed = {}) {
    manual_loop loop;
    launch(loop, std::move(it), or_terminate{});
    loop.run();
    loop.advance(passed);
    std::string text = dump_tasks(loop);
    let_go.set();
    loop.run();
    CHECK(loop.roots().empty());
    return text;
}

}  // namespace

TEST_CASE("where nothing is pending there is nothing to tell") {
    manual_loop loop;

    CHECK(dump_tasks(loop).empty());
}

TEST_CASE("each coroutine stands below the one that awaits it, with function, file and line") {
    event until;

    const std::string text = dump_while_waiting(crawl_web(until), until);

    const std::vector<std::string> lines = lines_of(text);
    CAPTURE(text);
    CHECK(lines.size() == 4);
    if (lines.size() != 4) return;
    const char* const functions[] = {"crawl_web", "visit_site", "fetch_page"};
    for (std::size_t depth = 0; depth < 3; ++depth) {
        CHECK(contains(lines[depth], functions[depth]));
        CHECK(contains(lines[depth], "task_dump_test.cpp:"));
        CHECK(depth_of(lines[depth]) == depth);
    }
    CHECK(contains(lines[2], "task_dump_test.cpp:" + std::to_string(line_of_leaf) + ","));
    CHECK(lines[3] == "      waiting for event");
}

TEST_CASE("a wait is as old as the loop's clock says") {
    event until;

    const std::string text = dump_while_waiting(crawl_web(until), until, 1500ms);

    CAPTURE(text);
    CHECK(lines_with(text, ", 1500 ms") == 3);
}

TEST_CASE("every root is listed") {
    manual_loop loop;
    event until;
    for (int i = 0; i < 3; ++i) launch(loop, crawl_web(until), or_terminate{});
    loop.run();

    const std::string text = dump_tasks(loop);

    CHECK(lines_with(text, "crawl_web") == 3);
    CHECK(lines_with(text, "waiting for event") == 3);
    until.set();
    loop.run();
}

TEST_CASE("the branches of when_all and when_any stand below the coroutine that awaits them") {
    event until;
    const auto body = [&]() -> task<> {
        static_cast<void>(co_await when_all(crawl_web(until), until.wait()));
        until.reset();
        static_cast<void>(co_await when_any(crawl_web(until), until.wait()));
    };
    manual_loop loop;
    launch(loop, body(), or_terminate{});

    for (const char* name : {"waiting for all branches", "waiting for any branch"}) {
        loop.run();
        const std::string text = dump_tasks(loop);
        CAPTURE(text);
        CHECK(contains(text, name));
        CHECK(lines_with(text, "fetch_page") == 1);
        CHECK(lines_with(text, "waiting for event") == 2);
        CHECK(depth_of(lines_of(text).back()) > 1);
        until.set();
    }
    loop.run();
    CHECK(loop.roots().empty());
}

TEST_CASE("the children of a group stand below it, and those that ended are gone") {
    event until;
    event other;
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(crawl_web(until));
        group.spawn(visit_site(until));
        group.spawn(visit_site(other));
        co_await group.join();
    };
    const auto run = [&]() -> task<> { co_await with_group(body); };
    manual_loop loop;
    launch(loop, run(), or_terminate{});
    loop.run();
    const std::string before = dump_tasks(loop);
    other.set();
    loop.run();

    const std::string after = dump_tasks(loop);

    CAPTURE(before);
    CAPTURE(after);
    CHECK(contains(before, "waiting for a group"));
    CHECK(contains(before, "waiting for children"));
    CHECK(lines_with(before, "fetch_page") == 3);
    CHECK(lines_with(after, "fetch_page") == 2);
    until.set();
    loop.run();
    CHECK(loop.roots().empty());
}

TEST_CASE("of a long chain of awaits the dump tells both ends") {
    event until;

    const std::vector<std::string> lines = lines_of(dump_while_waiting(nest(until, 10'000), until));

    REQUIRE(lines.size() == 64 + 1 + 32 + 1);
    CHECK(depth_of(lines[63]) == 63);
    CHECK(contains(lines[63], "nest"));
    CHECK(contains(lines[64], "... 9905 more"));
    CHECK(contains(lines[65], "[9969] "));
    CHECK(contains(lines[65], "nest"));
    CHECK(contains(lines[97], "[10001] waiting for"));
    CHECK(depth_of(lines[97]) == 100);
}

TEST_CASE("a chain that is not longer than what the dump tells of one is told whole") {
    event until;

    const std::string text = dump_while_waiting(nest(until, 95), until);

    CHECK(lines_of(text).size() == 97);
    CHECK(lines_with(text, "...") == 0);
}

TEST_CASE("of forks within forks the dump tells no more than it can walk") {
    event until;

    const std::string text = dump_while_waiting(nest_forks(until, 20'000), until);

    const std::vector<std::string> lines = lines_of(text);
    REQUIRE(lines.size() == 2 * 501 + 1);
    CHECK(contains(lines.back(), "left out"));
    CHECK(text.size() < lines.size() * 1'000);
}

TEST_CASE("of more coroutines than anyone reads the dump tells so many, and says so") {
    event until;
    const auto many = [&until]() -> task<> {
        co_await with_group([&until](task_group& group) -> task<> {
            for (int each = 0; each < 20'000; ++each) group.spawn(nest(until, 0));
            co_return;
        });
    };

    const std::vector<std::string> lines = lines_of(dump_while_waiting(many(), until));

    REQUIRE(lines.size() >= dump_lines_max);
    CHECK(lines.size() < dump_lines_max + 100);
    CHECK(lines.back() == "... the rest is left out");
}

TEST_CASE("what a time limit is about stands below it") {
    event until;
    const auto body = [&]() -> task<> {
        static_cast<void>(co_await with_timeout(1h, fetch_page(until)));
    };

    const std::string text = dump_while_waiting(body(), until);

    CAPTURE(text);
    CHECK(contains(text, "waiting for what is limited in time"));
    CHECK(contains(text, "fetch_page"));
    CHECK(contains(text, "waiting for event"));
}

namespace {

template <class Value>
task<Value> yield_late(event& until, Value what) {
    const io_result<> waited = co_await until.wait();
    static_cast<void>(waited);
    co_return what;
}

}  // namespace

// g++ tells of templates and lambdas the functions that it has made of them.
TEST_CASE("a template and a lambda are named as the program names them") {
    event until;
    const auto body = [&]() -> task<> { static_cast<void>(co_await yield_late(until, 1)); };

    const std::string text = dump_while_waiting(body(), until);

    CAPTURE(text);
    CHECK(lines_with(text, "operator()") == 1);
    CHECK(lines_with(text, "yield_late") == 1);
    CHECK_FALSE(contains(text, ".Frame"));
    CHECK_FALSE(contains(text, "_Z"));
}

TEST_CASE("a coroutine may ask for the dump it stands in") {
    manual_loop loop;
    std::string text;
    const auto body = [&]() -> task<> {
        text = dump_tasks(loop);
        co_return;
    };

    launch(loop, body(), or_terminate{});
    loop.run();

    CHECK(text == "(not suspended yet)\n");
}

TEST_CASE("a check that fails in a coroutine says who was waiting for what") {
    const ending how = ending_of([] {
        io_context io;
        event never;
        const auto fail = [&]() -> task<> {
            co_await settle();
            expects(false, "the tower stands");
        };
        launch(io, crawl_web(never), or_terminate{});
        launch(io, fail(), or_terminate{});
        io.run();
    });

    CAPTURE(how.said);
    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("the tower stands"));
    CHECK(how.said_that("crawl_web"));
    CHECK(how.said_that("waiting for event"));
}
