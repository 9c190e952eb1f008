// SPDX-License-Identifier: BSL-1.0
//
// The load of the suite in which a server is measured alone.
//
// A closed loop: every connection sends its next message when all of the last one has come back.
// Latencies are therefore those of an unhurried client, and say nothing about a server that is
// overrun. Each message carries its number, and every byte that returns is compared.
#include <lab/echo.hpp>

#include <lab/churn_load.hpp>
#include <lab/fail.hpp>
#include <lab/kernel_counts.hpp>
#include <lab/load.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace lab {
namespace {

using clock = std::chrono::steady_clock;

constexpr auto silence_max = std::chrono::seconds{10};  // A server that answers nobody has failed.

// A thousand connections and more need more descriptors than shells usually allow.
void raise_descriptor_limit() {
    rlimit limit{};
    require(::getrlimit(RLIMIT_NOFILE, &limit) == 0, "echo: getrlimit");
    limit.rlim_cur = limit.rlim_max;
    require(::setrlimit(RLIMIT_NOFILE, &limit) == 0, "echo: setrlimit");
}

// The `number`th core that this process may use, or the last one.
void stay_on_core(const cpu_set_t& allowed, int number) {
    int chosen = -1;
    for (int core = 0; core < CPU_SETSIZE && number >= 0; ++core) {
        if (!CPU_ISSET(core, &allowed)) continue;
        chosen = core;
        --number;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(chosen, &one);
    require(::sched_setaffinity(0, sizeof(one), &one) == 0, "echo: sched_setaffinity");
}

// One client: a message that is under way, and how far it has got in both directions.
class client {
public:
    client(descriptor socket, std::size_t message_bytes)
        : socket_{std::move(socket)}, size_{message_bytes} {}

    [[nodiscard]] int number() const noexcept { return socket_.get(); }
    [[nodiscard]] bool waiting_to_send() const noexcept { return sent_ < size_ && round_ > 0; }
    [[nodiscard]] clock::time_point began() const noexcept { return began_; }

    void begin_round(std::span<std::byte> message, clock::time_point now) {
        ++round_;
        sent_ = received_ = 0;
        began_ = now;
        send(message);
    }

    // What goes out: `message` with this round's number at its beginning.
    void send(std::span<std::byte> message) {
        put_number_into(message);
        while (sent_ < size_) {
            const ssize_t count = ::send(number(), message.data() + sent_, size_ - sent_,
                                         MSG_DONTWAIT | MSG_NOSIGNAL);
            if (count < 0 && errno == EAGAIN) return;
            require(count > 0, "echo: the server hung up");
            sent_ += static_cast<std::size_t>(count);
        }
    }

    // Whether all of the message has come back.
    [[nodiscard]] bool receive(std::span<std::byte> message, std::span<std::byte> space) {
        put_number_into(message);
        const std::size_t wanted = std::min(space.size(), size_ - received_);
        const ssize_t count = ::recv(number(), space.data(), wanted, MSG_DONTWAIT);
        if (count < 0 && errno == EAGAIN) return false;
        require(count > 0, "echo: the server hung up");
        const auto got = static_cast<std::size_t>(count);
        require(std::memcmp(space.data(), message.data() + received_, got) == 0,
                "echo: the answer differs from the message");
        received_ += got;
        return received_ == size_;
    }

private:
    void put_number_into(std::span<std::byte> message) const noexcept {
        std::memcpy(message.data(), &round_, std::min(sizeof(round_), message.size()));
    }

    descriptor socket_;
    std::size_t size_;
    std::size_t sent_ = 0;
    std::size_t received_ = 0;
    std::uint64_t round_ = 0;
    clock::time_point began_{};
};

/// All clients, driven by level-triggered epoll, which is simple and the same for every contender.
class load {
public:
    load(const echo_case& work, const sockaddr_in& server)
        : message_(work.message_bytes, std::byte{0x5a}),
          space_(std::max<std::size_t>(work.message_bytes, 64 * 1024)),
          poller_{::epoll_create1(EPOLL_CLOEXEC)} {
        clients_.reserve(work.connections);
        for (std::size_t i = 0; i < work.connections; ++i) connect(server);
    }

    // Plays until `end`, and then until nothing is under way.
    void play(clock::duration length, histogram& latency) {
        const auto end = clock::now() + length;
        for (client& each : clients_) begin_round(each);
        while (under_way_ > 0) step(end, latency);
    }

private:
    void connect(const sockaddr_in& server) {
        descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        const auto* const address = reinterpret_cast<const sockaddr*>(&server);
        require(::connect(socket.get(), address, sizeof(server)) == 0, "echo: connect");
        set_no_delay(socket.get());
        clients_.emplace_back(std::move(socket), message_.size());
        watch(clients_.size() - 1, EPOLL_CTL_ADD, EPOLLIN);
    }

    void watch(std::size_t index, int how, std::uint32_t events) {
        epoll_event event{events, {.u64 = index}};
        require(::epoll_ctl(poller_.get(), how, clients_[index].number(), &event) == 0,
                "echo: epoll_ctl");
    }

    void begin_round(client& each) {
        ++under_way_;
        each.begin_round(message_, clock::now());
        if (each.waiting_to_send()) watch(index_of(each), EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
    }

    [[nodiscard]] std::size_t index_of(const client& each) const noexcept {
        return static_cast<std::size_t>(&each - clients_.data());
    }

    void step(clock::time_point end, histogram& latency) {
        constexpr int patience = std::chrono::milliseconds{silence_max}.count();
        const int count =
            ::epoll_wait(poller_.get(), events_.data(), static_cast<int>(events_.size()), patience);
        require(count > 0 || (count < 0 && errno == EINTR), "echo: the server is silent");
        for (int i = 0; i < count; ++i) {
            const epoll_event& event = events_[static_cast<std::size_t>(i)];
            client& each = clients_[event.data.u64];
            if ((event.events & EPOLLOUT) != 0) {
                each.send(message_);
                if (!each.waiting_to_send()) watch(event.data.u64, EPOLL_CTL_MOD, EPOLLIN);
            }
            if ((event.events & ~std::uint32_t{EPOLLOUT}) == 0) continue;
            if (!each.receive(message_, space_)) continue;

            const auto now = clock::now();
            latency.record(
                static_cast<std::uint64_t>(std::chrono::nanoseconds{now - each.began()}.count()));
            --under_way_;
            if (now < end) begin_round(each);
        }
    }

    std::vector<std::byte> message_;
    std::vector<std::byte> space_;
    descriptor poller_;
    std::vector<client> clients_;
    std::array<epoll_event, 256> events_{};
    std::size_t under_way_ = 0;
};

// The server's process, from the outside.
class server_process {
public:
    explicit server_process(pid_t id) : id_{id} {
        require(::clock_getcpuclockid(id_, &clock_) == 0, "echo: the server's clock");
    }

    [[nodiscard]] std::chrono::nanoseconds processor_time() const {
        timespec used{};
        require(::clock_gettime(clock_, &used) == 0, "echo: the server has ended early");
        return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
    }

    void wait_for_end() const {
        int status = 0;
        require(::waitpid(id_, &status, 0) == id_, "echo: waitpid");
        require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "echo: the server failed");
    }

private:
    pid_t id_;
    clockid_t clock_{};
};

// What the server has counted goes to its parent as it is: names are literals, which stand in both
// processes at the same place. It fits into the pipe, so nobody waits.
[[noreturn]] void serve(contender& who, const echo_case& work, descriptor listener,
                        const cpu_set_t& allowed, const descriptor& report) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    stay_on_core(allowed, 0);
    who.echo(work, std::move(listener));
    for (const counter& each : who.counted_in_echo()) {
        require(::write(report.get(), &each, sizeof(each)) == sizeof(each), "echo: write");
    }
    ::_exit(0);
}

// Of the server that has ended, per request of `part` of those it has answered.
std::vector<counter> read_report(const descriptor& report, double part) {
    static_assert(std::is_trivially_copyable_v<counter>);
    std::vector<counter> found;
    counter one;
    while (::read(report.get(), &one, sizeof(one)) == sizeof(one)) {
        found.push_back({one.name, one.count * part});
    }
    return found;
}

}  // namespace

outcome measure_echo(contender& who, const echo_case& work) {
    if (!who.can_echo()) return cannot_run{"takes no part in the suite echo"};
    raise_descriptor_limit();
    cpu_set_t allowed;
    require(::sched_getaffinity(0, sizeof(allowed), &allowed) == 0, "echo: sched_getaffinity");
    listener at = listen_on_loopback();

    std::array<int, 2> ends{};
    require(::pipe2(ends.data(), O_CLOEXEC) == 0, "echo: pipe2");
    const descriptor report{ends[0]};
    descriptor reporter{ends[1]};

    const pid_t child = ::fork();
    require(child >= 0, "echo: fork");
    if (child == 0) serve(who, work, std::move(at.socket), allowed, reporter);
    reporter = descriptor{-1};
    at.socket = descriptor{-1};
    stay_on_core(allowed, 1);

    const server_process server{child};
    measurement result;
    histogram warm_up;
    {
        load clients{work, at.address};
        clients.play(work.warm_up, warm_up);

        const system_call_counter calls{child};
        const auto switches_before = context_switches_of(child);
        const auto processor_before = server.processor_time();
        const auto began = clock::now();
        clients.play(work.measured, result.latency);
        result.spent.wall = clock::now() - began;
        result.spent.processor = server.processor_time() - processor_before;
        result.spent.context_switches = context_switches_of(child) - switches_before;
        result.spent.system_calls = calls.so_far();
        result.amount = result.latency.count();
    }
    server.wait_for_end();
    const auto amount = static_cast<double>(result.amount);
    result.spent.counted =
        read_report(report, amount / (amount + static_cast<double>(warm_up.count())));
    return result;
}

}  // namespace lab
