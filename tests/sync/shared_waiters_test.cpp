// SPDX-License-Identifier: BSL-1.0
//
// What the queue between loops promises: gyre/sync/shared_waiters.hpp. How its waits end when they are
// stopped: waiting_laws_test.cpp.
#include <gyre/sync/shared_waiters.hpp>

#include <gyre/interop/future.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/sync/strand.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/pools.hpp>
#include <support/settle.hpp>

#include <base/ending.hpp>

#include <atomic>
#include <csignal>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

/// The least that can be waited for: what the queue itself can do.
class gate {
public:
    class wait_awaiter final : public shared_waiter {
    public:
        explicit wait_awaiter(gate& at) noexcept : shared_waiter{"gate"}, at_{at} {}
        wait_awaiter(wait_awaiter&&) noexcept = default;
        ~wait_awaiter() { abandon(); }

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            if (given->chain->stopping()) return go_on(handle, *given, errc::canceled);
            const std::lock_guard hold{at_.lock_};
            wait_in(at_.waiting_, handle, *given);
            return true;
        }
        io_result<> await_resume() const noexcept { return outcome(); }

    private:
        gate& at_;
    };

    [[nodiscard]] wait_awaiter wait() noexcept { return wait_awaiter{*this}; }

    /// Whether there was one.
    bool let_one_pass() noexcept {
        wake_list woken;
        const std::lock_guard hold{lock_};
        if (waiting_.empty()) return false;
        waiting_.wake_one(woken);
        return true;
    }
    void let_all_pass(error outcome = {}) noexcept {
        std::unique_lock hold{lock_};
        waiting_.wake_all(hold, outcome);
    }
    [[nodiscard]] bool empty() noexcept {
        const std::lock_guard hold{lock_};
        return waiting_.empty();
    }

private:
    shared_waiters waiting_{lock_};
    spin_lock lock_;
};

task<> note(gate& at, std::vector<int>& order, int name) {
    const io_result<> waited = co_await at.wait();
    if (waited.ok()) order.push_back(name);
}

task<error> pass(gate& at) {
    const io_result<> waited = co_await at.wait();
    co_return waited.error();
}

/// Awaits by hand, as a frame would that may be destroyed at any moment.
struct hand_made_frame : callback_frame {
    hand_made_frame() noexcept
        : callback_frame{
              [](callback_frame* self) { ++static_cast<hand_made_frame*>(self)->resumptions; }} {}

    int resumptions = 0;
};

/// A frame on `where` that is destroyed while it waits, or after `wake` has woken it.
template <class Executor>
task<> check_destroyed_frames(Executor& where, loop& home, bool by_another_thread) {
    gate at;
    stop_chain chain;
    const environment given{executor_ref{where}, &home, &chain};
    hand_made_frame frame;

    std::optional<gate::wait_awaiter> waiting{std::in_place, at};
    const bool waits = waiting->await_suspend(frame.handle(), &given);
    waiting.reset();
    CHECK(waits);
    CHECK(at.empty());
    CHECK(chain.pending() == nullptr);

    std::optional<gate::wait_awaiter> woken{std::in_place, at};
    const bool waits_again = woken->await_suspend(frame.handle(), &given);
    if (by_another_thread) {
        std::thread{[&at] { at.let_one_pass(); }}.join();
    } else {
        at.let_one_pass();
    }
    woken.reset();
    co_await settle();
    CHECK(waits_again);
    CHECK(chain.pending() == nullptr);
    CHECK(frame.resumptions == 0);
}

}  // namespace

TEST_CASE("shared waiters are woken one at a time, in the order in which they came") {
    on_every_backend([](io_context&) -> task<> {
        gate at;
        std::vector<int> order;
        const auto body = [&](task_group& group) -> task<> {
            for (int name = 0; name < 4; ++name) group.spawn(note(at, order, name));
            co_await settle();
            CHECK(at.let_one_pass());
            CHECK(order.empty());  // Nothing is resumed inside the call.
            co_await settle();
            CHECK(order == std::vector{0});
            at.let_all_pass();
            CHECK_FALSE(at.let_one_pass());
        };

        co_await with_group(body);

        CHECK(order == std::vector{0, 1, 2, 3});
    });
}

TEST_CASE("a coroutine that another thread wakes goes on on its own loop") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        gate at;
        bool at_home = false;
        std::latch waits{1};
        const auto wait = [&]() -> task<> {
            static_cast<void>(co_await at.wait());
            at_home = io.running_on_this_thread();
        };
        launch(io, wait(), or_terminate{});
        io.post([&waits] { waits.count_down(); });  // Behind the coroutine's start.
        std::thread other{[&] {
            waits.wait();
            at.let_one_pass();
        }};

        io.run_for(patience);
        other.join();

        CHECK(at_home);
    });
}

TEST_CASE("a frame destroyed while it waits between loops, or was woken, is not resumed") {
    on_every_backend([](io_context& io) -> task<> {
        strand order{io};
        for (const bool by_another_thread : {false, true}) {
            co_await check_destroyed_frames(io, io, by_another_thread);
            co_await check_destroyed_frames(order, io, by_another_thread);
        }
    });
}

TEST_CASE("all are woken, wherever they wait") {
    with_pools(2, [](io_context& io, io_pool& pool) {
        constexpr int waiting_per_loop = 50;  // More than are woken under one lock.
        gate at;
        std::atomic<int> waits = 0;
        std::vector<std::future<error>> ends;
        const auto wait = [&]() -> task<error> {
            waits.fetch_add(1);
            const error ended = co_await pass(at);
            co_return ended;
        };
        for (int each = 0; each < waiting_per_loop; ++each) {
            ends.push_back(to_future(pool[0], wait()));
            ends.push_back(to_future(pool[1], wait()));
        }
        const auto ping = []() -> task<> { co_return; };
        const auto wake = [&]() -> task<> {
            // Behind each wait's start, on its own loop.
            co_await on(pool[0], ping());
            co_await on(pool[1], ping());
            CHECK(waits == 2 * waiting_per_loop);
            at.let_all_pass(errc::closed);
        };

        run_here(io, wake());

        for (std::future<error>& each : ends) CHECK(each.get() == errc::closed);
    });
}

TEST_CASE("storm: of a stop on the waiter's loop and a wake from another thread exactly one wins") {
    const unsigned seed = std::random_device{}();
    CAPTURE(seed);
    with_every_backend([seed](const io_context_options& options) {
        constexpr int rounds = 2000;
        io_context io{options};
        gate at;
        std::atomic<bool> over = false;
        int passed = 0;
        int stopped = 0;
        const auto wait = [&]() -> task<> {
            std::mt19937 random{seed};
            for (int round = 0; round < rounds; ++round) {
                const duration limit = std::chrono::microseconds{random() % 8};
                const io_result<> waited = co_await with_timeout(limit, at.wait());
                if (waited.ok()) {
                    ++passed;
                } else {
                    ++stopped;
                }
            }
            over = true;
        };
        int let_through = 0;
        std::thread waker{[&] {
            std::mt19937 random{seed + 1};
            while (!over) {
                if (at.let_one_pass()) ++let_through;
                if (random() % 4 == 0) std::this_thread::yield();
            }
        }};

        launch(io, wait(), or_terminate{});
        io.run_for(patience);
        waker.join();

        CHECK(over);
        CHECK(passed == let_through);
        CHECK(passed + stopped == rounds);
    });
}

TEST_CASE("storm: a frame is destroyed while another thread wakes it") {
    on_every_backend([](io_context& io) -> task<> {
        constexpr int rounds = 5000;
        gate at;
        std::atomic<bool> over = false;
        std::thread waker{[&] {
            while (!over) at.let_one_pass();
        }};
        strand order{io};
        stop_chain chain;
        const environment on_loop{executor_ref{io}, &io, &chain};
        const environment on_strand{executor_ref{order}, &io, &chain};
        hand_made_frame frame;
        for (int round = 0; round < rounds; ++round) {
            const environment& given = round % 2 == 0 ? on_loop : on_strand;
            gate::wait_awaiter waiting = at.wait();
            static_cast<void>(waiting.await_suspend(frame.handle(), &given));
        }
        over = true;
        waker.join();
        co_await settle();

        CHECK(frame.resumptions == 0);
        CHECK(at.empty());
        CHECK(chain.pending() == nullptr);
    });
}

TEST_CASE("storm: a loop ends beside threads that wake its coroutines") {
    with_every_backend([](const io_context_options& options) {
        constexpr int rounds = 100;
        for (int round = 0; round < rounds; ++round) {
            gate at;
            std::atomic<bool> over = false;
            std::atomic<int> ended = 0;
            std::latch ready{2};
            std::thread waker{[&] {
                ready.arrive_and_wait();
                while (!over) at.let_one_pass();
            }};
            const auto wait = [&]() -> task<> {
                error outcome;
                while (!outcome) {
                    outcome = co_await pass(at);
                }
                ++ended;
            };
            std::optional<io_context> io;
            io_context* loop = nullptr;  // Also while it ends.
            const auto on_strand = [&]() -> task<> {
                strand order{*loop};
                co_await on(order, wait());
            };
            loop = &io.emplace(options);
            for (int each = 0; each < 3; ++each) launch(*io, wait(), or_terminate{});
            for (int each = 0; each < 3; ++each) launch(*io, on_strand(), or_terminate{});
            ready.arrive_and_wait();
            for (int turn = 0; turn < round; ++turn) io->run_one();
            io.reset();
            over = true;
            waker.join();
            CHECK(ended == 6);
        }
    });
}

TEST_CASE("storm: who was woken may destroy what it waited for") {
    with_every_backend([](const io_context_options& options) {
        constexpr int rounds = 500;
        io_context io{options};
        std::atomic<gate*> current = nullptr;
        std::atomic<bool> over = false;
        int passed = 0;
        const auto wait = [&]() -> task<> {
            for (int round = 0; round < rounds; ++round) {
                auto at = std::make_unique<gate>();
                gate::wait_awaiter waiting = at->wait();
                current = at.get();
                const io_result<> waited = co_await std::move(waiting);
                at.reset();
                if (waited.ok()) ++passed;
            }
            over = true;
        };
        std::thread waker{[&] {
            while (!over) {
                gate* const at = current.exchange(nullptr);
                if (at == nullptr) {
                    std::this_thread::yield();
                    continue;
                }
                while (!at->let_one_pass()) std::this_thread::yield();
            }
        }};

        launch(io, wait(), or_terminate{});
        io.run_for(patience);
        waker.join();

        CHECK(passed == rounds);
    });
}

TEST_CASE("a shared queue that dies before its waiters says what to do") {
    const ending how = ending_of([] {
        io_context io;
        std::vector<int> order;
        gate at;  // Dies first.
        launch(io, note(at, order, 1), or_terminate{});
        io.poll();
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("outlives the coroutines and threads that wait for it: declare it before"));
}
