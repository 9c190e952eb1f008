// SPDX-License-Identifier: BSL-1.0
//
// The floor: what the kernel alone costs.
//
// Bare system calls in a loop that knows by construction which socket is ready, so that nothing is
// queued, waited for or dispatched. No library can be faster without asking the kernel for less.
#include <lab/kit/fail.hpp>
#include <lab/kit/session.hpp>
#include <lab/kit/sockets.hpp>

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace {

std::size_t moved(ssize_t result) {
    if (result > 0) return static_cast<std::size_t>(result);

    lab::require(result < 0 && (errno == EAGAIN || errno == EINTR), "raw_syscalls: send or recv");
    return 0;
}

// Without waiting. 0 if the call would have blocked.
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

void receive_message(int socket, lab::http_inbox& inbox) {
    for (bool complete = false; !complete;) {
        const std::size_t size = receive_some(socket, inbox.space());
        complete = size > 0 && inbox.received(size);
    }
}

// --- throughput: each end that can move bytes does, in turns --------------------------------------

struct direction {
    int from;
    int to;
    lab::outgoing_stream outgoing;
    lab::incoming_stream incoming;

    [[nodiscard]] bool step() {
        const auto next = outgoing.next();
        if (!next.empty()) outgoing.sent(send_some(from, next));

        const auto space = incoming.space();
        if (space.empty()) return false;
        const std::size_t size = receive_some(to, space);
        if (size > 0) incoming.received(size);
        return true;
    }
};

class throughput_session final : public lab::session {
public:
    explicit throughput_session(const lab::throughput_case& work)
        : buffer_bytes_{work.buffer_bytes}, sockets_{lab::connect_pair(work.via)} {
        add(sockets_.client.get(), sockets_.server.get());
        if (work.directions == 2) add(sockets_.server.get(), sockets_.client.get());
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

// --- latency, http: all clients ask, then all are answered ----------------------------------------

// The four calls of a round are the same for one actor and for two, so `two_sides` is the same here.
struct ping_pong_pair {
    explicit ping_pong_pair(const lab::latency_case& work)
        : sockets{lab::connect_pair(work.via)},
          message{work.message_bytes},
          at_server(work.message_bytes) {}

    void ask() { send_all(sockets.client.get(), message.next()); }
    void answer() {
        receive_all(sockets.server.get(), at_server);
        send_all(sockets.server.get(), at_server);
    }
    void finish() {
        receive_all(sockets.client.get(), message.reply_space());
        message.check_reply();
    }

    lab::connected_pair sockets;
    lab::ping message;
    std::vector<std::byte> at_server;
};

struct http_connection {
    explicit http_connection(const lab::http_case&) {}

    void ask() { send_all(sockets.client.get(), lab::bytes_of(lab::http_request)); }
    void answer() {
        receive_message(sockets.server.get(), requests);
        send_all(sockets.server.get(), lab::bytes_of(lab::http_response));
    }
    void finish() { receive_message(sockets.client.get(), responses); }

    lab::connected_pair sockets = lab::connect_pair(lab::transport::tcp);
    lab::http_inbox requests{lab::http_request};
    lab::http_inbox responses{lab::http_response};
};

template <class Member>
class rounds_session final : public lab::session {
public:
    template <class Case>
    rounds_session(const Case& work, std::size_t members) {
        for (std::size_t i = 0; i < members; ++i) members_.emplace_back(work);
    }

    void play(lab::slice& now) override {
        std::vector<lab::lap_timer> timers(members_.size(), lab::lap_timer{now.latency});
        for (; now.done < now.operations; now.done += members_.size()) {
            for (Member& each : members_) each.ask();
            for (Member& each : members_) each.answer();
            for (std::size_t i = 0; i < members_.size(); ++i) {
                members_[i].finish();
                timers[i].lap();
            }
        }
    }

private:
    std::vector<Member> members_;
};

// --- churn: nine calls for each connection ---------------------------------------------------------

// On the loopback interface a connection is in its listener's queue, and a byte in its reader's, when
// the call that sent it returns. So nothing here ever waits, and the kernel is not asked what is ready.
class churn_session final : public lab::session {
public:
    explicit churn_session(const lab::churn_case& work)
        : work_{work}, listeners_{lab::listen_on_loopback(work.listeners)} {}

    void play(lab::slice& now) override {
        if (work_.play == lab::churn_play::one_actor) {
            play_alone(now);
        } else {
            send_bursts(now);
        }
        tally_.check();
    }

private:
    static lab::descriptor connect_to(const lab::listener& at) {
        lab::descriptor client = lab::connect_to(at.address);
        lab::set_reset_on_close(client.get());
        return client;
    }

    static lab::descriptor accept_from(const lab::listener& at) {
        lab::descriptor server{::accept4(at.socket.get(), nullptr, nullptr, SOCK_CLOEXEC)};
        lab::require(server.get() >= 0, "raw_syscalls: accept");
        return server;
    }

    void receive_byte(const lab::descriptor& socket) {
        std::array<std::byte, 1> byte{};
        receive_all(socket.get(), byte);
        tally_.received(byte);
    }

    void play_alone(lab::slice& now) {
        lab::lap_timer timer{now.latency};
        for (std::uint64_t i = 0; i < now.operations; ++i) {
            const lab::listener& at = listeners_[next_++ % listeners_.size()];
            {
                const lab::descriptor client = connect_to(at);
                const lab::descriptor server = accept_from(at);
                send_all(client.get(), tally_.next());
                receive_byte(server);
            }  // The last one made, the server's, closes first.
            timer.lap();
        }
    }

    void send_bursts(lab::slice& now) {
        lab::lap_timer timer{now.latency};
        std::vector<lab::descriptor> clients;
        clients.reserve(work_.at_once);
        const lab::listener& at = listeners_.front();
        for (std::uint64_t done = 0; done < now.operations; done += work_.at_once) {
            timer.begin();
            for (std::size_t i = 0; i < work_.at_once; ++i) {
                clients.push_back(connect_to(at));
                ask(clients.back());
            }
            for (std::size_t i = 0; i < work_.at_once; ++i) answer(accept_from(at));
            for (lab::descriptor& each : clients) {
                leave(std::move(each));
                timer.over();
            }
            clients.clear();
        }
    }

    void ask(const lab::descriptor& client) {
        if (work_.play == lab::churn_play::http_1_0) {
            send_all(client.get(), lab::bytes_of(lab::http_1_0_request));
        } else {
            send_all(client.get(), tally_.next());
        }
    }

    void answer(lab::descriptor server) {
        if (work_.play == lab::churn_play::http_1_0) {
            lab::http_inbox inbox{lab::http_1_0_request};
            receive_message(server.get(), inbox);
            send_all(server.get(), lab::bytes_of(lab::http_1_0_response));
        } else {
            receive_byte(server);
        }
    }

    void leave(lab::descriptor client) {
        if (work_.play == lab::churn_play::http_1_0) {
            lab::http_inbox inbox{lab::http_1_0_response};
            receive_message(client.get(), inbox);
        }
        std::byte more{};
        lab::require(::recv(client.get(), &more, 1, 0) == 0,
                     "raw_syscalls: more came than was sent");
    }

    lab::churn_case work_;
    std::vector<lab::listener> listeners_;
    std::size_t next_ = 0;
    lab::byte_tally tally_;
};

template <class Case>
lab::preparation prepare(const Case& work) {
    if constexpr (requires { work.threads; }) {
        if (work.threads > 0) return lab::cannot_run{"takes no part in rows of threads"};
    }
    if constexpr (std::same_as<Case, lab::throughput_case>) {
        return lab::prepared<throughput_session>(work);
    } else if constexpr (std::same_as<Case, lab::latency_case>) {
        return lab::prepared<rounds_session<ping_pong_pair>>(work, work.pairs);
    } else if constexpr (std::same_as<Case, lab::http_case>) {
        return lab::prepared<rounds_session<http_connection>>(work, work.connections);
    } else if constexpr (std::same_as<Case, lab::churn_case>) {
        return lab::prepared<churn_session>(work);
    } else if constexpr (std::same_as<Case, lab::dispatch_case>) {
        return lab::cannot_run{"bare system calls have no queue to post to"};
    } else {
        return lab::cannot_run{"takes no part in rows of timers and forks"};
    }
}

}  // namespace

lab::contender lab::make_contender(std::string_view backend) {
    require(backend.empty(), "raw_syscalls has no backends to choose from");
    return {{"raw_syscalls", "none", "", "bare system calls"}, [](const work& what) {
                return std::visit([](const auto& each) { return ::prepare(each); }, what);
            }};
}
