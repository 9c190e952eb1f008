// SPDX-License-Identifier: BSL-1.0
//
// The clients must notice what a server does to them: other bytes, silence, and above all waiting. A load
// that asks less of a server while it stalls would call the stall a single slow message.
#include <lab/load/echo_clients.hpp>

#include <lab/kit/sockets.hpp>

#include <doctest/doctest.h>

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// Does nothing at all for 100 ms of every second, half a second after it has begun for the first time.
void stall(clock::time_point& next) {
    if (clock::now() < next) return;
    next += 1s;
    ::poll(nullptr, 0, 100);
}

// Echoes until all its connections have ended.
class server {
public:
    server(lab::listener at, std::size_t connections, bool stalls)
        : at_{std::move(at)},
          address_{at_.address},
          stalls_{stalls},
          thread_{[this, connections] { run(connections); }} {}
    ~server() { thread_.join(); }

    [[nodiscard]] const sockaddr_in& address() const noexcept { return address_; }

private:
    void run(std::size_t connections) {
        std::vector<lab::descriptor> open;
        std::vector<pollfd> all;
        for (std::size_t i = 0; i < connections; ++i) {
            open.push_back(lab::accept_connection(at_.socket));
            all.push_back({open.back().get(), POLLIN, 0});
        }
        auto next_stall = stalls_ ? clock::now() + 500ms : clock::time_point::max();
        while (!all.empty()) {
            ::poll(all.data(), all.size(), 50);
            stall(next_stall);
            std::erase_if(all, [this](const pollfd& each) { return !answer(each); });
        }
    }

    // Whether the connection goes on.
    bool answer(const pollfd& each) {
        if (each.revents == 0) return true;
        const ssize_t got = ::recv(each.fd, space_.data(), space_.size(), MSG_DONTWAIT);
        if (got <= 0) return false;
        return ::send(each.fd, space_.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) == got;
    }

    lab::listener at_;
    sockaddr_in address_;
    bool stalls_;
    std::array<std::byte, 4'096> space_{};
    std::thread thread_;  // Last: it uses the others.
};

lab::echo_case case_of(std::size_t connections, std::uint64_t messages_per_second) {
    return {64, connections, 1, 4'096, messages_per_second, 0ms, 0ms};
}

lab::histogram play(const lab::echo_case& work, clock::duration length, bool stalls) {
    const server at{lab::listen_on_loopback(), work.connections, stalls};
    lab::histogram latency;
    lab::echo_clients{work, at.address()}.play(length, latency);
    return latency;
}

double milliseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e6; }

}  // namespace

TEST_CASE(
    "an open loop sends what is due, no more and no less, whatever the connections are doing") {
    for (const std::size_t connections : {1, 3, 50}) {
        CAPTURE(connections);
        CHECK(play(case_of(connections, 1'000), 200ms, false).count() == 200);
    }
}

TEST_CASE("what is due by the end is sent after a stall, and nothing that is due later") {
    // The stall lasts from 500 to 600 ms.
    CHECK(play(case_of(1, 1'000), 550ms, true).count() == 550);
}

TEST_CASE("an open loop shows a stall once for every message that it kept waiting") {
    // Two stalls of 100 ms in two seconds: a tenth of what is due falls into them, and waits for anything up
    // to 100 ms. So a twentieth waits for 50 ms and more, and a hundredth for 90.
    const lab::histogram open = play(case_of(4, 2'000), 2s, true);

    CHECK(open.count() == 4'000);
    CHECK(milliseconds(open.quantile(0.95)) >= 40);
    CHECK(milliseconds(open.quantile(0.99)) >= 80);
    CHECK(milliseconds(open.max()) >= 99);
}

TEST_CASE("a closed loop shows a stall once for each connection") {
    const lab::histogram closed = play(case_of(4, 0), 2s, true);

    CHECK(milliseconds(closed.max()) >= 99);
    CHECK(milliseconds(closed.quantile(0.99)) <
          40);  // Which is why it is not what a stall is judged by.
}

TEST_CASE("no message of a thousand connections is like another that may be under way with it") {
    for (const std::uint64_t round : {1, 1'000, 4'092, 1'000'000}) {
        std::set<std::uint64_t> seen;
        for (std::uint64_t later = 0; later < 4; ++later) {
            for (std::size_t connection = 0; connection < 1'000; ++connection) {
                seen.insert(lab::message_position(connection, round + later));
            }
        }
        CHECK(seen.size() == 4'000);
    }
}

TEST_CASE("a connection repeats itself only after as many messages as the content has bytes") {
    std::set<std::uint64_t> seen;
    for (std::uint64_t round = 0; round < lab::stream_content::period; ++round) {
        seen.insert(lab::message_position(7, round));
    }
    CHECK(seen.size() == lab::stream_content::period);
}

TEST_CASE("the ports are those of the clients' ends") {
    const lab::echo_case work = case_of(2, 0);
    const lab::listener at = lab::listen_on_loopback();
    lab::echo_clients load{work, at.address};

    for (const std::uint16_t port : load.ports()) {
        sockaddr_in peer{};
        socklen_t size = sizeof(peer);
        const lab::descriptor accepted{
            ::accept(at.socket.get(), reinterpret_cast<sockaddr*>(&peer), &size)};
        CHECK(ntohs(peer.sin_port) == port);
    }
}
