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

gyre::task<> send_text(gyre::tcp_socket& server, std::string_view text) {
    static_cast<void>(co_await gyre::write_all(server, gyre::bytes_of(text)));
    static_cast<void>(server.shutdown(gyre::shutdown_side::send));
}

// Until the end of the input. A server that leaves first is noticed with the next piece of it.
gyre::task<> send_input(gyre::tcp_socket& server) {
    std::array<std::byte, 4096> space;
    const auto read_input = [&space] { return ::read(STDIN_FILENO, space.data(), space.size()); };
    for (;;) {
        auto [stopped, size] = co_await gyre::blocking(read_input);
        if (stopped || size <= 0) break;

        const auto piece = std::span(space).first(static_cast<std::size_t>(size));
        auto [failure, sent] = co_await gyre::write_all(server, piece);
        if (failure) co_return;
    }
    static_cast<void>(server.shutdown(gyre::shutdown_side::send));
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
    const auto talk = [&](gyre::task_group& group) -> gyre::task<gyre::io_result<>> {
        group.spawn(text != nullptr ? send_text(server, text) : send_input(server));
        const auto answered = co_await print_answer(server);
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
