// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/blocked_thread.hpp promises to a thread that waits.
#include <gyre/sync/blocked_thread.hpp>

#include <gyre/sync/shared_channel.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <base/ending.hpp>

#include <chrono>
#include <csignal>
#include <memory>
#include <thread>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

time_point after(duration wait) { return std::chrono::steady_clock::now() + wait; }

}  // namespace

TEST_CASE("a thread that waits is woken by another one") {
    shared_channel<int> numbers{1};
    std::thread other{[&numbers] {
        static_cast<void>(numbers.send_blocking(7));
        static_cast<void>(numbers.send_blocking(8));  // Waits for room.
        static_cast<void>(numbers.send_blocking(9, after(patience)));
    }};

    const io_result<int> first = numbers.receive_blocking();
    const io_result<int> second = numbers.receive_blocking(after(patience));
    const io_result<int> third = numbers.receive_blocking(after(patience));
    other.join();

    CHECK(first.value() == 7);
    CHECK(second.value() == 8);
    CHECK(third.value() == 9);
}

TEST_CASE("a thread's wait ends at its deadline, and loses nothing") {
    shared_channel<std::unique_ptr<int>> full{0};
    const time_point deadline = after(1ms);

    const auto received = full.receive_blocking(deadline);
    const time_point ended = std::chrono::steady_clock::now();
    auto sent = full.send_blocking(std::make_unique<int>(7), deadline);

    CHECK(received.error() == errc::timed_out);
    CHECK(ended >= deadline);
    CHECK(sent.error() == errc::timed_out);
    const std::unique_ptr<int> value = sent.take();
    REQUIRE(value != nullptr);
    CHECK(*value == 7);
}

TEST_CASE("what is there before the deadline is taken although that has passed") {
    shared_channel<int> numbers{1};
    int value = 7;
    REQUIRE(numbers.try_send(value));

    const io_result<int> received = numbers.receive_blocking(time_point{});

    CHECK(received.value() == 7);
}

TEST_CASE("a thread that waits hears of a close") {
    shared_channel<int> numbers{1};
    std::thread other{[&numbers] { numbers.close(); }};

    const io_result<int> received = numbers.receive_blocking();
    other.join();

    CHECK(received.error() == errc::closed);
}

TEST_CASE("a coroutine that would block its loop is told") {
    const ending how = ending_of([] {
        io_context io;
        shared_channel<int> numbers{1};
        const auto block = [&]() -> task<> {
            static_cast<void>(numbers.receive_blocking());
            co_return;
        };
        launch(io, block(), or_terminate{});
        io.run();
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a coroutine does not block its thread, which runs a loop"));
}
