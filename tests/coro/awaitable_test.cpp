// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/awaitable.hpp promises. tests/compile_fail/ shows the error messages for
// anything else.
#include <gyre/coro/awaitable.hpp>

#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace gyre;

namespace {

// An awaitable whose await_suspend returns `Outcome`.
template <class Outcome>
struct scripted {
    bool ready = false;
    Outcome outcome{};
    int suspended = 0;
    const environment* seen = nullptr;

    [[nodiscard]] bool await_ready() const noexcept { return ready; }
    Outcome await_suspend(std::coroutine_handle<>, const environment* given) noexcept {
        ++suspended;
        seen = given;
        return outcome;
    }
    int await_resume() noexcept { return 7; }
};

struct returns_nothing {
    int suspended = 0;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>, const environment*) noexcept { ++suspended; }
    void await_resume() noexcept {}
};

struct without_ready {
    void await_suspend(std::coroutine_handle<>, const environment*);
    void await_resume();
};
struct without_suspend {
    bool await_ready();
    void await_resume();
};
struct without_resume {
    bool await_ready();
    void await_suspend(std::coroutine_handle<>, const environment*);
};
struct of_another_library {  // It takes no environment.
    bool await_ready();
    void await_suspend(std::coroutine_handle<>);
    void await_resume();
};
struct suspends_strangely {
    bool await_ready();
    std::string await_suspend(std::coroutine_handle<>, const environment*);
    void await_resume();
};

static_assert(awaitable<returns_nothing> && awaitable<returns_nothing&>);
static_assert(awaitable<scripted<bool>> && awaitable<scripted<std::coroutine_handle<>>>);
static_assert(awaitable<task<>> && awaitable<task<std::unique_ptr<int>>>);
static_assert(!awaitable<const returns_nothing>, "awaiting changes an awaitable");
static_assert(!awaitable<without_ready> && !awaitable<without_suspend> &&
              !awaitable<without_resume>);
static_assert(!awaitable<of_another_library> && !awaitable<std::suspend_always>);
static_assert(!awaitable<suspends_strangely> && !awaitable<int>);

static_assert(std::same_as<awaited<scripted<bool>>, int>);
static_assert(std::same_as<awaited<returns_nothing&>, void>);
static_assert(std::same_as<awaited<task<io_result<>>>, io_result<>>);
static_assert(awaitable_of<scripted<bool>, long> && !awaitable_of<scripted<bool>, std::string>);

}  // namespace

TEST_CASE("an awaitable that is ready is not asked to suspend") {
    scripted<bool> it{.ready = true, .outcome = true};
    std::coroutine_handle<> next;

    CHECK_FALSE(begin_await(it, std::noop_coroutine(), nullptr, next));
    CHECK(it.suspended == 0);
}

TEST_CASE("an awaitable that returns nothing will resume its waiter") {
    returns_nothing it;
    std::coroutine_handle<> next;

    CHECK(begin_await(it, std::noop_coroutine(), nullptr, next));
    CHECK(it.suspended == 1);
    CHECK_FALSE(next);
}

TEST_CASE("an awaitable that returns a bool says whether it will resume its waiter") {
    scripted<bool> pending{.outcome = true};
    scripted<bool> over{.outcome = false};
    const environment given;
    std::coroutine_handle<> next;

    CHECK(begin_await(pending, std::noop_coroutine(), &given, next));
    CHECK_FALSE(begin_await(over, std::noop_coroutine(), &given, next));
    CHECK(pending.seen == &given);
    CHECK(over.suspended == 1);
    CHECK_FALSE(next);
}

TEST_CASE("an awaitable that passes control on tells to whom") {
    scripted<std::coroutine_handle<>> it{.outcome = std::noop_coroutine()};
    std::coroutine_handle<> next;

    CHECK(begin_await(it, std::noop_coroutine(), nullptr, next));
    CHECK(next == it.outcome);
}
