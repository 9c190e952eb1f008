// SPDX-License-Identifier: BSL-1.0
//
// The server of the suite as a user of gyre writes it: `serve`, a coroutine for each connection, and an
// orderly end.
#include <lab/baseline/requests.hpp>
#include <lab/baseline/seam.hpp>

#include <gyre/gyre.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace {

constexpr std::string_view with_polling = "io_uring_sqpoll";

// Serves what arrives until the client has gone, or is to go.
gyre::task<> echo(gyre::tcp_socket peer) {
    std::array<std::byte, 4096> space;
    for (;;) {
        const auto [ended, size] = co_await peer.read_some(space);
        if (ended) co_return;
        const auto [failed, sent] = co_await gyre::write_all(peer, std::span{space}.first(size));
        if (failed) co_return;
    }
}

gyre::task<> answer(gyre::tcp_socket peer) {
    std::array<std::byte, 512> space;
    baseline::request_scanner requests;
    while (!requests.closes()) {
        const auto [ended, size] = co_await peer.read_some(space);
        if (ended) co_return;
        const auto answers = requests.answer_to(gyre::text_of(std::span{space}.first(size)));
        const auto [failed, sent] = co_await gyre::write_all(peer, gyre::bytes_of(answers));
        if (failed) co_return;
    }
}

gyre::task<gyre::io_result<>> serve_on_one(gyre::endpoint local, baseline::workload what) {
    auto listening = co_await gyre::tcp_acceptor::listen(local);
    if (!listening.ok()) co_return listening.error();

    baseline::say_ready();
    const auto session = what == baseline::workload::http ? answer : echo;
    const auto ended = co_await gyre::serve(listening.take(), session);
    co_return ended;
}

gyre::task<gyre::io_result<>> serve_on_each(gyre::io_pool& pool, gyre::endpoint local,
                                            baseline::workload what) {
    auto listening = gyre::listen_on_each(pool, local);
    if (!listening.ok()) co_return listening.error();

    baseline::say_ready();
    const auto session = what == baseline::workload::http ? answer : echo;
    const auto ended = co_await gyre::serve(pool, listening.take(), session);
    co_return ended;
}

}  // namespace

int main(int count, char** arguments) {
    const baseline::identity about{"gyre", "0.1.0", {"io_uring", "epoll", with_polling}};
    const auto [wanted, status] = baseline::parse(count, arguments, about);
    if (status) return *status;
    if (wanted.backend == with_polling) {
        std::fputs("gyre has no option for a ring that the kernel polls (SQPOLL)\n", stderr);
        return 1;
    }

    gyre::run_options options;
    options.grace = {};
    options.loop.backend =
        wanted.backend == "epoll" ? gyre::backend_choice::epoll : gyre::backend_choice::uring;
    const auto local = gyre::endpoint::parse("127.0.0.1:" + std::to_string(wanted.port)).value();
    if (wanted.threads == 1)
        return gyre::run_until_signal(serve_on_one(local, wanted.what), options);

    gyre::io_pool_options of_pool;
    of_pool.threads = wanted.threads;
    of_pool.loop = options.loop;
    gyre::io_pool pool{of_pool};
    return gyre::run_until_signal(serve_on_each(pool, local, wanted.what), options);
}
