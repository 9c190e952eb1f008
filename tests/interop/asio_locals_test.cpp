// SPDX-License-Identifier: BSL-1.0
//
// A trace id on its way through what is not gyre: callbacks, springboards, Asio.
#include <gyre/coro/task_locals.hpp>

#include <gyre/coro/this_task.hpp>
#include <gyre/interop/asio_guest.hpp>
#include <gyre/interop/asio_operation.hpp>
#include <gyre/interop/asio_run.hpp>
#include <gyre/interop/callbacks.hpp>
#include <gyre/interop/springboard.hpp>
#include <gyre/sync/sleep.hpp>
#include <interop/asio_threads.hpp>
#include <support/harness.hpp>

#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <string>
#include <thread>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

inline constinit task_local<std::string> trace;

constexpr const char* parent_id = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

task<io_result<std::string>> bound_here() {
    co_await yield();
    const std::string* found = co_await this_task::local(trace);
    std::string copy = found == nullptr ? "nothing" : *found;
    co_return copy;
}

springboard<std::string> asked_by_callback(task_locals carried) {
    carried_scope here{std::move(carried)};
    co_await here;
    co_await yield();
    io_result<std::string> found = co_await bound_here();
    co_return found.take();
}

}  // namespace

TEST_CASE("a trace id survives a callback from another thread") {
    on_every_backend([](io_context&) -> task<> {
        std::thread caller;
        const auto start = [&](callback<int> done) {
            caller = std::thread{[done = std::move(done)] { done(7); }};
        };
        local_scope here{trace, parent_id};
        co_await here;

        const io_result<int> called = co_await from_callback<int>(start);
        const io_result<std::string> found = co_await bound_here();
        caller.join();

        CHECK(called.value() == 7);
        CHECK(found.value() == parent_id);
    });
}

TEST_CASE("a trace id is carried through callback code into a springboard and back") {
    on_every_backend([](io_context& io) -> task<> {
        local_scope here{trace, parent_id};
        co_await here;
        task_locals carried = co_await this_task::locals();
        const auto start = [&](callback<std::string> done) {
            asked_by_callback(carried).call(
                io, [done = std::move(done)](std::string found) { done(std::move(found)); });
        };

        const io_result<std::string> found = co_await from_callback<std::string>(start);

        CHECK(found.value() == parent_id);
    });
}

TEST_CASE("a trace id survives operations of Asio's, and tasks that are operations of Asio's") {
    with_every_backend([](const io_context_options& options) {
        boost::asio::io_context host;
        io_context loop{options};
        asio_guest guest{host, loop};
        std::string after_timer;
        std::string in_operation;
        const auto works = [&]() -> task<> {
            local_scope here{trace, parent_id};
            co_await here;
            boost::asio::steady_timer timer{host, 1ms};
            static_cast<void>(co_await timer.async_wait(use_io_result));
            io_result<std::string> found = co_await bound_here();
            after_timer = found.take();
            task_locals carried = co_await this_task::locals();
            async_run(guest, with_locals(std::move(carried), bound_here()),
                      [&](boost::system::error_code, std::string there) {
                          in_operation = std::move(there);
                      });
        };

        launch(loop, works(), or_terminate{});
        host.run();

        CHECK(after_timer == parent_id);
        CHECK(in_operation == parent_id);
    });
}
