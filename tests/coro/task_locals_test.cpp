// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/task_locals.hpp promises; a W3C trace context is the example. tests/interop has the
// borders to other frameworks.
#include <gyre/coro/task_locals.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/coro/task_dump.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/runtime/remote_task.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/strand.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/disposable.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

inline constinit task_local<std::string> trace;
inline constinit task_local<int> attempt;

constexpr const char* parent_id = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

task<std::string> bound_here() {
    const std::string* found = co_await this_task::local(trace);
    std::string copy = found == nullptr ? "nothing" : *found;
    co_return copy;
}

task<> note_bound(std::vector<std::string>& seen) {
    std::string found = co_await bound_here();
    seen.push_back(std::move(found));
}

}  // namespace

TEST_CASE("what is bound is found below, the nearest first, and nowhere else") {
    on_every_backend([](io_context&) -> task<> {
        const std::string before = co_await bound_here();
        std::string outer;
        std::string inner;
        std::string between;
        {
            local_scope here{trace, parent_id};
            co_await here;
            outer = co_await bound_here();
            inner = co_await with_local(trace, "nearer", bound_here());
            between = co_await bound_here();
        }
        const std::string after = co_await bound_here();

        CHECK(before == "nothing");
        CHECK(outer == parent_id);
        CHECK(inner == "nearer");
        CHECK(between == parent_id);
        CHECK(after == "nothing");
    });
}

TEST_CASE("two keys do not hide each other") {
    on_every_backend([](io_context&) -> task<> {
        local_scope first{trace, parent_id};
        co_await first;
        local_scope second{attempt, 3};
        co_await second;

        const std::string found = co_await bound_here();
        const int* number = co_await this_task::local(attempt);

        CHECK(found == parent_id);
        REQUIRE(number != nullptr);
        CHECK(*number == 3);
    });
}

TEST_CASE("children of groups, branches and what is limited in time inherit what is bound") {
    on_every_backend([](io_context&) -> task<> {
        std::vector<std::string> seen;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note_bound(seen));
            group.spawn(with_local(trace, "of a child", note_bound(seen)));
            co_await group.join();
            const auto late = [&]() -> task<> {
                co_await yield();
                co_await note_bound(seen);
            };
            group.spawn(late);
        };
        local_scope here{trace, parent_id};
        co_await here;

        co_await with_group(body);
        const auto both = co_await when_all(bound_here(), with_timeout(1h, note_bound(seen)));

        CHECK(seen == std::vector<std::string>{parent_id, "of a child", parent_id, parent_id});
        CHECK(std::get<0>(both) == parent_id);
    });
}

TEST_CASE("what is bound goes along to a strand and to another thread's loop, and back") {
    on_every_backend([](io_context& io) -> task<> {
        strand order{io};
        io_context other;
        std::optional<io_context::work_guard> guard{other};
        std::thread runner{[&] { other.run(); }};
        local_scope here{trace, parent_id};
        co_await here;

        const std::string on_strand = co_await on(order, bound_here());
        const std::string elsewhere = co_await on(other, bound_here());
        const std::string again = co_await bound_here();
        guard.reset();
        runner.join();

        CHECK(on_strand == parent_id);
        CHECK(elsewhere == parent_id);
        CHECK(again == parent_id);
    });
}

TEST_CASE("what is carried outlives the coroutine that bound it, without what was hidden") {
    on_every_backend([](io_context&) -> task<> {
        const auto captures = []() -> task<task_locals> {
            local_scope outer{trace, "hidden"};
            co_await outer;
            local_scope beside{attempt, 3};
            co_await beside;
            local_scope inner{trace, parent_id};
            co_await inner;
            task_locals captured = co_await this_task::locals();
            co_return captured;
        };
        const task_locals carried = co_await captures();
        const auto looks = []() -> task<int> {
            const std::string found = co_await bound_here();
            const int* number = co_await this_task::local(attempt);
            co_return found == parent_id&& number != nullptr ? *number : 0;
        };
        local_scope elsewhere{trace, "of elsewhere"};
        co_await elsewhere;

        const int number = co_await with_locals(carried, looks());
        const std::string nothing_carried = co_await with_locals({}, bound_here());

        CHECK(number == 3);
        CHECK(nothing_carried == "nothing");
        const local_frame* innermost = carried.top();
        CHECK(local_frame::find(innermost->outer(), &trace) == nullptr);
    });
}

TEST_CASE("what is carried reaches a coroutine that is launched") {
    on_every_backend([](io_context& io) -> task<> {
        std::vector<std::string> seen;
        event done;
        const auto sets = [&done](task_outcome<void> ended) noexcept {
            ended.get();
            done.set();
        };
        local_scope here{trace, parent_id};
        co_await here;
        task_locals carried = co_await this_task::locals();

        launch(io, with_locals(std::move(carried), note_bound(seen)), sets);
        static_cast<void>(co_await done.wait());

        CHECK(seen == std::vector<std::string>{parent_id});
    });
}

TEST_CASE("a frame may be destroyed in the middle of a binding") {
    auto witness = std::make_shared<int>(1);
    on_every_backend([&](io_context& io) -> task<> {
        static constinit task_local<std::shared_ptr<int>> shared;
        event unset;
        const auto binds = [&]() -> disposable {
            local_scope here{shared, witness};
            co_await here;
            static_cast<void>(co_await unset.wait());
        };
        stop_chain chain;
        const environment given{executor_ref{io}, &io, &chain};
        const disposable waits = binds();
        waits.frame.promise().env = &given;
        gyre::resume(waits.frame);
        CHECK(witness.use_count() == 2);

        waits.frame.destroy();

        CHECK(witness.use_count() == 1);
        CHECK(chain.pending() == nullptr);
        co_return;
    });
}

TEST_CASE("a dump names a task once, in front of where its name begins") {
    on_every_backend([](io_context& io) -> task<> {
        event unset;
        const auto waits = [&]() -> task<> { static_cast<void>(co_await unset.wait()); };
        const auto calls = [&]() -> task<> { co_await waits(); };
        std::string dumped;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(with_name("session 17", calls()));
            group.spawn(calls());
            co_await settle();
            dumped = dump_tasks(io);
            unset.set();
        };

        co_await with_group(body);

        const std::size_t named = dumped.find("\"session 17\" ");
        REQUIRE(named != std::string::npos);
        CHECK(dumped.find("\"session 17\" ", named + 1) == std::string::npos);
        CHECK(dumped.rfind('\n', named) != std::string::npos);
    });
}
