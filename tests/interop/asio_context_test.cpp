// SPDX-License-Identifier: BSL-1.0
//
// What gyre/interop/asio_context.hpp promises: Asio's handlers on a gyre loop.
#include <interop/asio_threads.hpp>

#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/defer.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

namespace execution = asio::execution;

static_assert(std::is_nothrow_copy_constructible_v<asio_context::executor_type>);
static_assert(std::is_nothrow_move_constructible_v<asio_context::executor_type>);
static_assert(std::is_convertible_v<asio_context::executor_type, asio::any_io_executor>);

// A loop, and Asio's view of it.
struct both {
    explicit both(const io_context_options& options) : loop{options} {}

    io_context loop;
    asio_context context{loop};
};

void on_every_loop(const auto& body) {
    with_every_backend([&](const io_context_options& options) {
        both it{options};
        body(it);
    });
}

}  // namespace

TEST_CASE("post, defer and dispatch from outside all run on the loop, in their order") {
    on_every_loop([](both& it) {
        std::string order;
        asio::post(it.context, [&] { order += 'a'; });
        asio::defer(it.context, [&] { order += 'b'; });
        asio::dispatch(it.context, [&] { order += 'c'; });
        CHECK(order.empty());
        it.loop.run_for(patience);
        CHECK(order == "abc");
    });
}

TEST_CASE("on the loop's thread dispatch runs at once, and post never does") {
    on_every_loop([](both& it) {
        std::string order;
        asio::post(it.context, [&] {
            asio::post(it.context, [&] { order += 'c'; });
            asio::dispatch(it.context, [&] { order += 'a'; });
            order += 'b';
        });
        it.loop.run_for(patience);
        CHECK(order == "abc");
    });
}

TEST_CASE("an executor that must never block posts even on the loop's own thread") {
    on_every_loop([](both& it) {
        const auto never = asio::require(it.context.get_executor(), execution::blocking.never);
        const auto possibly = asio::require(never, execution::blocking.possibly);
        std::string order;
        it.loop.post([&] {
            never.execute([&] { order += 'b'; });
            possibly.execute([&] { order += 'a'; });
        });
        it.loop.run_for(patience);
        CHECK(order == "ab");
        CHECK(asio::query(never, execution::blocking) == execution::blocking.never);
        CHECK(asio::query(possibly, execution::blocking) == execution::blocking.possibly);
    });
}

TEST_CASE("executors are equal when they mean the same loop and promise the same") {
    on_every_loop([](both& it) {
        io_context other_loop;
        asio_context other{other_loop};
        const auto first = it.context.get_executor();
        const auto never = asio::require(first, execution::blocking.never);
        const auto tracked = asio::require(first, execution::outstanding_work.tracked);

        CHECK(first == it.context.get_executor());
        CHECK(first != other.get_executor());
        CHECK(first != never);
        CHECK(first != tracked);
        CHECK(first == asio::require(never, execution::blocking.possibly));
        CHECK(first == asio::require(tracked, execution::outstanding_work.untracked));
        CHECK(asio::any_io_executor{first} == asio::any_io_executor{it.context.get_executor()});
        CHECK(&asio::query(never, execution::context) == &it.context);
    });
}

TEST_CASE("an assigned executor is like the one it was assigned from, tracking included") {
    on_every_loop([](both& it) {
        auto target = it.context.get_executor();
        const auto source = asio::require(asio::require(target, execution::blocking.never),
                                          execution::outstanding_work.tracked);
        target = source;
        CHECK(target == source);
        target = it.context.get_executor();
        CHECK(target == it.context.get_executor());
    });
}

TEST_CASE("tracked executors keep the loop running, each copy of them, and untracked ones do not") {
    on_every_loop([](both& it) {
        const auto untracked = it.context.get_executor();
        it.loop.run_for(patience);  // Returns: nothing to do.

        std::optional tracked{asio::require(untracked, execution::outstanding_work.tracked)};
        auto copy = std::make_unique<asio_context::executor_type>(*tracked);
        auto moved = std::make_unique<asio_context::executor_type>(std::move(*tracked));
        tracked.reset();
        bool ran = false;
        std::thread other{[&] {
            copy.reset();
            moved->execute([&] { ran = true; });
            moved.reset();
        }};
        it.loop.run_for(patience);
        other.join();
        CHECK(ran);
        CHECK_FALSE(it.loop.has_work());
    });
}

TEST_CASE("handlers posted from many threads all run, on the loop's thread, one at a time") {
    on_every_loop([](both& it) {
        constexpr int posts = 5000;
        int ran = 0;  // No lock.
        const auto poster = [&, executor = asio::prefer(it.context.get_executor(),
                                                        execution::outstanding_work.tracked)] {
            for (int each = 0; each < posts; ++each) asio::post(executor, [&ran] { ++ran; });
        };
        std::thread first{poster};
        std::thread second{poster};
        while (ran < 2 * posts) it.loop.run_for(1ms);
        first.join();
        second.join();
        CHECK(ran == 2 * posts);
    });
}

TEST_CASE("Asio's timers and sockets work on a gyre loop, and their handlers run there") {
    on_every_loop([](both& it) {
        asio::io_context sockets;  // The peer's side; not run.
        asio_pair peer{sockets};
        asio::steady_timer timer{it.context, 1ms};
        asio::ip::tcp::socket far{it.context, asio::ip::tcp::v4(), peer.far.release()};
        std::array<char, 8> space{};
        std::string heard;
        std::thread::id timer_thread;
        far.async_read_some(asio::buffer(space), [&](auto failure, std::size_t size) {
            if (!failure) heard.assign(space.data(), size);
        });
        timer.async_wait([&](auto) {
            timer_thread = std::this_thread::get_id();
            asio::write(peer.near, asio::buffer("hello", 5));
        });
        it.loop.run_for(patience);
        CHECK(timer_thread == std::this_thread::get_id());
        CHECK(heard == "hello");
    });
}

TEST_CASE("Asio's coroutines run on a gyre loop beside gyre's") {
    on_every_loop([](both& it) {
        std::string order;
        event asio_has_been;
        const auto asio_side = [&]() -> asio::awaitable<void> {
            asio::steady_timer timer{co_await asio::this_coro::executor, 1ms};
            co_await timer.async_wait(asio::use_awaitable);
            order += 'a';
            asio_has_been.set();
        };
        const auto gyre_side = [&]() -> task<> {
            static_cast<void>(co_await sleep_for(1ms));
            static_cast<void>(co_await asio_has_been.wait());
            order += 'g';
        };
        asio::co_spawn(it.context.get_executor(), asio_side, asio::detached);
        launch(it.loop, gyre_side(), or_terminate{});
        it.loop.run_for(patience);
        CHECK(order == "ag");
    });
}

TEST_CASE("a gyre task awaits Asio operations of its own loop") {
    on_every_loop([](both& it) {
        bool woke = false;
        const auto wait = [&]() -> task<> {
            asio::steady_timer timer{it.context, 1ms};
            const auto waited = co_await timer.async_wait(use_io_result);
            woke = waited.ok();
        };
        launch(it.loop, wait(), or_terminate{});
        it.loop.run_for(patience);
        CHECK(woke);
    });
}

TEST_CASE("a strand of Asio's on a gyre loop keeps its order") {
    on_every_loop([](both& it) {
        auto line = asio::make_strand(it.context);
        std::string order;
        for (const char each : {'a', 'b', 'c'}) {
            asio::post(line, [&order, each] { order += each; });
        }
        it.loop.run_for(patience);
        CHECK(order == "abc");
    });
}

TEST_CASE("a context that dies lets go of the handlers that wait") {
    with_every_backend([](const io_context_options& options) {
        io_context loop{options};
        const auto witness = std::make_shared<int>(0);
        {
            asio_context context{loop};
            asio::steady_timer timer{context, 1h};
            timer.async_wait([witness](auto) {});
            CHECK(witness.use_count() == 2);
        }
        loop.run_for(patience);
        CHECK(witness.use_count() == 1);
    });
}
