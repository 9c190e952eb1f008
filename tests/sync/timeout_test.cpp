// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/timeout.hpp promises. waiting_laws_test.cpp has the rest of how limits are
// stopped.
#include <gyre/sync/timeout.hpp>

#include <gyre/runtime/call.hpp>
#include <gyre/sync/channel.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/long_run.hpp>
#include <support/waiting_laws.hpp>

#include <poll.h>

#include <array>
#include <memory>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr auto very_long = std::chrono::hours{24};

task<io_result<int>> fail_with(errc code) {
    co_await yield();
    co_return io_result<int>{error{code, activity::read}, 3};
}

task<io_result<int>> count_until_stopped() {
    int count = 0;
    for (;;) {
        const io_result<> slept = co_await sleep_for(1ms);
        if (!slept.ok()) co_return io_result<int>{slept.error(), count};
        ++count;
    }
}

task<> wait_quietly(event& until) { static_cast<void>(co_await until.wait()); }

}  // namespace

TEST_CASE("what ends in time yields its own result, whatever that is") {
    on_each_backend_of("timers", [](io_context&) -> task<> {
        const io_result<int> failed = co_await with_timeout(very_long, fail_with(errc::eof));
        const io_result<int> canceled = co_await with_timeout(very_long, fail_with(errc::canceled));

        CHECK(failed.error() == errc::eof);
        CHECK(failed.value() == 3);
        CHECK(canceled.error() == errc::canceled);
    });
}

TEST_CASE("what does not end in time is stopped, and its progress is reported") {
    on_each_backend_of("timers", [](io_context&) -> task<> {
        const io_result<int> counted = co_await with_timeout(20ms, count_until_stopped());

        CHECK(counted.error() == errc::timed_out);
        CHECK(counted.value() >= 1);
    });
}

TEST_CASE("a limit counts from its await, however long its coroutine has computed before") {
    on_every_backend([](io_context&) -> task<> {
        compute_for(12ms);
        const time_point begin = std::chrono::steady_clock::now();

        const io_result<> slept = co_await with_timeout(10ms, sleep_for(1h));

        CHECK(slept.error() == errc::timed_out);
        CHECK(std::chrono::steady_clock::now() - begin >= 10ms);
    });
}

TEST_CASE("an idle time-out is pushed back from now, however long its coroutine has computed") {
    on_every_backend([](io_context&) -> task<> {
        idle_timeout silence{20ms};
        time_point pushed;
        const auto computes = [&]() -> task<io_result<>> {
            compute_for(15ms);
            pushed = std::chrono::steady_clock::now();
            silence.push_back();
            co_return co_await sleep_for(1h);
        };

        const io_result<> ended = co_await with_idle_timeout(silence, computes());

        CHECK(ended.error() == errc::timed_out);
        CHECK(std::chrono::steady_clock::now() - pushed >= 20ms);
    });
}

TEST_CASE("a time-out keeps the activity that it interrupted") {
    on_each_backend_of("timers", [](io_context& io) -> task<> {
        auto [client, server] = local_pair(io);
        std::array<std::byte, 8> space;

        const io_result<std::size_t> read = co_await with_timeout(2ms, client.read_some(space));

        CHECK(read.error() == errc::timed_out);
        CHECK(read.error().during() == activity::read);
        CHECK(read.value() == 0);
    });
}

TEST_CASE("the kernel's own time-out is not taken for ours") {
    on_each_backend_of("timers", [](io_context&) -> task<> {
        const io_result<int> failed =
            co_await with_timeout(very_long, fail_with(errc::connection_timed_out));

        CHECK(failed.error() == errc::connection_timed_out);
        CHECK_FALSE(failed.error() == errc::timed_out);
    });
}

TEST_CASE("a limit of zero or less still lets its awaitable try once") {
    on_each_backend_of("timers", [](io_context&) -> task<> {
        event set;
        set.set();
        event unset;

        const io_result<> ready = co_await with_timeout(0ms, set.wait());
        const io_result<> late = co_await with_timeout(-5ms, unset.wait());
        const io_result<> passed = co_await with_deadline(time_point{}, set.wait());
        const io_result<> too_late = co_await with_deadline(time_point{}, unset.wait());

        CHECK(ready.ok());
        CHECK(late.error() == errc::timed_out);
        CHECK(passed.ok());
        CHECK(too_late.error() == errc::timed_out);
    });
}

TEST_CASE("a deadline has passed however long ago it was") {
    on_each_backend_of("timers", [](io_context& io) -> task<> {
        const std::array<time_point, 4> moments{time_point::min(), time_point::min() + 1ns,
                                                time_point::min() + 1h, io.now() - duration::max()};
        event unset;

        for (const time_point each : moments) {
            const io_result<> waited = co_await with_deadline(each, unset.wait());
            const io_result<> slept = co_await sleep_until(each);
            CHECK(waited.error() == errc::timed_out);
            CHECK(slept.ok());
        }
    });
}

// The harness's own limit would be the nearer one, so these loops run without.
TEST_CASE("a deadline in the farthest future lets its loop sleep") {
    with_every_backend([](const io_context_options& options) {
        // As late as it can be without being none, also with what a loop adds.
        const time_point moment = never - options.timer_slack - 1ns;
        io_context io{options};
        event over;
        io_result<> outcome{errc::malformed};
        const auto waits = [&]() -> task<> {
            outcome = co_await with_deadline(moment, over.wait());
        };
        const auto ends_it = [&]() -> task<> {
            const io_result<> called = co_await blocking([] { ::poll(nullptr, 0, 50); });
            CHECK(called.ok());
            over.set();
        };
        launch(io, waits(), or_terminate{});
        launch(io, ends_it(), or_terminate{});

        io.run();

        CHECK(outcome.ok());
        CHECK(io.counters().visits < 50);
    });
}

TEST_CASE("of nested limits the nearest counts, inside or outside") {
    on_each_backend_of("timers", [](io_context& io) -> task<> {
        event unset;
        const time_point begin = io.now();

        const io_result<> inner = co_await with_timeout(very_long, with_timeout(2ms, unset.wait()));
        const io_result<> outer = co_await with_timeout(2ms, with_timeout(very_long, unset.wait()));
        const io_result<> moment =
            co_await with_deadline(io.now() + 2ms, with_deadline(never, unset.wait()));
        const time_point both = io.now() + 2ms;
        const io_result<> same = co_await with_deadline(both, with_deadline(both, unset.wait()));

        CHECK(inner.error() == errc::timed_out);
        CHECK(outer.error() == errc::timed_out);
        CHECK(moment.error() == errc::timed_out);
        CHECK(same.error() == errc::timed_out);
        CHECK(io.now() - begin < very_long);
    });
}

TEST_CASE("an inner time-out leaves the outer limit in force") {
    on_each_backend_of("timers", [](io_context&) -> task<> {
        event unset;
        int inner_time_outs = 0;
        const auto retries = [&]() -> task<io_result<>> {
            for (;;) {
                const io_result<> waited = co_await with_timeout(1ms, unset.wait());
                if (waited.error() != errc::timed_out) co_return waited;
                ++inner_time_outs;
            }
        };

        const io_result<> all = co_await with_timeout(20ms, retries());

        CHECK(all.error() == errc::timed_out);
        CHECK(inner_time_outs >= 1);
    });
}

TEST_CASE("a parent's stop is reported as a stop, although the limit passes as well") {
    on_each_backend_of("timers", [](io_context& io) -> task<> {
        event unset;
        const time_point moment = io.now() + 3ms;
        io_result<> outcome;
        const auto child = [&]() -> task<> {
            outcome = co_await with_deadline(moment, unset.wait());
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(child());
            co_await yield();  // In the same turn, so that the limit cannot be the first.
            group.request_stop();
            static_cast<void>(co_await shielded(sleep_until(moment + 1ms), very_long));
        };

        co_await with_group(body);

        CHECK(outcome.error() == errc::canceled);
    });
}

TEST_CASE("what ends in the same turn in which the limit passes keeps its result") {
    on_each_backend_of("timers", [](io_context& io) -> task<> {
        const time_point moment = io.now() + 2ms;

        const io_result<> slept = co_await with_deadline(moment, sleep_until(moment - 1ns));

        CHECK(slept.ok());
    });
}

TEST_CASE("a limited task without a result says whether it was stopped") {
    on_each_backend_of("timers", [](io_context&) -> task<> {
        event set;
        set.set();
        event unset;

        const io_result<> in_time = co_await with_timeout(very_long, wait_quietly(set));
        const io_result<> late = co_await with_timeout(1ms, wait_quietly(unset));

        CHECK(in_time.ok());
        CHECK(late.error() == errc::timed_out);
    });
}

TEST_CASE("a limit reaches every branch below it") {
    on_each_backend_of("timers", [](io_context&) -> task<> {
        event unset;
        error first;
        error second;
        const auto both = [&]() -> task<io_result<>> {
            const auto results = co_await when_all(unset.wait(), unset.wait());
            first = std::get<0>(results).error();
            second = std::get<1>(results).error();
            co_return first;
        };

        const io_result<> late = co_await with_timeout(1ms, both());

        CHECK(late.error() == errc::timed_out);
        CHECK(first == errc::canceled);
        CHECK(second == errc::canceled);
    });
}

TEST_CASE("a limited value that owns something is handed out") {
    on_each_backend_of("timers", [](io_context&) -> task<> {
        channel<std::unique_ptr<int>> pointers{1};
        static_cast<void>(co_await pointers.send(std::make_unique<int>(4)));

        io_result<std::unique_ptr<int>> got = co_await with_timeout(very_long, pointers.receive());
        const std::unique_ptr<int> value = got.take();

        CHECK(got.ok());
        CHECK(*value == 4);
    });
}

TEST_CASE("what is shielded goes on while everything around it stops") {
    on_each_backend_of("timers", [](io_context&) -> task<> {
        event finish;
        io_result<> before;
        io_result<> pending;
        const auto child = [&](io_result<>& outcome) -> task<> {
            outcome = co_await shielded(finish.wait(), very_long);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(child(pending));
            co_await settle();
            group.request_stop();
            group.spawn(child(before));
            co_await settle();
            CHECK(group.size() == 2);
            finish.set();
        };

        co_await with_group(body);

        CHECK(before.ok());
        CHECK(pending.ok());
    });
}

TEST_CASE("what is shielded is ended by its own limit") {
    on_each_backend_of("timers", [](io_context&) -> task<> {
        event unset;
        io_result<> outcome;
        const auto child = [&]() -> task<> {
            outcome = co_await shielded(wait_quietly(unset), 2ms);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.request_stop();
            group.spawn(child());
            co_await group.join();
        };

        co_await with_group(body);

        CHECK(outcome.error() == errc::timed_out);
    });
}

TEST_CASE("an idle wait is ended by a drain, before and while it waits, and by a stop") {
    on_each_backend_of("timers", [](io_context&) -> task<> {
        event unset;
        std::array<io_result<>, 3> outcomes;
        const auto child = [&](io_result<>& outcome) -> task<> {
            outcome = co_await idle(unset.wait());
        };
        const auto drained = [&](task_group& group) -> task<> {
            group.spawn(child(outcomes[0]));
            co_await settle();
            group.request_drain();
            group.spawn(child(outcomes[1]));
        };
        const auto stopped = [&](task_group& group) -> task<> {
            group.spawn(child(outcomes[2]));
            co_await settle();
            group.request_stop();
        };

        co_await with_group(drained);
        co_await with_group(stopped);

        for (const io_result<>& each : outcomes) CHECK(each.error() == errc::canceled);
    });
}

TEST_CASE("an idle wait that is not drained yields its own result") {
    on_each_backend_of("timers", [](io_context&) -> task<> {
        event set;
        set.set();

        const io_result<> waited = co_await idle(set.wait());
        const io_result<> late = co_await with_timeout(1ms, idle(sleep_until(never)));

        CHECK(waited.ok());
        CHECK(late.error() == errc::timed_out);
    });
}

TEST_CASE("a stop that what is limited asks for itself, before it first waits, reaches it") {
    on_each_backend_of("timers", [](io_context&) -> task<> {
        event unset;
        io_result<> outcome;
        const auto body = [&](task_group& group) -> task<> {
            const auto stops_and_waits = [&](task_group&) -> task<io_result<>> {
                group.request_stop();
                const io_result<> waited = co_await unset.wait();
                co_return waited;
            };
            const auto child = [&]() -> task<> {
                outcome = co_await with_timeout(200ms, with_group(stops_and_waits));
            };
            group.spawn(child());
            co_await group.join();
        };

        co_await with_group(body);

        CHECK(outcome.error() == errc::canceled);
    });
}

TEST_CASE("many limits on what is ready need no stack") {
    in_a_long_run([](io_context&) -> task<> {
        channel<int> numbers{1};
        int sum = 0;

        for (int time = 0; time < many_steps; ++time) {
            static_cast<void>(co_await with_timeout(very_long, numbers.send(1)));
            const io_result<int> got = co_await with_timeout(very_long, numbers.receive());
            sum += got.value();
        }

        CHECK(sum == many_steps);
    });
}

namespace {

task<io_result<int>> one() { co_return io_result<int>{1}; }

}  // namespace

TEST_CASE("many limits on tasks that end at once need no stack") {
    in_a_long_run([](io_context&) -> task<> {
        int sum = 0;

        for (int time = 0; time < many_steps; ++time) {
            const io_result<int> got = co_await with_timeout(very_long, one());
            sum += got.value();
        }

        CHECK(sum == many_steps);
    });
}

namespace {

/// Hears something every millisecond, `words` times, and then nothing more.
task<io_result<int>> talk_and_fall_silent(idle_timeout& silence, int words) {
    for (int word = 0; word < words; ++word) {
        const io_result<> slept = co_await sleep_for(1ms);
        if (!slept.ok()) co_return io_result<int>{slept.error(), word};
        silence.push_back();
    }
    const io_result<> slept = co_await sleep_for(very_long);
    co_return io_result<int>{slept.error(), words};
}

task<> talk_a_little(idle_timeout& silence) {
    co_await yield();
    silence.push_back();
}

}  // namespace

TEST_CASE("an idle time-out that is pushed back lets go on, and ends what falls silent") {
    on_each_backend_of("timers", [](io_context& io) -> task<> {
        constexpr int words = 100;
        io_result<int> ended;
        // A machine that was too slow to speak in time gets another chance, with more time.
        for (duration span = 60ms; ended.value() < words; span *= 2) {
            idle_timeout silence{span};
            silence.push_back();  // Nothing is limited yet.
            const time_point begun = io.now();

            ended = co_await with_idle_timeout(silence, talk_and_fall_silent(silence, words));

            CHECK(ended.error() == errc::timed_out);
            CHECK((ended.value() < words || io.now() - begun >= span + words * 1ms));
            silence.push_back();  // And nothing any more.
        }
    });
}

TEST_CASE("an idle time-out may limit one thing after the other, and is told from a stop") {
    on_each_backend_of("timers", [](io_context&) -> task<> {
        idle_timeout silence{5ms};

        const io_result<> first = co_await with_idle_timeout(silence, talk_a_little(silence));
        const io_result<int> second =
            co_await with_idle_timeout(silence, talk_and_fall_silent(silence, 0));
        const io_result<int> around = co_await with_timeout(
            1ms, with_idle_timeout(silence, talk_and_fall_silent(silence, 0)));

        CHECK(first.ok());
        CHECK(second.error() == errc::timed_out);
        CHECK(around.error() == errc::timed_out);
    });
}

TEST_CASE("a timer that lasts ends what is late, and what comes after an earlier limit in peace") {
    on_each_backend_of("timers", [](io_context& loop) -> task<> {
        limit_timer timer;
        event never_set;
        const auto wait_until = [&](time_point until) -> task<errc> {
            const io_result<> ended = co_await with_deadline(timer, until, never_set.wait());
            co_return ended.error().code();
        };
        // Each shorter than the one before, then longer again.
        for (const duration limit : {20ms, 5ms, 0ms, 20ms}) {
            const time_point begun = loop.read_clock();
            const errc ended = co_await wait_until(begun + limit);
            CHECK(ended == errc::timed_out);
            CHECK(loop.read_clock() >= begun + limit);
        }
        // What it was armed for passes while nothing is limited, and while something else is.
        const time_point early = loop.read_clock() + 5ms;
        const io_result<int> at_once = co_await with_deadline(timer, early, fail_with(errc::eof));
        static_cast<void>(co_await sleep_for(10ms));
        const time_point second = loop.read_clock() + 5ms;
        static_cast<void>(co_await with_deadline(timer, second, fail_with(errc::eof)));
        const io_result<> slept =
            co_await with_deadline(timer, second + very_long, sleep_for(20ms));
        const io_result<> unlimited = co_await with_deadline(timer, never, sleep_for(1ms));

        CHECK(at_once.error() == errc::eof);
        CHECK(slept.ok());
        CHECK(unlimited.ok());
    });
}

TEST_CASE("a timer that lasts may end before its moment, and another one goes on") {
    on_each_backend_of("timers", [](io_context& loop) -> task<> {
        limit_timer other;
        for (int each = 0; each < 3; ++each) {
            limit_timer timer;
            const time_point soon = loop.read_clock() + 1ms;
            static_cast<void>(co_await with_deadline(other, soon, fail_with(errc::eof)));
            static_cast<void>(co_await with_deadline(timer, soon, fail_with(errc::eof)));
        }
        const time_point later = loop.read_clock() + 10ms;
        const io_result<> ended = co_await with_deadline(other, later, sleep_for(10s));
        CHECK(ended.error() == errc::timed_out);
    });
}
