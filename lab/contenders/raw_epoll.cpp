// SPDX-License-Identifier: BSL-1.0
//
// The best plain server on epoll that we can write: no library, no abstraction, one buffer.
//
// All connections share one scratch buffer, which therefore stays in the cache: a message is read
// and sent back before the next one is looked at. Only what a full socket did not take is kept, and only
// then is room to write asked about.
#include <lab/contender.hpp>
#include <lab/fail.hpp>
#include <lab/load.hpp>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct connection {
    int number;
    std::vector<std::byte> unsent;
};

class server {
public:
    server(const lab::echo_case& work, lab::descriptor listener)
        : scratch_(work.buffer_bytes),
          listener_{std::move(listener)},
          poller_{::epoll_create1(EPOLL_CLOEXEC)} {}

    void run(std::size_t connections) {
        for (std::size_t i = 0; i < connections; ++i) accept();
        for (open_ = connections; open_ > 0;) turn();
    }

private:
    void accept() {
        const int number = lab::accept_connection(listener_).release();
        watch(*new connection{number, {}}, EPOLL_CTL_ADD, EPOLLIN);
    }

    void watch(connection& it, int how, std::uint32_t events) {
        epoll_event event{events, {.ptr = &it}};
        lab::require(::epoll_ctl(poller_.get(), how, it.number, &event) == 0,
                     "raw_epoll: epoll_ctl");
    }

    void turn() {
        const int count =
            ::epoll_wait(poller_.get(), events_.data(), static_cast<int>(events_.size()), -1);
        lab::require(count >= 0 || errno == EINTR, "raw_epoll: epoll_wait");
        for (int i = 0; i < count; ++i) {
            auto& it = *static_cast<connection*>(events_[static_cast<std::size_t>(i)].data.ptr);
            if (it.unsent.empty()) {
                answer(it);
            } else {
                send_rest(it);
            }
        }
    }

    void answer(connection& it) {
        const ssize_t got = ::recv(it.number, scratch_.data(), scratch_.size(), MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN) return;
        if (got <= 0) return end(it);

        const auto message = std::span{scratch_}.first(static_cast<std::size_t>(got));
        const std::size_t sent = send(it, message);
        if (sent == message.size()) return;
        it.unsent.assign(message.begin() + static_cast<std::ptrdiff_t>(sent), message.end());
        watch(it, EPOLL_CTL_MOD, EPOLLOUT);
    }

    void send_rest(connection& it) {
        const std::size_t sent = send(it, it.unsent);
        it.unsent.erase(it.unsent.begin(), it.unsent.begin() + static_cast<std::ptrdiff_t>(sent));
        if (it.unsent.empty()) watch(it, EPOLL_CTL_MOD, EPOLLIN);
    }

    std::size_t send(connection& it, std::span<const std::byte> bytes) {
        const ssize_t sent =
            ::send(it.number, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) return 0;
        lab::require(sent > 0, "raw_epoll: send");
        return static_cast<std::size_t>(sent);
    }

    void end(connection& it) {
        ::close(it.number);
        delete &it;
        --open_;
    }

    std::vector<std::byte> scratch_;
    lab::descriptor listener_;
    lab::descriptor poller_;
    std::array<epoll_event, 256> events_{};
    std::size_t open_ = 0;
};

class raw_epoll : public lab::contender {
public:
    lab::identity about() const override { return {"raw_epoll", "none", "", "epoll"}; }

    void echo(const lab::echo_case& work, lab::descriptor listener) override {
        server{work, std::move(listener)}.run(work.connections);
    }
    std::string refusal_to_echo(const lab::echo_case& work) const override {
        return lab::refuse_threads(work);
    }
};

}  // namespace

std::unique_ptr<lab::contender> lab::make_contender(std::string_view backend) {
    require(backend.empty(), "raw_epoll has no backends to choose from");
    return std::make_unique<raw_epoll>();
}
