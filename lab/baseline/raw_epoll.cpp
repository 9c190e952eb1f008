// SPDX-License-Identifier: BSL-1.0
//
// The best plain server on epoll that we can write: no library, no abstraction, one buffer.
//
// All connections share one scratch buffer, which stays in the cache: what arrives is answered before the
// next connection is looked at. Only what a full socket did not take is kept, and only then is room to
// write asked about.
#include <lab/baseline/requests.hpp>
#include <lab/baseline/seam.hpp>

#include <lab/fail.hpp>

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

namespace {

struct connection {
    int number = -1;
    std::string unsent{};
    baseline::request_scanner requests{};
};

class server {
public:
    server(const baseline::job& wanted, lab::descriptor listener)
        : answers_{wanted.what},
          listener_{std::move(listener)},
          poller_{::epoll_create1(EPOLL_CLOEXEC)} {
        lab::require(::fcntl(listener_.get(), F_SETFL, O_NONBLOCK) == 0, "raw_epoll: fcntl");
        epoll_event event{EPOLLIN, {.ptr = nullptr}};
        lab::require(::epoll_ctl(poller_.get(), EPOLL_CTL_ADD, listener_.get(), &event) == 0,
                     "raw_epoll: epoll_ctl");
    }

    [[noreturn]] void run() {
        for (;;) turn();
    }

private:
    void turn() {
        const int count =
            ::epoll_wait(poller_.get(), events_.data(), static_cast<int>(events_.size()), -1);
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
            const int number = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
            if (number < 0) return;
            connection& it = spare();
            it.number = number;
            watch(it, EPOLL_CTL_ADD, EPOLLIN);
        }
    }

    connection& spare() {
        if (spares_.empty()) return *new connection;
        connection& it = *spares_.back();
        spares_.pop_back();
        it.requests = {};
        return it;
    }

    void watch(connection& it, int how, std::uint32_t events) {
        epoll_event event{events, {.ptr = &it}};
        lab::require(::epoll_ctl(poller_.get(), how, it.number, &event) == 0,
                     "raw_epoll: epoll_ctl");
    }

    void answer(connection& it) {
        const ssize_t got = ::recv(it.number, scratch_.data(), scratch_.size(), MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN) return;
        if (got <= 0) return end(it);

        const std::string_view arrived{scratch_.data(), static_cast<std::size_t>(got)};
        const bool asked = answers_ == baseline::workload::http;
        const std::string_view answer = asked ? it.requests.answer_to(arrived) : arrived;
        const ssize_t sent = answer.empty() ? 0 : send(it, answer);
        if (sent < 0) return end(it);
        const std::string_view rest = answer.substr(static_cast<std::size_t>(sent));
        if (!rest.empty()) {
            it.unsent = rest;
            watch(it, EPOLL_CTL_MOD, EPOLLOUT);
        } else if (it.requests.closes()) {
            end(it);
        }
    }

    void send_rest(connection& it) {
        const ssize_t sent = send(it, it.unsent);
        if (sent < 0) return end(it);
        it.unsent.erase(0, static_cast<std::size_t>(sent));
        if (!it.unsent.empty()) return;
        it.requests.closes() ? end(it) : watch(it, EPOLL_CTL_MOD, EPOLLIN);
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

    baseline::workload answers_;
    lab::descriptor listener_;
    lab::descriptor poller_;
    std::array<char, 64 * 1024> scratch_;
    std::array<epoll_event, 256> events_{};
    std::vector<connection*> spares_;
};

}  // namespace

int main(int count, char** arguments) {
    const baseline::identity about{"none", "-", {"epoll"}};
    return baseline::run(count, arguments, about,
                         [](const baseline::job& wanted, lab::descriptor listener) {
                             server{wanted, std::move(listener)}.run();
                         });
}
