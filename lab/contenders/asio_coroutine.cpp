// SPDX-License-Identifier: BSL-1.0
//
// Boost.Asio as its coroutine users write it: `awaitable`, `co_spawn`, `deferred`.
//
// Awaiting `deferred` operations is the variant without a coroutine frame per operation. A short
// write or read is continued in the loop that awaits it, which spares the composed operations.
// asio_sockets.hpp has the rest of the configuration. See
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/reference/deferred.html
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/composition/cpp20_coroutines.html
#include <lab/contenders/asio_coroutine_sessions.hpp>
#include <lab/contenders/asio_sockets.hpp>
#include <lab/contenders/asio_suites.hpp>
#include <lab/contenders/asio_team.hpp>

#include <lab/contender.hpp>
#include <lab/fail.hpp>
#include <lab/load.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;

using asio_lab::buffer_of;
using asio_lab::direction;
using asio_lab::executor;
using asio_lab::expect_success;
using asio_lab::http_connection;
using asio_lab::single_threaded;
using asio_lab::stream;
using asio_lab::stream_pair;
using asio_lab::task;

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.

task item(std::uint64_t& done) {
    ++done;
    co_return;
}

void spawn_items(executor queue, std::uint64_t items, std::uint64_t& done) {
    for (std::uint64_t i = 0; i < items; ++i) asio::co_spawn(queue, item(done), asio::detached);
}

task spawn_batches(executor queue, const lab::dispatch_case& work, std::uint64_t& done) {
    while (done < work.items) {
        spawn_items(queue, work.batch_items, done);
        co_await asio::post(queue, asio::deferred);
    }
}

void dispatch_interleaved(asio::io_context& context, const lab::dispatch_case& work,
                          std::uint64_t& done) {
    while (done < work.items) {
        spawn_items(context.get_executor(), work.batch_items, done);
        context.poll();
        context.restart();
    }
}

void dispatch_foreign(asio::io_context& context, const lab::dispatch_case& work,
                      std::uint64_t& done) {
    std::thread producer{[&, guard = asio::make_work_guard(context)]() mutable {
        spawn_items(context.get_executor(), work.items, done);
        guard.reset();
    }};
    context.run();
    producer.join();
}

void dispatch_items(asio::io_context& context, const lab::dispatch_case& work,
                    std::uint64_t& done) {
    const executor queue = context.get_executor();
    switch (work.order) {
        case lab::dispatch_order::all_then_run:
            spawn_items(queue, work.items, done);
            context.run();
            break;
        case lab::dispatch_order::batches_from_inside:
            asio::co_spawn(queue, spawn_batches(queue, work, done), expect_success);
            context.run();
            break;
        case lab::dispatch_order::interleaved: dispatch_interleaved(context, work, done); break;
        case lab::dispatch_order::from_another_thread: dispatch_foreign(context, work, done); break;
    }
}

void run_streams(asio::io_context& context, std::deque<direction>& directions, std::uint64_t size,
                 lab::verification how) {
    for (direction& each : directions) begin(context, each, size, how);
    context.restart();
    context.run();
}

struct ping_pong_pair {
    ping_pong_pair(asio::io_context& context, const lab::latency_case& work)
        : sockets{context, work.via},
          played_by{work.played_by},
          message{work.message_bytes},
          at_server(work.message_bytes) {}

    stream_pair sockets;
    lab::ping_pong played_by;
    lab::ping message;
    std::vector<std::byte> at_server;
};

task play_alone(ping_pong_pair& pair, std::uint64_t rounds, lab::histogram& latency) {
    auto& [client, server] = pair.sockets;
    lab::lap_timer timer{latency};
    for (std::uint64_t round = 0; round < rounds; ++round) {
        for (auto left = pair.message.next(); !left.empty();) {
            const std::size_t size =
                co_await client.async_write_some(buffer_of(left), asio::deferred);
            left = left.subspan(size);
        }
        for (auto left = std::span{pair.at_server}; !left.empty();) {
            const std::size_t size =
                co_await server.async_read_some(buffer_of(left), asio::deferred);
            left = left.subspan(size);
        }
        for (auto left = std::as_bytes(std::span{pair.at_server}); !left.empty();) {
            const std::size_t size =
                co_await server.async_write_some(buffer_of(left), asio::deferred);
            left = left.subspan(size);
        }
        for (auto left = pair.message.reply_space(); !left.empty();) {
            const std::size_t size =
                co_await client.async_read_some(buffer_of(left), asio::deferred);
            left = left.subspan(size);
        }
        pair.message.check_reply();
        timer.lap();
    }
}

task ask_pings(ping_pong_pair& pair, std::uint64_t rounds, lab::histogram& latency) {
    stream& client = pair.sockets.client;
    lab::lap_timer timer{latency};
    for (std::uint64_t round = 0; round < rounds; ++round) {
        for (auto left = pair.message.next(); !left.empty();) {
            const std::size_t size =
                co_await client.async_write_some(buffer_of(left), asio::deferred);
            left = left.subspan(size);
        }
        for (auto left = pair.message.reply_space(); !left.empty();) {
            const std::size_t size =
                co_await client.async_read_some(buffer_of(left), asio::deferred);
            left = left.subspan(size);
        }
        pair.message.check_reply();
        timer.lap();
    }
}

task answer_pings(ping_pong_pair& pair, std::uint64_t rounds) {
    stream& server = pair.sockets.server;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        for (auto left = std::span{pair.at_server}; !left.empty();) {
            const std::size_t size =
                co_await server.async_read_some(buffer_of(left), asio::deferred);
            left = left.subspan(size);
        }
        for (auto left = std::as_bytes(std::span{pair.at_server}); !left.empty();) {
            const std::size_t size =
                co_await server.async_write_some(buffer_of(left), asio::deferred);
            left = left.subspan(size);
        }
    }
}

void begin(asio::io_context& context, ping_pong_pair& pair, std::uint64_t rounds,
           lab::histogram& latency) {
    if (pair.played_by == lab::ping_pong::one_actor) {
        asio::co_spawn(context, play_alone(pair, rounds, latency), expect_success);
        return;
    }
    asio::co_spawn(context, answer_pings(pair, rounds), expect_success);
    asio::co_spawn(context, ask_pings(pair, rounds, latency), expect_success);
}

// Begins `rounds` on every member of the group and runs the loop until all of them are over.
template <class Group>
void run_rounds(asio::io_context& context, Group& group, std::uint64_t rounds,
                lab::histogram& latency) {
    for (auto& each : group) begin(context, each, rounds, latency);
    context.restart();
    context.run();
}

template <class Group>
lab::measurement measure_rounds(asio::io_context& context, Group& group,
                                std::uint64_t warm_up_rounds, std::uint64_t rounds) {
    lab::histogram warm_up;
    run_rounds(context, group, warm_up_rounds, warm_up);

    lab::measurement result;
    const lab::stopwatch watch;
    run_rounds(context, group, rounds, result.latency);
    result.spent = watch.stop();
    result.amount = result.latency.count();
    return result;
}

task echo(stream socket, std::size_t buffer_bytes) {
    std::vector<std::byte> space(buffer_bytes);
    constexpr auto result_of = asio::as_tuple(asio::deferred);
    for (;;) {
        const auto [ended, size] =
            co_await socket.async_read_some(buffer_of(std::span{space}), result_of);
        if (ended) co_return;
        for (std::span<const std::byte> rest = std::span{space}.first(size); !rest.empty();) {
            rest = rest.subspan(co_await socket.async_write_some(buffer_of(rest), asio::deferred));
        }
    }
}

task accept_all(asio_lab::acceptor from, const lab::echo_case& work) {
    for (std::size_t count = 0; count < work.connections; ++count) {
        stream accepted = co_await from.async_accept(asio::deferred);
        asio_lab::set_no_delay(accepted);
        asio::co_spawn(from.get_executor(), echo(std::move(accepted), work.buffer_bytes),
                       expect_success);
    }
}

class asio_coroutine : public lab::contender {
public:
    explicit asio_coroutine(asio_lab::layout on_threads) : on_threads_{on_threads} {}

    lab::identity about() const override {
        return {asio_lab::name_of("asio_coroutine", LAB_ASIO_BACKEND, on_threads_), "Boost.Asio",
                asio_lab::version(), LAB_ASIO_BACKEND};
    }

    lab::outcome dispatch(const lab::dispatch_case& work) override {
        if (work.item == lab::dispatch_item::continuation) {
            return lab::cannot_run{"a bare continuation is a callback; asio_callback has this row"};
        }

        asio::io_context context{asio_lab::hint_for(work)};
        std::uint64_t done = 0;

        const lab::stopwatch watch;
        dispatch_items(context, work, done);
        return lab::measurement{.spent = watch.stop(), .amount = done};
    }

    lab::outcome throughput(const lab::throughput_case& work) override {
        asio::io_context context{single_threaded};
        stream_pair sockets{context, work.via};
        std::deque<direction> directions;
        const auto add = [&](stream& from, stream& to) {
            directions.push_back({from, to, lab::outgoing_stream{work.buffer_bytes},
                                  lab::incoming_stream{work.buffer_bytes}});
        };
        add(sockets.client, sockets.server);
        if (work.direction == lab::flow::both_ways) add(sockets.server, sockets.client);

        run_streams(context, directions, work.warm_up_bytes_per_direction,
                    lab::verification::every_byte);

        const lab::stopwatch watch;
        run_streams(context, directions, work.bytes_per_direction, lab::verification::edges);

        lab::measurement result{.spent = watch.stop()};
        for (const auto& each : directions) result.amount += each.incoming.amount();
        return result;
    }

    lab::outcome latency(const lab::latency_case& work) override {
        asio::io_context context{single_threaded};
        std::deque<ping_pong_pair> pairs;
        for (std::size_t i = 0; i < work.pairs; ++i) pairs.emplace_back(context, work);

        return measure_rounds(context, pairs, work.warm_up_rounds_per_pair, work.rounds_per_pair);
    }

    lab::outcome http(const lab::http_case& work) override {
        asio::io_context context{single_threaded};
        std::deque<http_connection> connections;
        for (std::size_t i = 0; i < work.connections; ++i) connections.emplace_back(context);

        return measure_rounds(context, connections, work.warm_up_requests_per_connection,
                              work.requests_per_connection);
    }

    lab::outcome shared_dispatch(const lab::shared_dispatch_case& work) override {
        return asio_lab::measure_shared_dispatch(on_threads_, work);
    }

    lab::outcome threads_throughput(const lab::threads_throughput_case& work) override {
        return asio_lab::measure_threads_throughput(on_threads_, work);
    }

    lab::outcome threads_http(const lab::threads_http_case& work) override {
        return asio_lab::measure_threads_http(on_threads_, work);
    }

    lab::outcome timers(const lab::timers_case& work) override {
        return asio_lab::measure_timers(work);
    }

    lab::outcome churn(const lab::churn_case& work) override {
        return asio_lab::measure_churn(work);
    }

    lab::outcome fan_out(const lab::fan_out_case& work) override {
        return asio_lab::measure_fan_out(work);
    }

    void echo(const lab::echo_case& work, lab::descriptor listener) override {
        if (work.threads > 1) {
            asio_lab::serve_on_threads(work, listener, [&](stream accepted) {
                const executor on = accepted.get_executor();
                asio::co_spawn(on, ::echo(std::move(accepted), work.buffer_bytes), expect_success);
            });
            return;
        }
        asio::io_context context{single_threaded};
        asio::co_spawn(context,
                       accept_all(asio_lab::adopt_listener(context, std::move(listener)), work),
                       expect_success);
        context.run();
    }
    std::string refusal_to_echo(const lab::echo_case& work) const override {
        return asio_lab::refuse_shared_threads(on_threads_, work, "asio_coroutine",
                                               LAB_ASIO_BACKEND);
    }

private:
    asio_lab::layout on_threads_;
};

}  // namespace

std::unique_ptr<lab::contender> lab::make_contender(std::string_view backend) {
    require(backend.empty() || backend == "per_thread",
            "asio_coroutine runs on nothing or on per_thread");
    return std::make_unique<asio_coroutine>(backend.empty() ? asio_lab::layout::shared
                                                            : asio_lab::layout::per_thread);
}
