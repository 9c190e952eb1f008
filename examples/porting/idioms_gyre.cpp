// SPDX-License-Identifier: BSL-1.0
//
// The right side of docs/guide/from_asio.md: see idioms_asio.cpp, which prints the same.
#include <gyre/gyre.hpp>

#include <cstdio>

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

gyre::task<> all() {
    co_await both();
    co_await first();
    co_await limit();
    co_await errors();
}

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
}
