// SPDX-License-Identifier: BSL-1.0
//
// A server with time limits and an orderly end: each line that a client sends starts a countdown.
//
//     countdown_server [ADDRESS:PORT [TICK_MS [SILENCE_MS [GRACE_MS]]]]
//
// docs/guide/03_time_and_ends.md explains it. SIGTERM lets countdowns come to their end for the grace.
// snippet: program
#include <gyre/gyre.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;

constexpr std::size_t line_bytes_max = 256;
constexpr auto farewell = 1s;  // How long a client may take to read the last line, and to leave.

struct time_limits {
    gyre::duration tick;     // Between two lines of a countdown.
    gyre::duration silence;  // A client that asks for nothing for so long is disconnected.
};

// A line at each tick. A stop ends it where it is: the error is errc::canceled then.
gyre::task<gyre::io_result<>> count_down(gyre::tcp_socket& client, gyre::duration tick) {
    gyre::interval ticks{tick, gyre::missed_ticks::delay};
    for (const std::string_view line : {"3\n", "2\n", "1\n", "go\n"}) {
        const auto ticked = co_await ticks.tick();
        if (!ticked.ok()) co_return ticked.error();
        const auto written = co_await gyre::write_all(client, gyre::bytes_of(line));
        if (!written.ok()) co_return written.error();
    }
    co_return gyre::io_result<>{};
}

// Until the client leaves, is silent for too long, or the program ends.
gyre::task<gyre::io_result<>> answer_lines(gyre::tcp_socket& client, time_limits times) {
    gyre::buffered_reader reader{client, line_bytes_max + 2};  // A line, and what ends it.
    gyre::framed_reader lines{reader, gyre::lines_codec{line_bytes_max}};
    for (;;) {
        const auto [error, line] =
            co_await gyre::with_timeout(times.silence, gyre::idle(lines.next()));
        if (error) co_return error;
        const auto counted = co_await count_down(client, times.tick);
        if (!counted.ok()) co_return counted;
    }
}

std::string_view last_line(gyre::error why) {
    if (why == gyre::errc::timed_out) return "disconnected: no line for too long\n";
    if (why == gyre::errc::limit_exceeded) return "disconnected: the line is too long\n";
    if (why == gyre::errc::canceled) return "disconnected: the server ends\n";
    return "";  // The client has left.
}

gyre::task<> session(gyre::tcp_socket client, time_limits times) {
    const auto ended = co_await answer_lines(client, times);
    const auto line = gyre::bytes_of(last_line(ended.error()));
    static_cast<void>(co_await gyre::shielded(gyre::write_all(client, line), farewell));
    static_cast<void>(co_await client.close_gracefully(farewell));
}

gyre::task<gyre::io_result<>> countdown_server(gyre::endpoint local, time_limits times) {
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();

    auto acceptor = listening.take();
    const auto bound = acceptor.local_endpoint();
    if (!bound.ok()) co_return bound.error();
    std::printf("listening on %s\n", bound.value().to_string().c_str());
    std::fflush(stdout);

    const auto serve_one = [times](gyre::tcp_socket client) {
        return session(std::move(client), times);
    };
    const auto ended = co_await gyre::serve(std::move(acceptor), serve_one);
    co_return ended;
}

int main(int count, char** arguments) {
    const auto local = gyre::endpoint::parse(count > 1 ? arguments[1] : "127.0.0.1:7000");
    const std::chrono::milliseconds tick{count > 2 ? std::atoi(arguments[2]) : 1000};
    const std::chrono::milliseconds silence{count > 3 ? std::atoi(arguments[3]) : 30'000};
    const std::chrono::milliseconds grace{count > 4 ? std::atoi(arguments[4]) : 10'000};
    if (!local.ok() || tick < 1ms || silence < 1ms) {
        std::fprintf(stderr,
                     "usage: countdown_server [ADDRESS:PORT [TICK_MS [SILENCE_MS [GRACE_MS]]]]\n");
        return 2;
    }
    gyre::run_options options;
    options.grace = grace;
    return gyre::run_until_signal(countdown_server(local.value(), {tick, silence}), options);
}
// end of snippet
