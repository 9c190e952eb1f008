// SPDX-License-Identifier: BSL-1.0
//
// What the echo server promises to a thousand clients at once, and at its end.
//
// The server is the built example, in a process of its own; the clients are plain sockets under poll(2),
// so that nothing of the library judges itself.
#include <programs/program.hpp>

#include <gyre/base/build.hpp>
#include <support/harness.hpp>
#include <support/skip.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

using steady = std::chrono::steady_clock;

constexpr bool sanitized = !recycles_memory;  // Then everything takes ten times as long.

// Every client sends its own stretch of one long pattern, so that mixed-up connections show as well.
class pattern {
public:
    static constexpr std::size_t step = 1031;

    pattern(std::size_t clients, std::size_t bytes_each) : bytes_(clients * step + bytes_each) {
        std::uint32_t state = 1;
        for (char& each : bytes_) {
            state = state * 1664525U + 1013904223U;
            each = static_cast<char>(state >> 24);
        }
    }
    [[nodiscard]] const char* of(std::size_t client) const { return bytes_.data() + client * step; }

private:
    std::vector<char> bytes_;
};

// One connection that sends its stretch and checks what comes back.
struct client {
    int number = -1;
    const char* data = nullptr;
    std::size_t to_send = 0;
    std::size_t sent = 0;
    std::size_t received = 0;
    bool slow = false;
    steady::time_point next_read{};
    bool ended = false;   // The end of the stream was read.
    int broken = 0;       // The errno value of a failure.
    bool correct = true;  // So far, what came back was what had been sent.

    void fail_with(int why) {
        broken = why;
        close();
    }
    void close() {
        if (number >= 0) ::close(number);
        number = -1;
    }
};

constexpr std::size_t slow_read_bytes = 8 * 1024;
constexpr duration slow_read_pause = 10ms;

// A crowd of clients, driven by one thread.
class crowd {
public:
    crowd(const endpoint& server, std::size_t size, std::size_t bytes_each)
        : pattern_{size, bytes_each}, clients_(size) {
        for (std::size_t index = 0; index < size; ++index) {
            client& it = clients_[index];
            it.slow = index % 10 == 3;
            it.data = pattern_.of(index);
            it.to_send = bytes_each;
            it.number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            REQUIRE(it.number >= 0);
            if (it.slow) {
                const int little = 16 * 1024;
                ::setsockopt(it.number, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
            }
            const auto* raw = reinterpret_cast<const sockaddr*>(server.raw().data);
            REQUIRE(::connect(it.number, raw, server.raw().size) == 0);
            REQUIRE(::fcntl(it.number, F_SETFL, O_NONBLOCK) == 0);
        }
    }
    crowd(const crowd&) = delete;
    crowd& operator=(const crowd&) = delete;
    ~crowd() {
        for (client& each : clients_) each.close();
    }

    // Goes on until `over()` or the limit, which is a failure.
    template <class Over>
    void drive_until(const Over& over) {
        const steady::time_point limit = steady::now() + 2 * patience;
        while (!over()) {
            REQUIRE(steady::now() < limit);
            turn();
        }
    }

    [[nodiscard]] std::uint64_t received() const {
        std::uint64_t sum = 0;
        for (const client& each : clients_) sum += each.received;
        return sum;
    }
    // By the one that has received least: above zero, every connection has been accepted.
    [[nodiscard]] std::size_t least_received() const {
        return std::ranges::min(clients_, {}, &client::received).received;
    }
    [[nodiscard]] bool all_over() const {
        return std::ranges::all_of(clients_, [](const client& each) { return each.number < 0; });
    }
    [[nodiscard]] const std::vector<client>& clients() const { return clients_; }

private:
    void turn() {
        const steady::time_point now = steady::now();
        polled_.clear();
        who_.clear();
        for (client& each : clients_) {
            if (each.number < 0) continue;
            short events = each.sent < each.to_send ? POLLOUT : 0;
            if (!each.slow || now >= each.next_read) events |= POLLIN;
            if (events == 0) continue;
            polled_.push_back({each.number, events, 0});
            who_.push_back(&each);
        }
        REQUIRE(::poll(polled_.data(), polled_.size(), 1) >= 0);
        for (std::size_t index = 0; index < polled_.size(); ++index) {
            const short ready = polled_[index].revents;
            client& it = *who_[index];
            if ((ready & POLLOUT) != 0) send_some(it);
            const bool wants = (polled_[index].events & POLLIN) != 0;
            if (wants && (ready & (POLLIN | POLLHUP | POLLERR)) != 0) receive_some(it, now);
        }
    }
    static void send_some(client& it) {
        const std::size_t size = std::min<std::size_t>(it.to_send - it.sent, 64 * 1024);
        const ssize_t sent = ::send(it.number, it.data + it.sent, size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) return it.fail_with(errno);
        if (sent < 0) return;
        it.sent += static_cast<std::size_t>(sent);
        if (it.sent == it.to_send) ::shutdown(it.number, SHUT_WR);
    }
    void receive_some(client& it, steady::time_point now) {
        if (it.number < 0) return;
        it.next_read = now + slow_read_pause;
        const std::size_t most = it.slow ? slow_read_bytes : space_.size();
        const ssize_t got = ::recv(it.number, space_.data(), most, 0);
        if (got < 0 && errno != EAGAIN) return it.fail_with(errno);
        if (got < 0) return;
        if (got == 0) {
            it.ended = true;
            return it.close();
        }
        const auto size = static_cast<std::size_t>(got);
        it.correct = it.correct && it.received + size <= it.sent &&
                     std::memcmp(space_.data(), it.data + it.received, size) == 0;
        it.received += size;
    }

    pattern pattern_;
    std::vector<client> clients_;
    std::vector<pollfd> polled_;
    std::vector<client*> who_;
    std::vector<char> space_ = std::vector<char>(64 * 1024);
};

// What the server says at its end: the bytes it has read, and the connections they came on.
struct totals {
    unsigned long long bytes = 0;
    unsigned long long connections = 0;
};

totals told_by(program& server) {
    totals it;
    const std::string line = server.next_line();
    CAPTURE(line);
    REQUIRE(std::sscanf(line.c_str(), "echoed %llu bytes on %llu connections", &it.bytes,
                        &it.connections) == 2);
    return it;
}

std::vector<program::variable> on(backend_choice backend) {
    return {{"GYRE_BACKEND", describe(backend)}};
}

}  // namespace

namespace {

constexpr std::size_t stream_size = std::size_t{STREAM_KIB} << 10;

// Up to a GiB goes to and fro on each backend: a case for each, so that none takes long by itself.
void check_thousand_connections(backend_choice backend) {
    if (std::ranges::count(backends_under_test(), backend) == 0) {
        return skip("another backend is asked for");
    }
    const std::size_t wanted = 1000;
    const std::size_t size = std::min(wanted, raise_descriptor_limit(wanted + 200) - 200);
    const std::string name = describe(backend);
    CAPTURE(name);
    program server{GYRE_ECHO_SERVER, {"127.0.0.1:0"}, on(backend)};
    const steady::time_point start = steady::now();
    std::size_t right = 0;
    {
        crowd all{server.listening_on(), size, stream_size};

        all.drive_until([&] { return all.all_over(); });

        for (const client& each : all.clients()) {
            right += each.ended && each.correct && each.received == stream_size ? 1 : 0;
        }
    }
    const auto took = std::chrono::duration<double>(steady::now() - start).count();
    server.send(SIGTERM);
    const totals told = told_by(server);

    MESSAGE(name, ": ", size, " connections x ", stream_size >> 10, " KiB in ", took, " s");
    CHECK(right == size);
    CHECK(told.bytes == size * stream_size);
    CHECK(told.connections == size);
    CHECK(server.wait() == 0);
}

// Those it has not read were still sending.
void check_termination(backend_choice backend) {
    if (std::ranges::count(backends_under_test(), backend) == 0) {
        return skip("another backend is asked for");
    }
    const std::size_t size = sanitized ? 50 : 200;
    raise_descriptor_limit(size + 200);
    const std::string name = describe(backend);
    CAPTURE(name);
    program server{GYRE_ECHO_SERVER, {"127.0.0.1:0"}, on(backend)};
    // More than a client gets to send before the signal.
    crowd all{server.listening_on(), size, 64 << 20};
    const std::size_t some = sanitized ? 64 << 10 : 128 << 10;
    all.drive_until([&] { return all.least_received() >= some; });

    server.send(SIGTERM);
    all.drive_until([&] { return all.all_over(); });
    const totals told = told_by(server);
    const int status = server.wait();

    std::size_t in_order = 0;
    std::size_t in_the_middle = 0;
    for (const client& each : all.clients()) {
        CHECK(each.broken == 0);
        in_order += each.ended && each.correct ? 1 : 0;
        in_the_middle += each.sent < each.to_send ? 1 : 0;
    }
    MESSAGE(name, ": ", all.received() >> 20, " MiB were echoed on ", size,
            " connections, of which ", in_the_middle, " were still sending");
    CHECK(in_order == size);
    CHECK(in_the_middle > 0);
    CHECK(all.received() == told.bytes);
    CHECK(told.connections == size);
    CHECK(status == 0);
}

}  // namespace

TEST_CASE("on epoll, the echo server carries 1,000 long streams, slow readers too") {
    check_thousand_connections(backend_choice::epoll);
}
TEST_CASE("on uring-a, the echo server carries 1,000 long streams, slow readers too") {
    check_thousand_connections(backend_choice::uring_a);
}
TEST_CASE("on uring-b, the echo server carries 1,000 long streams, slow readers too") {
    check_thousand_connections(backend_choice::uring_b);
}
TEST_CASE("on uring-c, the echo server carries 1,000 long streams, slow readers too") {
    check_thousand_connections(backend_choice::uring_c);
}

TEST_CASE("on epoll, all that the echo server has read before a SIGTERM arrives, then the end") {
    check_termination(backend_choice::epoll);
}
TEST_CASE("on uring-a, all that the echo server has read before a SIGTERM arrives, then the end") {
    check_termination(backend_choice::uring_a);
}
TEST_CASE("on uring-b, all that the echo server has read before a SIGTERM arrives, then the end") {
    check_termination(backend_choice::uring_b);
}
TEST_CASE("on uring-c, all that the echo server has read before a SIGTERM arrives, then the end") {
    check_termination(backend_choice::uring_c);
}

TEST_CASE("a second SIGTERM ends the echo server at once, with clients still connected") {
    for (const backend_choice backend : backends_under_test()) {
        const std::string name = describe(backend);
        CAPTURE(name);
        program server{GYRE_ECHO_SERVER, {"127.0.0.1:0"}, on(backend)};
        const endpoint where = server.listening_on();
        // Sends as much as goes in and reads nothing, so the server is stuck in a write.
        const int stuck = plain_connect(where);
        REQUIRE(::fcntl(stuck, F_SETFL, O_NONBLOCK) == 0);
        const std::vector<char> much(1 << 20, 'x');
        pollfd writable{stuck, POLLOUT, 0};
        while (::poll(&writable, 1, 100) == 1) {
            static_cast<void>(::send(stuck, much.data(), much.size(), MSG_NOSIGNAL));
        }

        server.send(SIGTERM);
        // The listener closes in answer to the first one; only then comes the second.
        pollfd waiting{-1, 0, 0};
        for (;;) {
            const int late = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            const auto* raw = reinterpret_cast<const sockaddr*>(where.raw().data);
            const bool refused = ::connect(late, raw, where.raw().size) < 0;
            ::close(late);
            if (refused) break;
            ::poll(&waiting, 1, 1);
        }
        // Sooner it would be the first one once more, by run_options::signal_gap.
        constexpr int gap_milliseconds = 200;
        ::poll(&waiting, 1, gap_milliseconds);
        const steady::time_point second = steady::now();
        server.send(SIGTERM);
        const int status = server.wait();
        const auto took = steady::now() - second;
        ::close(stuck);

        CHECK(status == 128 + SIGTERM);
        CHECK(took < 1s);
    }
}

TEST_CASE("the echo server refuses an address that is none, and one that is taken") {
    program nonsense{GYRE_ECHO_SERVER, {"nonsense"}};
    program first{GYRE_ECHO_SERVER, {"127.0.0.1:0"}};
    const endpoint taken = first.listening_on();
    program second{GYRE_ECHO_SERVER, {taken.to_string()}};

    CHECK(nonsense.next_line() == "usage: echo_server [ADDRESS:PORT]");
    CHECK(nonsense.wait() == 2);
    CHECK(second.next_line() ==
          "gyre: bind: Address already in use (port " + std::to_string(taken.port()) + ")");
    CHECK(second.wait() == 1);
    first.send(SIGINT);
    CHECK(first.wait() == 0);
}
