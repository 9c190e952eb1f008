// SPDX-License-Identifier: BSL-1.0
//
// Streams with bare system calls: each end that can move bytes does, in turns.
#include <lab/in_process/raw_syscalls/contender.hpp>

#include <lab/kit/sockets.hpp>

#include <cstdint>
#include <vector>

namespace {

struct direction {
    int from;
    int to;
    lab::outgoing_stream outgoing;
    lab::incoming_stream incoming;

    [[nodiscard]] bool step() {
        const auto next = outgoing.next();
        if (!next.empty()) outgoing.sent(raw::send_some(from, next));

        const auto space = incoming.space();
        if (space.empty()) return false;
        const std::size_t size = raw::receive_some(to, space);
        if (size > 0) incoming.received(size);
        return true;
    }
};

class throughput_session final : public lab::session {
public:
    explicit throughput_session(const lab::throughput_case& work)
        : buffer_bytes_{work.buffer_bytes}, sockets_{lab::connect_pair(work.via)} {
        const int client = sockets_.client.get();
        const int server = sockets_.server.get();
        add(client, server);
        if (work.directions == 2) add(server, client);
    }

    void play(lab::slice& now) override {
        const std::uint64_t bytes = now.operations / directions_.size() * buffer_bytes_;
        for (direction& each : directions_) {
            each.outgoing.begin(bytes);
            each.incoming.begin(bytes, now.how);
        }
        for (bool moving = true; moving;) {
            moving = false;
            for (direction& each : directions_) moving = each.step() || moving;
        }
        for (const direction& each : directions_) {
            now.done += each.incoming.amount() / buffer_bytes_;
        }
    }

private:
    void add(int from, int to) {
        directions_.push_back(
            {from, to, lab::outgoing_stream{buffer_bytes_}, lab::incoming_stream{buffer_bytes_}});
    }

    std::size_t buffer_bytes_;
    lab::connected_pair sockets_;
    std::vector<direction> directions_;
};

}  // namespace

lab::preparation raw::prepare(const lab::throughput_case& work) {
    return lab::prepared<throughput_session>(work);
}
