// SPDX-License-Identifier: BSL-1.0
//
// Requests and responses with gyre. What a connection does is the same on one loop and on the pool, so
// that rows can be compared.
#include <lab/in_process/gyre/contender.hpp>

#include <lab/kit/fail.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/stream/algorithms.hpp>

#include <cstdint>
#include <deque>

namespace {

using gyre::task;

struct http_connection {
    explicit http_connection(gyre::io_context& on) : loop{on}, sockets{on, lab::transport::tcp} {}

    gyre::io_context& loop;
    gyre_lab::socket_pair sockets;
    lab::http_inbox requests{lab::http_request};
    lab::http_inbox responses{lab::http_response};
    lab::histogram latency{};  // Where threads cannot share one.
};

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.

task<> ask(http_connection& connection, std::uint64_t requests, lab::histogram& latency) {
    gyre::stream_socket& client = connection.sockets.client;
    lab::lap_timer timer{latency};
    for (std::uint64_t request = 0; request < requests; ++request) {
        const auto asked = co_await gyre::write_all(client, lab::bytes_of(lab::http_request));
        lab::require(asked.ok(), "gyre: a request failed");
        for (bool complete = false; !complete;) {
            const auto got = co_await client.read_some(connection.responses.space());
            lab::require(got.ok(), "gyre: a response failed");
            complete = connection.responses.received(got.value());
        }
        timer.lap();
    }
}

task<> answer(http_connection& connection, std::uint64_t requests) {
    gyre::stream_socket& server = connection.sockets.server;
    for (std::uint64_t request = 0; request < requests; ++request) {
        for (bool complete = false; !complete;) {
            const auto got = co_await server.read_some(connection.requests.space());
            lab::require(got.ok(), "gyre: a request failed");
            complete = connection.requests.received(got.value());
        }
        const auto answered = co_await gyre::write_all(server, lab::bytes_of(lab::http_response));
        lab::require(answered.ok(), "gyre: a response failed");
    }
}

void begin(http_connection& each, std::uint64_t requests, lab::histogram& latency) {
    launch(each.loop, answer(each, requests), gyre::or_terminate{});
    launch(each.loop, ask(each, requests, latency), gyre::or_terminate{});
}

class http_session final : public gyre_lab::loop_session {
public:
    http_session(const gyre_lab::options& how, const lab::http_case& work) : loop_session{how} {
        for (std::size_t i = 0; i < work.connections; ++i) connections_.emplace_back(loop_);
    }

    void play(lab::slice& now) override {
        const std::uint64_t requests = now.operations / connections_.size();
        for (http_connection& each : connections_) begin(each, requests, now.latency);
        loop_.run();
        now.done = now.latency.count();
    }

private:
    std::deque<http_connection> connections_;
};

class threads_http_session final : public gyre_lab::pool_session<http_connection> {
public:
    threads_http_session(const gyre_lab::options& how, const lab::threads_http_case& work)
        : pool_session{how, work.threads} {
        for (std::size_t i = 0; i < work.connections; ++i) {
            places_.emplace_back(pool_[i % pool_.size()]);
        }
    }

    void get_ready(lab::slice&) override {
        for (http_connection& each : places_) each.latency = {};
    }

    void play(lab::slice& now) override {
        const std::uint64_t requests = now.operations / places_.size();
        for (http_connection& each : places_) begin(each, requests, each.latency);
        pool_.wait();
    }

    void conclude(lab::slice& now) override {
        for (const http_connection& each : places_) now.latency.add(each.latency);
        now.done = now.latency.count();
    }
};

}  // namespace

lab::preparation gyre_lab::prepare(const options& loop, const lab::http_case& work) {
    return lab::prepared<http_session>(loop, work);
}

lab::preparation gyre_lab::prepare(const options& loop, const lab::threads_http_case& work) {
    return lab::prepared<threads_http_session>(loop, work);
}
