// SPDX-License-Identifier: BSL-1.0
//
// Step 3 of docs/guide/porting_from_asio.md: nothing of Asio is left, and the program reads downward.
#include "follow.hpp"

#include <gyre/gyre.hpp>

#include <string>
#include <string_view>
#include <utility>

using namespace follow;

// snippet: timer
gyre::task<> beat(gyre::tcp_socket& server) {  // Borrowed: the session outlives its children.
    for (;;) {
        const auto slept = co_await gyre::sleep_for(beat_period);
        if (!slept.ok()) co_return;

        const auto sent = co_await gyre::write_all(server, gyre::bytes_of("ping\n"));
        if (!sent.ok()) co_return;  // The reader hears of it, too.
    }
}
// end of snippet

using line_reader = gyre::buffered_reader<gyre::tcp_socket>;

// snippet: cancellation
gyre::task<gyre::io_result<>> print_lines(line_reader& from) {
    for (;;) {
        auto [error, bytes] = co_await gyre::with_timeout(silence_max, from.read_until("\n"));
        if (error) co_return error;  // errc::timed_out after a silence.

        const std::string line{gyre::text_of(bytes.first(bytes.size() - 1))};
        from.consume(bytes.size());
        if (line == "bye") co_return gyre::error{};
        say(line);
    }
}
// end of snippet

// snippet: chain
gyre::task<gyre::io_result<std::string>> log_in(gyre::tcp_socket& server, line_reader& from,
                                                const std::string& name) {
    const std::string hello = "hello " + name + "\n";
    const auto greeted = co_await gyre::write_all(server, gyre::bytes_of(hello));
    if (!greeted.ok()) co_return greeted.error();

    auto [error, bytes] = co_await from.read_until("\n");
    if (error) co_return error;

    std::string answer{gyre::text_of(bytes.first(bytes.size() - 1))};
    from.consume(bytes.size());
    co_return answer;
}
// end of snippet

// What the end of a session means for the program: `status` if it ends, too.
struct verdict {
    bool over = false;
    int status = done;
};

gyre::task<verdict> session(gyre::tcp_socket server, const std::string& name, int& attempts) {
    line_reader from{server, line_size_max};
    auto answer = co_await log_in(server, from, name);
    gyre::error why = answer.error();
    if (answer.ok() && answer.value() != "welcome") {
        say("refused: " + answer.value());
        co_return verdict{true, refused};
    }
    if (answer.ok()) {
        say(answer.value());
        attempts = 0;
        const auto body = [&](gyre::task_group& group) -> gyre::task<> {
            group.spawn(beat(server));
            const auto ended = co_await print_lines(from);
            why = ended.error();
            group.request_stop();
        };
        co_await gyre::with_group(body);
    }
    if (!why) {
        say("done");
        co_return verdict{true, done};
    }
    const char* reason = "the end";
    if (why == gyre::errc::timed_out) reason = "silence";
    if (why == gyre::errc::limit_exceeded) reason = "line too long";
    say(std::string{"lost: "} + reason);
    co_return verdict{};
}

// snippet: retry
gyre::task<int> follow_server(gyre::endpoint where, std::string name) {
    for (int attempts = 0;;) {
        auto connected = co_await gyre::tcp_socket::connect(where);
        if (connected.ok()) {
            const verdict ended = co_await session(connected.take(), name, attempts);
            if (ended.over) co_return ended.status;
            continue;
        }
        if (++attempts == attempts_max) break;

        say("attempt " + std::to_string(attempts) + " failed");
        const auto slept = co_await gyre::sleep_for(pause_after(attempts));
        if (!slept.ok()) co_return done;
    }
    say("giving up");
    co_return no_server;
}
// end of snippet

// snippet: errors
int main(int count, char** arguments) {
    if (count != 3) return explain_use();

    const auto where = gyre::endpoint::parse(arguments[1]);
    if (!where.ok()) return explain_use();

    return gyre::run_until_signal(follow_server(where.value(), arguments[2]));
}
// end of snippet
