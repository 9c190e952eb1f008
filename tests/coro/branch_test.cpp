// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/branch.hpp promises to the combinators of sync/, by the smallest combinator there
// is: it awaits two things and has no policy.
#include <gyre/coro/branch.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/harness.hpp>

#include <coro/manual_loop.hpp>
#include <support/settle.hpp>

#include <memory>
#include <tuple>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

template <awaitable First, awaitable Second>
class both final : public fork_point {
public:
    both(First first, Second second) noexcept : branches_{std::move(first), std::move(second)} {}
    both(both&& other) noexcept : branches_{std::move(other.branches_)} {}

    [[nodiscard]] const char* waiting_for() const noexcept override { return "both"; }
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept {
        open(waiter, *given);
        return suspend(begin_rest());
    }
    [[nodiscard]] bool begin_rest() noexcept override { return begin_rest_of(branches_, *this); }
    std::pair<branch_result<First>, branch_result<Second>> await_resume() {
        return {std::get<0>(branches_).take(), std::get<1>(branches_).take()};
    }
    template <class Branch>
    void branch_ended(Branch& ended) noexcept {
        leave(ended.chain);
    }

private:
    std::tuple<branch<First, both>, branch<Second, both>> branches_;
};

task<io_result<>> wait_for(event& until) {
    const io_result<> waited = co_await until.wait();
    co_return waited;
}

task<std::unique_ptr<int>> owned(int value) { co_return std::make_unique<int>(value); }

task<> nothing_at_all() { co_return; }

}  // namespace

TEST_CASE("branches are begun at once, run beside each other, and their results come back") {
    manual_loop loop;
    event one;
    event two;
    bool joined = false;
    const auto body = [&]() -> task<> {
        auto [first, second] = co_await both{wait_for(one), two.wait()};
        CHECK(first.ok());
        CHECK(second.ok());
        joined = true;
    };
    launch(loop, body(), or_terminate{});
    loop.run();

    two.set();
    loop.run();
    CHECK_FALSE(joined);
    one.set();
    loop.run();

    CHECK(joined);
}

TEST_CASE("branches that all end while they are begun do not end the coroutine before its time") {
    manual_loop loop;
    int value = 0;
    const auto body = [&]() -> task<> {
        auto [first, second] = co_await both{owned(20), owned(22)};
        value = *first + *second;
    };

    launch(loop, body(), or_terminate{});
    loop.run();

    CHECK(value == 42);
    CHECK(loop.roots().empty());
}

TEST_CASE("what yields nothing yields the value nothing") {
    manual_loop loop;
    bool joined = false;
    const auto body = [&]() -> task<> {
        const auto results = co_await both{nothing_at_all(), nothing_at_all()};
        joined = results.first == nothing{} && results.second == nothing{};
    };

    launch(loop, body(), or_terminate{});
    loop.run();

    CHECK(joined);
}

TEST_CASE("the end of the last branch posts, so that the turn's budget sees it") {
    manual_loop loop;
    event one;
    bool joined = false;
    const auto body = [&]() -> task<> {
        static_cast<void>(co_await both{one.wait(), nothing_at_all()});
        joined = true;
    };
    launch(loop, body(), or_terminate{});
    loop.run();
    one.set();

    loop.run(1);

    CHECK_FALSE(joined);
    CHECK_FALSE(loop.idle());
    loop.run();
    CHECK(joined);
}

TEST_CASE("branches that end on the spot wait for the next turn when this one's share is used up") {
    manual_loop loop;
    bool joined = false;
    const auto body = [&]() -> task<> {
        while (loop.spend()) {
        }
        static_cast<void>(co_await both{nothing_at_all(), nothing_at_all()});
        joined = true;
    };
    launch(loop, body(), or_terminate{});

    loop.run(1);
    CHECK_FALSE(joined);
    loop.run(1);

    CHECK(joined);
}

TEST_CASE("a stop of the coroutine reaches every branch") {
    manual_loop loop;
    event never;
    bool stopped = false;
    const auto body = [&]() -> task<> {
        auto [first, second] = co_await both{wait_for(never), never.wait()};
        stopped = first.error() == errc::canceled && second.error() == errc::canceled;
    };
    const stop_handle stop = launch(loop, body(), or_terminate{});
    loop.run();

    stop.request_stop();
    loop.run();

    CHECK(stopped);
}

TEST_CASE("branches of a stopped coroutine begin stopped") {
    manual_loop loop;
    event never;
    event gate;
    bool stopped = false;
    const auto body = [&]() -> task<> {
        static_cast<void>(co_await gate.wait());
        auto [first, second] = co_await both{wait_for(never), never.wait()};
        stopped = first.error() == errc::canceled && second.error() == errc::canceled;
    };
    const stop_handle stop = launch(loop, body(), or_terminate{});
    loop.run();

    stop.request_stop();
    loop.run();

    CHECK(stopped);
    CHECK(stop.ended());
}

TEST_CASE("a stop that a branch causes while it is begun reaches the branch begun before it") {
    on_every_backend([](io_context&) -> task<> {
        event never;
        io_result<> earlier;
        const auto body = [&](task_group& group) -> task<> {
            const auto stop_group = [&]() -> task<> {
                group.request_stop();
                co_return;
            };
            auto [first, second] = co_await both{wait_for(never), stop_group()};
            earlier = first;
        };

        co_await with_group(body);

        CHECK(earlier.error() == errc::canceled);
    });
}

TEST_CASE("a fork that is stopped at the moment its last branch ends resumes once") {
    manual_loop loop;
    event one;
    int resumed = 0;
    const auto body = [&]() -> task<> {
        static_cast<void>(co_await both{one.wait(), nothing_at_all()});
        ++resumed;
    };
    const stop_handle stop = launch(loop, body(), or_terminate{});
    loop.run();

    SUBCASE("the end comes first") {
        one.set();
        stop.request_stop();
    }
    SUBCASE("the stop comes first") {
        stop.request_stop();
        one.set();
    }
    SUBCASE("the stop comes between the branch's end and the coroutine") {
        one.set();
        loop.run(1);
        stop.request_stop();
    }
    loop.run();

    CHECK(resumed == 1);
    CHECK(stop.ended());
}

TEST_CASE("forks nest, and a stop reaches the leaves of the innermost") {
    on_every_backend([](io_context&) -> task<> {
        event never;
        int ended = 0;
        const auto inner = [&]() -> task<io_result<>> {
            auto [first, second] = co_await both{wait_for(never), sleep_for(1h)};
            ended += (first.error() == errc::canceled) + (second.error() == errc::canceled);
            co_return first;
        };
        const auto body = [&](task_group& group) -> task<> {
            const auto stop_later = [&]() -> task<> {
                co_await settle();
                group.request_stop();
            };
            group.spawn(stop_later());
            static_cast<void>(co_await both{inner(), inner()});
        };

        co_await with_group(body);

        CHECK(ended == 4);
    });
}
