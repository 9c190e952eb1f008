// SPDX-License-Identifier: BSL-1.0
//
// Puts a server and its load on cores of their own, and reads the server's costs from outside.
#include <lab/echo.hpp>

#include <lab/churn_load.hpp>
#include <lab/echo_load.hpp>
#include <lab/fail.hpp>
#include <lab/kernel_counts.hpp>
#include <lab/load.hpp>
#include <lab/server_process.hpp>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <type_traits>
#include <utility>

namespace lab {
namespace {

using clock = std::chrono::steady_clock;

// A thousand connections and more need more descriptors than shells usually allow.
void raise_descriptor_limit() {
    rlimit limit{};
    require(::getrlimit(RLIMIT_NOFILE, &limit) == 0, "echo: getrlimit");
    limit.rlim_cur = limit.rlim_max;
    require(::setrlimit(RLIMIT_NOFILE, &limit) == 0, "echo: setrlimit");
}

core_split cores_for(const echo_case& work) {
    cpu_set_t allowed;
    require(::sched_getaffinity(0, sizeof(allowed), &allowed) == 0, "echo: sched_getaffinity");
    return split_cores(allowed, work.threads);
}

void stay_on(const cpu_set_t& cores) {
    require(::sched_setaffinity(0, sizeof(cores), &cores) == 0, "echo: sched_setaffinity");
}

std::chrono::nanoseconds processor_time_of_this_thread() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

struct played {
    measurement result;
    std::uint64_t warm_up_messages = 0;
};

played play(const server_process& server, const sockaddr_in& address, const echo_case& work) {
    played all;
    measurement& result = all.result;
    echo_load clients{work, address};
    histogram warm_up;
    clients.play(work.warm_up, warm_up);
    all.warm_up_messages = warm_up.count();
    result.spent.no_delay_seen = server.require_no_delay(clients.ports());

    const system_call_counter calls{server.id()};
    const auto switches_before = server.context_switches();
    const auto processor_before = server.processor_time();
    const auto load_before = processor_time_of_this_thread();
    const auto began = clock::now();
    clients.play(work.measured, result.latency);
    result.spent.wall = clock::now() - began;
    result.spent.load_processor = processor_time_of_this_thread() - load_before;
    result.spent.processor = used_between(processor_before, server.processor_time());
    result.spent.context_switches = switches_between(switches_before, server.context_switches());
    result.spent.system_calls = calls.so_far();
    result.spent.memory_megabytes = server.peak_memory_megabytes();
    result.amount = result.latency.count();
    return all;
}

// What the server has counted goes to its parent as it is: names are literals, which stand in both
// processes at the same place. It fits into the pipe, so nobody waits.
[[noreturn]] void serve(contender& who, const echo_case& work, descriptor listener,
                        const cpu_set_t& cores, const descriptor& report) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    stay_on(cores);
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
    if (std::string refusal = who.refusal_to_echo(work); !refusal.empty()) {
        return cannot_run{std::move(refusal)};
    }
    if (const auto program = who.echo_program(); !program.empty()) {
        return measure_echo(program, work);
    }
    raise_descriptor_limit();
    const core_split cores = cores_for(work);
    listener at = listen_on_loopback();

    std::array<int, 2> ends{};
    require(::pipe2(ends.data(), O_CLOEXEC) == 0, "echo: pipe2");
    const descriptor report{ends[0]};
    descriptor reporter{ends[1]};

    const pid_t child = ::fork();
    require(child >= 0, "echo: fork");
    if (child == 0) serve(who, work, std::move(at.socket), cores.server, reporter);
    server_process server{child};
    reporter = descriptor{-1};
    at.socket = descriptor{-1};
    stay_on(cores.load);

    auto [result, warm_up_messages] = play(server, at.address, work);
    server.wait_for_end();
    const auto amount = static_cast<double>(result.amount);
    result.spent.counted =
        read_report(report, amount / (amount + static_cast<double>(warm_up_messages)));
    return std::move(result);
}

outcome measure_echo(const std::vector<std::string>& program, const echo_case& work) {
    raise_descriptor_limit();
    const core_split cores = cores_for(work);
    auto started = start_program(program, "echo", work.threads, cores.server);
    if (auto* const failed = std::get_if<not_started>(&started)) {
        return cannot_run{std::move(failed->reason)};
    }
    stay_on(cores.load);

    auto& server = std::get<started_program>(started);
    measurement result = play(server.process, server.address, work).result;
    server.process.stop();
    return result;
}

}  // namespace lab
