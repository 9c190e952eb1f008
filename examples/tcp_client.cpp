// SPDX-License-Identifier: BSL-1.0
//
// Connects, sends its argument or its standard input, and prints the answer.
//
//     tcp_client 127.0.0.1:7000 hello        tcp_client 127.0.0.1:7000 < file
//
// Both directions at once, because an answer may begin before the question has ended. Standard input may
// be a file, which cannot be waited for, so a worker thread reads it.
#include <gyre/gyre.hpp>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>

gyre::task<gyre::io_result<>> send_text(gyre::tcp_socket& server, std::string_view text) {
    auto [failure, sent] = co_await gyre::write_all(server, gyre::bytes_of(text));
    if (failure) co_return failure;

    co_return server.shutdown(gyre::shutdown_side::send);
}

// Until the end of the input. A server that leaves first is noticed with the next piece of it.
gyre::task<gyre::io_result<>> send_input(gyre::tcp_socket& server) {
    std::array<std::byte, 4096> space;
    const auto read_input = [&space] { return ::read(STDIN_FILENO, space.data(), space.size()); };
    for (;;) {
        auto [stopped, size] = co_await gyre::blocking(read_input);
        if (stopped) co_return stopped;
        if (size <= 0) break;

        const auto piece = std::span(space).first(static_cast<std::size_t>(size));
        auto [failure, sent] = co_await gyre::write_all(server, piece);
        if (failure) co_return failure;
    }
    co_return server.shutdown(gyre::shutdown_side::send);
}

// A server that has not been asked does not answer, so that is not waited for.
gyre::task<> ask(gyre::tcp_socket& server, const char* text, gyre::task_group& talk,
                 gyre::io_result<>& asked) {
    if (text != nullptr) {
        asked = co_await send_text(server, text);
    } else {
        asked = co_await send_input(server);
    }
    if (!asked.ok()) talk.request_stop();
}

gyre::task<gyre::io_result<>> print_answer(gyre::tcp_socket& server) {
    std::array<std::byte, 4096> space;
    for (;;) {
        auto [error, size] = co_await server.read_some(space);
        if (error == gyre::errc::eof) co_return gyre::io_result<>{};
        if (error) co_return error;

        std::fwrite(space.data(), 1, size, stdout);
        std::fflush(stdout);
    }
}

gyre::task<gyre::io_result<>> tcp_client(gyre::endpoint where, const char* text) {
    auto connected = co_await gyre::tcp_socket::connect(where);
    if (!connected.ok()) co_return connected.error();

    auto server = connected.take();
    gyre::io_result<> asked;
    const auto talk = [&](gyre::task_group& group) -> gyre::task<gyre::io_result<>> {
        group.spawn(ask(server, text, group, asked));
        const auto answered = co_await print_answer(server);
        if (answered.error() == gyre::errc::canceled) co_return asked;
        co_return answered;
    };
    const auto ended =
        co_await gyre::with_group(talk, gyre::group_options{gyre::group_mode::stop_on_exit});
    co_return ended;
}

int main(int count, char** arguments) {
    const auto where = gyre::endpoint::parse(count > 1 ? arguments[1] : "");
    if (!where.ok()) {
        std::fprintf(stderr, "usage: tcp_client ADDRESS:PORT [TEXT]\n");
        return 2;
    }
    return gyre::run_until_signal(tcp_client(where.value(), count > 2 ? arguments[2] : nullptr));
}
