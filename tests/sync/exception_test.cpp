// SPDX-License-Identifier: BSL-1.0
//
// How a user's exceptions travel through what sync/ combines; built only where they are on.
#include <gyre/sync/event.hpp>
#include <gyre/sync/generator.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/stop_token.hpp>
#include <gyre/sync/strand.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/task_set.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/sync/when_any.hpp>

#include <support/waiting_laws.hpp>

#include <coroutine>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr auto very_long = std::chrono::hours{24};

task<int> throw_later(const char* what) {
    co_await settle();
    throw std::runtime_error{what};
}

/// Leaves the coroutine that made it, and refuses to go on from there.
struct unmovable_once_made {
    unmovable_once_made() = default;
    explicit unmovable_once_made(bool refuses) : refuses_{refuses} {}
    unmovable_once_made(unmovable_once_made&& other) noexcept : refuses_{other.refuses_} {}
    unmovable_once_made& operator=(unmovable_once_made&& other) {
        if (other.refuses_) throw std::runtime_error{"stays"};
        return *this;
    }

private:
    bool refuses_ = false;
};

task<unmovable_once_made> make_unmovable() {
    co_await settle();
    co_return unmovable_once_made{true};
}

/// Moves so often, and not once more.
struct moves_so_often {
    moves_so_often() = default;
    explicit moves_so_often(int moves) noexcept : left{moves} {}
    moves_so_often(moves_so_often&& other) noexcept(false) : left{other.left - 1} {
        if (left < 0) throw std::runtime_error{"stays"};
    }
    moves_so_often& operator=(moves_so_often&& other) noexcept(false) {
        if (other.left <= 0) throw std::runtime_error{"stays"};
        left = other.left - 1;
        return *this;
    }

    int left = 1000;
};

task<moves_so_often> make_movable(int moves) {
    co_await yield();
    moves_so_often made{moves};
    co_return std::move(made);
}

task<> throw_at_once(const char* what) {
    throw std::runtime_error{what};
    co_return;
}

task<> throw_when_stopped(event& unset, error& seen) {
    const io_result<> waited = co_await unset.wait();
    seen = waited.error();
    throw std::runtime_error{"second"};
}

task<> wait_until_stopped(event& unset, error& seen) {
    const io_result<> waited = co_await unset.wait();
    seen = waited.error();
}

/// What `it` throws; empty if nothing.
template <class Result>
task<std::string> caught_from(task<Result> it) {
    std::string caught;
    try {
        static_cast<void>(co_await std::move(it));
    } catch (const std::runtime_error& failure) {
        caught = failure.what();
    }
    co_return caught;
}

/// `wait(moves)` is a task that passes such a value on. Whichever move throws, the exception comes out of it.
template <class Wait>
task<> check_each_move(Wait wait) {
    std::string caught = "stays";
    int moves = 0;
    for (; caught == "stays" && moves < 100; ++moves) caught = co_await caught_from(wait(moves));
    CHECK(caught.empty());
    CHECK(moves > 1);
    CHECK(moves < 100);
}

}  // namespace

TEST_CASE("an exception stops the other branches and comes out when all have ended") {
    on_every_backend([](io_context&) -> task<> {
        event unset;
        error sibling;
        const auto both = [&]() -> task<> {
            static_cast<void>(
                co_await when_all(throw_when_stopped(unset, sibling), throw_later("first")));
        };

        const std::string caught = co_await caught_from(both());

        CHECK(caught == "first");
        CHECK(sibling == errc::canceled);
    });
}

TEST_CASE("an exception ends a race and comes out when all have ended") {
    on_every_backend([](io_context&) -> task<> {
        event unset;
        error sibling;
        const auto race = [&]() -> task<> {
            static_cast<void>(
                co_await when_any(throw_later("first"), throw_when_stopped(unset, sibling)));
        };

        const std::string caught = co_await caught_from(race());

        CHECK(caught == "first");
        CHECK(sibling == errc::canceled);
    });
}

TEST_CASE("an exception comes through a limit, and the limit is over") {
    on_every_backend([](io_context&) -> task<> {
        const auto limited = []() -> task<> {
            static_cast<void>(co_await with_timeout(very_long, throw_at_once("limited")));
        };

        const std::string caught = co_await caught_from(limited());
        const io_result<> after = co_await sleep_for(1ms);

        CHECK(caught == "limited");
        CHECK(after.ok());
    });
}

TEST_CASE("a child's exception stops all others in its group, in every mode, and comes out") {
    for (const group_mode mode :
         {group_mode::collect, group_mode::stop_on_first_error, group_mode::stop_on_exit}) {
        const auto test = [mode](io_context&) -> task<> {
            event unset;
            error sibling;
            error of_body;
            const group_options options{mode};
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(wait_until_stopped(unset, sibling));
                group.spawn(throw_at_once("child"));
                const io_result<> waited = co_await unset.wait();
                of_body = waited.error();
            };
            const auto grouped = [&]() -> task<> { co_await with_group(body, options); };

            const std::string caught = co_await caught_from(grouped());

            CHECK(caught == "child");
            CHECK(sibling == errc::canceled);
            CHECK(of_body == errc::canceled);
        };
        on_every_backend(test);
    }
}

TEST_CASE("an exception of a group's body stops its children and comes out when they have ended") {
    on_every_backend([](io_context&) -> task<> {
        event unset;
        error child;
        const auto body = [&](task_group& group) -> task<io_result<>> {
            group.spawn(throw_when_stopped(unset, child));
            co_await settle();
            throw std::runtime_error{"body"};
        };
        const auto grouped = [&]() -> task<> { static_cast<void>(co_await with_group(body)); };

        const std::string caught = co_await caught_from(grouped());

        CHECK(caught == "body");
        CHECK(child == errc::canceled);
    });
}

TEST_CASE("an exception of the call that makes a group's body counts as the body's") {
    on_every_backend([](io_context&) -> task<> {
        event unset;
        error child;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(throw_when_stopped(unset, child));
            throw std::runtime_error{"no body"};
        };
        const auto grouped = [&]() -> task<> { co_await with_group(body); };

        const std::string caught = co_await caught_from(grouped());

        CHECK(caught == "no body");
        CHECK(child == errc::canceled);
    });
}

TEST_CASE("an exception of an exit handler counts as the child's") {
    on_every_backend([](io_context&) -> task<> {
        const auto body = [](task_group& group) -> task<> {
            const auto value = []() -> task<int> { co_return 1; };
            group.spawn(value(), [](int) { throw std::runtime_error{"handler"}; });
            co_return;
        };
        const auto grouped = [&]() -> task<> { co_await with_group(body); };

        const std::string caught = co_await caught_from(grouped());

        CHECK(caught == "handler");
    });
}

TEST_CASE("a handler that takes a child's outcome is told of its exception, and the others go on") {
    on_every_backend([](io_context&) -> task<> {
        int values = 0;
        std::string caught;
        const auto one_later = []() -> task<int> {
            co_await settle();
            co_await settle();
            co_return 1;
        };
        const auto on_exit = [&](task_outcome<int> how) {
            try {
                values += how.get();
            } catch (const std::runtime_error& failure) {
                caught = failure.what();
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(throw_later("first"), on_exit);
            group.spawn(one_later(), on_exit);
            co_return;
        };

        co_await with_group(body);

        CHECK(values == 1);
        CHECK(caught == "first");
    });
}

TEST_CASE("an exception that a handler leaves in its child's outcome stops the group") {
    on_every_backend([](io_context&) -> task<> {
        event unset;
        error seen;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(wait_until_stopped(unset, seen));
            group.spawn(throw_at_once("first"), [](task_outcome<void>) noexcept {});
            co_return;
        };
        const auto grouped = [&]() -> task<> { co_await with_group(body); };

        const std::string caught = co_await caught_from(grouped());

        CHECK(caught == "first");
        CHECK(seen == errc::canceled);
    });
}

TEST_CASE("a generator's exception comes out of next once, after which nothing follows") {
    on_every_backend([](io_context&) -> task<> {
        const auto throws = []() -> generator<int> {
            co_yield 1;
            co_await settle();
            throw std::runtime_error{"generator"};
        };
        generator<int> values = throws();
        const auto pull = [&]() -> task<std::optional<int>> {
            const std::optional<int> value = co_await values.next();
            co_return value;
        };

        const std::optional<int> first = co_await values.next();
        const std::string caught = co_await caught_from(pull());
        const std::optional<int> after = co_await values.next();

        CHECK(first == 1);
        CHECK(caught == "generator");
        CHECK_FALSE(after.has_value());
    });
}

TEST_CASE("an exception comes back from another executor") {
    on_every_backend([](io_context& io) -> task<> {
        strand order{io};
        const auto there = [&]() -> task<> {
            static_cast<void>(co_await on(order, throw_later("strand")));
        };

        const std::string caught = co_await caught_from(there());

        CHECK(caught == "strand");
    });
}

TEST_CASE("an exception of a child with a handle stops the group, and is rethrown by both") {
    on_every_backend([](io_context&) -> task<> {
        event unset;
        error sibling;
        std::string through_handle;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(wait_until_stopped(unset, sibling));
            child<int> job = group.spawn_child(throw_later("of a job"));
            const auto waits = [&]() -> task<int> {
                const int result = co_await job.result();
                co_return result;
            };
            through_handle = co_await caught_from(waits());
        };

        const auto runs = [&]() -> task<> { co_await with_group(body); };
        const std::string caught = co_await caught_from(runs());

        CHECK(through_handle == "of a job");
        CHECK(caught == "of a job");
        CHECK(sibling == errc::canceled);
    });
}

TEST_CASE("an exception of a child in a set stops the group, and whoever waits hears the end") {
    on_every_backend([](io_context&) -> task<> {
        error heard;
        const auto body = [&](task_group& group) -> task<> {
            task_set<int> set{group, 1};
            set.spawn(throw_later("of a set"));
            const io_result<int> next = co_await set.next();
            heard = next.error();
            CHECK(set.empty());
        };
        const auto runs = [&]() -> task<> { co_await with_group(body); };

        const std::string caught = co_await caught_from(runs());

        CHECK(caught == "of a set");
        CHECK(heard == errc::eof);
    });
}

TEST_CASE("a result that cannot be moved into its set stops the group, and is not counted") {
    on_every_backend([](io_context&) -> task<> {
        std::size_t left = 99;
        const auto body = [&](task_group& group) -> task<> {
            task_set<unmovable_once_made> set{group, 2};
            set.spawn(make_unmovable());
            CHECK_FALSE((co_await set.next()).ok());
            left = set.size();
        };
        const auto runs = [&]() -> task<> { co_await with_group(body); };

        const std::string caught = co_await caught_from(runs());

        CHECK(caught == "stays");
        CHECK(left == 0);
    });
}

TEST_CASE("the move of a result that throws comes out of the race") {
    on_every_backend([](io_context&) -> task<> {
        const auto race = [](int moves) -> task<> {
            static_cast<void>(co_await when_any(make_movable(moves), make_movable(moves)));
        };
        const auto race_of_many = [](int moves) -> task<> {
            std::vector<task<moves_so_often>> each;
            each.push_back(make_movable(moves));
            static_cast<void>(co_await when_any(std::move(each)));
        };

        co_await check_each_move(race);
        co_await check_each_move(race_of_many);
    });
}

TEST_CASE("the move of a result that throws comes out where all results are awaited") {
    on_every_backend([](io_context&) -> task<> {
        const auto both = [](int moves) -> task<> {
            static_cast<void>(co_await when_all(make_movable(moves), make_movable(moves)));
        };

        co_await check_each_move(both);
    });
}

TEST_CASE("the move of a result that throws comes out of the set, or stops its group") {
    on_every_backend([](io_context&) -> task<> {
        for (const bool waits : {true, false}) {
            const auto collect = [waits](int moves) -> task<> {
                const auto body = [=](task_group& group) -> task<> {
                    task_set<moves_so_often> set{group, 1};
                    set.spawn(make_movable(moves));
                    if (!waits) co_await settle();
                    static_cast<void>(co_await set.next());
                    CHECK(set.empty());
                };
                co_await with_group(body);
            };
            const auto look = [](int moves) -> task<> {
                const auto body = [=](task_group& group) -> task<> {
                    task_set<moves_so_often> set{group, 1};
                    set.spawn(make_movable(moves));
                    co_await settle();
                    static_cast<void>(set.try_next());
                    CHECK(set.empty());
                };
                co_await with_group(body);
            };

            co_await check_each_move(collect);
            co_await check_each_move(look);
        }
    });
}

TEST_CASE("the move of a child's result that throws comes out where its handle is moved") {
    on_every_backend([](io_context&) -> task<> {
        const auto move_handle = [](int moves) -> task<> {
            const auto body = [=](task_group& group) -> task<> {
                child<moves_so_often> first = group.spawn_child(make_movable(moves));
                static_cast<void>(co_await first.wait());
                child<moves_so_often> second{std::move(first)};
                static_cast<void>(second.take());
            };
            co_await with_group(body);
        };

        co_await check_each_move(move_handle);
    });
}

namespace {

/// Yields at once, unless a move refuses.
struct moving_wait {
    explicit moving_wait(int moves) noexcept : counted{moves} {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<>, const environment*) noexcept {
        return false;
    }
    io_result<> await_resume() noexcept { return {}; }

    moves_so_often counted;
};

}  // namespace

TEST_CASE("the move of an awaitable that throws comes out of the call that combines it") {
    on_every_backend([](io_context&) -> task<> {
        const auto all = [](int moves) -> task<> {
            static_cast<void>(co_await when_all(moving_wait{moves}, moving_wait{moves}));
        };
        const auto any = [](int moves) -> task<> {
            static_cast<void>(co_await when_any(moving_wait{moves}, moving_wait{moves}));
        };
        const auto limited_wait = [](int moves) -> task<> {
            auto waits = with_timeout(very_long, with_timeout(very_long, moving_wait{moves}));
            static_cast<void>(co_await std::move(waits));
        };
        const auto bridged_wait = [](int moves) -> task<> {
            auto waits = with_stop_token(std::stop_token{},
                                         with_stop_token(std::stop_token{}, moving_wait{moves}));
            static_cast<void>(co_await std::move(waits));
        };

        co_await check_each_move(all);
        co_await check_each_move(any);
        co_await check_each_move(limited_wait);
        co_await check_each_move(bridged_wait);
    });
}
