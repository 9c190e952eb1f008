// SPDX-License-Identifier: BSL-1.0
//
// What gyre/interop/future.hpp promises: a thread that blocks gets what a task yields.
#include <gyre/interop/future.hpp>

#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

#include <chrono>
#include <memory>
#include <thread>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<int> answer_soon() {
    static_cast<void>(co_await sleep_for(1ms));
    co_return 42;
}

task<io_result<>> sleep_long() {
    const io_result<> slept = co_await sleep_for(1h);
    co_return slept;
}

task<> note(bool& ran) {
    ran = true;
    co_return;
}

task<std::unique_ptr<int>> a_pointer() { co_return std::make_unique<int>(5); }

// A loop on a thread of its own.
class background {
public:
    explicit background(const io_context_options& options)
        : io{options}, guard_{io}, thread_{[this] { io.run(); }} {}
    ~background() {
        io.stop();
        thread_.join();
    }

    io_context io;

private:
    io_context::work_guard guard_;
    std::thread thread_;
};

}  // namespace

TEST_CASE("a thread without a loop waits for a task's value") {
    with_every_backend([](const io_context_options& options) {
        background there{options};

        std::future<int> answer = to_future(there.io, answer_soon());

        REQUIRE(answer.wait_for(patience) == std::future_status::ready);
        CHECK(answer.get() == 42);
    });
}

TEST_CASE("a task without a value makes a future that says when it is over") {
    with_every_backend([](const io_context_options& options) {
        background there{options};
        bool ran = false;

        std::future<void> over = to_future(there.io, note(ran));
        over.get();

        CHECK(ran);
    });
}

TEST_CASE("a value that can only be moved arrives") {
    with_every_backend([](const io_context_options& options) {
        background there{options};
        CHECK(*to_future(there.io, a_pointer()).get() == 5);
    });
}

TEST_CASE("a future that is dropped does not stop its task") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        bool ran = false;
        static_cast<void>(to_future(io, note(ran)));
        io.run_for(patience);
        CHECK(ran);
    });
}

TEST_CASE("a loop that dies first stops the task, and the future holds what came of that") {
    with_every_backend([](const io_context_options& options) {
        std::future<io_result<>> slept;
        std::future<int> never_begun;
        {
            io_context io{options};
            slept = to_future(io, sleep_long());
            io.poll();
            never_begun = to_future(io, answer_soon());
        }
        REQUIRE(slept.wait_for(0s) == std::future_status::ready);
        CHECK(slept.get().error() == errc::canceled);
        REQUIRE(never_begun.wait_for(0s) == std::future_status::ready);
        CHECK(never_begun.get() == 42);
    });
}
