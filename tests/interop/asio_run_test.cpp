// SPDX-License-Identifier: BSL-1.0
//
// What gyre/interop/asio_run.hpp promises: a gyre task looks like any other operation of Asio's.
#include <interop/asio_threads.hpp>

#include <gyre/sync/sleep.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

using boost::system::error_code;

task<io_result<int>> add(int left, int right) {
    static_cast<void>(co_await sleep_for(1ms));
    co_return left + right;
}

task<io_result<>> fail_with(error what) {
    co_await yield();
    co_return what;
}

task<io_result<std::string, int>> two_values() {
    co_await yield();
    co_return io_result<std::string, int>{errc::eof, "half", 2};
}

task<io_result<>> sleep_long() {
    const io_result<> slept = co_await sleep_for(1h);
    co_return slept;
}

// A slot that is out of memory.
struct full_slot {
    [[nodiscard]] bool is_connected() const noexcept { return true; }
    [[nodiscard]] bool has_handler() const noexcept { return false; }
    template <class Handler, class... Arguments>
    Handler& emplace(Arguments&&...) {
        throw std::bad_alloc{};
    }
    template <class Handler>
    std::decay_t<Handler>& assign(Handler&&) {
        throw std::bad_alloc{};
    }
    void clear() noexcept {}
};

// The host's own thread runs the loop; or each has its own.
void on_every_guest(const auto& body) {
    with_every_backend([&](const io_context_options& options) {
        asio::io_context host;
        io_context loop{options};
        asio_guest guest{host, loop};
        body(host, guest);
    });
}

}  // namespace

TEST_CASE("a handler gets the task's values and errors, on the host's executor") {
    on_every_guest([](asio::io_context& host, asio_guest& guest) {
        int sum = 0;
        error_code failure;
        std::string text;
        int number = 0;
        async_run(guest, add(3, 4), [&](error_code, int value) { sum = value; });
        async_run(guest, fail_with(errc::connection_reset), [&](error_code it) { failure = it; });
        async_run(guest, two_values(), [&](error_code, std::string first, int second) {
            text = first;
            number = second;
        });
        CHECK(sum == 0);
        host.run_for(patience);
        CHECK(sum == 7);
        CHECK(failure == asio::error::connection_reset);
        CHECK(text == "half");
        CHECK(number == 2);
    });
}

TEST_CASE("an Asio coroutine awaits a gyre task, which awaits an Asio operation") {
    on_every_guest([](asio::io_context& host, asio_guest& guest) {
        int sum = 0;
        const auto inner = [](asio::io_context& context) -> task<io_result<int>> {
            asio::steady_timer timer{context, 1ms};
            const auto waited = co_await timer.async_wait(use_io_result);
            co_return io_result<int>{waited.error(), 5};
        };
        const auto outer = [&]() -> asio::awaitable<void> {
            sum += co_await async_run(guest, add(1, 2), asio::use_awaitable);
            sum += co_await async_run(guest, inner(host), asio::use_awaitable);
        };
        asio::co_spawn(host, outer, asio::detached);
        host.run_for(patience);
        CHECK(sum == 8);
    });
}

TEST_CASE("a cancellation slot stops the task, and the handler hears operation_aborted") {
    on_every_guest([](asio::io_context& host, asio_guest& guest) {
        asio::cancellation_signal signal;
        error_code failure;
        async_run(
            guest, sleep_long(),
            asio::bind_cancellation_slot(signal.slot(), [&](error_code it) { failure = it; }));
        asio::steady_timer timer{host, 2ms};
        timer.async_wait([&](auto) { signal.emit(asio::cancellation_type::terminal); });
        host.run_for(patience);
        CHECK(failure == asio::error::operation_aborted);
    });
}

TEST_CASE("Asio's operators cancel a gyre task that loses a race") {
    on_every_guest([](asio::io_context& host, asio_guest& guest) {
        std::size_t winner = 9;
        const auto race = [&]() -> asio::awaitable<void> {
            using namespace boost::asio::experimental::awaitable_operators;
            asio::steady_timer timer{host, 2ms};
            const auto first = co_await (async_run(guest, sleep_long(), asio::use_awaitable) ||
                                         timer.async_wait(asio::use_awaitable));
            winner = first.index();
        };
        asio::co_spawn(host, race, asio::detached);
        host.run_for(patience);
        CHECK(winner == 1);
        CHECK(guest.loop().roots().empty());
    });
}

TEST_CASE("a handler with an executor of its own is called there") {
    on_every_guest([](asio::io_context& host, asio_guest& guest) {
        auto line = asio::make_strand(host);
        bool on_strand = false;
        async_run(guest, add(1, 1), asio::bind_executor(line, [&](error_code, int) {
                      on_strand = line.running_in_this_thread();
                  }));
        host.run_for(patience);
        CHECK(on_strand);
    });
}

TEST_CASE("a loop on a thread of its own serves Asio on another, many times over") {
    with_every_backend([](const io_context_options& options) {
        asio_thread there;
        io_context loop{options};
        int sum = 0;
        const auto many = [&]() -> asio::awaitable<void> {
            const auto quick = [](int value) -> task<io_result<int>> { co_return value; };
            for (int round = 0; round < 500; ++round) {
                sum += co_await async_run(loop, there.context.get_executor(), quick(1),
                                          asio::use_awaitable);
            }
        };
        std::future<void> over;
        {
            const io_context::work_guard guard{loop};
            over = asio::co_spawn(there.context, many, asio::use_future);
            std::thread watcher{[&] {
                over.wait();
                loop.stop();
            }};
            loop.run_for(patience);
            watcher.join();
        }
        CHECK(sum == 500);
    });
}

TEST_CASE("a task that is not wanted any more because its loop dies reports its cancellation") {
    with_every_backend([](const io_context_options& options) {
        asio::io_context host;
        error_code failure;
        {
            io_context loop{options};
            async_run(loop, host.get_executor(), sleep_long(),
                      [&](error_code it) { failure = it; });
            loop.poll();
        }
        host.run_for(patience);
        CHECK(failure == asio::error::operation_aborted);
    });
}

TEST_CASE("a slot that is out of memory leaves nothing behind, neither task nor handler") {
    on_every_guest([](asio::io_context& host, asio_guest& guest) {
        const auto witness = std::make_shared<int>(0);
        const auto hold = [](std::shared_ptr<int>) -> task<io_result<>> { co_return error{}; };
        bool thrown = false;
        bool called = false;
        try {
            async_run(guest, hold(witness),
                      asio::bind_cancellation_slot(full_slot{},
                                                   [&, witness](error_code) { called = true; }));
        } catch (const std::bad_alloc&) {
            thrown = true;
        }
        host.run_for(patience);
        CHECK(thrown);
        CHECK_FALSE(called);
        CHECK(witness.use_count() == 1);
    });
}
