// SPDX-License-Identifier: BSL-1.0
//
// The right side of docs/guide/from_asio.md: see idioms_asio.cpp, which prints the same.
#include <gyre/gyre.hpp>

#include <cstdio>
#include <thread>

using namespace std::chrono_literals;

// snippet: sleep
gyre::task<gyre::io_result<int>> answer_after(gyre::duration delay, int answer) {
    const auto slept = co_await gyre::sleep_for(delay);
    if (!slept.ok()) co_return slept.error();
    co_return answer;
}
// end of snippet

// snippet: both
gyre::task<> both() {
    const auto [one, two] = co_await gyre::when_all(answer_after(2ms, 1), answer_after(1ms, 2));
    std::printf("both: %d and %d\n", one.value(), two.value());
}
// end of snippet

// snippet: first
gyre::task<> first() {
    const auto answered = co_await gyre::when_any(answer_after(1h, 1), answer_after(1ms, 2));
    const auto& [slow, fast] = answered.results;
    if (fast.ok()) std::printf("first: %d\n", fast.value());
}
// end of snippet

// snippet: limit
gyre::task<> limit() {
    const auto answer = co_await gyre::with_timeout(1ms, answer_after(1h, 1));
    std::printf("limit: %s\n", answer.error() == gyre::errc::timed_out ? "timed out" : "an answer");
}
// end of snippet

// snippet: errors
gyre::task<> errors() {
    const auto [error] = co_await gyre::sleep_for(1ms);
    std::printf("errors: %s\n", error ? error.message().c_str() : "none");
}
// end of snippet

// snippet: stop
gyre::task<> stop() {
    const auto body = [](gyre::task_group& group) -> gyre::task<> {
        auto answer = group.spawn_child(answer_after(1h, 1));
        answer.request_stop();
        const auto ended = co_await answer.result();
        std::printf("stop: %s\n", ended.ok() ? "an answer" : "stopped");
    };
    co_await gyre::with_group(body);
}
// end of snippet

// snippet: strand
gyre::task<> add(int& total, int amount) {
    total += amount;
    co_return;
}

gyre::task<> one_at_a_time() {
    int total = 0;  // On this loop, which is one thread.
    co_await gyre::when_all(add(total, 1), add(total, 2));
    std::printf("one at a time: %d\n", total);
}
// end of snippet

// snippet: elsewhere
gyre::task<std::thread::id> thread_there() { co_return std::this_thread::get_id(); }

gyre::task<> elsewhere() {
    gyre::io_pool other;
    const auto here = std::this_thread::get_id();
    const auto there = co_await gyre::on(other, thread_there());
    const bool is_back = std::this_thread::get_id() == here;
    std::printf("elsewhere: %s, %s\n", there == here ? "here" : "there", is_back ? "back" : "lost");
}
// end of snippet

// snippet: lines
gyre::task<> read_lines(gyre::memory_stream& from) {
    gyre::buffered_reader reader{from, 64};
    gyre::framed_reader lines{reader, gyre::lines_codec{62}};
    for (;;) {
        const auto [error, line] = co_await lines.next();
        if (error) co_return;
        std::printf("line: %.*s\n", static_cast<int>(line.size()), line.data());
    }
}
// end of snippet

gyre::task<> lines() {
    gyre::memory_pipe pipe{64};
    static_cast<void>(co_await gyre::write_all(pipe.first, gyre::bytes_of("one\ntwo\n")));
    pipe.first.shutdown_send();
    co_await read_lines(pipe.second);
}

// snippet: channel
gyre::task<> count_to_three(gyre::channel<int>& to) {
    for (int each = 1; each <= 3; ++each) {
        const auto sent = co_await to.send(each);
        if (!sent.ok()) co_return;
    }
    to.close();
}

gyre::task<> add_up(gyre::channel<int>& from) {
    int sum = 0;
    for (;;) {
        const auto [error, each] = co_await from.receive();
        if (error) break;  // Closed, and empty.
        sum += each;
    }
    std::printf("channel: %d\n", sum);
}

gyre::task<> channel() {
    gyre::channel<int> between{2};
    co_await gyre::when_all(count_to_three(between), add_up(between));
}
// end of snippet

gyre::task<> all() {
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
    gyre::io_context io;
    gyre::io_context::work_guard guard{io};
    std::thread runner{[&io] { io.run(); }};  // Does not return for lack of work.
    io.post([] { std::printf("guard: worked\n"); });
    guard = {};
    runner.join();
}
// end of snippet

gyre::task<> say_posted() {
    std::printf("posted\n");
    co_return;
}

int main() {
    // snippet: main
    gyre::io_context io;
    gyre::launch(io, say_posted(), gyre::or_terminate{});
    gyre::launch(io, all(), gyre::or_terminate{});
    io.run();
    // end of snippet
    with_a_guard();
}
