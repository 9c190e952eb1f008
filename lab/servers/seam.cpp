// SPDX-License-Identifier: BSL-1.0
//
// Listeners, threads and the first line of output, for libraries that bring no such thing themselves.
#include <lab/servers/seam.hpp>

#include <lab/kit/fail.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

namespace servers {
namespace {

void switch_on(int socket, int level, int option) {
    const int on = 1;
    lab::require(::setsockopt(socket, level, option, &on, sizeof(on)) == 0, "server: setsockopt");
}

int bind_to(std::uint16_t port, bool shared) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    lab::require(socket >= 0, "server: socket");
    switch_on(socket, SOL_SOCKET, SO_REUSEADDR);
    if (shared) switch_on(socket, SOL_SOCKET, SO_REUSEPORT);
    switch_on(socket, IPPROTO_TCP, TCP_NODELAY);
    sockaddr_in local{};
    local.sin_family = AF_INET;
    local.sin_port = htons(port);
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&local), sizeof(local)) != 0) {
        lab::fail("port " + std::to_string(port) + ": " + std::strerror(errno));
    }
    return socket;
}

}  // namespace

void expect_free_port(const job& wanted) { ::close(bind_to(wanted.port, false)); }

int listen_on(const job& wanted) {
    const int socket = bind_to(wanted.port, wanted.threads > 1);
    if (::listen(socket, 4'096) != 0) {
        lab::fail("port " + std::to_string(wanted.port) + ": " + std::strerror(errno));
    }
    return socket;
}

void say_ready(const job& wanted) {
    static std::atomic<unsigned> threads_ready = 0;
    if (++threads_ready != wanted.threads) return;
    std::puts("ready");
    std::fflush(stdout);
}

int serve_on_threads(const job& wanted, void (*serve)(const job&)) {
    std::signal(SIGTERM, [](int) { ::_exit(0); });
    // A shared port could be joined, even if another program's server is there by mistake.
    if (wanted.threads > 1) expect_free_port(wanted);
    // They serve until the process ends.
    for (unsigned i = 1; i < wanted.threads; ++i) std::thread{serve, wanted}.detach();
    serve(wanted);
    return 0;
}

}  // namespace servers
