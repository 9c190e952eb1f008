// SPDX-License-Identifier: BSL-1.0
//
// What a silent connection costs in user memory.
//
// A server with 10,000 connections that say nothing, each waiting in a leased read; the clients are a
// process of their own. What is compared is the resident memory of the server before the first connection and
// with all of them, so everything counts that the library keeps per connection, tables included.
// `lab_idle_memory [connections]`; a table for both backends.
#include <gyre/coro/launch.hpp>
#include <gyre/io/serve.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/sleep.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <malloc.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

std::size_t resident_bytes() {
    std::size_t pages = 0;
    if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
        std::size_t size = 0;
        if (std::fscanf(file, "%zu %zu", &size, &pages) != 2) pages = 0;
        std::fclose(file);
    }
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t allocated_bytes() { return ::mallinfo2().uordblks + ::mallinfo2().hblkhd; }

// Connects, says nothing, and waits to be killed.
[[noreturn]] void hold_connections(std::uint16_t port, int count) {
    for (int each = 0; each < count; ++each) {
        const int number = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in server{};
        server.sin_family = AF_INET;
        server.sin_port = ::htons(port);
        server.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
        if (number < 0 ||
            ::connect(number, reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0) {
            std::perror("lab_idle_memory: connect");
            ::_exit(1);
        }
    }
    for (;;) ::pause();
}

struct census {
    int here = 0;
};

gyre::task<> sit(census& all, gyre::stream_socket peer) {
    ++all.here;
    for (;;) {
        gyre::io_result<gyre::buffer_lease> got = co_await peer.read();
        if (!got.ok()) break;
    }
    --all.here;
}

struct figures {
    double resident = 0;
    double allocated = 0;
};

gyre::task<> wait_for(const census& all, int connections) {
    while (all.here < connections) static_cast<void>(co_await gyre::sleep_for(10ms));
}

figures measure(gyre::backend_choice backend, int connections) {
    gyre::io_context_options options;
    options.backend = backend;
    gyre::io_context io{options};
    auto listening = gyre::stream_acceptor::listen(io, {gyre::ipv4::loopback(), 0});
    if (!listening.ok()) {
        std::fprintf(stderr, "lab_idle_memory: %s\n", listening.error().message().c_str());
        std::exit(1);
    }
    gyre::stream_acceptor acceptor = listening.take();
    const std::uint16_t port = acceptor.local_endpoint().value().port();
    const pid_t clients = ::fork();
    if (clients == 0) hold_connections(port, connections);

    census all;
    gyre::serve_options bounds;
    bounds.connections_max = static_cast<std::size_t>(connections) + 1;
    const auto session = [&all](gyre::stream_socket peer) { return sit(all, std::move(peer)); };
    io.poll();
    const std::size_t resident_before = resident_bytes();
    const std::size_t allocated_before = allocated_bytes();

    const gyre::stop_handle server =
        gyre::launch(io, gyre::serve(std::move(acceptor), session, bounds), gyre::or_terminate{});
    bool everybody = false;
    gyre::launch(io, wait_for(all, connections), [&](gyre::task_outcome<void>) {
        everybody = true;
        io.stop();
    });
    io.run();

    figures result;
    if (everybody) {
        result.resident = static_cast<double>(resident_bytes() - resident_before) / connections;
        result.allocated = static_cast<double>(allocated_bytes() - allocated_before) / connections;
    }
    ::kill(clients, SIGKILL);
    ::waitpid(clients, nullptr, 0);
    io.restart();
    server.request_stop();
    io.run();
    return result;
}

}  // namespace

int main(int count, char** arguments) {
    const int connections = count > 1 ? std::atoi(arguments[1]) : 10'000;
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    if (connections <= 0 || files.rlim_cur < static_cast<rlim_t>(connections) + 100) {
        std::fprintf(stderr,
                     "usage: lab_idle_memory [connections], fewer than open files may be\n");
        return 2;
    }

    std::printf("%d silent TCP connections, bytes of user memory for each\n", connections);
    std::printf("%-12s %10s %10s\n", "backend", "resident", "malloc");
    for (const gyre::backend_choice each :
         {gyre::backend_choice::uring, gyre::backend_choice::epoll}) {
        // A process for each, so that the second does not live in the memory of the first.
        std::fflush(stdout);
        const pid_t child = ::fork();
        if (child == 0) {
            const figures it = measure(each, connections);
            std::printf("%-12s %10.0f %10.0f\n", gyre::describe(each), it.resident, it.allocated);
            std::fflush(stdout);
            ::_exit(it.resident > 0 ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (status != 0) return 1;
    }
    return 0;
}
