// SPDX-License-Identifier: BSL-1.0
//
// Ping-pong with gyre. `write_all` and `read_exactly` go on after short transfers.
#include <lab/in_process/gyre/contender.hpp>

#include <lab/kit/fail.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/stream/algorithms.hpp>

#include <cstdint>
#include <deque>
#include <span>

namespace {

using gyre::task;

struct ping_pong_pair {
    ping_pong_pair(gyre::io_context& loop, const lab::latency_case& work)
        : sockets{loop, work.via}, message{work.message_bytes}, at_server(work.message_bytes) {}

    gyre_lab::socket_pair sockets;
    lab::ping message;
    std::vector<std::byte> at_server;
};

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.

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

task<> ask(ping_pong_pair& pair, std::uint64_t rounds, lab::histogram& latency) {
    gyre::stream_socket& client = pair.sockets.client;
    lab::lap_timer timer{latency};
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const auto asked = co_await gyre::write_all(client, pair.message.next());
        const auto returned = co_await gyre::read_exactly(client, pair.message.reply_space());
        lab::require(asked.ok() && returned.ok(), "gyre: a ping failed");
        pair.message.check_reply();
        timer.lap();
    }
}

task<> answer(ping_pong_pair& pair, std::uint64_t rounds) {
    gyre::stream_socket& server = pair.sockets.server;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const auto arrived = co_await gyre::read_exactly(server, std::span{pair.at_server});
        const auto answered = co_await gyre::write_all(server, std::span{pair.at_server});
        lab::require(arrived.ok() && answered.ok(), "gyre: an answer failed");
    }
}

class latency_session final : public gyre_lab::loop_session {
public:
    latency_session(const gyre_lab::options& how, const lab::latency_case& work)
        : loop_session{how}, played_by_{work.played_by} {
        for (std::size_t i = 0; i < work.pairs; ++i) pairs_.emplace_back(loop_, work);
    }

    void play(lab::slice& now) override {
        const std::uint64_t rounds = now.operations / pairs_.size();
        for (ping_pong_pair& each : pairs_) {
            if (played_by_ == lab::ping_pong::one_actor) {
                launch(loop_, play_alone(each, rounds, now.latency), gyre::or_terminate{});
            } else {
                launch(loop_, answer(each, rounds), gyre::or_terminate{});
                launch(loop_, ask(each, rounds, now.latency), gyre::or_terminate{});
            }
        }
        loop_.run();
        now.done = now.latency.count();
    }

private:
    lab::ping_pong played_by_;
    std::deque<ping_pong_pair> pairs_;
};

}  // namespace

lab::preparation gyre_lab::prepare(const options& loop, const lab::latency_case& work) {
    return lab::prepared<latency_session>(loop, work);
}
