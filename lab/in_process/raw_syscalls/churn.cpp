// SPDX-License-Identifier: BSL-1.0
//
// The floor of short connections: nine calls each, on sockets that block.
//
// On the loopback interface a connection is in its listener's queue, and a byte in its reader's, when
// the call that sent it returns. So nothing here ever waits, and the kernel is not asked what is ready.
#include <lab/in_process/raw_syscalls/contender.hpp>

#include <lab/kit/fail.hpp>
#include <lab/kit/sockets.hpp>

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace {

lab::descriptor connect_to(const lab::listener& at) {
    lab::descriptor client{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    lab::set_no_delay(client.get());
    lab::set_reset_on_close(client.get());
    const auto* const address = reinterpret_cast<const sockaddr*>(&at.address);
    lab::require(::connect(client.get(), address, sizeof(at.address)) == 0,
                 "raw_syscalls: connect");
    return client;
}

lab::descriptor accept_from(const lab::listener& at) {
    lab::descriptor server{::accept4(at.socket.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    lab::require(server.get() >= 0, "raw_syscalls: accept");
    return server;
}

void send_all(const lab::descriptor& socket, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        lab::require(sent > 0, "raw_syscalls: send");
        bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
}

std::size_t receive_some(const lab::descriptor& socket, std::span<std::byte> space) {
    const ssize_t got = ::recv(socket.get(), space.data(), space.size(), 0);
    lab::require(got >= 0, "raw_syscalls: recv");
    return static_cast<std::size_t>(got);
}

void receive_byte(const lab::descriptor& socket, lab::byte_tally& tally) {
    std::array<std::byte, 1> byte{};
    lab::require(receive_some(socket, byte) == 1, "raw_syscalls: no byte came");
    tally.received(byte);
}

void receive_message(const lab::descriptor& socket, std::string_view expected) {
    lab::http_inbox inbox{expected};
    for (bool complete = false; !complete;) {
        const std::size_t size = receive_some(socket, inbox.space());
        lab::require(size > 0, "raw_syscalls: the message ended early");
        complete = inbox.received(size);
    }
}

void expect_end(const lab::descriptor& socket) {
    std::array<std::byte, 1> byte{};
    lab::require(receive_some(socket, byte) == 0, "raw_syscalls: more came than was sent");
}

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
        now.done = now.latency.count();
    }

private:
    void play_alone(lab::slice& now) {
        lab::lap_timer timer{now.latency};
        for (std::uint64_t i = 0; i < now.operations; ++i) {
            const lab::listener& at = listeners_[next_++ % listeners_.size()];
            {
                const lab::descriptor client = connect_to(at);
                const lab::descriptor server = accept_from(at);
                send_all(client, tally_.next());
                receive_byte(server, tally_);
            }  // The last one made, the server's, closes first.
            timer.lap();
        }
    }

    void send_bursts(lab::slice& now) {
        lab::burst_timer timer{now.latency};
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
            send_all(client, lab::bytes_of(lab::http_1_0_request));
        } else {
            send_all(client, tally_.next());
        }
    }

    void answer(lab::descriptor server) {
        if (work_.play == lab::churn_play::http_1_0) {
            receive_message(server, lab::http_1_0_request);
            send_all(server, lab::bytes_of(lab::http_1_0_response));
        } else {
            receive_byte(server, tally_);
        }
    }

    void leave(lab::descriptor client) {
        if (work_.play == lab::churn_play::http_1_0) {
            receive_message(client, lab::http_1_0_response);
        }
        expect_end(client);
    }

    lab::churn_case work_;
    std::vector<lab::listener> listeners_;
    std::size_t next_ = 0;
    lab::byte_tally tally_;
};

}  // namespace

lab::preparation raw::prepare(const lab::churn_case& work) {
    return lab::prepared<churn_session>(work);
}
