// SPDX-License-Identifier: BSL-1.0
//
// gyre on several threads: an io_pool.
//
// What is posted goes to the pool, for whichever loop comes first; a connection stays with one loop, to
// which its tasks are launched.
#include <lab/contenders/gyre_counters.hpp>
#include <lab/contenders/gyre_sessions.hpp>
#include <lab/contenders/gyre_suites.hpp>

#include <lab/contender.hpp>
#include <lab/fail.hpp>
#include <lab/thread_load.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/runtime/io_pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <latch>
#include <optional>
#include <thread>
#include <vector>

namespace {

using gyre::io_pool;
using gyre::task;
using gyre_lab::direction;
using gyre_lab::http_connection;
using gyre_lab::socket_pair;

gyre::io_pool_options pool_of(std::size_t threads, const gyre::io_context_options& loop) {
    gyre::io_pool_options options;
    options.threads = static_cast<unsigned>(threads);
    options.loop = loop;
    return options;
}

task<> item(lab::thread_tally& tally) {
    tally.add();
    co_return;
}

void queue_items(io_pool& pool, lab::dispatch_item kind, std::uint64_t items,
                 lab::thread_tally& tally) {
    if (kind == lab::dispatch_item::continuation) {
        for (std::uint64_t i = 0; i < items; ++i) pool.post([&tally] { tally.add(); });
    } else {
        for (std::uint64_t i = 0; i < items; ++i) launch(pool, item(tally), gyre::or_terminate{});
    }
}

// One of several in the same pool: posts a batch, and itself behind it.
struct sharing_poster {
    io_pool& pool;
    const lab::shared_dispatch_case& work;
    lab::thread_tally& tally;
    std::uint64_t left;

    void operator()() const {
        const std::uint64_t batch = std::min(left, work.batch_items);
        queue_items(pool, work.item, batch, tally);
        if (left > batch) pool.post(sharing_poster{pool, work, tally, left - batch});
    }
};

void post_from_outside(io_pool& pool, const lab::shared_dispatch_case& work,
                       lab::thread_tally& tally) {
    const auto share = [&] { queue_items(pool, work.item, work.batch_items, tally); };
    std::vector<std::thread> others;
    for (std::size_t poster = 1; poster < work.posters; ++poster) others.emplace_back(share);
    share();
    for (std::thread& each : others) each.join();
}

void post_everything(io_pool& pool, const lab::shared_dispatch_case& work,
                     lab::thread_tally& tally) {
    const std::uint64_t share = work.items / work.threads;
    switch (work.order) {
        case lab::shared_order::from_outside: post_from_outside(pool, work, tally); break;
        case lab::shared_order::batches_from_inside:
            for (std::size_t each = 0; each < work.threads; ++each) {
                pool.post(sharing_poster{pool, work, tally, share});
            }
            break;
        case lab::shared_order::post_then_run:
            for (std::size_t each = 0; each < work.threads; ++each) {
                pool[each].post([&, share] { queue_items(pool, work.item, share, tally); });
            }
            break;
        case lab::shared_order::queued:
            lab::fail("gyre: these were posted before the clock started");
    }
}

// Keeps every loop of a pool busy, so that nothing that is posted runs.
class held_pool {
public:
    explicit held_pool(io_pool& pool) : holding_{static_cast<std::ptrdiff_t>(pool.size())} {
        for (std::size_t each = 0; each < pool.size(); ++each) {
            pool[each].post([this] {
                holding_.count_down();
                released_.wait();
            });
        }
        holding_.wait();
    }

    void release() { released_.count_down(); }

private:
    std::latch holding_;
    std::latch released_{1};
};

struct connection_place {
    std::optional<http_connection> connection;
    lab::histogram latency;
};

void run_connections(io_pool& pool, std::deque<connection_place>& places, std::uint64_t requests) {
    for (std::size_t i = 0; i < places.size(); ++i) {
        begin(pool[i % pool.size()], *places[i].connection, requests, places[i].latency);
    }
    pool.wait();
}

struct pair_place {
    pair_place(gyre::io_context& on, const lab::throughput_case& pair)
        : sockets{on, pair.via},
          there{sockets.client, sockets.server, lab::outgoing_stream{pair.buffer_bytes},
                lab::incoming_stream{pair.buffer_bytes}},
          back{sockets.server, sockets.client, lab::outgoing_stream{pair.buffer_bytes},
               lab::incoming_stream{pair.buffer_bytes}} {}

    socket_pair sockets;
    direction there;
    direction back;
};

void run_pairs(io_pool& pool, std::deque<std::optional<pair_place>>& places, std::uint64_t bytes,
               lab::verification how) {
    for (std::size_t i = 0; i < places.size(); ++i) {
        begin(pool[i], places[i]->there, bytes, how);
        begin(pool[i], places[i]->back, bytes, how);
    }
    pool.wait();
}

}  // namespace

lab::outcome gyre_lab::measure_shared_dispatch(const gyre::io_context_options& options,
                                               const lab::shared_dispatch_case& work) {
    io_pool pool{pool_of(work.threads, options)};
    lab::thread_tally tally;
    const bool queued = work.order == lab::shared_order::queued;
    std::optional<held_pool> hold;
    if (queued) {
        hold.emplace(pool);
        queue_items(pool, work.item, work.items, tally);
    }

    const gyre_lab::counting_watch watch{pool};
    queued ? hold->release() : post_everything(pool, work, tally);
    pool.wait();
    return lab::measurement{.spent = watch.stop(), .amount = tally.sum()};
}

// The places outlive the pool: a socket that no loop is using any more may be closed on any thread.
lab::outcome gyre_lab::measure_threads_http(const gyre::io_context_options& options,
                                            const lab::threads_http_case& work) {
    std::deque<connection_place> places(work.all.connections);
    io_pool pool{pool_of(work.threads, options)};
    for (std::size_t i = 0; i < places.size(); ++i) {
        places[i].connection.emplace(pool[i % pool.size()]);
    }

    run_connections(pool, places, work.all.warm_up_requests_per_connection);
    for (connection_place& each : places) each.latency = {};

    const gyre_lab::counting_watch watch{pool};
    run_connections(pool, places, work.all.requests_per_connection);
    lab::measurement result{.spent = watch.stop()};
    for (const connection_place& each : places) result.latency.add(each.latency);
    result.amount = result.latency.count();
    return result;
}

lab::outcome gyre_lab::measure_threads_throughput(const gyre::io_context_options& options,
                                                  const lab::threads_throughput_case& work) {
    lab::require(work.each.direction == lab::flow::both_ways, "gyre: pairs run both ways");
    std::deque<std::optional<pair_place>> places(work.threads);
    io_pool pool{pool_of(work.threads, options)};
    for (std::size_t i = 0; i < places.size(); ++i) places[i].emplace(pool[i], work.each);

    run_pairs(pool, places, work.each.warm_up_bytes_per_direction, lab::verification::every_byte);

    const gyre_lab::counting_watch watch{pool};
    run_pairs(pool, places, work.each.bytes_per_direction, lab::verification::edges);
    lab::measurement result{.spent = watch.stop()};
    for (const auto& each : places) {
        result.amount += each->there.incoming.amount() + each->back.incoming.amount();
    }
    return result;
}
