// SPDX-License-Identifier: BSL-1.0
//
// What gyre/runtime/pool_dump.hpp promises: each loop tells, and of one that cannot it is told.
#include <gyre/runtime/pool_dump.hpp>

#include <gyre/io/run.hpp>
#include <gyre/sync/event.hpp>
#include <support/harness.hpp>

#include <array>
#include <chrono>
#include <latch>
#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

io_pool_options two_threads(const io_context_options& of) {
    io_pool_options options;
    options.threads = 2;
    options.loop = of;
    return options;
}

task<> wait_on_first(event& until) { static_cast<void>(co_await until.wait()); }
task<> wait_on_second(event& until) { static_cast<void>(co_await until.wait()); }

// Of the loop with this number.
std::string_view part_of(std::string_view text, std::size_t number) {
    const std::size_t begin = text.find("loop " + std::to_string(number) + ":");
    REQUIRE(begin != std::string_view::npos);
    const std::size_t end = text.find("loop " + std::to_string(number + 1) + ":");
    return text.substr(begin, end == std::string_view::npos ? end : end - begin);
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("each loop of a pool tells who waits for what on it") {
    with_every_backend([](const io_context_options& each) {
        std::array<event, 2> never_set;
        io_pool pool{two_threads(each)};
        launch(pool[0], wait_on_first(never_set[0]), or_terminate{});
        launch(pool[1], wait_on_second(never_set[1]), or_terminate{});

        const std::string text = run(dump_tasks(pool, patience));

        CAPTURE(text);
        CHECK(contains(part_of(text, 0), "wait_on_first"));
        CHECK(contains(part_of(text, 1), "wait_on_second"));
        for (const std::size_t loop : {0U, 1U}) {
            CHECK(contains(part_of(text, loop), "pool_dump_test.cpp:"));
            CHECK(contains(part_of(text, loop), "waiting for event"));
        }
    });
}

TEST_CASE("of a loop that is held up it is told for how long, and the others tell") {
    with_every_backend([](const io_context_options& each) {
        event never_set;
        std::latch begun{1};
        std::latch over{1};
        io_pool pool{two_threads(each)};
        launch(pool[0], wait_on_first(never_set), or_terminate{});
        pool[1].post([&] {
            begun.count_down();
            over.wait();
        });
        begun.wait();

        const std::string text = run(dump_tasks(pool, 50ms));
        over.count_down();

        CAPTURE(text);
        CHECK(contains(part_of(text, 0), "wait_on_first"));
        CHECK(contains(part_of(text, 1), "no answer; its turn has lasted "));
        CHECK(contains(run(dump_tasks(pool, patience)), "loop 1:\n"));  // It answers again.
    });
}

TEST_CASE("a pool is asked by what runs on it") {
    with_every_backend([](const io_context_options& each) {
        io_pool pool{two_threads(each)};
        const auto body = [](io_pool& of) -> task<std::string> {
            std::string text = co_await on(of, dump_tasks(of, patience));
            co_return text;
        };

        const std::string text = run(body(pool));

        CAPTURE(text);
        CHECK(contains(text, "dump_tasks"));
        CHECK(contains(text, "loop 0:"));
        CHECK(contains(text, "loop 1:"));
        CHECK_FALSE(contains(text, "no answer"));
    });
}
