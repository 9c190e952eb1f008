// SPDX-License-Identifier: BSL-1.0
//
// The best plain server on epoll that we can write: no library, no abstraction, one buffer.
//
// All connections share one scratch buffer, which stays in the cache: what arrives is answered before the
// next connection is looked at. Only what a full socket did not take is kept, and only then is room to
// write asked about.
#pragma once

#include <lab/kit/fail.hpp>
#include <lab/servers/seam.hpp>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace raw_epoll {

/// @tparam Answers  One for each connection; see answers.hpp.
template <class Answers>
class server {
public:
    explicit server(const servers::job& wanted)
        : listener_{servers::listen_on(wanted)}, scratch_(wanted.buffer_bytes) {
        lab::require(::fcntl(listener_, F_SETFL, O_NONBLOCK) == 0, "raw_epoll: fcntl");
        watch(EPOLL_CTL_ADD, listener_, EPOLLIN, nullptr);
        servers::say_ready(wanted);
    }

    [[noreturn]] void run() {
        for (;;) turn();
    }

private:
    struct connection {
        int number = -1;
        std::string unsent{};
        Answers answers{};
    };

    void turn() {
        const int count =
            ::epoll_wait(poller_, events_.data(), static_cast<int>(events_.size()), -1);
        lab::require(count >= 0 || errno == EINTR, "raw_epoll: epoll_wait");
        for (int i = 0; i < count; ++i) {
            auto* const it =
                static_cast<connection*>(events_[static_cast<std::size_t>(i)].data.ptr);
            if (it == nullptr) {
                accept_all();
            } else if (it->unsent.empty()) {
                answer(*it);
            } else {
                send_rest(*it);
            }
        }
    }

    void accept_all() {
        for (;;) {
            const int number = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (number < 0) return;
            connection& it = spare();
            it.number = number;
            watch(EPOLL_CTL_ADD, number, EPOLLIN, &it);
        }
    }

    connection& spare() {
        if (spares_.empty()) return *new connection;
        connection& it = *spares_.back();
        spares_.pop_back();
        it.answers = {};
        return it;
    }

    void watch(int how, int number, std::uint32_t events, connection* of) {
        epoll_event event{events, {.ptr = of}};
        lab::require(::epoll_ctl(poller_, how, number, &event) == 0, "raw_epoll: epoll_ctl");
    }

    void answer(connection& it) {
        const ssize_t got = ::recv(it.number, scratch_.data(), scratch_.size(), MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN) return;
        if (got <= 0) return end(it);

        const std::string_view arrived{scratch_.data(), static_cast<std::size_t>(got)};
        const std::string_view answer = it.answers.answer_to(arrived);
        const ssize_t sent = answer.empty() ? 0 : send(it, answer);
        if (sent < 0) return end(it);
        const std::string_view rest = answer.substr(static_cast<std::size_t>(sent));
        if (!rest.empty()) {
            it.unsent = rest;
            watch(EPOLL_CTL_MOD, it.number, EPOLLOUT, &it);
        } else if (it.answers.closes()) {
            end(it);
        }
    }

    void send_rest(connection& it) {
        const ssize_t sent = send(it, it.unsent);
        if (sent < 0) return end(it);
        it.unsent.erase(0, static_cast<std::size_t>(sent));
        if (!it.unsent.empty()) return;
        it.answers.closes() ? end(it) : watch(EPOLL_CTL_MOD, it.number, EPOLLIN, &it);
    }

    // How much was taken; negative if the client has gone.
    ssize_t send(connection& it, std::string_view bytes) {
        const ssize_t sent =
            ::send(it.number, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        return sent < 0 && errno == EAGAIN ? 0 : sent;
    }

    void end(connection& it) {
        ::close(it.number);
        it.unsent.clear();
        spares_.push_back(&it);
    }

    int listener_;
    int poller_ = ::epoll_create1(EPOLL_CLOEXEC);
    std::vector<char> scratch_;
    std::array<epoll_event, 256> events_{};
    std::vector<connection*> spares_;
};

}  // namespace raw_epoll
