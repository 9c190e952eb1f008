// SPDX-License-Identifier: BSL-1.0
//
// gyre as its users write it, on io_uring or on epoll.
//
// Plain reads and writes in loops, as in the other contenders; a posted lambda stands for the bare
// continuation, a launched task for the spawned coroutine. Nothing here is private to the library.
#include <lab/contenders/gyre_counters.hpp>
#include <lab/contenders/gyre_sessions.hpp>
#include <lab/contenders/gyre_suites.hpp>

#include <lab/contender.hpp>
#include <lab/fail.hpp>
#include <lab/load.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using gyre::io_context;
using gyre::stream_socket;
using gyre::task;
using gyre_lab::direction;
using gyre_lab::http_connection;
using gyre_lab::socket_pair;

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.

task<> item(std::uint64_t& done) {
    ++done;
    co_return;
}

void queue_items(io_context& loop, lab::dispatch_item kind, std::uint64_t items,
                 std::uint64_t& done) {
    if (kind == lab::dispatch_item::continuation) {
        for (std::uint64_t i = 0; i < items; ++i) loop.post([&done] { ++done; });
    } else {
        for (std::uint64_t i = 0; i < items; ++i) launch(loop, item(done), gyre::or_terminate{});
    }
}

task<> queue_batches(io_context& loop, const lab::dispatch_case& work, std::uint64_t& done) {
    while (done < work.items) {
        queue_items(loop, work.item, work.batch_items, done);
        co_await gyre::yield();
    }
}

void dispatch_interleaved(io_context& loop, const lab::dispatch_case& work, std::uint64_t& done) {
    while (done < work.items) {
        queue_items(loop, work.item, work.batch_items, done);
        loop.poll();
    }
}

void dispatch_foreign(io_context& loop, const lab::dispatch_case& work, std::uint64_t& done) {
    std::thread producer{[&, guard = io_context::work_guard{loop}] {
        queue_items(loop, work.item, work.items, done);
    }};
    loop.run();
    producer.join();
}

void dispatch_items(io_context& loop, const lab::dispatch_case& work, std::uint64_t& done) {
    switch (work.order) {
        case lab::dispatch_order::all_then_run:
            queue_items(loop, work.item, work.items, done);
            loop.run();
            break;
        case lab::dispatch_order::batches_from_inside:
            launch(loop, queue_batches(loop, work, done), gyre::or_terminate{});
            loop.run();
            break;
        case lab::dispatch_order::interleaved: dispatch_interleaved(loop, work, done); break;
        case lab::dispatch_order::from_another_thread: dispatch_foreign(loop, work, done); break;
    }
}

void run_streams(io_context& loop, std::deque<direction>& directions, std::uint64_t size,
                 lab::verification how) {
    for (direction& each : directions) begin(loop, each, size, how);
    loop.run();
}

struct ping_pong_pair {
    ping_pong_pair(io_context& loop, const lab::latency_case& work)
        : sockets{loop, work.via},
          played_by{work.played_by},
          message{work.message_bytes},
          at_server(work.message_bytes) {}

    socket_pair sockets;
    lab::ping_pong played_by;
    lab::ping message;
    std::vector<std::byte> at_server;
};

// One message each way; `write_all` and `read_exactly` go on after short transfers.
task<> play_alone(ping_pong_pair& pair, std::uint64_t rounds, lab::histogram& latency) {
    auto& [client, server] = pair.sockets;
    lab::lap_timer timer{latency};
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const auto asked = co_await gyre::write_all(client, pair.message.next());
        const auto arrived = co_await gyre::read_exactly(server, std::span{pair.at_server});
        const auto answered = co_await gyre::write_all(server, std::span{pair.at_server});
        const auto returned = co_await gyre::read_exactly(client, pair.message.reply_space());
        lab::require(asked.ok() && arrived.ok() && answered.ok() && returned.ok(),
                     "gyre: a round failed");
        pair.message.check_reply();
        timer.lap();
    }
}

task<> ask_pings(ping_pong_pair& pair, std::uint64_t rounds, lab::histogram& latency) {
    stream_socket& client = pair.sockets.client;
    lab::lap_timer timer{latency};
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const auto asked = co_await gyre::write_all(client, pair.message.next());
        const auto returned = co_await gyre::read_exactly(client, pair.message.reply_space());
        lab::require(asked.ok() && returned.ok(), "gyre: a ping failed");
        pair.message.check_reply();
        timer.lap();
    }
}

task<> answer_pings(ping_pong_pair& pair, std::uint64_t rounds) {
    stream_socket& server = pair.sockets.server;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const auto arrived = co_await gyre::read_exactly(server, std::span{pair.at_server});
        const auto answered = co_await gyre::write_all(server, std::span{pair.at_server});
        lab::require(arrived.ok() && answered.ok(), "gyre: an answer failed");
    }
}

void begin(io_context& loop, ping_pong_pair& pair, std::uint64_t rounds, lab::histogram& latency) {
    if (pair.played_by == lab::ping_pong::one_actor) {
        launch(loop, play_alone(pair, rounds, latency), gyre::or_terminate{});
        return;
    }
    launch(loop, answer_pings(pair, rounds), gyre::or_terminate{});
    launch(loop, ask_pings(pair, rounds, latency), gyre::or_terminate{});
}

// Begins `rounds` on every member of the group and runs the loop until all of them are over.
template <class Group>
void run_rounds(io_context& loop, Group& group, std::uint64_t rounds, lab::histogram& latency) {
    for (auto& each : group) begin(loop, each, rounds, latency);
    loop.run();
}

template <class Group>
lab::measurement measure_rounds(io_context& loop, Group& group, std::uint64_t warm_up_rounds,
                                std::uint64_t rounds) {
    lab::histogram warm_up;
    run_rounds(loop, group, warm_up_rounds, warm_up);

    lab::measurement result;
    const gyre_lab::counting_watch watch{loop};
    run_rounds(loop, group, rounds, result.latency);
    result.spent = watch.stop();
    result.amount = result.latency.count();
    return result;
}

class gyre_contender : public lab::contender {
public:
    gyre_contender(std::string name, const gyre::io_context_options& options,
                   gyre_lab::echo_reads reads)
        : name_{std::move(name)}, options_{options}, reads_{reads} {}

    lab::identity about() const override {
        const io_context loop{options_};
        return {name_, "gyre", "0.1.0",
                std::string{describe(loop.backend().kind)} + ": " + loop.backend().reason};
    }

    lab::outcome dispatch(const lab::dispatch_case& work) override {
        io_context loop{options_};
        std::uint64_t done = 0;

        const gyre_lab::counting_watch watch{loop};
        dispatch_items(loop, work, done);
        return lab::measurement{.spent = watch.stop(), .amount = done};
    }

    lab::outcome throughput(const lab::throughput_case& work) override {
        io_context loop{options_};
        socket_pair sockets{loop, work.via};
        std::deque<direction> directions;
        const auto add = [&](stream_socket& from, stream_socket& to) {
            directions.push_back({from, to, lab::outgoing_stream{work.buffer_bytes},
                                  lab::incoming_stream{work.buffer_bytes}});
        };
        add(sockets.client, sockets.server);
        if (work.direction == lab::flow::both_ways) add(sockets.server, sockets.client);

        run_streams(loop, directions, work.warm_up_bytes_per_direction,
                    lab::verification::every_byte);

        const gyre_lab::counting_watch watch{loop};
        run_streams(loop, directions, work.bytes_per_direction, lab::verification::edges);

        lab::measurement result{.spent = watch.stop()};
        for (const auto& each : directions) result.amount += each.incoming.amount();
        return result;
    }

    lab::outcome latency(const lab::latency_case& work) override {
        io_context loop{options_};
        std::deque<ping_pong_pair> pairs;
        for (std::size_t i = 0; i < work.pairs; ++i) pairs.emplace_back(loop, work);

        return measure_rounds(loop, pairs, work.warm_up_rounds_per_pair, work.rounds_per_pair);
    }

    lab::outcome http(const lab::http_case& work) override {
        io_context loop{options_};
        std::deque<http_connection> connections;
        for (std::size_t i = 0; i < work.connections; ++i) connections.emplace_back(loop);

        return measure_rounds(loop, connections, work.warm_up_requests_per_connection,
                              work.requests_per_connection);
    }

    lab::outcome shared_dispatch(const lab::shared_dispatch_case& work) override {
        return gyre_lab::measure_shared_dispatch(options_, work);
    }

    lab::outcome threads_throughput(const lab::threads_throughput_case& work) override {
        return gyre_lab::measure_threads_throughput(options_, work);
    }

    lab::outcome threads_http(const lab::threads_http_case& work) override {
        return gyre_lab::measure_threads_http(options_, work);
    }

    lab::outcome timers(const lab::timers_case& work) override {
        return gyre_lab::measure_timers(options_, work);
    }

    lab::outcome churn(const lab::churn_case& work) override {
        return gyre_lab::measure_churn(options_, work);
    }

    lab::outcome fan_out(const lab::fan_out_case& work) override {
        return gyre_lab::measure_fan_out(options_, work);
    }

    void echo(const lab::echo_case& work, lab::descriptor listener) override {
        counted_in_echo_ = gyre_lab::serve_echo(options_, reads_, work, std::move(listener));
    }
    std::string refusal_to_echo(const lab::echo_case&) const override { return ""; }
    [[nodiscard]] std::vector<lab::counter> counted_in_echo() const override {
        return counted_in_echo_;
    }

private:
    std::string name_;
    gyre::io_context_options options_;
    gyre_lab::echo_reads reads_;
    std::vector<lab::counter> counted_in_echo_;
};

}  // namespace

// A backend, and what is not as usual: `uring`, `epoll_leases`.
std::unique_ptr<lab::contender> lab::make_contender(std::string_view backend) {
    using gyre_lab::echo_reads;
    const std::string_view on = backend.substr(0, backend.find('_'));
    const std::string_view how = backend.substr(on.size());
    require(on == "uring" || on == "epoll", "gyre runs on --backend uring or epoll");
    require(how.empty() || how == "_leases" || how == "_spin",
            "behind gyre's backend stands nothing, _leases or _spin");

    gyre::io_context_options options;
    options.backend = on == "epoll" ? gyre::backend_choice::epoll : gyre::backend_choice::uring;
    if (how == "_spin") options.spin_max = std::chrono::milliseconds{1};
    const auto reads = how == "_leases" ? echo_reads::leased : echo_reads::into_own_buffer;
    return std::make_unique<gyre_contender>("gyre_" + std::string{backend}, options, reads);
}
