// SPDX-License-Identifier: BSL-1.0
//
// The parts of harness.hpp that talk to the system.
#include <support/harness.hpp>

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

// In the order of `all_backends`, each once.
std::vector<backend_choice> backends_in(const std::string& list) {
    std::vector<backend_choice> those;
    std::vector<std::string> names;
    std::istringstream rest{list};
    for (std::string name; std::getline(rest, name, ',');) names.push_back(name);
    for (const backend_choice each : all_backends) {
        if (std::erase(names, describe(each)) > 0) those.push_back(each);
    }
    for (const std::string& name : names) {
        FAIL("GYRE_TEST_BACKENDS: no backend is called ", name);
    }
    return those;
}

}  // namespace

const std::vector<backend_choice>& backends_under_test() {
    static const std::vector<backend_choice> chosen = [] {
        const char* list = std::getenv("GYRE_TEST_BACKENDS");
        if (list == nullptr) list = std::getenv("GYRE_TEST_BACKENDS_DEFAULT");
        if (list == nullptr || *list == '\0') {
            return std::vector<backend_choice>{all_backends.begin(), all_backends.end()};
        }
        return backends_in(list);
    }();
    return chosen;
}

socket_pair connected_pair(io_context& io) {
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
    int ends[2] = {-1, -1};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    return {stream_socket::adopt(io, ends[0]), stream_socket::adopt(io, ends[1])};
}

std::size_t open_descriptors() {
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
