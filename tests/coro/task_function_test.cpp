// SPDX-License-Identifier: BSL-1.0
//
// What gyre/coro/task_function.hpp promises: wherever a coroutine is begun that outlives the statement, a
// lambda with captures may be given uncalled, and lives as long as its coroutine.
#include <gyre/coro/task_function.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/interop/future.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/strand.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

using namespace gyre;
using namespace gyre::testing;

namespace {

// Too long to lie in the string itself, so that reading it after its end is noticed.
const std::string sentence = "a lambda that is gone must not be read by the coroutine that it made";

// A capture of which there is one at a time.
std::shared_ptr<std::string> make_captured() { return std::make_shared<std::string>(sentence); }

struct alignas(64) cache_line {
    std::array<std::byte, 64> bytes{};

    [[nodiscard]] bool aligned() const noexcept {
        return reinterpret_cast<std::uintptr_t>(this) % alignof(cache_line) == 0;
    }
};

}  // namespace

TEST_CASE("the captures of a spawned lambda live until its coroutine has ended") {
    on_every_backend([](io_context&) -> task<> {
        event go;
        std::string read;
        std::weak_ptr<std::string> capture;
        bool lived = false;
        bool ended = false;
        const auto body = [&](task_group& group) -> task<> {
            auto text = make_captured();
            capture = text;
            group.spawn([text = std::move(text), &go, &read]() -> task<> {
                static_cast<void>(co_await go.wait());
                read = *text;
            });
            co_await settle();
            lived = !capture.expired();
            go.set();
            co_await group.join();
            ended = capture.expired();
        };

        co_await with_group(body);

        CHECK(lived);
        CHECK(read == sentence);
        CHECK(ended);
    });
}

TEST_CASE(
    "the captures of a launched lambda live until its coroutine has ended, on pools as well") {
    with_every_backend([](const io_context_options& options) {
        std::atomic<int> right = 0;
        const auto reads = [&right](auto text) {
            return [text = std::move(text), &right]() -> task<> {
                co_await yield();
                right += *text == sentence ? 1 : 0;
            };
        };

        io_context io{options};
        launch(io, reads(make_captured()), or_terminate{});
        io.run_for(patience);
        io_pool_options two;
        two.threads = 2;
        two.loop = options;
        io_pool pool{two};
        launch(pool, reads(std::make_unique<std::string>(sentence)), or_terminate{});
        pool.wait();

        CHECK(right.load() == 2);
    });
}

TEST_CASE("the captures of a lambda live while it runs elsewhere: on a strand, a loop or a pool") {
    on_every_backend([](io_context& io) -> task<> {
        strand one_at_a_time{io};
        io_pool_options two;
        two.threads = 2;
        io_pool pool{two};
        const auto reads = [](auto text) {
            return [text = std::move(text)]() -> task<std::string> {
                co_await yield();
                co_return *text;
            };
        };
        auto on_strand = on(one_at_a_time, reads(std::make_unique<std::string>(sentence)));
        auto on_loop = on(pool[1], reads(std::make_unique<std::string>(sentence)));
        auto on_pool = on(pool, reads(std::make_unique<std::string>(sentence)));

        const std::string first = co_await std::move(on_strand);
        const std::string second = co_await std::move(on_loop);
        const std::string third = co_await std::move(on_pool);

        CHECK(first == sentence);
        CHECK(second == sentence);
        CHECK(third == sentence);
    });
}

TEST_CASE("the captures of a lambda live while a thread waits for its future") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        auto future = to_future(io, [text = make_captured()]() -> task<std::string> {
            co_await yield();
            co_return *text;
        });

        io.run_for(patience);

        CHECK(future.get() == sentence);
    });
}

TEST_CASE("a spawned lambda's value goes to the function that was named for it") {
    on_every_backend([](io_context&) -> task<> {
        int heard = 0;
        const auto body = [&heard](task_group& group) -> task<> {
            const auto square = [number = 7]() -> task<int> { co_return number* number; };
            group.spawn(square, [&heard](int value) { heard = value; });
            co_return;
        };

        co_await with_group(body);

        CHECK(heard == 49);
    });
}

TEST_CASE("a spawned lambda's error is the group's") {
    on_every_backend([](io_context&) -> task<> {
        error heard;
        const auto body = [&heard](task_group& group) -> task<> {
            group.spawn([what = errc::eof]() -> task<io_result<>> { co_return error{what}; });
            co_await group.join();
            heard = group.first_error();
        };

        co_await with_group(body);

        CHECK(heard == errc::eof);
    });
}

TEST_CASE("a lambda for which a group has no room is destroyed uncalled") {
    on_every_backend([](io_context&) -> task<> {
        bool called = false;
        bool spawned = true;
        std::weak_ptr<std::string> capture;
        group_options none;
        none.children_max = 0;
        const auto body = [&](task_group& group) -> task<> {
            auto text = make_captured();
            capture = text;
            spawned = group.try_spawn([text = std::move(text), &called]() -> task<> {
                called = true;
                co_return;
            });
            co_return;
        };

        co_await with_group(body, none);

        CHECK_FALSE(spawned);
        CHECK_FALSE(called);
        CHECK(capture.expired());
    });
}

TEST_CASE("captures that are aligned more than usual stay so") {
    io_context io;
    int aligned = 0;
    const cache_line line;
    for (int each = 0; each < 16; ++each) {
        launch(
            io,
            [line, &aligned]() -> task<> {
                co_await yield();
                if (line.aligned()) ++aligned;
            },
            or_terminate{});
    }

    io.run();

    CHECK(aligned == 16);
}

TEST_CASE("a plain function that makes a task is a task function") {
    io_context io;
    static int ran = 0;

    launch(
        io,
        +[]() -> task<> {
            ++ran;
            co_return;
        },
        or_terminate{});
    io.run();

    CHECK(ran == 1);
}
