// SPDX-License-Identifier: BSL-1.0
//
// What the queue behind every lock promises: gyre/sync/waiters.hpp. How its waits end when they are
// stopped is in waiting_laws_test.cpp.
#include <gyre/sync/waiters.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/waiting_laws.hpp>

#include <base/ending.hpp>

#include <algorithm>
#include <csignal>
#include <optional>
#include <random>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

class plain_wait final : public waiter {
public:
    explicit plain_wait(waiters& in, stop_level ends_at = stop_level::stop) noexcept
        : waiter{"test", ends_at}, in_{in} {}

    [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                     const environment* given) noexcept {
        return wait_in(in_, handle, *given);
    }
    io_result<> await_resume() const noexcept { return outcome(); }

private:
    waiters& in_;
};

class no_wait final : public waiter {
public:
    no_wait() noexcept : waiter{"test"} {}

    [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                     const environment* given) noexcept {
        return go_on(handle, *given, errc::file_exists);
    }
    io_result<> await_resume() const noexcept { return outcome(); }
};

task<> note(waiters& queue, std::vector<int>& order, int name, stop_level ends_at) {
    const io_result<> waited = co_await plain_wait{queue, ends_at};
    if (waited.ok()) order.push_back(name);
}

/// Awaits by hand, as a frame would that may be destroyed at any moment.
struct hand_made_frame : callback_frame {
    hand_made_frame() noexcept
        : callback_frame{
              [](callback_frame* self) { ++static_cast<hand_made_frame*>(self)->resumptions; }} {}

    int resumptions = 0;
};

}  // namespace

TEST_CASE("waiters are woken one at a time, in the order in which they came") {
    on_every_backend([](io_context&) -> task<> {
        waiters queue;
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            for (int name = 0; name < 4; ++name) {
                group.spawn(note(queue, order, name, stop_level::stop));
            }
            co_await settle();
            CHECK(queue.size() == 4);
            CHECK(queue.wake_one());
            co_await settle();
            CHECK(order == std::vector{0});
            queue.wake_all();
            CHECK(queue.empty());
            CHECK_FALSE(queue.wake_one());
        };

        co_await with_group(body);

        CHECK(order == std::vector{0, 1, 2, 3});
    });
}

TEST_CASE("waking resumes no coroutine inside the call") {
    on_every_backend([](io_context&) -> task<> {
        waiters queue;
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note(queue, order, 1, stop_level::stop));
            co_await settle();
            queue.wake_all();
            CHECK(order.empty());
        };

        co_await with_group(body);

        CHECK(order == std::vector{1});
    });
}

TEST_CASE("a waiter in the middle of the queue leaves it when it is stopped") {
    on_every_backend([](io_context&) -> task<> {
        waiters queue;
        std::vector<int> order;
        event stop_the_middle;
        const auto middle = [&](task_group& inner) -> task<> {
            inner.spawn(note(queue, order, 1, stop_level::stop));
            static_cast<void>(co_await stop_the_middle.wait());
            inner.request_stop();
        };
        const auto in_the_middle = [&]() -> task<> { co_await with_group(middle); };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note(queue, order, 0, stop_level::stop));
            co_await settle();
            group.spawn(in_the_middle());
            co_await settle();
            group.spawn(note(queue, order, 2, stop_level::stop));
            co_await settle();
            stop_the_middle.set();
            co_await settle();
            CHECK(queue.size() == 2);
            queue.wake_all();
        };

        co_await with_group(body);

        CHECK(order == std::vector{0, 2});
    });
}

TEST_CASE(
    "a wait that counts as intake is ended by a drain, and one that ignores stops by nothing") {
    on_every_backend([](io_context&) -> task<> {
        waiters intake;
        waiters stubborn;
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(note(intake, order, 0, stop_level::drain));
            group.spawn(note(stubborn, order, 1, ignores_stop));
            co_await settle();
            group.request_drain();
            CHECK(intake.empty());
            group.request_stop();
            co_await settle();
            CHECK(stubborn.size() == 1);
            stubborn.wake_all();
        };

        co_await with_group(body);

        CHECK(order == std::vector{1});
    });
}

TEST_CASE("going on without a wait keeps its outcome, also when the turn's share is used up") {
    on_every_backend([](io_context&) -> task<> {
        int right = 0;

        for (int time = 0; time < 1000; ++time) {
            const io_result<> went_on = co_await no_wait{};
            if (went_on.error() == errc::file_exists) ++right;
        }

        CHECK(right == 1000);
    });
}

TEST_CASE("a coroutine that never has to wait lets others run all the same") {
    on_every_backend([](io_context&) -> task<> {
        bool other_ran = false;
        int rounds = 0;
        const auto other = [&]() -> task<> {
            co_await yield();
            other_ran = true;
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(other());
            while (!other_ran && rounds < 1'000'000) {
                static_cast<void>(co_await no_wait{});
                ++rounds;
            }
        };

        co_await with_group(body);

        CHECK(other_ran);
        CHECK(rounds < 10'000);
    });
}

TEST_CASE("a frame may be destroyed while it waits, and while its wake-up is on its way") {
    on_every_backend([](io_context& io) -> task<> {
        waiters queue;
        hand_made_frame frame;
        stop_chain chain;
        const environment given{executor_ref{io}, &io, &chain};

        std::optional<plain_wait> waiting{std::in_place, queue};
        const bool waits = waiting->await_suspend(frame.handle(), &given);
        waiting.reset();
        CHECK(waits);
        CHECK(queue.empty());
        CHECK(chain.pending() == nullptr);

        std::optional<plain_wait> woken{std::in_place, queue};
        const bool waits_again = woken->await_suspend(frame.handle(), &given);
        queue.wake_all();
        woken.reset();
        co_await settle();
        CHECK(waits_again);
        CHECK(frame.resumptions == 0);
    });
}

TEST_CASE("any mix of arrivals, wake-ups and stops keeps the order of arrival") {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    const auto test = [seed](io_context&) -> task<> {
        std::mt19937 random{seed};
        waiters queue;
        std::vector<int> order;
        int arrived = 0;
        for (int round = 0; round < 20; ++round) {
            const auto body = [&](task_group& group) -> task<> {
                for (int step = 0; step < 30; ++step) {
                    if (random() % 2 == 0) {
                        group.spawn(note(queue, order, arrived++, stop_level::stop));
                        co_await settle();
                    } else {
                        queue.wake_one();
                    }
                }
                group.request_stop();
            };
            co_await with_group(body);
            CHECK(queue.empty());
        }
        CHECK(std::is_sorted(order.begin(), order.end()));
        CHECK_FALSE(order.empty());
    };
    on_every_backend(test);
}

TEST_CASE("a queue that dies before its waiters says what to do") {
    const ending how = ending_of([] {
        io_context io;
        std::vector<int> order;
        waiters queue;  // Dies first.
        launch(io, note(queue, order, 1, stop_level::stop), or_terminate{});
        io.poll();
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("outlives the coroutines that wait for it: declare it before their loop"));
}
