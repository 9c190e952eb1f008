// SPDX-License-Identifier: BSL-1.0
//
// The left side of docs/guide/from_asio.md: what programs on Asio's coroutines do every day.
//
// idioms_gyre.cpp is the right side, and prints the same.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstdio>
#include <variant>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

// snippet: sleep
asio::awaitable<int> answer_after(std::chrono::milliseconds delay, int answer) {
    asio::steady_timer timer{co_await asio::this_coro::executor, delay};
    co_await timer.async_wait(asio::use_awaitable);
    co_return answer;
}
// end of snippet

// snippet: both
asio::awaitable<void> both() {
    const auto [one, two] = co_await (answer_after(2ms, 1) && answer_after(1ms, 2));
    std::printf("both: %d and %d\n", one, two);
}
// end of snippet

// snippet: first
asio::awaitable<void> first() {
    const auto answer = co_await (answer_after(1h, 1) || answer_after(1ms, 2));
    if (answer.index() == 1) std::printf("first: %d\n", std::get<1>(answer));
}
// end of snippet

// snippet: limit
asio::awaitable<void> limit() {
    asio::steady_timer timer{co_await asio::this_coro::executor, 1ms};
    const auto answer = co_await (answer_after(1h, 1) || timer.async_wait(asio::use_awaitable));
    std::printf("limit: %s\n", answer.index() == 1 ? "timed out" : "an answer");
}
// end of snippet

// snippet: errors
asio::awaitable<void> errors() {
    asio::steady_timer timer{co_await asio::this_coro::executor, 1ms};
    const auto [error] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    std::printf("errors: %s\n", error ? error.message().c_str() : "none");
}
// end of snippet

asio::awaitable<void> all() {
    co_await both();
    co_await first();
    co_await limit();
    co_await errors();
}

int main() {
    // snippet: main
    asio::io_context io;
    asio::post(io, [] { std::printf("posted\n"); });
    asio::co_spawn(io, all(), asio::detached);
    io.run();
    // end of snippet
}
