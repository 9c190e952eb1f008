// SPDX-License-Identifier: BSL-1.0
//
// Requests and responses with bare system calls: all clients ask, then all are answered.
#include <lab/in_process/raw_syscalls/contender.hpp>

#include <lab/kit/sockets.hpp>

#include <vector>

namespace {

struct http_connection {
    lab::connected_pair sockets = lab::connect_pair(lab::transport::tcp);
    lab::http_inbox requests{lab::http_request};
    lab::http_inbox responses{lab::http_response};
};

void receive_message(int socket, lab::http_inbox& inbox) {
    for (bool complete = false; !complete;) {
        const std::size_t size = raw::receive_some(socket, inbox.space());
        complete = size > 0 && inbox.received(size);
    }
}

class http_session final : public lab::session {
public:
    explicit http_session(const lab::http_case& work) : connections_(work.connections) {}

    void play(lab::slice& now) override {
        std::vector<lab::lap_timer> timers(connections_.size(), lab::lap_timer{now.latency});
        for (; now.done < now.operations; now.done += connections_.size()) {
            for (auto& each : connections_) {
                raw::send_all(each.sockets.client.get(), lab::bytes_of(lab::http_request));
            }
            for (auto& each : connections_) {
                receive_message(each.sockets.server.get(), each.requests);
                raw::send_all(each.sockets.server.get(), lab::bytes_of(lab::http_response));
            }
            for (std::size_t i = 0; i < connections_.size(); ++i) {
                receive_message(connections_[i].sockets.client.get(), connections_[i].responses);
                timers[i].lap();
            }
        }
    }

private:
    std::vector<http_connection> connections_;
};

}  // namespace

lab::preparation raw::prepare(const lab::http_case& work) {
    return lab::prepared<http_session>(work);
}
