// SPDX-License-Identifier: BSL-1.0
//
// The command line of a server that is loaded from outside, the same for all of them.
#include <lab/baseline/seam.hpp>

#include <CLI/CLI.hpp>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

namespace baseline {
namespace {

constexpr int misused = 2;
constexpr int failed = 1;

enum class port_use { alone, shared };

void switch_on(int socket, int level, int option) {
    const int on = 1;
    lab::require(::setsockopt(socket, level, option, &on, sizeof(on)) == 0, "server: setsockopt");
}

// -1 and errno if the port is taken.
lab::descriptor listen_once(std::uint16_t port, port_use how) {
    lab::descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    lab::require(socket.get() >= 0, "server: socket");
    switch_on(socket.get(), SOL_SOCKET, SO_REUSEADDR);
    if (how == port_use::shared) switch_on(socket.get(), SOL_SOCKET, SO_REUSEPORT);
    switch_on(socket.get(), IPPROTO_TCP, TCP_NODELAY);

    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* const name = reinterpret_cast<const sockaddr*>(&address);
    if (::bind(socket.get(), name, sizeof(address)) != 0 || ::listen(socket.get(), 4096) != 0) {
        return lab::descriptor{-1};
    }
    return socket;
}

}  // namespace

command_line parse(int count, char** arguments, const identity& about) {
    CLI::App app{"A server to be loaded from outside; it serves until SIGTERM."};
    const std::map<std::string, workload> workloads{{"echo", workload::echo},
                                                    {"http", workload::http}};
    command_line found;
    job& wanted = found.wanted;
    wanted.backend = about.backends.front();
    unsigned core = 0;
    bool version = false;
    app.add_option("--workload", wanted.what, "what to answer")
        ->transform(CLI::CheckedTransformer(workloads));
    app.add_option("--threads", wanted.threads, "that serve")->check(CLI::Range(1U, 256U));
    app.add_option("--port", wanted.port, "of 127.0.0.1");
    app.add_option("--backend", wanted.backend, "of those the program knows")
        ->check(
            CLI::IsMember(std::vector<std::string>(about.backends.begin(), about.backends.end())));
    const auto* const polling =
        app.add_option("--polling-core", core, "for the kernel thread of backend io_uring_sqpoll");
    app.add_flag("--version", version, "print library, version and backend, and end");
    try {
        app.parse(count, arguments);
    } catch (const CLI::Success& help) {
        found.status = app.exit(help);
        return found;
    } catch (const CLI::ParseError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        found.status = misused;
        return found;
    }

    if (polling->count() > 0) wanted.polling_core = core;
    if (version) {
        std::printf("%.*s %s %s\n", static_cast<int>(about.library.size()), about.library.data(),
                    about.version.c_str(), wanted.backend.c_str());
        found.status = 0;
    } else if (wanted.port == 0) {
        std::fputs("--port is required\n", stderr);
        found.status = misused;
    }
    return found;
}

std::vector<lab::descriptor> listen_on(std::uint16_t port, unsigned count) {
    // Alone first: a shared port can be joined, even if somebody else's server is there by mistake.
    lab::descriptor alone = listen_once(port, port_use::alone);
    std::vector<lab::descriptor> found;
    if (alone.get() < 0) {
        std::fprintf(stderr, "port %u: %s\n", unsigned{port}, std::strerror(errno));
        return found;
    }
    if (count == 1) {
        found.push_back(std::move(alone));
        return found;
    }
    alone = lab::descriptor{-1};
    for (unsigned i = 0; i < count; ++i) found.push_back(listen_once(port, port_use::shared));
    for (const auto& each : found) lab::require(each.get() >= 0, "server: listen");
    return found;
}

void say_ready() {
    std::puts("ready");
    std::fflush(stdout);
}

int run(int count, char** arguments, const identity& about, const serve_function& serve) {
    const auto [wanted, status] = parse(count, arguments, about);
    if (status) return *status;

    std::vector<lab::descriptor> listeners = listen_on(wanted.port, wanted.threads);
    if (listeners.empty()) return failed;

    std::signal(SIGTERM, [](int) { ::_exit(0); });
    std::signal(SIGPIPE, SIG_IGN);
    say_ready();
    std::vector<std::thread> others;
    for (unsigned i = 1; i < wanted.threads; ++i) {
        others.emplace_back(
            [&serve, &wanted, &listeners, i] { serve(wanted, std::move(listeners[i])); });
    }
    serve(wanted, std::move(listeners.front()));
    lab::fail("server: it has ended by itself");
}

}  // namespace baseline
