// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/child.hpp promises. exception_test.cpp has what becomes of exceptions.
#include <gyre/sync/child.hpp>

#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/conformance.hpp>
#include <support/waiting_laws.hpp>

#include <map>
#include <memory>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<std::unique_ptr<int>> number_when(event& ready, int value) {
    static_cast<void>(co_await ready.wait());
    co_return std::make_unique<int>(value);
}

task<io_result<>> outcome_when(event& ready) {
    const io_result<> waited = co_await ready.wait();
    co_return waited;
}

}  // namespace

TEST_CASE("the result of a child is had through its handle, before and after its end") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event ready;
        const auto body = [&](task_group& group) -> task<> {
            child<std::unique_ptr<int>> first = group.spawn_child(number_when(ready, 1));
            child<std::unique_ptr<int>> second = group.spawn_child(number_when(ready, 2));
            child<> third = group.spawn_child([]() -> task<> { co_return; });
            CHECK(first.running());
            co_await settle();
            CHECK(first.running());
            ready.set();

            const std::unique_ptr<int> one = co_await first.result();
            co_await group.join();
            CHECK(second.ended());
            const std::unique_ptr<int> two = co_await second.result();
            co_await third.result();

            CHECK(*one == 1);
            CHECK(*two == 2);
            CHECK_FALSE(first.running());
            CHECK_FALSE(first.ended());
        };

        co_await with_group(body);
    });
}

TEST_CASE("a stop through its handle ends one child alone, begun or not") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        const group_options options{group_mode::stop_on_first_error};
        const auto body = [&](task_group& group) -> task<io_result<>> {
            std::map<int, child<io_result<>>> jobs;
            for (const int name : {1, 2, 3}) {
                jobs.emplace(name, group.spawn_child(outcome_when(unset)));
            }
            jobs[3].request_stop();
            co_await settle();
            jobs[2].request_stop();
            const io_result<> second = co_await jobs[2].result();
            const io_result<> third = co_await jobs[3].result();
            co_await settle();
            CHECK(second.error() == errc::canceled);
            CHECK(third.error() == errc::canceled);
            CHECK(jobs[1].running());
            CHECK(group.size() == 1);
            jobs[2].request_stop();
            unset.set();
            const io_result<> first = co_await jobs[1].result();
            co_return first;
        };

        const io_result<> result = co_await with_group(body, options);

        CHECK(result.ok());
    });
}

TEST_CASE("a drain through its handle ends what a child waits for idly") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        const auto idles = [&]() -> task<io_result<>> {
            const io_result<> waited = co_await idle(unset.wait());
            co_return waited;
        };
        const auto body = [&](task_group& group) -> task<> {
            child<io_result<>> job = group.spawn_child(idles());
            co_await settle();
            job.request_drain();
            const io_result<> ended = co_await job.result();
            CHECK(ended.error() == errc::canceled);
        };

        co_await with_group(body);
    });
}

TEST_CASE("a child whose handle has gone goes on, and the group hears of its error") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event ready;
        const auto fails_when = [&]() -> task<io_result<>> {
            static_cast<void>(co_await ready.wait());
            co_return errc::eof;
        };
        const auto body = [&](task_group& group) -> task<> {
            {
                const child<io_result<>> dropped = group.spawn_child(fails_when());
                const child<int> ignored = group.spawn_child([]() -> task<int> { co_return 1; });
            }
            child<io_result<>> kept = group.spawn_child(fails_when());
            co_await settle();
            CHECK(group.size() == 2);
            ready.set();
            static_cast<void>(co_await kept.wait());
            CHECK(group.first_error() == errc::eof);
        };

        co_await with_group(body);
    });
}

TEST_CASE("the group hears of no error that a handle is told of") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        const auto fails = []() -> task<io_result<>> { co_return errc::eof; };
        const auto body = [&](task_group& group) -> task<> {
            child<io_result<>> job = group.spawn_child(fails());
            co_await group.join();
            CHECK_FALSE(group.first_error());
            CHECK(job.take().error() == errc::eof);
        };

        co_await with_group(body);
    });
}

TEST_CASE("a handle may outlive its group, with the result in it") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        child<int> job;
        const auto body = [&](task_group& group) -> task<> {
            job = group.spawn_child([]() -> task<int> { co_return 7; });
            co_return;
        };

        co_await with_group(body);

        CHECK(job.ended());
        child<int> moved = std::move(job);
        job.request_stop();
        CHECK_FALSE(job.ended());
        const int result = co_await moved.result();
        CHECK(result == 7);
    });
}

TEST_CASE("a stop of whoever waits for a result reaches the child, whose own result it is") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event unset;
        const auto reports = [&]() -> task<io_result<int>> {
            const io_result<> waited = co_await unset.wait();
            co_return io_result<int>{waited.error(), 3};
        };
        const auto body = [&](task_group& group) -> task<> {
            child<io_result<int>> job = group.spawn_child(reports());
            const io_result<int> ended = co_await with_timeout(1ms, job.result());
            CHECK(ended.error() == errc::timed_out);
            CHECK(ended.value() == 3);

            child<io_result<int>> begun_stopped = group.spawn_child(reports());
            group.request_stop();
            const io_result<int> stopped = co_await begun_stopped.result();
            CHECK(stopped.error() == errc::canceled);
        };

        co_await with_group(body);
    });
}

TEST_CASE("a wait for a child's end that is canceled leaves the child alone") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        event ready;
        const auto body = [&](task_group& group) -> task<> {
            child<io_result<>> job = group.spawn_child(outcome_when(ready));
            const io_result<> waited = co_await with_timeout(1ms, job.wait());
            CHECK(waited.error() == errc::timed_out);
            CHECK(job.running());
            ready.set();
            const io_result<> ended = co_await job.result();
            CHECK(ended.ok());
        };

        co_await with_group(body);
    });
}

TEST_CASE("a wait that a child's end has woken succeeds although a stop follows, and not before") {
    on_each_backend_of("coordination", [](io_context&) -> task<> {
        error woken = errc::malformed;
        error begun_stopped;
        const auto ends = []() -> task<> { co_await yield(); };
        const auto body = [&](task_group& group) -> task<> {
            child<> job = group.spawn_child(ends());
            const auto stops = [&]() -> task<> {
                co_await yield();
                CHECK(job.ended());
                group.request_stop();
            };
            group.spawn(stops());
            const io_result<> waited = co_await job.wait();
            woken = waited.error();
            const io_result<> again = co_await job.wait();
            begun_stopped = again.error();
        };

        co_await with_group(body);

        CHECK_FALSE(woken);
        CHECK(begun_stopped == errc::canceled);
    });
}
