// SPDX-License-Identifier: BSL-1.0
//
// Keeps programs running: starts them in order, prefixes what they say, and starts anew whichever ends.
//
//     supervisor --listen 127.0.0.1:7002  store ./store -- web ./web --quiet
//
// One that ends at once is started later and later. All of them have the listener, if there is one, as
// LISTEN_FDS says, and it stays open here: while a program is replaced, connections wait in its queue.
// SIGHUP replaces one program after the other; SIGTERM ends them, the last one first.
#include <gyre/gyre.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr gyre::duration grace = 5s;         // What a program has for its end after a SIGTERM.
constexpr gyre::duration long_enough = 10s;  // A program that ran so long is started anew at once.

struct service {
    std::string name;
    std::string program;
    std::vector<std::string> arguments;
    gyre::event asked;  // To end, and if it is not over to be started anew.
    bool over = false;
    gyre::event up;  // It was started since it was asked.
};

void say(const service& of, std::string_view text, std::FILE* to = stdout) {
    std::fprintf(to, "%s: %.*s\n", of.name.c_str(), static_cast<int>(text.size()), text.data());
    std::fflush(to);
}

// snippet: forward
// Prints what the program says, line by line, until it has closed its end.
gyre::task<> forward(gyre::readable_pipe& from, const service& of, std::FILE* to) {
    constexpr std::size_t line_bytes_max = 16 * 1024;
    gyre::buffered_reader reader{from, {1024, line_bytes_max + 2}};
    gyre::framed_reader lines{reader, gyre::lines_codec{line_bytes_max}};
    for (;;) {
        const auto [error, line] = co_await lines.next();
        if (!error) {
            say(of, line, to);
        } else if (error == gyre::errc::limit_exceeded) {
            say(of, "(a long line was left out)", to);
            lines.skip();
        } else {
            if (!reader.window().empty()) say(of, gyre::text_of(reader.window()), to);
            const bool over = error == gyre::errc::eof || error == gyre::errc::canceled;
            if (!over) say(of, error.message(), stderr);
            // Else it would wait for us once the pipe is full. As it is, what it says next ends it.
            static_cast<void>(from.close());
            co_return;
        }
    }
}
// end of snippet

// snippet: once
// Runs the program until it ends, or until it is to end: then it is asked to, and what it still says is
// heard.
gyre::task<gyre::io_result<gyre::exit_status>> run_once(service& of, int listener) {
    gyre::process_options how;
    how.arguments = of.arguments;
    how.output = how.error = gyre::child_stream::piped();
    how.kill_group = true;  // Its children end with it; a terminal's interrupt is ours alone.
    if (listener >= 0) how.passed.push_back({listener, "main"});
    auto started = co_await gyre::process::start(of.program, how);
    if (!started.ok()) co_return started.error();
    gyre::process child = started.take();
    of.up.set();

    gyre::io_result<gyre::exit_status> ended;
    const auto body = [&](gyre::task_group& group) -> gyre::task<> {
        auto output = group.spawn_child(forward(child.output(), of, stdout));
        auto errors = group.spawn_child(forward(child.error(), of, stderr));
        const auto first = co_await gyre::when_any(child.wait(), of.asked.wait());
        ended = std::get<0>(first.results);
        if (!ended.ok()) {
            ended = co_await gyre::shielded(child.terminate(grace), 2 * grace);
        }
        // What it has started itself may have our pipes for longer.
        static_cast<void>(co_await gyre::shielded(output.wait(), 1s));
        static_cast<void>(co_await gyre::shielded(errors.wait(), 1s));
        group.request_stop();
    };
    co_await gyre::with_group(body);
    co_return ended;
}
// end of snippet

// snippet: keep
gyre::task<> keep_running(service& of, int listener) {
    gyre::backoff retry;
    for (;;) {
        const auto begun = std::chrono::steady_clock::now();
        const auto ended = co_await run_once(of, listener);
        say(of, ended.ok() ? ended.value().message() : ended.error().message());
        if (std::chrono::steady_clock::now() - begun >= long_enough) retry.reset();
        if (!of.asked.is_set()) {
            const auto first = co_await gyre::when_any(retry.pause(), of.asked.wait());
            static_cast<void>(first);
        }
        const gyre::stop_level level = co_await gyre::this_task::stop_state();
        if (of.over || level == gyre::stop_level::stop) co_return;
        of.asked.reset();
    }
}
// end of snippet

gyre::task<> replace_on_hangup(gyre::signal_set& hangup,
                               std::vector<std::unique_ptr<service>>& all) {
    for (;;) {
        const auto [failed, signal] = co_await hangup.wait();
        if (failed) co_return;
        std::printf("replacing all, one by one\n");
        std::fflush(stdout);
        for (const auto& each : all) {
            each->up.reset();
            each->asked.set();
            const auto waited = co_await each->up.wait();
            if (!waited.ok()) co_return;
        }
    }
}

gyre::task<gyre::io_result<>> supervise(std::vector<std::unique_ptr<service>> all,
                                        std::string address) {
    auto hangups = gyre::signal_set::open(*gyre::io_context::current(), {SIGHUP});
    if (!hangups.ok()) co_return hangups.error();
    gyre::signal_set hangup = hangups.take();
    gyre::tcp_acceptor listener;
    if (!address.empty()) {
        const auto local = gyre::endpoint::parse(address);
        if (!local.ok()) co_return local.error();
        auto listening = co_await gyre::tcp_acceptor::listen(local.value());
        if (!listening.ok()) co_return listening.error();
        listener = listening.take();
        const auto bound = listener.local_endpoint();
        if (!bound.ok()) co_return bound.error();
        std::printf("listening on %s\n", bound.value().to_string().c_str());
        std::fflush(stdout);
    }

    // snippet: order
    const auto body = [&](gyre::task_group& group) -> gyre::task<> {
        std::vector<gyre::child<>> running;
        for (const auto& each : all)
            running.push_back(group.spawn_child(keep_running(*each, listener.native_handle())));
        auto hangups_heard = group.spawn_child(replace_on_hangup(hangup, all));

        co_await gyre::this_task::stop_requested();
        hangups_heard.request_stop();
        for (; !running.empty(); running.pop_back(), all.pop_back()) {
            all.back()->over = true;
            all.back()->asked.set();
            static_cast<void>(co_await running.back().wait());
        }
    };
    // end of snippet
    co_await gyre::with_group(body);
    co_return gyre::io_result<>{};
}

// NAME PROGRAM ARGUMENT..., with "--" between two; empty if that is not what is there.
std::vector<std::unique_ptr<service>> services_in(const std::vector<std::string>& words) {
    std::vector<std::unique_ptr<service>> all;
    for (auto begin = words.begin();;) {
        const auto end = std::find(begin, words.end(), "--");
        if (end - begin < 2) return {};
        all.push_back(std::make_unique<service>());
        all.back()->name = *begin;
        all.back()->program = *(begin + 1);
        all.back()->arguments.assign(begin + 2, end);
        if (end == words.end()) return all;
        begin = end + 1;
    }
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<std::string> words{arguments + 1, arguments + count};
    std::string address;
    if (words.size() >= 2 && words.front() == "--listen") {
        address = words[1];
        words.erase(words.begin(), words.begin() + 2);
    }
    auto all = services_in(words);
    if (all.empty()) {
        std::fprintf(
            stderr,
            "usage: supervisor [--listen ADDRESS:PORT] NAME PROGRAM [ARGUMENT...] [-- ...]\n");
        return 2;
    }
    gyre::run_options options;
    options.grace = 1min;  // Its programs have theirs.
    return gyre::run_until_signal(supervise(std::move(all), std::move(address)), options);
}
