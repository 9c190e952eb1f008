// SPDX-License-Identifier: BSL-1.0
//
// The least an echo server on epoll can be: one buffer for all, and a copy of what a full socket left over.
#include <lab/minimal_echo/listen.hpp>

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <string>

struct connection {
    int socket = -1;
    std::string unsent{};
};

class server {
public:
    explicit server(int listener) : listener_{listener} {
        watch(EPOLL_CTL_ADD, listener_, EPOLLIN, nullptr);
    }

    [[noreturn]] void run() {
        epoll_event events[256];
        for (;;) {
            const int count = ::epoll_wait(poller_, events, 256, -1);
            for (int i = 0; i < count; ++i) {
                auto* const it = static_cast<connection*>(events[i].data.ptr);
                it == nullptr ? accept() : advance(*it);
            }
        }
    }

private:
    void accept() {
        const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (socket >= 0) watch(EPOLL_CTL_ADD, socket, EPOLLIN, new connection{socket});
    }

    void watch(int how, int socket, std::uint32_t events, connection* of) const {
        epoll_event event{events, {.ptr = of}};
        ::epoll_ctl(poller_, how, socket, &event);
    }

    void advance(connection& it) {
        if (!it.unsent.empty()) return send_rest(it);
        const ssize_t size = ::recv(it.socket, space_.data(), space_.size(), 0);
        if (size < 0 && errno == EAGAIN) return;
        if (size <= 0) return end(it);
        const ssize_t sent = ::send(it.socket, space_.data(), static_cast<std::size_t>(size), 0);
        if (sent == size) return;
        if (sent < 0 && errno != EAGAIN) return end(it);
        const std::size_t taken = sent < 0 ? 0 : static_cast<std::size_t>(sent);
        it.unsent.assign(space_.data() + taken, static_cast<std::size_t>(size) - taken);
        watch(EPOLL_CTL_MOD, it.socket, EPOLLOUT, &it);
    }

    void send_rest(connection& it) const {
        const ssize_t sent = ::send(it.socket, it.unsent.data(), it.unsent.size(), 0);
        if (sent < 0) return errno == EAGAIN ? void() : end(it);
        it.unsent.erase(0, static_cast<std::size_t>(sent));
        if (it.unsent.empty()) watch(EPOLL_CTL_MOD, it.socket, EPOLLIN, &it);
    }

    static void end(connection& it) {
        ::close(it.socket);
        delete &it;
    }

    int listener_;
    int poller_ = ::epoll_create1(EPOLL_CLOEXEC);
    std::array<char, 4096> space_;
};

int main(int, char** arguments) { server{listen_on(arguments[1])}.run(); }
