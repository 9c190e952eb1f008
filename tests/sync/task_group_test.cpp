// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/task_group.hpp promises. exception_test.cpp has what becomes of exceptions.
#include <gyre/sync/task_group.hpp>

#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/conformance.hpp>
#include <support/long_run.hpp>
#include <support/waiting_laws.hpp>

#include <memory>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr auto very_long = std::chrono::hours{24};

/// Counts the objects that are alive: one in each frame that is looked at.
class alive {
public:
    explicit alive(int& count) noexcept : count_{&count} { ++count; }
    alive(alive&& other) noexcept : count_{std::exchange(other.count_, nullptr)} {}
    alive& operator=(alive&&) = delete;
    ~alive() {
        if (count_ != nullptr) --*count_;
    }

private:
    int* count_;
};

task<> count_ends(int& ended) {
    co_await yield();
    ++ended;
}

task<> wait_for(event& until, error& outcome) {
    const io_result<> waited = co_await until.wait();
    outcome = waited.error();
}

task<io_result<>> fail_later(errc code) {
    co_await settle();
    co_return code;
}

}  // namespace

TEST_CASE("a group ends when its body and every child have ended") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        int ended = 0;
        const auto body = [&](task_group& group) -> task<int> {
            for (int each = 0; each < 10; ++each) group.spawn(count_ends(ended));
            co_return 7;
        };

        const int result = co_await with_group(body);

        CHECK(result == 7);
        CHECK(ended == 10);
    });
}

TEST_CASE("a child begins by a post, never inside spawn") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        bool began = false;
        const auto child = [&]() -> task<> {
            began = true;
            co_return;
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(child());
            CHECK_FALSE(began);
            CHECK(group.size() == 1);
            co_await yield();
            CHECK(began);
            CHECK(group.size() == 0);
        };

        co_await with_group(body);
    });
}

TEST_CASE("joining waits for the children there are, and for none at once") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        int ended = 0;
        const auto body = [&](task_group& group) -> task<> {
            co_await group.join();
            for (int each = 0; each < 10; ++each) group.spawn(count_ends(ended));
            co_await group.join();
            CHECK(ended == 10);
            group.spawn(count_ends(ended));
            co_await group.join();
        };

        co_await with_group(body);

        CHECK(ended == 11);
    });
}

TEST_CASE("joining ignores a stop, since the children may take their time") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event finish;
        bool joined = false;
        const auto stubborn = [&]() -> task<> {
            static_cast<void>(co_await shielded(finish.wait(), very_long));
        };
        const auto joiner = [&](task_group& group) -> task<> {
            group.spawn(stubborn());
            co_await group.join();
            joined = true;
        };
        const auto child = [&]() -> task<> { co_await with_group(joiner); };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(child());
            co_await settle();
            group.request_stop();
            co_await settle();
            CHECK_FALSE(joined);
            finish.set();
        };

        co_await with_group(body);

        CHECK(joined);
    });
}

TEST_CASE("a join may be limited or stopped, and the group waits for its children all the same") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event finish;
        int ended = 0;
        io_result<> limited{errc::malformed};
        io_result<> stopped{errc::malformed};
        io_result<> late{errc::malformed};
        const auto stubborn = [&]() -> task<> {
            static_cast<void>(co_await shielded(finish.wait(), very_long));
            ++ended;
        };
        const auto joiner = [&](task_group& group) -> task<> {
            const io_result<> none = co_await group.join_unless_stopped();
            CHECK(none.ok());
            group.spawn(stubborn());
            group.spawn(stubborn());
            limited = co_await with_timeout(1ms, group.join_unless_stopped());
            CHECK(group.size() == 2);
            stopped = co_await group.join_unless_stopped();
            late = co_await group.join_unless_stopped();
        };
        const auto child = [&]() -> task<> { co_await with_group(joiner); };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(child());
            while (limited.error() == errc::malformed) static_cast<void>(co_await sleep_for(1ms));
            CHECK(stopped.error() == errc::malformed);
            group.request_stop();
            co_await settle();
            CHECK(late.error() == errc::canceled);
            CHECK(group.size() == 1);
            CHECK(ended == 0);
            finish.set();
            const io_result<> joined = co_await shielded(group.join_unless_stopped(), very_long);
            CHECK(joined.ok());
        };

        co_await with_group(body);

        CHECK(limited.error() == errc::timed_out);
        CHECK(stopped.error() == errc::canceled);
        CHECK(ended == 2);
    });
}

TEST_CASE("a body that returns early leaves its children running where errors are collected") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event finish;
        error outcome = errc::malformed;
        const auto sets = [&]() -> task<> {
            co_await settle();
            finish.set();
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(wait_for(finish, outcome));
            group.spawn(sets());
            co_return;
        };

        co_await with_group(body);

        CHECK(outcome == errc::ok);
    });
}

TEST_CASE("an error of a child changes nothing where errors are collected, but is remembered") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event finish;
        error outcome = errc::malformed;
        error first;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(wait_for(finish, outcome));
            group.spawn(fail_later(errc::eof));
            while (group.size() > 1) co_await yield();
            group.spawn(fail_later(errc::closed));
            while (group.size() > 1) co_await yield();
            first = group.first_error();
            finish.set();
        };

        co_await with_group(body);

        CHECK(first == errc::eof);
        CHECK(outcome == errc::ok);
    });
}

TEST_CASE("the first error of a child stops the others and the body where that was asked for") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        error sibling;
        error of_body;
        const group_options options{group_mode::stop_on_first_error};
        const auto body = [&](task_group& group) -> task<io_result<>> {
            group.spawn(wait_for(unset, sibling));
            group.spawn(fail_later(errc::eof));
            const io_result<> waited = co_await unset.wait();
            of_body = waited.error();
            co_return io_result<>{};
        };

        const io_result<> result = co_await with_group(body, options);

        CHECK(result.error() == errc::eof);
        CHECK(sibling == errc::canceled);
        CHECK(of_body == errc::canceled);
    });
}

TEST_CASE("an error of the body stops the children where the first error stops, and comes first") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        error child;
        const group_options options{group_mode::stop_on_first_error};
        const auto body = [&](task_group& group) -> task<io_result<>> {
            group.spawn(wait_for(unset, child));
            co_await settle();
            co_return errc::malformed;
        };

        const io_result<> result = co_await with_group(body, options);

        CHECK(result.error() == errc::malformed);
        CHECK(child == errc::canceled);
    });
}

TEST_CASE(
    "a body that returns early without an error leaves children running until the first error") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event finish;
        error outcome = errc::malformed;
        const group_options options{group_mode::stop_on_first_error};
        const auto sets = [&]() -> task<> {
            co_await settle();
            finish.set();
        };
        const auto body = [&](task_group& group) -> task<io_result<>> {
            group.spawn(wait_for(finish, outcome));
            group.spawn(sets());
            co_return io_result<>{};
        };

        const io_result<> result = co_await with_group(body, options);

        CHECK(result.ok());
        CHECK(outcome == errc::ok);
    });
}

TEST_CASE("children that serve the body go when it goes") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        error begun;
        error not_begun;
        const group_options options{group_mode::stop_on_exit};
        const auto body = [&](task_group& group) -> task<int> {
            group.spawn(wait_for(unset, begun));
            co_await settle();
            group.spawn(wait_for(unset, not_begun));
            co_return 3;
        };

        const int result = co_await with_group(body, options);

        CHECK(result == 3);
        CHECK(begun == errc::canceled);
        CHECK(not_begun == errc::canceled);
    });
}

TEST_CASE("the bound refuses further children until one has ended, and destroys what it refuses") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        int count = 0;
        event finish;
        group_options options;
        options.children_max = 2;
        const auto child = [&](alive) -> task<> { static_cast<void>(co_await finish.wait()); };
        const auto body = [&](task_group& group) -> task<> {
            CHECK(group.try_spawn(child(alive{count})));
            CHECK(group.try_spawn(child(alive{count})));
            CHECK_FALSE(group.try_spawn(child(alive{count})));
            CHECK(count == 2);
            finish.set();
            co_await group.join();
            CHECK(group.try_spawn(child(alive{count})));
        };

        co_await with_group(body, options);

        CHECK(count == 0);
    });
}

TEST_CASE("a child's value goes to its exit handler") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        int sum = 0;
        const auto value = [](int of) -> task<std::unique_ptr<int>> {
            co_await yield();
            co_return std::make_unique<int>(of);
        };
        const auto body = [&](task_group& group) -> task<> {
            for (int each = 1; each <= 3; ++each) {
                group.spawn(value(each), [&sum](std::unique_ptr<int> of) { sum += *of; });
            }
            co_return;
        };

        co_await with_group(body);

        CHECK(sum == 6);
    });
}

TEST_CASE("an exit handler may spawn another child, even as the last one ends") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        int ended = 0;
        const auto value = []() -> task<int> { co_return 1; };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(value(), [&](int) { group.spawn(count_ends(ended)); });
            co_await group.join();
            CHECK(ended == 1);
        };

        co_await with_group(body);

        CHECK(ended == 1);
    });
}

namespace {

task<> family(task_group& group, int generations, int& ended) {
    if (generations > 0) {
        group.spawn(family(group, generations - 1, ended));
        group.spawn(family(group, generations - 1, ended));
    }
    co_await yield();
    ++ended;
}

}  // namespace

TEST_CASE("children may spawn children into the group, also after its body has ended") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        int ended = 0;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(family(group, 7, ended));
            co_return;
        };

        co_await with_group(body);

        CHECK(ended == 255);
    });
}

TEST_CASE("a stop goes through a group inside a group, to those who wait and those who begin") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        error waiting;
        error of_body;
        error late;
        const auto inner = [&](task_group& group) -> task<> {
            group.spawn(wait_for(unset, waiting));
            const io_result<> waited = co_await unset.wait();
            of_body = waited.error();
            group.spawn(wait_for(unset, late));
        };
        const auto child = [&]() -> task<> { co_await with_group(inner); };
        const auto outer = [&](task_group& group) -> task<> {
            group.spawn(child());
            co_await settle();
            group.request_stop();
        };

        co_await with_group(outer);

        CHECK(waiting == errc::canceled);
        CHECK(of_body == errc::canceled);
        CHECK(late == errc::canceled);
    });
}

TEST_CASE("a stop of the inner group leaves the outer one alone") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event finish;
        error inside;
        error outside = errc::malformed;
        const auto inner = [&](task_group& group) -> task<> {
            group.spawn(wait_for(finish, inside));
            co_await settle();
            group.request_stop();
        };
        const auto outer = [&](task_group& group) -> task<> {
            group.spawn(wait_for(finish, outside));
            co_await with_group(inner);
            const io_result<> slept = co_await sleep_for(1ms);
            CHECK(slept.ok());
            finish.set();
        };

        co_await with_group(outer);

        CHECK(inside == errc::canceled);
        CHECK(outside == errc::ok);
    });
}

TEST_CASE("a group that begins stopped runs its body and its children, who hear of it") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        error of_body;
        error child;
        const auto inner = [&](task_group& group) -> task<> {
            group.spawn(wait_for(unset, child));
            const io_result<> waited = co_await unset.wait();
            of_body = waited.error();
        };
        const auto outer = [&](task_group& group) -> task<> {
            group.request_stop();
            co_await with_group(inner);
        };

        co_await with_group(outer);

        CHECK(of_body == errc::canceled);
        CHECK(child == errc::canceled);
    });
}

TEST_CASE("a drain of a group ends only intake, and one that begins later begins drained") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event finish;
        error before = errc::malformed;
        error intake_before;
        error intake_after;
        const auto idle_wait = [&](error& outcome) -> task<> {
            const io_result<> waited = co_await idle(finish.wait());
            outcome = waited.error();
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(wait_for(finish, before));
            group.spawn(idle_wait(intake_before));
            co_await settle();
            group.request_drain();
            group.spawn(idle_wait(intake_after));
            co_await settle();
            CHECK(group.size() == 1);
            finish.set();
        };

        co_await with_group(body);

        CHECK(before == errc::ok);
        CHECK(intake_before == errc::canceled);
        CHECK(intake_after == errc::canceled);
    });
}

TEST_CASE(
    "a stop that a body asks of the group around it, before it first waits, reaches its own") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        error child;
        error of_body;
        const auto outer = [&](task_group& group) -> task<> {
            const auto inner = [&](task_group& own) -> task<> {
                const auto waits = [&](error& outcome) -> task<> {
                    const io_result<> waited = co_await with_timeout(200ms, unset.wait());
                    outcome = waited.error();
                };
                own.spawn(waits(child));
                group.request_stop();
                co_await waits(of_body);
            };
            const auto middle = [&]() -> task<> { co_await with_group(inner); };
            group.spawn(middle());
            co_await group.join();
        };

        co_await with_group(outer);

        CHECK(child == errc::canceled);
        CHECK(of_body == errc::canceled);
    });
}

TEST_CASE("ten thousand children run, and each is freed the moment it ends") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        constexpr int children = 10'000;
        int count = 0;
        event finish;
        const auto child = [&](alive) -> task<> { static_cast<void>(co_await finish.wait()); };
        const auto short_lived = [](alive) -> task<> { co_await yield(); };
        const auto body = [&](task_group& group) -> task<> {
            for (int each = 0; each < children; ++each) group.spawn(short_lived(alive{count}));
            co_await settle();
            for (int each = 0; each < 10; ++each) group.spawn(child(alive{count}));
            while (group.size() > 10) co_await yield();
            CHECK(count == 10);
            for (int each = 0; each < children; ++each) group.spawn(child(alive{count}));
            CHECK(count == children + 10);
            co_await settle();
            finish.set();
            co_await group.join();
            CHECK(count == 0);
        };

        co_await with_group(body);

        CHECK(count == 0);
    });
}

TEST_CASE("ten thousand waiting children are stopped in one go") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        constexpr int children = 10'000;
        int canceled = 0;
        event unset;
        const auto child = [&]() -> task<> {
            const io_result<> waited = co_await unset.wait();
            if (waited.error() == errc::canceled) ++canceled;
        };
        const auto body = [&](task_group& group) -> task<> {
            for (int each = 0; each < children; ++each) group.spawn(child());
            co_await settle();
            group.request_stop();
        };

        co_await with_group(body);

        CHECK(canceled == children);
    });
}

TEST_CASE("a group moves before it starts, and disappears if it is never awaited") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        int ended = 0;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(count_ends(ended));
            co_return;
        };
        auto made = with_group(body);
        auto moved = std::move(made);
        const auto never_awaited = with_group(body);

        co_await std::move(moved);

        CHECK(ended == 1);
    });
}

TEST_CASE("many groups whose body ends at once need no stack") {
    in_a_long_run([](io_context&) -> task<> {
        int sum = 0;
        const auto body = [](task_group&) -> task<int> { co_return 1; };

        for (int time = 0; time < many_steps; ++time) {
            const int one = co_await with_group(body);
            sum += one;
        }

        CHECK(sum == many_steps);
    });
}
