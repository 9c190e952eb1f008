// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/resume.hpp promises. That the stack stays flat is tests/toolchain/
// symmetric_transfer_test.cpp's; that frames look as we think, callback_frame_test.cpp's beside it.
#include <gyre/coro/resume.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <vector>

using namespace gyre;

namespace {

// A hand-made frame that calls a function object.
struct calling : callback_frame {
    explicit calling(std::function<void()> what)
        : callback_frame{[](callback_frame* frame) { static_cast<calling*>(frame)->call(); }},
          call{std::move(what)} {}
    std::function<void()> call;
};

// The smallest coroutine there is: started and ended by hand.
struct bare {
    struct promise_type {
        bare get_return_object() noexcept {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept {}
    };
    std::coroutine_handle<promise_type> handle;
};

struct pass_to {
    std::coroutine_handle<> next;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept {
        return transfer(next);
    }
    void await_resume() const noexcept {}
};

bare passing(std::vector<int>& order, int number, std::coroutine_handle<> next) {
    const pass_to step{next};
    order.push_back(number);
    co_await step;
    order.push_back(-number);
}

}  // namespace

TEST_CASE("resuming a hand-made frame calls its function") {
    int called = 0;
    calling frame{[&] { ++called; }};

    resume(frame.handle());
    resume(frame.handle());

    CHECK(called == 2);
}

TEST_CASE("destroying a hand-made frame does nothing: its owner has it") {
    int called = 0;
    calling frame{[&] { ++called; }};

    frame.handle().destroy();
    resume(frame.handle());

    CHECK(called == 1);
}

TEST_CASE("control that is passed on has arrived when resume returns") {
    std::vector<int> order;
    calling last{[&] { order.push_back(99); }};
    const bare third = passing(order, 3, last.handle());
    const bare second = passing(order, 2, third.handle);
    const bare first = passing(order, 1, second.handle);

    resume(first.handle);

    CHECK(order == std::vector{1, 2, 3, 99});
    for (const bare& each : {first, second, third}) each.handle.destroy();
}

TEST_CASE("a resumption inside another carries out its own transfers before it returns") {
    std::vector<int> order;
    calling inner_last{[&] { order.push_back(20); }};
    const bare inner = passing(order, 2, inner_last.handle());
    calling outer_last{[&] {
        order.push_back(10);
        resume(inner.handle);
        order.push_back(11);
    }};
    const bare outer = passing(order, 1, outer_last.handle());

    resume(outer.handle);

    CHECK(order == std::vector{1, 10, 2, 20, 11});
    inner.handle.destroy();
    outer.handle.destroy();
}

TEST_CASE("a coroutine that was passed over goes on where it stopped") {
    std::vector<int> order;
    calling last{[] {}};
    const bare it = passing(order, 7, last.handle());
    resume(it.handle);

    resume(it.handle);

    CHECK(order == std::vector{7, -7});
    CHECK(it.handle.done());
    it.handle.destroy();
}
