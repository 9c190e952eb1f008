// SPDX-License-Identifier: BSL-1.0
//
// Asio's coroutines on several threads.
//
// A coroutine is one chain of handlers, so connections need no strand even where any thread may run any
// handler. asio_team.hpp has the threads.
#include <lab/contenders/asio_coroutine_sessions.hpp>
#include <lab/contenders/asio_suites.hpp>
#include <lab/contenders/asio_team.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstdint>

namespace {

namespace asio = boost::asio;

using asio_lab::executor;
using asio_lab::layout;
using asio_lab::task;

task item(lab::thread_tally& tally) {
    tally.add();
    co_return;
}

void spawn_items(executor queue, std::uint64_t items, lab::thread_tally& tally) {
    for (std::uint64_t i = 0; i < items; ++i) asio::co_spawn(queue, item(tally), asio::detached);
}

// One of several on the same context: spawns a batch, then goes to the end of the queue.
task spawn_batches(executor queue, const lab::shared_dispatch_case& work, lab::thread_tally& tally,
                   std::uint64_t left) {
    while (left > 0) {
        const std::uint64_t batch = std::min(left, work.batch_items);
        spawn_items(queue, batch, tally);
        left -= batch;
        co_await asio::post(queue, asio::deferred);
    }
}

}  // namespace

lab::outcome asio_lab::measure_shared_dispatch(layout how, const lab::shared_dispatch_case& work) {
    if (work.item == lab::dispatch_item::continuation) {
        return lab::cannot_run{"a bare continuation is a callback; asio_callback has this row"};
    }
    lab::thread_tally tally;
    const auto spawn = [&](executor queue, std::uint64_t items) {
        spawn_items(queue, items, tally);
    };
    const auto begin_batches = [&](executor queue, std::uint64_t items) {
        asio::co_spawn(queue, spawn_batches(queue, work, tally, items), expect_success);
    };
    return measure_sharing(how, work, tally, spawn, begin_batches);
}

lab::outcome asio_lab::measure_threads_throughput(layout how,
                                                  const lab::threads_throughput_case& work) {
    return measure_pairs<direction>(
        how, work,
        [](asio::io_context& on, direction& each, std::uint64_t bytes, lab::verification checks) {
            begin(on, each, bytes, checks);
        });
}

lab::outcome asio_lab::measure_threads_http(layout how, const lab::threads_http_case& work) {
    return measure_connections<http_connection>(
        how, work,
        [](asio::io_context& on, http_connection& each, std::uint64_t requests,
           lab::histogram& latency) { begin(on, each, requests, latency); });
}
