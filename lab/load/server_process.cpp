// SPDX-License-Identifier: BSL-1.0
//
// A server from the outside: /proc, process clocks and pidfd_getfd, and how a program is started.
#include <lab/load/server_process.hpp>

#include <lab/kit/fail.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <utility>

namespace lab {
namespace {

using clock = std::chrono::steady_clock;

constexpr auto start_max = std::chrono::seconds{30};  // A virtual machine may take a few.
constexpr auto end_max = std::chrono::seconds{5};
constexpr int ended_by_signal = -1;

// Those first that share their core with none before them.
std::vector<int> in_order_of_use(const cpu_set_t& allowed, const core_of_processor& core_of) {
    std::vector<int> all;
    std::vector<int> siblings;
    std::set<int> used;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (!CPU_ISSET(processor, &allowed)) continue;
        (used.insert(core_of(processor)).second ? all : siblings).push_back(processor);
    }
    all.insert(all.end(), siblings.begin(), siblings.end());
    return all;
}

cpu_set_t cores_between(const std::vector<int>& all, std::size_t first, std::size_t last) {
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    for (std::size_t i = first; i < last; ++i) CPU_SET(all[i], &chosen);
    return chosen;
}

std::vector<pid_t> children_of(pid_t process) {
    std::vector<pid_t> found;
    std::error_code gone;
    const auto threads = std::filesystem::path{"/proc"} / std::to_string(process) / "task";
    for (const auto& each : std::filesystem::directory_iterator{threads, gone}) {
        std::ifstream file{each.path() / "children"};
        for (pid_t child = 0; file >> child;) found.push_back(child);
    }
    return found;
}

// None if it has ended.
std::optional<std::chrono::nanoseconds> processor_time_of(pid_t process) {
    clockid_t clock{};
    if (::clock_getcpuclockid(process, &clock) != 0) return {};
    return processor_time(clock);
}

// Of those children for which it has waited, and theirs: `cutime` and `cstime`, see proc_pid_stat(5).
std::chrono::nanoseconds ended_children_time_of(pid_t process) {
    constexpr int fields_between =
        13;  // The program's name, which may hold anything, ends with the last ')'.
    std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
    std::string line;
    std::getline(file, line);
    std::istringstream fields{line.substr(std::min(line.rfind(')') + 1, line.size()))};
    std::string skipped;
    for (int i = 0; i < fields_between; ++i) fields >> skipped;
    std::int64_t user = 0;
    std::int64_t system = 0;
    fields >> user >> system;
    return (user + system) * std::chrono::nanoseconds{1'000'000'000 / ::sysconf(_SC_CLK_TCK)};
}

/// Other processes' sockets, taken out one at a time.
class socket_viewer {
public:
    explicit socket_viewer(pid_t process)
        : process_{process}, handle_{static_cast<int>(::syscall(SYS_pidfd_open, process, 0))} {}

    /// Calls `look` with each TCP connection over IPv4 and the port of its peer.
    ///
    /// @return Whether the kernel lets us see them.
    template <class Look>
    [[nodiscard]] bool for_each_connection(Look look) const {
        const auto folder = std::filesystem::path{"/proc"} / std::to_string(process_) / "fd";
        std::error_code hidden;
        for (const auto& each : std::filesystem::directory_iterator{folder, hidden}) {
            const std::string target = std::filesystem::read_symlink(each.path(), hidden).string();
            if (!target.starts_with("socket:")) continue;
            const int number = std::stoi(each.path().filename());
            const descriptor ours{
                static_cast<int>(::syscall(SYS_pidfd_getfd, handle_.get(), number, 0))};
            if (ours.get() < 0) {
                if (errno == EBADF) continue;  // Closed meanwhile.
                return false;
            }
            sockaddr_in peer{};
            socklen_t size = sizeof(peer);
            const int error = ::getpeername(ours.get(), reinterpret_cast<sockaddr*>(&peer), &size);
            if (error == 0 && peer.sin_family == AF_INET) look(ours.get(), ntohs(peer.sin_port));
        }
        return !hidden;
    }

private:
    pid_t process_;
    descriptor handle_;
};

bool has_no_delay(int socket) {
    int on = 0;
    socklen_t size = sizeof(on);
    return ::getsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, &size) == 0 && on != 0;
}

// Outside of the range from which clients get theirs, so that none of them can take it meanwhile.
sockaddr_in free_address() {
    std::random_device chooser;
    std::uniform_int_distribution<unsigned> ports{20'000, 31'999};
    for (int attempt = 0; attempt < 100; ++attempt) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(ports(chooser)));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const descriptor probe{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        const int on = 1;
        ::setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        const auto* const name = reinterpret_cast<const sockaddr*>(&address);
        if (::bind(probe.get(), name, sizeof(address)) == 0) return address;
    }
    fail("echo: no free port between 20,000 and 32,000");
}

struct pipe_ends {
    descriptor output;
    descriptor input;
};

pipe_ends make_pipe() {
    std::array<int, 2> ends{};
    require(::pipe2(ends.data(), O_CLOEXEC) == 0, "echo: pipe2");
    return {descriptor{ends[0]}, descriptor{ends[1]}};
}

struct streams_of_child {
    descriptor output;
    descriptor complaints;
};

// Only returns if it cannot.
void execute(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments.front(), arguments.data());
}

[[noreturn]] void become(const std::vector<std::string>& command, const server_start& wanted,
                         const streams_of_child& streams) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setpgid(0, 0);  // So that what it starts can be ended with it.
    ::dup2(streams.output.get(), STDOUT_FILENO);
    ::dup2(streams.complaints.get(), STDERR_FILENO);
    for (const std::string& each : wanted.environment) ::putenv(const_cast<char*>(each.c_str()));
    if (::sched_setaffinity(0, sizeof(wanted.cores), &wanted.cores) != 0) {
        ::dprintf(STDERR_FILENO, "sched_setaffinity: %s\n", std::strerror(errno));
        ::_exit(126);
    }
    execute(command);
    ::dprintf(STDERR_FILENO, "%s: %s\n", command.front().c_str(), std::strerror(errno));
    ::_exit(127);
}

std::string last_line_of(const descriptor& file) {
    std::array<char, 4096> text{};
    const off_t end = ::lseek(file.get(), 0, SEEK_END);
    const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(text.size()));
    const ssize_t size = ::pread(file.get(), text.data(), text.size(), begin);
    std::string_view all{text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
    while (all.ends_with('\n')) all.remove_suffix(1);
    return std::string{all.substr(all.rfind('\n') + 1)};
}

std::string read_to_end(const descriptor& from) {
    std::string found;
    std::array<char, 4'096> space{};
    for (;;) {
        const ssize_t count = ::read(from.get(), space.data(), space.size());
        if (count <= 0) return found;
        found.append(space.data(), static_cast<std::size_t>(count));
    }
}

// Whether the line `ready` has come; not if the program has closed its output before.
bool wait_until_ready(const descriptor& output) {
    const auto end = clock::now() + start_max;
    std::string line;
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - clock::now());
        pollfd readable{output.get(), POLLIN, 0};
        const int count = ::poll(&readable, 1, static_cast<int>(std::max(left.count(), 0L)));
        if (count < 0 && errno == EINTR) continue;
        char next = 0;
        if (count <= 0 || ::read(output.get(), &next, 1) != 1) return false;
        if (next != '\n') {
            line += next;
            continue;
        }
        if (line == "ready") return true;
        line.clear();
    }
}

}  // namespace

int physical_core_of(int processor) {
    std::ifstream file{"/sys/devices/system/cpu/cpu" + std::to_string(processor) +
                       "/topology/thread_siblings_list"};
    int first = processor;
    file >> first;  // Of a list such as `0-1` or `0,4`.
    return file ? first : processor;
}

core_split split_cores(const cpu_set_t& allowed, std::size_t server_threads,
                       const core_of_processor& core_of) {
    const std::vector<int> cores = in_order_of_use(allowed, core_of);
    if (cores.size() > server_threads) {
        return {cores_between(cores, 0, server_threads),
                cores_between(cores, server_threads, server_threads + 1)};
    }
    return {allowed, cores_between(cores, cores.size() - 1, cores.size())};
}

core_split cores_for(std::size_t server_threads) {
    cpu_set_t allowed;
    require(::sched_getaffinity(0, sizeof(allowed), &allowed) == 0, "echo: sched_getaffinity");
    return split_cores(allowed, server_threads);
}

server_process::~server_process() {
    if (id_ < 0) return;
    end_descendants();
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
}

std::vector<pid_t> server_process::family() const {
    std::vector<pid_t> all{id_};
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::vector<pid_t> children = children_of(all[i]);
        all.insert(all.end(), children.begin(), children.end());
    }
    return all;
}

std::chrono::nanoseconds used_between(const processor_times& before, const processor_times& after) {
    std::chrono::nanoseconds living{};
    std::chrono::nanoseconds ended = after.of_ended - before.of_ended;
    for (const auto& [process, used] : after.of_living) {
        const auto then = before.of_living.find(process);
        living += then == before.of_living.end() ? used : used - then->second;
    }
    for (const auto& [process, used] : before.of_living) {
        if (!after.of_living.contains(process)) ended -= used;
    }
    return living + std::max(ended, std::chrono::nanoseconds{});
}

processor_times server_process::processor_time() const {
    processor_times found;
    for (const pid_t each : family()) {
        if (const auto used = processor_time_of(each)) found.of_living.emplace(each, *used);
        found.of_ended += ended_children_time_of(each);
    }
    require(found.of_living.contains(id_), "echo: the server has ended early");
    return found;
}

switches_by_thread server_process::context_switches() const {
    switches_by_thread found;
    for (const pid_t each : family()) found.merge(context_switches_of(each));
    return found;
}

double server_process::peak_memory_megabytes() const {
    double sum = 0;
    for (const pid_t each : family()) sum += lab::peak_memory_megabytes(each);
    return sum;
}

bool server_process::require_no_delay(std::span<const std::uint16_t> ports) const {
    std::vector<std::uint16_t> unseen{ports.begin(), ports.end()};
    for (const pid_t each : family()) {
        const bool seen =
            socket_viewer{each}.for_each_connection([&](int socket, std::uint16_t peer) {
                const auto at = std::ranges::find(unseen, peer);
                if (at == unseen.end()) return;
                require(has_no_delay(socket), "echo: the server does not set TCP_NODELAY");
                unseen.erase(at);
            });
        if (!seen) return false;
    }
    return unseen.empty();
}

std::optional<int> server_process::wait(std::chrono::milliseconds patience) {
    const descriptor handle{static_cast<int>(::syscall(SYS_pidfd_open, id_, 0))};
    require(handle.get() >= 0, "echo: pidfd_open");
    pollfd ended{handle.get(), POLLIN, 0};
    if (::poll(&ended, 1, static_cast<int>(patience.count())) != 1) return std::nullopt;
    end_descendants();
    int status = 0;
    require(::waitpid(id_, &status, 0) == id_, "echo: waitpid");
    id_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : ended_by_signal;
}

void server_process::stop() {
    ::kill(id_, SIGTERM);
    const std::optional<int> status = wait(end_max);
    if (!status) end_descendants();
    require(status.has_value(), "echo: the server does not end when told to");
    require(*status == 0, "echo: the server failed");
}

// Its own group has its number, and keeps it until the last of them has ended.
void server_process::end_descendants() const noexcept {
    if (::getpgid(id_) == id_) ::kill(-id_, SIGKILL);
}

server_watch::server_watch(const server_process& server)
    : server_{&server},
      calls_{server.id()},
      switches_{server.context_switches()},
      processor_{server.processor_time()},
      began_{clock::now()} {}

server_cost server_watch::stop() const {
    server_cost spent;
    spent.wall = clock::now() - began_;
    spent.processor = used_between(processor_, server_->processor_time());
    spent.context_switches = switches_between(switches_, server_->context_switches());
    spent.system_calls = calls_.so_far();
    spent.memory_megabytes = server_->peak_memory_megabytes();
    return spent;
}

std::string started_server::rest_of_output() const { return read_to_end(output); }

namespace {

// How it failed, and whether another port may help.
struct failed_start {
    not_started why;
    bool port_may_be_taken;
};

std::variant<started_server, failed_start> start_on(const sockaddr_in& address,
                                                    const server_start& wanted) {
    std::vector<std::string> command = wanted.command;
    command.insert(command.end(), {"--workload", std::string{wanted.workload}, "--threads",
                                   std::to_string(wanted.threads), "--port",
                                   std::to_string(ntohs(address.sin_port))});
    auto [output, input] = make_pipe();
    streams_of_child streams{std::move(input),
                             descriptor{::memfd_create("complaints", MFD_CLOEXEC)}};
    require(streams.complaints.get() >= 0, "echo: memfd_create");

    const pid_t child = ::fork();
    require(child >= 0, "echo: fork");
    if (child == 0) become(command, wanted, streams);
    server_process process{child};
    streams.output = descriptor{-1};
    if (wait_until_ready(output)) {
        return started_server{std::move(process), address, std::move(output)};
    }
    const bool taken = process.wait(std::chrono::seconds{1}) == 1;
    const std::string last = last_line_of(streams.complaints);
    return failed_start{{last.empty() ? "does not say that it is ready" : last}, taken};
}

}  // namespace

std::variant<started_server, not_started> start_server(const server_start& wanted) {
    for (int attempt = 0;; ++attempt) {
        auto started = start_on(free_address(), wanted);
        if (auto* const ready = std::get_if<started_server>(&started)) return std::move(*ready);
        auto& [why, port_may_be_taken] = std::get<failed_start>(started);
        if (!port_may_be_taken || attempt > 0) return std::move(why);
    }
}

std::vector<std::string> identity_of(std::vector<std::string> command) {
    command.emplace_back("--version");
    auto [output, input] = make_pipe();
    const pid_t child = ::fork();
    require(child >= 0, "echo: fork");
    if (child == 0) {
        ::dup2(input.get(), STDOUT_FILENO);
        execute(command);
        ::_exit(127);
    }
    input = descriptor{-1};
    std::istringstream words{read_to_end(output)};
    ::waitpid(child, nullptr, 0);
    std::vector<std::string> found;
    for (std::string word; words >> word;) found.push_back(word);
    return found;
}

}  // namespace lab
