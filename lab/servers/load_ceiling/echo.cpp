// SPDX-License-Identifier: BSL-1.0
//
// What the load of `echo` can do at most: a server that never sleeps.
//
// It asks each of its connections in turn, again and again, and answers at once; the kernel has no thread to
// wake, and nothing is waited for or looked up. As a server that is no example, for it burns a core on a
// single silent connection; but a row that comes near it says more about the load and the kernel than about
// the server.
#include <lab/kit/fail.hpp>
#include <lab/servers/seam.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

struct connection {
    int number;
    std::string unsent{};
};

// How much was taken; negative if the client has gone.
ssize_t send(const connection& it, std::string_view bytes) {
    const ssize_t sent = ::send(it.number, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 && errno == EAGAIN ? 0 : sent;
}

// Whether it goes on. What a full socket does not take is kept until it is this connection's turn again.
bool turn(connection& it, std::vector<char>& space) {
    std::string_view bytes{it.unsent};
    if (bytes.empty()) {
        const ssize_t got = ::recv(it.number, space.data(), space.size(), MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN) return true;
        if (got <= 0) return false;
        bytes = {space.data(), static_cast<std::size_t>(got)};
    }
    const ssize_t sent = send(it, bytes);
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (bytes.size() != it.unsent.size()) it.unsent = std::string{bytes};
    return true;
}

void accept_all(int listener, std::vector<connection>& to) {
    for (;;) {
        const int number = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (number < 0) return;
        to.push_back({number});
    }
}

void serve(const servers::job& wanted) {
    const int listener = servers::listen_on(wanted);
    lab::require(::fcntl(listener, F_SETFL, O_NONBLOCK) == 0, "load_ceiling: fcntl");
    std::vector<connection> connections;
    std::vector<char> space(wanted.buffer_bytes);
    servers::say_ready(wanted);
    for (unsigned round = 0;; ++round) {
        constexpr unsigned rounds_between_accepts = 64;
        if (round % rounds_between_accepts == 0) accept_all(listener, connections);
        std::erase_if(connections, [&](connection& each) {
            const bool over = !turn(each, space);
            if (over) ::close(each.number);
            return over;
        });
    }
}

}  // namespace

int servers::serve_echo(const job& wanted) {
    // A thread that spins where the load should run would be a floor, not a ceiling.
    if (std::thread::hardware_concurrency() <= wanted.threads) {
        std::fputs("needs a core for each of its threads, and one for the load\n", stderr);
        return 2;
    }
    return serve_on_threads(wanted, serve);
}
