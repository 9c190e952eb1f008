// SPDX-License-Identifier: BSL-1.0
//
// What becomes of a wake-up whose coroutine's frame is destroyed before it goes on: for everything in sync/
// that waits. A permit, a lock, a notification goes to the next waiter; a value ends with the frame.
#include <gyre/sync/channel.hpp>
#include <gyre/sync/condition.hpp>
#include <gyre/sync/debounce.hpp>
#include <gyre/sync/latch.hpp>
#include <gyre/sync/mutex.hpp>
#include <gyre/sync/notify.hpp>
#include <gyre/sync/rate_limiter.hpp>
#include <gyre/sync/semaphore.hpp>
#include <gyre/sync/shared_channel.hpp>
#include <gyre/sync/shared_semaphore.hpp>
#include <gyre/sync/task_group.hpp>

#include <base/ending.hpp>
#include <support/conformance.hpp>
#include <support/disposable.hpp>
#include <support/settle.hpp>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

/// A wait of a coroutine whose frame is destroyed when the test says so, and which is never resumed.
template <class Awaiter>
class doomed {
public:
    doomed(io_context& on, Awaiter it)
        : given_{executor_ref{on}, &on, &chain_}, it_{std::in_place, std::move(it)} {}
    doomed(const doomed&) = delete;
    doomed& operator=(const doomed&) = delete;

    void begin() { REQUIRE(it_->await_suspend(frame_.handle(), &given_)); }
    void stop() noexcept { chain_.request(stop_level::stop); }
    void destroy() noexcept { it_.reset(); }

private:
    stop_chain chain_;
    environment given_;
    callback_frame frame_{[](callback_frame*) { FAIL("a frame that is gone was resumed"); }};
    std::optional<Awaiter> it_;
};

/// Uses up what may be done on the spot, so that whatever has nothing to wait for goes on by a post.
void use_up_turn(io_context& io) {
    while (io.spend()) {
    }
}

/// A task that begins a wait beside what `act` does with a frame that is destroyed; whether it was woken.
template <class Wait, class Act>
task<bool> is_next(Wait wait, Act act) {
    bool woken = false;
    const auto next = [&]() -> task<> {
        const auto got = co_await wait();
        woken = got.ok();
    };
    const auto body = [&](task_group& group) -> task<> {
        group.spawn(next());
        co_await settle();
        act();
        co_await settle();
        group.request_stop();
    };
    co_await with_group(body);
    co_return woken;
}

constexpr const char* coordination = "coordination";

}  // namespace

// -------- On one loop --------

TEST_CASE("permits of a frame that is destroyed before it goes on are the next one's") {
    on_each_backend_of(coordination, [](io_context& io) -> task<> {
        semaphore of{0};
        doomed first{io, of.acquire_permits(2)};
        first.begin();
        const auto act = [&] {
            of.release(2);
            first.destroy();
        };
        const bool next = co_await is_next([&] { return of.acquire_permits(2); }, act);
        CHECK(next);
        CHECK(of.available() == 2);

        doomed plain{io, of.acquire()};
        use_up_turn(io);
        plain.begin();
        CHECK(of.available() == 1);
        plain.destroy();
        CHECK(of.available() == 2);
    });
}

TEST_CASE("a lock of a frame that is destroyed before it goes on is the next one's") {
    on_each_backend_of(coordination, [](io_context& io) -> task<> {
        mutex of;
        mutex::guard held = of.try_lock();
        doomed first{io, of.lock()};
        first.begin();
        const auto act = [&] {
            held.unlock();
            first.destroy();
        };
        const bool next = co_await is_next([&] { return of.lock(); }, act);
        CHECK(next);
        CHECK(of.try_lock().owns());
    });
}

namespace {

struct watched_by_two {
    disposable waits() {
        mutex::guard held = lock.try_lock();
        static_cast<void>(co_await changed.wait(held));
    }
    task<io_result<>> wait_too() {
        io_result<mutex::guard> locked = co_await lock.lock();
        mutex::guard held = locked.take();
        const io_result<> notified = co_await changed.wait(held);
        co_return notified;
    }

    mutex lock;
    condition changed;
};

}  // namespace

TEST_CASE(
    "a condition's notification of a frame that is destroyed before it has the lock again is "
    "another one's") {
    on_each_backend_of(coordination, [](io_context& io) -> task<> {
        for (const bool resumed : {false, true}) {
            CAPTURE(resumed);
            watched_by_two of;
            stop_chain chain;
            const environment given{executor_ref{io}, &io, &chain};
            const disposable first = of.waits();
            first.frame.promise().env = &given;
            gyre::resume(first.frame);
            bool woken = false;
            const auto next = [&]() -> task<> {
                const io_result<> notified = co_await of.wait_too();
                woken = notified.ok();
            };
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(next());
                co_await settle();
                mutex::guard held = of.lock.try_lock();
                CHECK(held.owns());
                of.changed.notify_one();
                if (resumed) co_await settle();  // Now it waits for the lock.
                first.frame.destroy();
                held.unlock();
                co_await settle();
                group.request_stop();
            };
            co_await with_group(body);
            CHECK(woken);
            CHECK(chain.pending() == nullptr);
        }
    });
}

TEST_CASE("a notification of all that a destroyed frame had wakes no one else") {
    on_each_backend_of(coordination, [](io_context& io) -> task<> {
        watched_by_two of;
        stop_chain chain;
        const environment given{executor_ref{io}, &io, &chain};
        const disposable first = of.waits();
        first.frame.promise().env = &given;
        gyre::resume(first.frame);
        of.changed.notify_all();
        const bool next =
            co_await is_next([&] { return of.wait_too(); }, [&] { first.frame.destroy(); });
        CHECK_FALSE(next);
    });
}

TEST_CASE("tokens of a frame that is destroyed before it goes on are there again") {
    on_every_backend([](io_context& io) -> task<> {
        rate_limiter of{io, rate_limit{1, 1h, 10}};
        doomed first{io, of.acquire(10)};
        use_up_turn(io);
        first.begin();
        CHECK(of.available() == 0);

        first.destroy();

        CHECK(of.available() == 10);
        co_return;
    });
}

TEST_CASE("signs that only a destroyed frame was told of are told to the next") {
    on_every_backend([](io_context& io) -> task<> {
        debounce of{io, 0ns};
        of.touch();
        doomed first{io, of.wait()};
        use_up_turn(io);
        first.begin();
        CHECK_FALSE(of.pending());

        first.destroy();

        CHECK(of.pending());
        const io_result<> told = co_await of.wait();
        CHECK(told.ok());
        CHECK_FALSE(of.pending());
    });
}

TEST_CASE(
    "a value that was handed to a frame ends with it, and the next one is the next receiver's") {
    on_each_backend_of(coordination, [](io_context& io) -> task<> {
        channel<int> of{1};
        shared_channel<int> between{1};
        doomed first{io, of.receive()};
        doomed other{io, between.receive()};
        first.begin();
        other.begin();
        for (int value : {1, 2}) {
            CHECK(of.try_send(value));
            CHECK(between.try_send(value));
        }

        first.destroy();
        other.destroy();

        CHECK(of.try_receive() == 2);
        CHECK(between.try_receive() == 2);
        co_return;
    });
}

// -------- Between loops --------

TEST_CASE(
    "a frame that was woken between loops neither asks what it waited for, nor is stopped by it") {
    on_every_backend([](io_context& io) -> task<> {
        std::optional<latch> opens{std::in_place, 1U};
        std::optional<shared_channel<int>> closes{std::in_place, 1U};
        doomed first{io, opens->wait()};
        doomed other{io, closes->receive()};
        first.begin();
        other.begin();
        opens->count_down();
        closes->close();
        opens.reset();
        closes.reset();

        first.stop();
        other.stop();
        first.destroy();
        other.destroy();
        co_return;
    });
}

TEST_CASE("a frame that a stop has ended does not ask the semaphore that it waited for") {
    on_every_backend([](io_context& io) -> task<> {
        std::optional<shared_semaphore> of{std::in_place, 0U};
        doomed first{io, of->acquire(2)};
        first.begin();
        first.stop();
        of.reset();

        first.destroy();
        co_return;
    });
}

TEST_CASE("a notify that goes before the one that it has notified is a failed check") {
    const ending how = ending_of([] {
        io_context io;
        std::optional<notify> on{std::in_place};
        doomed first{io, on->wait()};
        first.begin();
        on->notify_one();
        on.reset();
        first.destroy();
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("what is waited for outlives the coroutines and threads that wait for it"));
}

TEST_CASE("a notify may go before those that it has notified as all") {
    on_every_backend([](io_context& io) -> task<> {
        std::optional<notify> on{std::in_place};
        doomed first{io, on->wait()};
        first.begin();
        on->notify_all();
        on.reset();
        first.destroy();
        co_return;
    });
}
