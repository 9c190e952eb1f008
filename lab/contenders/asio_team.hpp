// SPDX-License-Identifier: BSL-1.0
//
// Threads that run Asio's contexts, in the two ways that its documentation names.
//
// Either one context in which all of them call `run`, so that any thread may run any handler, or a
// context for each thread, so that no handler ever meets another thread and needs no lock: see
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/core/threads.html
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/examples/cpp11_examples.html,
// HTTP Server 2 and 3.
#pragma once

#include <lab/contenders/asio_sockets.hpp>
#include <lab/contenders/asio_suites.hpp>

#include <lab/contender.hpp>
#include <lab/fail.hpp>
#include <lab/thread_load.hpp>

#include <boost/asio/executor_work_guard.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <latch>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace asio_lab {

/// Who else touches the contexts of a team while they run.
enum class visitors { none, posting };

class team {
public:
    team(std::size_t threads, layout how, visitors from) : threads_{threads} {
        const bool alone = threads == 1 || how == layout::per_thread;
        const int alone_hint = from == visitors::none ? single_threaded : one_thread_runs;
        const std::size_t contexts = how == layout::per_thread ? threads : 1;
        for (std::size_t number = 0; number < contexts; ++number) {
            contexts_.emplace_back(alone ? alone_hint : static_cast<int>(threads));
        }
    }

    [[nodiscard]] std::size_t contexts() const noexcept { return contexts_.size(); }

    /// What thread `number` runs, or the next one if there are fewer threads.
    [[nodiscard]] asio::io_context& context(std::size_t number) noexcept {
        return contexts_[number % contexts_.size()];
    }

    /// Keeps the threads running until `finish`, work or no work.
    void hold() {
        for (asio::io_context& each : contexts_) guards_.emplace_back(each.get_executor());
    }

    /// Makes the threads, which wait for `go`.
    void assemble() {
        assemble([](std::size_t) {});
    }

    /// The same, but each calls `first(number)` before it runs its context, which will not run out of
    /// work until all have.
    template <class Function>
    void assemble(Function first) {
        start_.emplace(1);
        for (asio::io_context& each : contexts_) each.restart();
        for (std::size_t number = 0; number < threads_; ++number) {
            workers_.emplace_back([this, number, first] {
                start_->wait();
                first(number);
                context(number).run();
            });
        }
    }

    void go() { start_->count_down(); }

    /// Waits until all that was posted has run.
    void finish() {
        guards_.clear();
        for (std::thread& each : workers_) each.join();
        workers_.clear();
    }

private:
    using guard = asio::executor_work_guard<executor>;

    std::size_t threads_;
    std::deque<asio::io_context> contexts_;
    std::deque<guard> guards_;
    std::optional<std::latch> start_;
    std::vector<std::thread> workers_;
};

/// Posts everything to a team that runs already, from `work.posters` threads of which the caller's is
/// one. `post_items(executor, count)` posts to one context.
template <class PostItems>
void post_from_outside(team& to, const lab::shared_dispatch_case& work, PostItems post_items) {
    const auto share = [&] {
        if (to.contexts() == 1) {
            post_items(to.context(0).get_executor(), work.batch_items);
            return;
        }
        for (std::uint64_t item = 0; item < work.batch_items; ++item) {
            post_items(to.context(item).get_executor(), 1);
        }
    };
    std::vector<std::thread> others;
    for (std::size_t poster = 1; poster < work.posters; ++poster) others.emplace_back(share);
    share();
    for (std::thread& each : others) each.join();
}

/// Measures one of the orders of `work`.
///
/// @param post_items     As above.
/// @param begin_batches  `begin_batches(executor, items)` has something on the context post that many,
///                       a batch at a time, each followed by itself.
/// @param tally          What the items count in.
template <class PostItems, class BeginBatches>
lab::outcome measure_sharing(layout how, const lab::shared_dispatch_case& work,
                             lab::thread_tally& tally, PostItems post_items,
                             BeginBatches begin_batches) {
    if (how == layout::per_thread && work.order != lab::shared_order::from_outside) {
        return lab::cannot_run{"what is posted to a context is for its own thread only"};
    }
    team all{work.threads, how, visitors::posting};
    all.hold();
    const auto measured = [&](auto post_everything) {
        const lab::stopwatch watch;
        post_everything();
        all.finish();
        return lab::measurement{.spent = watch.stop(), .amount = tally.sum()};
    };
    const executor queue = all.context(0).get_executor();
    const std::uint64_t share = work.items / work.threads;
    switch (work.order) {
        case lab::shared_order::from_outside:
            all.assemble();
            all.go();
            return measured([&] { post_from_outside(all, work, post_items); });
        case lab::shared_order::batches_from_inside:
            all.assemble();
            all.go();
            return measured([&] {
                for (std::size_t each = 0; each < work.threads; ++each) begin_batches(queue, share);
            });
        case lab::shared_order::post_then_run: {
            // The guards of `hold` go before the last thread has posted; these do not.
            std::deque<asio::executor_work_guard<executor>> posting;
            for (std::size_t each = 0; each < work.threads; ++each) posting.emplace_back(queue);
            all.assemble([&](std::size_t number) {
                post_items(queue, share);
                posting[number].reset();
            });
            return measured([&] { all.go(); });
        }
        case lab::shared_order::queued:
            post_items(queue, work.items);
            all.assemble();
            return measured([&] { all.go(); });
    }
    lab::fail("asio: no such order");
}

/// Begins something on every member of a group and waits until all of it is over.
template <class Group, class Begin>
void run_group(team& all, Group& group, Begin begin) {
    for (auto& each : group) begin(each);
    all.go();
    all.finish();
}

/// Serves the connections of `work`, in turns on one context for each thread, until all have ended.
///
/// @param begin  `begin(stream)` starts what is to be done with a connection.
template <class Begin>
void serve_on_threads(const lab::echo_case& work, const lab::descriptor& listener, Begin begin) {
    team all{work.threads, layout::per_thread, visitors::none};
    for (std::size_t i = 0; i < work.connections; ++i) {
        const int accepted = lab::accept_connection(listener).release();
        begin(stream{all.context(i), {AF_INET, IPPROTO_TCP}, accepted});
    }
    all.assemble();
    all.go();
    all.finish();
}

/// What a contender with either layout says to a case of `echo`.
///
/// @param style, backend  As of `name_of`.
[[nodiscard]] inline std::string refuse_shared_threads(layout how, const lab::echo_case& work,
                                                       std::string_view style,
                                                       std::string_view backend) {
    if (work.threads == 1 || how == layout::per_thread) return "";
    return name_of(style, backend, layout::per_thread) + " has this row";
}

/// Has every connection make its requests, on its context of `all`.
///
/// @param begin  `begin(connection, requests, latency)`; a client writes to its histogram.
template <class Connection, class Begin>
lab::outcome measure_connections(layout how, const lab::threads_http_case& work, Begin begin) {
    team all{work.threads, how, visitors::none};
    struct place {
        explicit place(asio::io_context& on) : context{on}, connection{on} {}
        asio::io_context& context;
        Connection connection;
        lab::histogram latency;
    };
    std::deque<place> places;
    for (std::size_t i = 0; i < work.all.connections; ++i) places.emplace_back(all.context(i));

    all.assemble();
    run_group(all, places, [&](place& each) {
        begin(each.context, each.connection, work.all.warm_up_requests_per_connection,
              each.latency);
    });
    for (place& each : places) each.latency = {};

    all.assemble();
    const lab::stopwatch watch;
    run_group(all, places, [&](place& each) {
        begin(each.context, each.connection, work.all.requests_per_connection, each.latency);
    });
    lab::measurement result{.spent = watch.stop()};
    for (const place& each : places) result.latency.add(each.latency);
    result.amount = result.latency.count();
    return result;
}

/// Sends streams through a pair of sockets on each context of `all`.
///
/// @param begin  `begin(context, direction, bytes, verification)`.
template <class Direction, class Begin>
lab::outcome measure_pairs(layout how, const lab::threads_throughput_case& work, Begin begin) {
    if (how == layout::shared) {
        return lab::cannot_run{
            "two threads must not use one socket, so the two ways of a pair would need a strand"};
    }
    team all{work.threads, how, visitors::none};
    struct place {
        place(asio::io_context& on, const lab::throughput_case& pair)
            : context{on},
              sockets{on, pair.via},
              there{sockets.client, sockets.server, lab::outgoing_stream{pair.buffer_bytes},
                    lab::incoming_stream{pair.buffer_bytes}},
              back{sockets.server, sockets.client, lab::outgoing_stream{pair.buffer_bytes},
                   lab::incoming_stream{pair.buffer_bytes}} {}
        asio::io_context& context;
        stream_pair sockets;
        Direction there;
        Direction back;
    };
    lab::require(work.each.direction == lab::flow::both_ways, "asio: pairs run both ways");
    std::deque<place> places;
    for (std::size_t i = 0; i < work.threads; ++i) places.emplace_back(all.context(i), work.each);
    const auto run = [&](std::uint64_t bytes, lab::verification checks) {
        run_group(all, places, [&](place& each) {
            begin(each.context, each.there, bytes, checks);
            begin(each.context, each.back, bytes, checks);
        });
    };

    all.assemble();
    run(work.each.warm_up_bytes_per_direction, lab::verification::every_byte);

    all.assemble();
    const lab::stopwatch watch;
    run(work.each.bytes_per_direction, lab::verification::edges);
    lab::measurement result{.spent = watch.stop()};
    for (const place& each : places) {
        result.amount += each.there.incoming.amount() + each.back.incoming.amount();
    }
    return result;
}

}  // namespace asio_lab
