// SPDX-License-Identifier: BSL-1.0
//
// Ping-pong with bare system calls. The four calls of a round are the same for one actor and for two, so
// `two_sides` is the same here.
#include <lab/in_process/raw_syscalls/contender.hpp>

#include <lab/kit/sockets.hpp>

#include <cstdint>
#include <vector>

namespace {

struct ping_pong_pair {
    explicit ping_pong_pair(const lab::latency_case& work)
        : sockets{lab::connect_pair(work.via)},
          message{work.message_bytes},
          at_server(work.message_bytes) {}

    lab::connected_pair sockets;
    lab::ping message;
    std::vector<std::byte> at_server;
};

class latency_session final : public lab::session {
public:
    explicit latency_session(const lab::latency_case& work) {
        for (std::size_t i = 0; i < work.pairs; ++i) pairs_.emplace_back(work);
    }

    void play(lab::slice& now) override {
        std::vector<lab::lap_timer> timers(pairs_.size(), lab::lap_timer{now.latency});
        for (; now.done < now.operations; now.done += pairs_.size()) {
            for (auto& each : pairs_) raw::send_all(each.sockets.client.get(), each.message.next());
            for (auto& each : pairs_) {
                raw::receive_all(each.sockets.server.get(), each.at_server);
                raw::send_all(each.sockets.server.get(), each.at_server);
            }
            for (std::size_t i = 0; i < pairs_.size(); ++i) {
                raw::receive_all(pairs_[i].sockets.client.get(), pairs_[i].message.reply_space());
                pairs_[i].message.check_reply();
                timers[i].lap();
            }
        }
    }

private:
    std::vector<ping_pong_pair> pairs_;
};

}  // namespace

lab::preparation raw::prepare(const lab::latency_case& work) {
    return lab::prepared<latency_session>(work);
}
