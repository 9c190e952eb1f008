// SPDX-License-Identifier: BSL-1.0
//
// The server on several threads: a pool of loops, each with a listener of its own.
#include <lab/servers/gyre/counters.hpp>
#include <lab/servers/gyre/server.hpp>

namespace servers {
namespace {

gyre::task<gyre::io_result<>> serve_on_each(gyre::io_pool& pool, const job& wanted, session each) {
    auto listening = gyre::listen_on_each(pool, {gyre::ipv4::loopback(), wanted.port});
    if (!listening.ok()) co_return listening.error();

    for (unsigned i = 0; i < wanted.threads; ++i) say_ready(wanted);
    const auto converse = [&wanted, each](gyre::tcp_socket peer) {
        return each(std::move(peer), wanted.buffer_bytes);
    };
    const auto served = co_await gyre::serve(pool, listening.take(), converse);
    co_return served;
}

}  // namespace

int serve_on_pool(const job& wanted, session each) {
    expect_free_port(wanted);
    const gyre::run_options options = options_for(wanted);
    gyre::io_pool_options of_pool;
    of_pool.threads = wanted.threads;
    of_pool.loop = options.loop;
    gyre::io_pool pool{of_pool};
    const int status = gyre::run_until_signal(serve_on_each(pool, wanted, each), options);
    loop_figures all;
    for (std::size_t i = 0; i < pool.size(); ++i) all.add(pool[i]);
    all.tell();
    tell("stolen", pool.counters().stolen);
    return status;
}

}  // namespace servers
