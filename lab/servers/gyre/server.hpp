// SPDX-License-Identifier: BSL-1.0
//
// The server as a user of gyre writes it: a listener, `serve`, a coroutine for each connection and an orderly
// end. What differs from workload to workload is the session.
#pragma once

#include <lab/servers/seam.hpp>

#include <gyre/gyre.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace servers {

using session = gyre::task<> (*)(gyre::tcp_socket peer, std::size_t buffer_bytes);

/// `io_uring`, `epoll`, or one of them with `_spin`, which looks for work for a while before it sleeps.
[[nodiscard]] inline gyre::run_options options_for(const job& wanted) {
    gyre::run_options options;
    options.grace = {};
    options.loop.backend = wanted.backend.starts_with("epoll") ? gyre::backend_choice::epoll
                                                               : gyre::backend_choice::uring;
    if (wanted.backend.ends_with("_spin")) options.loop.spin_max = std::chrono::milliseconds{1};
    options.loop.receive_block_size = wanted.buffer_bytes;  // Of leased reads.
    return options;
}

/// What the loop has counted, one line of output each; the load prints it beside the server's costs.
gyre::task<> tell_counters();

inline gyre::task<gyre::io_result<>> serve_on_one(const job& wanted, session each) {
    auto listening = co_await gyre::tcp_acceptor::listen({gyre::ipv4::loopback(), wanted.port});
    if (!listening.ok()) co_return listening.error();

    say_ready(wanted);
    const auto converse = [&wanted, each](gyre::tcp_socket peer) {
        return each(std::move(peer), wanted.buffer_bytes);
    };
    const auto served = co_await gyre::serve(listening.take(), converse);
    co_await tell_counters();
    co_return served;
}

/// The same on a pool, a listener for each of its loops. Not in the programs of the suite `cost`, which have
/// one thread.
[[gnu::weak]] int serve_on_pool(const job& wanted, session each);

inline int serve(const job& wanted, session each) {
    if (wanted.backend.ends_with("_sqpoll")) {
        std::fputs("gyre has no option for a ring that the kernel polls (SQPOLL)\n", stderr);
        return 1;
    }
    if (wanted.threads > 1) return serve_on_pool(wanted, each);
    return gyre::run_until_signal(serve_on_one(wanted, each), options_for(wanted));
}

}  // namespace servers
