// SPDX-License-Identifier: BSL-1.0
//
// The left side of docs/guide/from_asio.md: what programs on Asio's coroutines do every day.
//
// idioms_gyre.cpp is the right side, and prints the same.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <variant>

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

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

// snippet: stop
asio::awaitable<void> stop() {
    const auto here = co_await asio::this_coro::executor;
    asio::cancellation_signal stop;
    asio::post(here, [&stop] { stop.emit(asio::cancellation_type::terminal); });
    const auto [failed, answer] = co_await asio::co_spawn(
        here, answer_after(1h, 1),
        asio::bind_cancellation_slot(stop.slot(), asio::as_tuple(asio::use_awaitable)));
    std::printf("stop: %s\n", failed ? "stopped" : "an answer");
}
// end of snippet

// snippet: strand
asio::awaitable<void> add(int& total, int amount) {
    total += amount;
    co_return;
}

asio::awaitable<void> one_at_a_time() {
    auto line = asio::make_strand(co_await asio::this_coro::executor);
    int total = 0;  // On the strand.
    co_await (asio::co_spawn(line, add(total, 1), asio::use_awaitable) &&
              asio::co_spawn(line, add(total, 2), asio::use_awaitable));
    std::printf("one at a time: %d\n", total);
}
// end of snippet

// snippet: elsewhere
asio::awaitable<void> elsewhere() {
    asio::thread_pool other{1};
    const auto here = std::this_thread::get_id();
    co_await asio::post(asio::bind_executor(other, asio::use_awaitable));
    const auto there = std::this_thread::get_id();
    co_await asio::post(asio::use_awaitable);  // And back.
    const bool is_back = std::this_thread::get_id() == here;
    std::printf("elsewhere: %s, %s\n", there == here ? "here" : "there", is_back ? "back" : "lost");
}
// end of snippet

// snippet: lines
asio::awaitable<void> read_lines(asio::local::stream_protocol::socket& from) {
    std::string unread;
    for (;;) {
        const auto [error, size] = co_await asio::async_read_until(
            from, asio::dynamic_buffer(unread, 64), '\n', asio::as_tuple(asio::use_awaitable));
        if (error) co_return;
        std::printf("line: %s\n", unread.substr(0, size - 1).c_str());
        unread.erase(0, size);
    }
}
// end of snippet

asio::awaitable<void> lines() {
    asio::local::stream_protocol::socket writer{co_await asio::this_coro::executor};
    asio::local::stream_protocol::socket reader{co_await asio::this_coro::executor};
    asio::local::connect_pair(writer, reader);
    co_await asio::async_write(writer, asio::buffer("one\ntwo\n"sv), asio::use_awaitable);
    writer.close();
    co_await read_lines(reader);
}

// snippet: channel
using numbers = asio::experimental::channel<void(boost::system::error_code, int)>;

asio::awaitable<void> count_to_three(numbers& to) {
    for (int each = 1; each <= 3; ++each) {
        co_await to.async_send(boost::system::error_code{}, each, asio::use_awaitable);
    }
    to.close();
}

asio::awaitable<void> add_up(numbers& from) {
    int sum = 0;
    for (;;) {
        const auto [error, each] = co_await from.async_receive(asio::as_tuple(asio::use_awaitable));
        if (error) break;  // Closed, and empty.
        sum += each;
    }
    std::printf("channel: %d\n", sum);
}

asio::awaitable<void> channel() {
    numbers between{co_await asio::this_coro::executor, 2};
    co_await (count_to_three(between) && add_up(between));
}
// end of snippet

asio::awaitable<void> all() {
    co_await both();
    co_await first();
    co_await limit();
    co_await errors();
    co_await stop();
    co_await one_at_a_time();
    co_await elsewhere();
    co_await lines();
    co_await channel();
}

// snippet: guard
void with_a_guard() {
    asio::io_context io;
    auto guard = asio::make_work_guard(io);
    std::thread runner{[&io] { io.run(); }};  // Does not return for lack of work.
    asio::post(io, [] { std::printf("guard: worked\n"); });
    guard.reset();
    runner.join();
}
// end of snippet

int main() {
    // snippet: main
    asio::io_context io;
    asio::post(io, [] { std::printf("posted\n"); });
    asio::co_spawn(io, all(), asio::detached);
    io.run();
    // end of snippet
    with_a_guard();
}
