// SPDX-License-Identifier: BSL-1.0
//
// A server that keeps to the rules of servers/seam.hpp, or breaks one in one way that is asked for.
//
// It is no contender: a thread for each connection is not the fastest of anything.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

namespace {

struct settings {
    std::string fault;
    std::string workload;
    int threads = 0;
    int port = 0;
};

[[noreturn]] void complain(std::string_view what, int status) {
    std::fprintf(stderr, "peer_fixture: %.*s\n", static_cast<int>(what.size()), what.data());
    std::exit(status);
}

settings parse(int count, char** arguments) {
    settings given;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string_view name{arguments[i]};
        const std::string value{arguments[i + 1]};
        if (name == "--fault") {
            given.fault = value;
        } else if (name == "--workload") {
            given.workload = value;
        } else if (name == "--threads") {
            given.threads = std::atoi(value.c_str());
        } else if (name == "--port") {
            given.port = std::atoi(value.c_str());
        } else {
            complain("unknown argument", 2);
        }
    }
    if (given.workload != "echo" || given.threads < 1 || given.port < 1) {
        complain("it echoes on a port, on one thread or more", 2);
    }
    if (given.fault == "one_thread" && given.threads > 1) complain("has one thread only", 2);
    return given;
}

// `taken FILE`: its port is taken the first time, of which FILE is the sign; `taken` alone: always.
bool pretends_to_be_taken(const std::string& fault) {
    if (fault == "taken") return true;
    if (!fault.starts_with("taken ")) return false;
    return ::open(fault.substr(6).c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600) >= 0;
}

int listen_on(int port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    sockaddr_in local{};
    local.sin_family = AF_INET;
    local.sin_port = htons(static_cast<std::uint16_t>(port));
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&local), sizeof(local)) != 0 ||
        ::listen(socket, SOMAXCONN) != 0) {
        complain("the port is taken", 1);
    }
    return socket;
}

// Where the answers of two connections meet, so that each takes the other's along.
class crossing {
public:
    void pass(std::span<char> answer) {
        std::unique_lock lock{mutex_};
        if (over_) return;
        if (first_.empty()) {
            first_ = answer;
            met_.wait(lock, [this] { return over_; });
            return;
        }
        std::ranges::swap_ranges(answer, first_);
        over_ = true;
        met_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable met_;
    std::span<char> first_;
    bool over_ = false;
};

// All of these leave the answer as long as it was.
void spoil(std::span<char> answer, std::string_view fault) {
    static crossing all;
    constexpr std::size_t block = 1'024;
    if (fault == "flips_a_bit") answer.back() ^= 1;
    if (fault == "swaps_connections") all.pass(answer);
    if (answer.size() < 3 * block) return;
    const auto second = answer.subspan(block, block);
    const auto third = answer.subspan(2 * block, block);
    if (fault == "swaps_blocks") std::ranges::swap_ranges(second, third);
    if (fault == "repeats_a_block") std::ranges::copy(second, third.begin());
}

// Whether the connection goes on.
bool answer(int socket, std::string_view fault, std::size_t round) {
    std::array<char, 65'536> space;
    const ssize_t got = ::recv(socket, space.data(), space.size(), 0);
    if (got <= 0 || (fault == "hangs_up" && round == 10)) return false;
    if (round == 10) spoil(std::span{space}.first(static_cast<std::size_t>(got)), fault);
    for (ssize_t sent = 0; sent < got;) {
        const ssize_t count =
            ::send(socket, space.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
        if (count <= 0) return false;
        sent += count;
    }
    return true;
}

void echo(int socket, std::string_view fault, std::size_t round) {
    while (answer(socket, fault, round)) {
        if (++round % 20 == 0 && fault == "threads_take_turns") {
            return std::thread{echo, socket, fault, round}.detach();
        }
    }
    ::close(socket);
}

[[noreturn]] void echo_for_a_turn(int socket) {
    constexpr std::size_t rounds = 200;  // Which take longer than to fork.
    for (std::size_t round = 0; round < rounds; ++round) {
        if (!answer(socket, {}, round)) ::_exit(1);
    }
    ::_exit(0);
}

void echo_in_children(int socket) {
    for (int status = 0; status == 0;) {
        const pid_t child = ::fork();
        if (child == 0) echo_for_a_turn(socket);
        ::waitpid(child, &status, 0);
    }
    ::close(socket);
}

}  // namespace

int main(int count, char** arguments) {
    const settings given = parse(count, arguments);
    if (pretends_to_be_taken(given.fault)) complain("the port is taken", 1);
    const int listener = listen_on(given.port);
    const bool deaf = given.fault == "ignores_sigterm";
    std::signal(SIGTERM, deaf ? SIG_IGN : [](int) { ::_exit(0); });
    // A process of its own does the work, as with interpreters that know no threads.
    if (given.fault == "in_a_child" && ::fork() != 0) {
        for (;;) ::pause();
    }
    std::puts(given.fault == "never_ready" ? "busy" : "ready");
    std::fflush(stdout);
    if (given.fault == "never_ready") complain("never ready", 3);
    for (;;) {
        const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        const int on = given.fault == "delays" ? 0 : 1;
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        if (given.fault == "children_take_turns") {
            std::thread{echo_in_children, socket}.detach();
        } else {
            std::thread{echo, socket, std::string_view{given.fault}, 0}.detach();
        }
    }
}
