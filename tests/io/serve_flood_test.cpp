// SPDX-License-Identifier: BSL-1.0
//
// A server without descriptors under a flood of connections: what it costs, and that it loses nobody.
//
// The server has a process of its own, because its limit sticks to it, and the clients another, which is
// plain sockets under poll(2). Of each connection that was made the two must agree on what became of it.
#include <gyre/io/serve.hpp>

#include <gyre/stream/algorithms.hpp>
#include <io/connections.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

using steady = std::chrono::steady_clock;

constexpr std::size_t crowd_size = 300;
constexpr rlim_t descriptors_max = 64;

/// What the clients have seen at the end. The clock is the same in all processes.
struct flood_report {
    std::uint64_t begun = 0;  // Connections, all of which the kernel has completed.
    std::uint64_t answered = 0;
    std::uint64_t refused = 0;         // Closed by the server without an answer.
    std::uint64_t wrong = 0;           // Another one's answer.
    steady::time_point first_after{};  // The first answer behind the order to drain.
    steady::time_point last{};
};

/// Clients that connect, ask once and keep what they have got; whoever is refused comes again at once. From
/// the order on they leave when they have been answered, and nobody comes again. Ends when all have left.
class flood {
public:
    flood(const endpoint& server, int orders) : server_{server}, orders_{orders} {
        for (std::size_t each = 0; each < crowd_size; ++each) begin();
    }

    [[nodiscard]] flood_report run() {
        std::vector<pollfd> polled;
        while (!ordered_ || !clients_.empty()) {
            polled.assign(1, pollfd{orders_, static_cast<short>(ordered_ ? 0 : POLLIN), 0});
            for (const client& each : clients_) {
                polled.push_back({each.number, static_cast<short>(each.done ? 0 : POLLIN), 0});
            }
            if (::poll(polled.data(), polled.size(), -1) < 0) ::_exit(2);
            for (std::size_t each = clients_.size(); each > 0; --each) {
                if ((polled[each].revents & (POLLIN | POLLHUP | POLLERR)) != 0) hear(each - 1);
            }
            if (!ordered_ && polled[0].revents != 0) take_order();
        }
        return seen_;
    }

private:
    struct client {
        int number;
        std::uint32_t token;
        bool done;
    };

    void begin() {
        const int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const auto* raw = reinterpret_cast<const sockaddr*>(server_.raw().data);
        if (number < 0 || ::connect(number, raw, server_.raw().size) != 0) ::_exit(3);
        const auto token = static_cast<std::uint32_t>(seen_.begun++);
        // One that has been refused in the meantime is heard of by its read.
        static_cast<void>(::send(number, &token, sizeof token, MSG_NOSIGNAL));
        clients_.push_back({number, token, false});
    }

    void hear(std::size_t index) {
        client& it = clients_[index];
        std::uint32_t told = 0;
        const ssize_t got = ::recv(it.number, &told, sizeof told, 0);
        if (got == sizeof told) {
            ++seen_.answered;
            if (told != it.token) ++seen_.wrong;
            seen_.last = steady::now();
            if (ordered_ && seen_.first_after == steady::time_point{})
                seen_.first_after = seen_.last;
            it.done = true;
            if (ordered_) leave(index);
            return;
        }
        ++seen_.refused;
        leave(index);
        if (!ordered_) begin();
    }

    void leave(std::size_t index) {
        ::close(clients_[index].number);
        clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(index));
    }

    // 'l': who has been answered leaves. 's': stays, up to the end of the process.
    void take_order() {
        char order = 0;
        if (::read(orders_, &order, 1) != 1) ::_exit(4);
        ordered_ = true;
        for (std::size_t each = clients_.size(); each > 0; --each) {
            if (!clients_[each - 1].done) continue;
            if (order == 'l') ::close(clients_[each - 1].number);
            clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(each - 1));
        }
    }

    endpoint server_;
    int orders_;
    bool ordered_ = false;
    std::vector<client> clients_;
    flood_report seen_;
};

task<> serve_echo(tcp_acceptor acceptor, serve_options options, io_result<>& outcome) {
    outcome = co_await serve(std::move(acceptor), &echo, options);
}

// Of all threads of this process, those of the kernel that work for it included.
duration process_cpu_time() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return std::chrono::seconds{used.ru_utime.tv_sec + used.ru_stime.tv_sec} +
           std::chrono::microseconds{used.ru_utime.tv_usec + used.ru_stime.tv_usec};
}

// What a hypervisor takes is charged to the process, too: the least of three windows.
double least_share(io_context& io) {
    constexpr duration window = 1s;
    double least = 1;
    for (int each = 0; each < 3; ++each) {
        const duration cpu = process_cpu_time();
        const steady::time_point begun = steady::now();
        io.run_for(window);
        const duration used = process_cpu_time() - cpu;
        least = std::min(least, std::chrono::duration<double>(used) / (steady::now() - begun));
    }
    return least;
}

enum class freed_by : std::uint8_t { leaving_clients, the_program };

void check_flood(const io_context_options& options, freed_by whom) {
    const child_report report = in_child([&](child_process& me) {
        io_context io{options};
        tcp_acceptor acceptor = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
        const endpoint where = acceptor.local_endpoint().value();
        std::array<int, 2> orders{};
        std::array<int, 2> told{};
        me.check(::pipe(orders.data()) == 0 && ::pipe(told.data()) == 0, "pipes");
        rlimit limit{};
        ::getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = descriptors_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
        std::vector<int> hoard;
        for (int each = 0; whom == freed_by::the_program && each < 20; ++each) {
            hoard.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        }
        serve_counters counters;
        serve_options counting;
        counting.counters = &counters;
        io_result<> outcome{errc::malformed};
        const stop_handle server =
            launch(io, serve_echo(std::move(acceptor), counting, outcome), or_terminate{});
        const int crowd = start_child([&] {
            limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4 * crowd_size);
            ::setrlimit(RLIMIT_NOFILE, &limit);
            const flood_report seen = flood{where, orders[0]}.run();
            return ::write(told[1], &seen, sizeof seen) == sizeof seen ? 0 : 1;
        });
        while (counters.exhausted == 0) io.run_for(1ms);

        const std::uint64_t shed_before = counters.shed;
        const double share = least_share(io);
        const std::uint64_t shed = counters.shed - shed_before;
        const std::uint64_t accepted_before = counters.accepted;
        const steady::time_point freed = steady::now();
        const char order = whom == freed_by::the_program ? 's' : 'l';
        me.check(::write(orders[1], &order, 1) == 1, "the order is given");
        for (const int each : hoard) ::close(each);
        pollfd readable{told[0], POLLIN, 0};
        while (::poll(&readable, 1, 0) == 0) io.run_for(1ms);
        flood_report seen;
        me.check(::read(told[0], &seen, sizeof seen) == sizeof seen, "the clients' report");
        me.check(wait_for_child(crowd) == 0, "the clients ended well");
        server.request_drain();
        io.run();

        const auto after = [&](steady::time_point when) {
            return std::to_string(
                std::chrono::duration_cast<std::chrono::microseconds>(when - freed) / 1us);
        };
        me.say("CPU while refused " + std::to_string(100 * share) + " %, refused in 3 s " +
               std::to_string(shed) + ", first served " + after(seen.first_after) +
               " us after descriptors were freed, the last " + after(seen.last) + " us; " +
               std::to_string(seen.begun) + " connections, " + std::to_string(seen.answered) +
               " answered, " + std::to_string(seen.refused) + " refused");
        me.check(share < 0.05, "less than 5 % of a processor while it refuses");
        me.check(shed >= 10, "who is refused hears of it");
        me.check(accepted_before < descriptors_max, "there were no descriptors for more");
        me.check(seen.first_after != steady::time_point{}, "the queue is served, too");
        me.check(seen.first_after - freed < 1s, "within a second");
        me.check(seen.answered == counters.accepted, "who was accepted is answered");
        me.check(seen.refused == counters.shed, "nobody is refused but on purpose");
        me.check(seen.begun == seen.answered + seen.refused, "nobody is lost");
        me.check(seen.wrong == 0, "each gets its own answer");
        me.check(outcome.ok(), "the server ends well");
    });

    MESSAGE(std::string{describe(options.backend)}, ": ", report.text);
    CHECK(report.passed());
}

}  // namespace

TEST_CASE(
    "a flood that exhausts descriptors costs little, and none is lost when sessions free them") {
    with_every_backend(
        [](const io_context_options& each) { check_flood(each, freed_by::leaving_clients); });
}

TEST_CASE("a flood that exhausts descriptors loses none when the program frees them elsewhere") {
    with_every_backend(
        [](const io_context_options& each) { check_flood(each, freed_by::the_program); });
}
