// SPDX-License-Identifier: BSL-1.0
//
// What all servers have from here, none of them can be wrong about by itself.
#include <lab/baseline/seam.hpp>

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <vector>

namespace {

using baseline::listen_on;

baseline::command_line parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "server");
    std::vector<char*> writable;
    for (const char* each : arguments) writable.push_back(const_cast<char*>(each));
    return baseline::parse(static_cast<int>(writable.size()), writable.data(),
                           {"none", "-", {"io_uring", "epoll"}});
}

sockaddr_in address_of(const lab::descriptor& socket) {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    lab::require(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0,
                 "getsockname");
    return address;
}

std::uint16_t free_port() { return ntohs(address_of(listen_on(0, 1).front()).sin_port); }

lab::descriptor connect_to(std::uint16_t port) {
    lab::descriptor client{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in server{};
    server.sin_family = AF_INET;
    server.sin_port = htons(port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* const name = reinterpret_cast<const sockaddr*>(&server);
    lab::require(::connect(client.get(), name, sizeof(server)) == 0, "connect");
    return client;
}

}  // namespace

TEST_CASE("a job is workload, threads and port; the first backend unless another is named") {
    const auto [wanted, status] =
        parse({"--workload", "http", "--threads", "3", "--port", "7000", "--polling-core", "0"});

    CHECK(!status);
    CHECK(wanted.what == baseline::workload::http);
    CHECK(wanted.threads == 3);
    CHECK(wanted.port == 7000);
    CHECK(wanted.backend == "io_uring");
    CHECK(wanted.polling_core == 0);
    CHECK(parse({"--port", "1", "--backend", "epoll"}).wanted.backend == "epoll");
    CHECK(!parse({"--port", "1"}).wanted.polling_core);
}

TEST_CASE("what is unknown or missing ends with 2") {
    CHECK(parse({"--port", "1", "--speed", "9"}).status == 2);
    CHECK(parse({"--port", "1", "--backend", "kqueue"}).status == 2);
    CHECK(parse({"--port", "1", "--workload", "ftp"}).status == 2);
    CHECK(parse({"--port", "70000"}).status == 2);
    CHECK(parse({}).status == 2);
    CHECK(parse({"--version"}).status == 0);
}

TEST_CASE("what is accepted has TCP_NODELAY set") {
    const auto listeners = listen_on(0, 1);
    const auto client = connect_to(ntohs(address_of(listeners.front()).sin_port));
    const lab::descriptor accepted{::accept(listeners.front().get(), nullptr, nullptr)};

    int enabled = 0;
    socklen_t size = sizeof(enabled);
    CHECK(::getsockopt(accepted.get(), IPPROTO_TCP, TCP_NODELAY, &enabled, &size) == 0);
    CHECK(enabled == 1);
}

TEST_CASE("a port has room for the listeners of one server, and for no other server") {
    const std::uint16_t port = free_port();
    const auto ours = listen_on(port, 3);

    CHECK(ours.size() == 3);
    CHECK(listen_on(port, 1).empty());
    CHECK(listen_on(port, 3).empty());
}

TEST_CASE("a port can be used again at once") {
    const std::uint16_t port = free_port();
    {
        const auto before = listen_on(port, 1);
        const auto client = connect_to(port);
        const lab::descriptor accepted{::accept(before.front().get(), nullptr, nullptr)};
        // The server closes first, so its end stays behind.
    }
    CHECK(listen_on(port, 1).size() == 1);
}
