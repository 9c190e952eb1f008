// SPDX-License-Identifier: BSL-1.0
//
// Boost.Asio as its fastest users write it: completion handlers, no coroutine.
//
// Every handler captures little enough for Asio's recycling allocator, which it gives to handlers
// without one of their own, and reads and writes are resumed by hand instead of through the composed
// operations. asio_sockets.hpp has the rest of the configuration. See
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/core/allocation.html
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/reference/recycling_allocator.html
#include <lab/contenders/asio_callback_sessions.hpp>
#include <lab/contenders/asio_sockets.hpp>
#include <lab/contenders/asio_suites.hpp>
#include <lab/contenders/asio_team.hpp>

#include <lab/contender.hpp>
#include <lab/fail.hpp>
#include <lab/load.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
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
using asio_lab::error_code;
using asio_lab::executor;
using asio_lab::http_connection;
using asio_lab::receive_all;
using asio_lab::send_all;
using asio_lab::single_threaded;
using asio_lab::stream;
using asio_lab::stream_pair;

// Posts the next batch whenever the loop comes back to it, which is after the last batch has run.
struct batch_poster {
    executor queue;
    const lab::dispatch_case& work;
    std::uint64_t& done;

    void operator()() const {
        if (done == work.items) return;

        for (std::uint64_t i = 0; i < work.batch_items; ++i) {
            asio::post(queue, [&counter = done] { ++counter; });
        }
        asio::post(queue, *this);
    }
};

void post_items(executor queue, std::uint64_t items, std::uint64_t& done) {
    for (std::uint64_t i = 0; i < items; ++i) asio::post(queue, [&done] { ++done; });
}

void dispatch_interleaved(asio::io_context& context, const lab::dispatch_case& work,
                          std::uint64_t& done) {
    while (done < work.items) {
        post_items(context.get_executor(), work.batch_items, done);
        context.poll();
        context.restart();
    }
}

void dispatch_foreign(asio::io_context& context, const lab::dispatch_case& work,
                      std::uint64_t& done) {
    std::thread producer{[&, guard = asio::make_work_guard(context)]() mutable {
        post_items(context.get_executor(), work.items, done);
        guard.reset();
    }};
    context.run();
    producer.join();
}

void dispatch_items(asio::io_context& context, const lab::dispatch_case& work,
                    std::uint64_t& done) {
    switch (work.order) {
        case lab::dispatch_order::all_then_run:
            post_items(context.get_executor(), work.items, done);
            context.run();
            break;
        case lab::dispatch_order::batches_from_inside:
            asio::post(context, batch_poster{context.get_executor(), work, done});
            context.run();
            break;
        case lab::dispatch_order::interleaved: dispatch_interleaved(context, work, done); break;
        case lab::dispatch_order::from_another_thread: dispatch_foreign(context, work, done); break;
    }
}

class ping_pong_pair {
public:
    ping_pong_pair(asio::io_context& context, const lab::latency_case& work)
        : sockets_{context, work.via},
          played_by_{work.played_by},
          message_{work.message_bytes},
          at_server_(work.message_bytes) {}

    void begin(std::uint64_t rounds, lab::histogram& latency) {
        timer_.emplace(latency);
        rounds_left_ = rounds;
        if (played_by_ == lab::ping_pong::one_actor) return play_round();

        server_rounds_left_ = rounds;
        answer();
        ask();
    }

private:
    void play_round() {
        if (rounds_left_-- == 0) return;
        send_all(sockets_.client, message_.next(), [this] {
            receive_all(sockets_.server, at_server_, [this] {
                send_all(sockets_.server, at_server_, [this] {
                    receive_all(sockets_.client, message_.reply_space(), [this] {
                        finish_round();
                        play_round();
                    });
                });
            });
        });
    }

    void ask() {
        if (rounds_left_-- == 0) return;
        send_all(sockets_.client, message_.next(), [this] {
            receive_all(sockets_.client, message_.reply_space(), [this] {
                finish_round();
                ask();
            });
        });
    }

    void answer() {
        if (server_rounds_left_-- == 0) return;
        receive_all(sockets_.server, at_server_,
                    [this] { send_all(sockets_.server, at_server_, [this] { answer(); }); });
    }

    void finish_round() {
        message_.check_reply();
        timer_->lap();
    }

    stream_pair sockets_;
    lab::ping_pong played_by_;
    lab::ping message_;
    std::vector<std::byte> at_server_;
    std::optional<lab::lap_timer> timer_;
    std::uint64_t rounds_left_ = 0;
    std::uint64_t server_rounds_left_ = 0;
};

// One connection of `echo`; owns itself until its peer has left.
class echo_session {
public:
    static void begin(stream socket, std::size_t buffer_bytes) {
        auto* it = new echo_session{std::move(socket), buffer_bytes};
        it->read();
    }

private:
    echo_session(stream socket, std::size_t buffer_bytes)
        : socket_{std::move(socket)}, space_(buffer_bytes) {}

    void read() {
        socket_.async_read_some(
            buffer_of(std::span{space_}), [this](error_code error, std::size_t size) {
                if (error) {
                    delete this;
                    return;
                }
                send_all(socket_, std::span{space_}.first(size), [this] { read(); });
            });
    }

    stream socket_;
    std::vector<std::byte> space_;
};

void accept_next(asio_lab::acceptor& from, std::size_t left, std::size_t buffer_bytes) {
    if (left == 0) return;
    from.async_accept([&from, left, buffer_bytes](error_code error, stream accepted) {
        lab::require(!error, "asio: accept");
        asio_lab::set_no_delay(accepted);
        echo_session::begin(std::move(accepted), buffer_bytes);
        accept_next(from, left - 1, buffer_bytes);
    });
}

// Starts something on every member of a group, then runs the loop until all of it is over.
template <class Group, class Begin>
void run_all(asio::io_context& context, Group& group, Begin begin) {
    for (auto& each : group) begin(each);
    context.restart();
    context.run();
}

// What a server does that has nothing to do: sleep, or ask again and never sleep (`poll` in a loop, as
// those do who cannot wait until they are woken up).
enum class idleness { sleeps, spins };

class asio_callback : public lab::contender {
public:
    asio_callback(asio_lab::layout on_threads, idleness idle)
        : on_threads_{on_threads}, idle_{idle} {}

    lab::identity about() const override {
        return {asio_lab::name_of("asio_callback", LAB_ASIO_BACKEND, on_threads_) +
                    (idle_ == idleness::spins ? "_spin" : ""),
                "Boost.Asio", asio_lab::version(), LAB_ASIO_BACKEND};
    }

    lab::outcome dispatch(const lab::dispatch_case& work) override {
        if (work.item == lab::dispatch_item::coroutine) {
            return lab::cannot_run{"spawns no coroutines; asio_coroutine has this row"};
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

        run_all(context, directions, [&](direction& each) {
            each.begin(work.warm_up_bytes_per_direction, lab::verification::every_byte);
        });

        const lab::stopwatch watch;
        run_all(context, directions, [&](direction& each) {
            each.begin(work.bytes_per_direction, lab::verification::edges);
        });

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
                echo_session::begin(std::move(accepted), work.buffer_bytes);
            });
            return;
        }
        asio::io_context context{single_threaded};
        asio_lab::acceptor from = asio_lab::adopt_listener(context, std::move(listener));
        accept_next(from, work.connections, work.buffer_bytes);
        if (idle_ == idleness::sleeps) {
            context.run();
        } else {
            while (!context.stopped()) context.poll();
        }
    }
    std::string refusal_to_echo(const lab::echo_case& work) const override {
        return asio_lab::refuse_shared_threads(on_threads_, work, "asio_callback",
                                               LAB_ASIO_BACKEND);
    }

private:
    asio_lab::layout on_threads_;
    idleness idle_;

    template <class Group>
    static lab::measurement measure_rounds(asio::io_context& context, Group& group,
                                           std::uint64_t warm_up_rounds, std::uint64_t rounds) {
        lab::histogram warm_up;
        run_all(context, group, [&](auto& each) { each.begin(warm_up_rounds, warm_up); });

        lab::measurement result;
        const lab::stopwatch watch;
        run_all(context, group, [&](auto& each) { each.begin(rounds, result.latency); });
        result.spent = watch.stop();
        result.amount = result.latency.count();
        return result;
    }
};

}  // namespace

std::unique_ptr<lab::contender> lab::make_contender(std::string_view backend) {
    using asio_lab::layout;
    require(backend.empty() || backend == "per_thread" || backend == "spin",
            "asio_callback runs on nothing, on per_thread or on spin");
    return std::make_unique<asio_callback>(
        backend == "per_thread" ? layout::per_thread : layout::shared,
        backend == "spin" ? idleness::spins : idleness::sleeps);
}
