// SPDX-License-Identifier: BSL-1.0
//
// The parts of harness.hpp that talk to the system.
#include <support/harness.hpp>

#include <support/skip.hpp>
#include <support/world.hpp>

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <string>

namespace gyre::testing {
namespace {

constexpr std::array all_backends{backend_choice::epoll, backend_choice::uring_a,
                                  backend_choice::uring_b, backend_choice::uring_c};

struct chosen {
    std::vector<backend_choice> kernel;  // In the order of `all_backends`, each once.
    bool world = false;
};

chosen chosen_by(const std::string& list) {
    chosen those;
    std::vector<std::string> names;
    std::istringstream rest{list};
    for (std::string name; std::getline(rest, name, ',');) names.push_back(name);
    for (const backend_choice each : all_backends) {
        if (std::erase(names, describe(each)) > 0) those.kernel.push_back(each);
    }
    those.world = std::erase(names, "world") > 0;
    for (const std::string& name : names) {
        FAIL("GYRE_TEST_BACKENDS: no backend is called ", name);
    }
    return those;
}

const chosen& chosen_backends() {
    static const chosen it = [] {
        const char* list = std::getenv("GYRE_TEST_BACKENDS");
        if (list == nullptr) list = std::getenv("GYRE_TEST_BACKENDS_DEFAULT");
        if (list == nullptr || *list == '\0') {
            return chosen{{all_backends.begin(), all_backends.end()}, true};
        }
        return chosen_by(list);
    }();
    return it;
}

thread_local test::machine* machine = nullptr;

}  // namespace

const std::vector<backend_choice>& backends_under_test() { return chosen_backends().kernel; }

void skip_without_backends() {
    if (backends_under_test().empty()) skip("it is for backends of the kernel");
}

bool worlds_under_test() { return chosen_backends().world; }

test::machine* machine_here() noexcept { return machine; }
on_machine::on_machine(test::machine& it) noexcept { machine = &it; }
on_machine::~on_machine() { machine = nullptr; }

socket_pair connected_pair(io_context& io) {
    if (machine != nullptr) {
        auto [client, server] = machine->connected_pair();
        REQUIRE(client.set_option(no_delay{true}).ok());
        REQUIRE(server.set_option(no_delay{true}).ok());
        return {std::move(client), std::move(server)};
    }
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&where), size) == 0);
    REQUIRE(::listen(listener, 1) == 0);
    REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&where), &size) == 0);
    const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::connect(client, reinterpret_cast<sockaddr*>(&where), size) == 0);
    const int server = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    REQUIRE(server >= 0);
    ::close(listener);
    const int on = 1;
    ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return {stream_socket::adopt(io, client), stream_socket::adopt(io, server)};
}

socket_pair local_pair(io_context& io) {
    auto [failed, one, other] = stream_socket::connected_pair(io);
    REQUIRE_FALSE(failed);
    return {std::move(one), std::move(other)};
}

std::size_t open_descriptors() {
    if (machine != nullptr) return machine->open_descriptors();
    DIR* folder = ::opendir("/proc/self/fd");
    REQUIRE(folder != nullptr);
    std::size_t count = 0;
    while (::readdir(folder) != nullptr) ++count;
    ::closedir(folder);
    return count;
}

void compute_for(duration length) {
    const time_point end = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < end) continue;
}

duration thread_cpu_time() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

bool cpu_trials::again() {
    constexpr int trials_max = 3;
    if (trials_ > 0) least_ = std::min(least_, thread_cpu_time() - begun_);
    if (trials_ == trials_max || least_ < enough_) return false;
    ++trials_;
    begun_ = thread_cpu_time();
    return true;
}

}  // namespace gyre::testing
