// SPDX-License-Identifier: BSL-1.0
//
// Sends a file to a server and keeps the server's answer in another one, both at the same time.
//
//     file_client 127.0.0.1:7000 QUESTION_FILE ANSWER_FILE
//
// docs/guide/02_streams.md explains it. An answer that was cut off stays in its file, and the exit status
// is 1 then.
// snippet: program
#include <gyre/gyre.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

using namespace std::chrono_literals;

// The whole file, and then the end of what this side sends: the server may still answer.
gyre::task<gyre::io_result<std::uint64_t>> send_file(gyre::file& from, gyre::tcp_socket& server) {
    const auto sent = co_await gyre::copy(from, server);
    if (!sent.ok()) co_return sent;
    const auto ended = server.shutdown(gyre::shutdown_side::send);
    co_return gyre::io_result<std::uint64_t>{ended.error(), sent.value()};
}

// Of two tasks, of which the first one to fail has stopped the other: why it failed.
gyre::error first_error(gyre::error one, gyre::error other) {
    if (one == gyre::errc::canceled && other) return other;
    return one ? one : other;
}

gyre::task<gyre::io_result<>> file_client(gyre::endpoint where, std::string question,
                                          std::string answer) {
    auto from = co_await gyre::file::open(std::move(question));
    if (!from.ok()) co_return from.error();
    auto to = co_await gyre::file::open(std::move(answer), gyre::file_options::writing());
    if (!to.ok()) co_return to.error();
    auto connected = co_await gyre::tcp_socket::connect(where);
    if (!connected.ok()) co_return connected.error();

    auto question_file = from.take();
    auto answer_file = to.take();
    auto server = connected.take();
    const auto [sent, received] =
        co_await gyre::when_all(send_file(question_file, server), gyre::copy(server, answer_file));
    std::printf("%llu bytes sent, %llu received\n", static_cast<unsigned long long>(sent.value()),
                static_cast<unsigned long long>(received.value()));
    co_return first_error(sent.error(), received.error());
}

int main(int count, char** arguments) {
    const auto where = gyre::endpoint::parse(count == 4 ? arguments[1] : "");
    if (!where.ok()) {
        std::fprintf(stderr, "usage: file_client ADDRESS:PORT QUESTION_FILE ANSWER_FILE\n");
        return 2;
    }
    gyre::run_options options;
    options.grace = 0s;  // A signal ends it at once: there is nothing to bring to an end.
    return gyre::run_until_signal(file_client(where.value(), arguments[2], arguments[3]), options);
}
// end of snippet
