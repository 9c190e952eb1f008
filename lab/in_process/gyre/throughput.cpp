// SPDX-License-Identifier: BSL-1.0
//
// Streams with gyre. What a direction does is the same on one loop and on the pool, so that rows can be
// compared.
#include <lab/in_process/gyre/contender.hpp>

#include <lab/kit/fail.hpp>

#include <gyre/coro/launch.hpp>

#include <cstdint>
#include <deque>
#include <optional>

namespace {

using gyre::task;

struct direction {
    gyre::stream_socket& from;
    gyre::stream_socket& to;
    lab::outgoing_stream outgoing;
    lab::incoming_stream incoming;
};

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.

task<> write(direction& each) {
    auto next = each.outgoing.next();
    while (!next.empty()) {
        const auto sent = co_await each.from.write_some(next);
        lab::require(sent.ok(), "gyre: a write failed");
        each.outgoing.sent(sent.value());
        next = each.outgoing.next();
    }
}

task<> read(direction& each) {
    auto space = each.incoming.space();
    while (!space.empty()) {
        const auto got = co_await each.to.read_some(space);
        lab::require(got.ok(), "gyre: a read failed");
        each.incoming.received(got.value());
        space = each.incoming.space();
    }
}

// A pair of sockets, and one direction or both through it.
class stream_pair {
public:
    stream_pair(gyre::io_context& loop, const lab::throughput_case& work)
        : loop_{loop}, sockets_{loop, work.via}, buffer_bytes_{work.buffer_bytes} {
        add(sockets_.client, sockets_.server);
        if (work.directions == 2) add(sockets_.server, sockets_.client);
    }

    void begin(std::uint64_t buffers, lab::verification how) {
        const std::uint64_t bytes = buffers / directions_.size() * buffer_bytes_;
        for (direction& each : directions_) {
            each.outgoing.begin(bytes);
            each.incoming.begin(bytes, how);
            launch(loop_, write(each), gyre::or_terminate{});
            launch(loop_, read(each), gyre::or_terminate{});
        }
    }

    // Buffers.
    [[nodiscard]] std::uint64_t arrived() const {
        std::uint64_t bytes = 0;
        for (const direction& each : directions_) bytes += each.incoming.amount();
        return bytes / buffer_bytes_;
    }

private:
    void add(gyre::stream_socket& from, gyre::stream_socket& to) {
        directions_.push_back(
            {from, to, lab::outgoing_stream{buffer_bytes_}, lab::incoming_stream{buffer_bytes_}});
    }

    gyre::io_context& loop_;
    gyre_lab::socket_pair sockets_;
    std::size_t buffer_bytes_;
    std::deque<direction> directions_;
};

class throughput_session final : public gyre_lab::loop_session {
public:
    throughput_session(const gyre_lab::options& how, const lab::throughput_case& work)
        : loop_session{how}, pair_{loop_, work} {}

    void play(lab::slice& now) override {
        pair_.begin(now.operations, now.how);
        loop_.run();
        now.done = pair_.arrived();
    }

private:
    stream_pair pair_;
};

class threads_throughput_session final : public gyre_lab::pool_session<stream_pair> {
public:
    threads_throughput_session(const gyre_lab::options& how,
                               const lab::threads_throughput_case& work)
        : pool_session{how, work.threads} {
        for (std::size_t i = 0; i < work.threads; ++i) places_.emplace_back(pool_[i], work.each);
    }

    void play(lab::slice& now) override {
        for (stream_pair& each : places_) each.begin(now.operations / places_.size(), now.how);
        pool_.wait();
    }

    void conclude(lab::slice& now) override {
        for (const stream_pair& each : places_) now.done += each.arrived();
    }
};

}  // namespace

lab::preparation gyre_lab::prepare(const options& loop, const lab::throughput_case& work) {
    return lab::prepared<throughput_session>(loop, work);
}

lab::preparation gyre_lab::prepare(const options& loop, const lab::threads_throughput_case& work) {
    return lab::prepared<threads_throughput_session>(loop, work);
}
