// SPDX-License-Identifier: BSL-1.0
//
// The floor: what the kernel alone costs.
//
// Bare system calls in a loop that knows by construction which socket is ready, so that nothing is
// queued, waited for or dispatched. No library can be faster without asking the kernel for less.
#include <lab/contenders/raw_suites.hpp>

#include <lab/contender.hpp>
#include <lab/fail.hpp>
#include <lab/load.hpp>

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

// Returns the bytes moved: 0 if the call would have blocked.
std::size_t moved(ssize_t result) {
    if (result > 0) return static_cast<std::size_t>(result);

    lab::require(result < 0 && (errno == EAGAIN || errno == EINTR), "raw_syscalls: send or recv");
    return 0;
}

std::size_t send_some(int socket, std::span<const std::byte> bytes) {
    return moved(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

std::size_t receive_some(int socket, std::span<std::byte> space) {
    return moved(::recv(socket, space.data(), space.size(), MSG_DONTWAIT));
}

void send_all(int socket, std::span<const std::byte> bytes) {
    while (!bytes.empty()) bytes = bytes.subspan(send_some(socket, bytes));
}

void receive_all(int socket, std::span<std::byte> space) {
    while (!space.empty()) space = space.subspan(receive_some(socket, space));
}

// One direction of `throughput`: whoever can move bytes does, in turns.
struct direction {
    int from;
    int to;
    lab::outgoing_stream outgoing;
    lab::incoming_stream incoming;

    void begin(std::uint64_t size, lab::verification how) {
        outgoing.begin(size);
        incoming.begin(size, how);
    }

    [[nodiscard]] bool step() {
        const auto next = outgoing.next();
        if (!next.empty()) outgoing.sent(send_some(from, next));

        const auto space = incoming.space();
        if (space.empty()) return false;
        if (const std::size_t size = receive_some(to, space); size > 0) incoming.received(size);
        return true;
    }
};

void run(std::vector<direction>& directions) {
    for (bool moving = true; moving;) {
        moving = false;
        for (direction& each : directions) moving = each.step() || moving;
    }
}

struct ping_pong_pair {
    explicit ping_pong_pair(const lab::latency_case& work)
        : sockets{lab::connect_pair(work.via)},
          message{work.message_bytes},
          at_server(work.message_bytes) {}

    lab::connected_pair sockets;
    lab::ping message;
    std::vector<std::byte> at_server;
};

void play(std::vector<ping_pong_pair>& pairs, std::uint64_t rounds, lab::histogram& latency) {
    std::vector<lab::lap_timer> timers(pairs.size(), lab::lap_timer{latency});
    for (std::uint64_t round = 0; round < rounds; ++round) {
        for (auto& each : pairs) send_all(each.sockets.client.get(), each.message.next());
        for (auto& each : pairs) {
            receive_all(each.sockets.server.get(), each.at_server);
            send_all(each.sockets.server.get(), each.at_server);
        }
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            receive_all(pairs[i].sockets.client.get(), pairs[i].message.reply_space());
            pairs[i].message.check_reply();
            timers[i].lap();
        }
    }
}

struct http_connection {
    lab::connected_pair sockets = lab::connect_pair(lab::transport::tcp);
    lab::http_inbox requests{lab::http_request};
    lab::http_inbox responses{lab::http_response};
};

void receive_message(int socket, lab::http_inbox& inbox) {
    for (bool complete = false; !complete;) {
        const std::size_t size = receive_some(socket, inbox.space());
        complete = size > 0 && inbox.received(size);
    }
}

void serve(std::vector<http_connection>& connections, std::uint64_t requests,
           lab::histogram& latency) {
    std::vector<lab::lap_timer> timers(connections.size(), lab::lap_timer{latency});
    for (std::uint64_t request = 0; request < requests; ++request) {
        for (auto& each : connections) {
            send_all(each.sockets.client.get(), lab::bytes_of(lab::http_request));
        }
        for (auto& each : connections) {
            receive_message(each.sockets.server.get(), each.requests);
            send_all(each.sockets.server.get(), lab::bytes_of(lab::http_response));
        }
        for (std::size_t i = 0; i < connections.size(); ++i) {
            receive_message(connections[i].sockets.client.get(), connections[i].responses);
            timers[i].lap();
        }
    }
}

class raw_syscalls : public lab::contender {
public:
    lab::identity about() const override {
        return {"raw_syscalls", "none", "", "bare system calls"};
    }

    lab::outcome dispatch(const lab::dispatch_case&) override {
        return lab::cannot_run{"bare system calls have no queue to post to"};
    }

    lab::outcome throughput(const lab::throughput_case& work) override {
        const lab::connected_pair sockets = lab::connect_pair(work.via);
        const int client = sockets.client.get();
        const int server = sockets.server.get();

        std::vector<direction> directions;
        const auto add = [&](int from, int to) {
            directions.push_back({from, to, lab::outgoing_stream{work.buffer_bytes},
                                  lab::incoming_stream{work.buffer_bytes}});
        };
        add(client, server);
        if (work.direction == lab::flow::both_ways) add(server, client);

        for (auto& each : directions) {
            each.begin(work.warm_up_bytes_per_direction, lab::verification::every_byte);
        }
        run(directions);

        for (auto& each : directions) {
            each.begin(work.bytes_per_direction, lab::verification::edges);
        }
        const lab::stopwatch watch;
        run(directions);

        lab::measurement result{.spent = watch.stop()};
        for (const auto& each : directions) result.amount += each.incoming.amount();
        return result;
    }

    // The four calls of a round do not depend on who makes them, so `ping_pong` changes nothing.
    lab::outcome latency(const lab::latency_case& work) override {
        std::vector<ping_pong_pair> pairs;
        for (std::size_t i = 0; i < work.pairs; ++i) pairs.emplace_back(work);

        lab::histogram warm_up;
        play(pairs, work.warm_up_rounds_per_pair, warm_up);

        lab::measurement result;
        const lab::stopwatch watch;
        play(pairs, work.rounds_per_pair, result.latency);
        result.spent = watch.stop();
        result.amount = result.latency.count();
        return result;
    }

    lab::outcome http(const lab::http_case& work) override {
        std::vector<http_connection> connections(work.connections);

        lab::histogram warm_up;
        serve(connections, work.warm_up_requests_per_connection, warm_up);

        lab::measurement result;
        const lab::stopwatch watch;
        serve(connections, work.requests_per_connection, result.latency);
        result.spent = watch.stop();
        result.amount = result.latency.count();
        return result;
    }

    lab::outcome churn(const lab::churn_case& work) override { return raw::measure_churn(work); }
};

}  // namespace

std::unique_ptr<lab::contender> lab::make_contender(std::string_view backend) {
    require(backend.empty(), "raw_syscalls has no backends to choose from");
    return std::make_unique<raw_syscalls>();
}
