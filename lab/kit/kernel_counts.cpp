// SPDX-License-Identifier: BSL-1.0
//
// Asking the kernel for its counts: getrusage, /proc, and a tracepoint through perf_event_open.
#include <lab/kit/kernel_counts.hpp>

#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace lab {
namespace {

constexpr const char* id_file = "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id";

// The number of the tracepoint that every system call passes; 0 while nothing is counted.
constinit std::uint64_t tracepoint = 0;

descriptor open_counter(pid_t thread) {
    perf_event_attr wanted{};
    wanted.size = sizeof(wanted);
    wanted.type = PERF_TYPE_TRACEPOINT;
    wanted.config = tracepoint;
    wanted.inherit = 1;
    constexpr int any_processor = -1;
    constexpr int no_group = -1;
    return descriptor{static_cast<int>(::syscall(SYS_perf_event_open, &wanted, thread,
                                                 any_processor, no_group, PERF_FLAG_FD_CLOEXEC))};
}

std::filesystem::path folder_of(pid_t process) {
    return std::filesystem::path{"/proc"} / (process == 0 ? "self" : std::to_string(process));
}

// None if it has ended.
std::vector<pid_t> threads_of(pid_t process) {
    std::vector<pid_t> found;
    std::error_code gone;
    for (const auto& each :
         std::filesystem::directory_iterator{folder_of(process) / "task", gone}) {
        found.push_back(std::stoi(each.path().filename()));
    }
    return found;
}

// None if the thread has ended.
std::optional<std::uint64_t> context_switches_in(const std::filesystem::path& status_file) {
    std::ifstream status{status_file};
    std::optional<std::uint64_t> sum;
    for (std::string line; std::getline(status, line);) {
        if (line.find("ctxt_switches:") == line.npos) continue;
        sum = sum.value_or(0) + std::stoull(line.substr(line.find(':') + 1));
    }
    return sum;
}

}  // namespace

std::optional<std::chrono::nanoseconds> processor_time(clockid_t clock) noexcept {
    timespec used{};
    if (::clock_gettime(clock, &used) != 0) return std::nullopt;
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

std::uint64_t context_switches() noexcept {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return static_cast<std::uint64_t>(used.ru_nvcsw) + static_cast<std::uint64_t>(used.ru_nivcsw);
}

switches_by_thread context_switches_of(pid_t process) {
    switches_by_thread found;
    for (const pid_t each : threads_of(process)) {
        const auto folder = folder_of(process) / "task" / std::to_string(each);
        if (const auto count = context_switches_in(folder / "status")) found.emplace(each, *count);
    }
    return found;
}

std::optional<std::uint64_t> switches_between(const switches_by_thread& before,
                                              const switches_by_thread& after) {
    std::uint64_t sum = 0;
    for (const auto& [thread, count] : after) sum += count;
    for (const auto& [thread, count] : before) {
        const auto now = after.find(thread);
        if (now == after.end() || now->second < count)
            return std::nullopt;  // Or its number is another's.
        sum -= count;
    }
    return sum;
}

// Not getrusage(): its peak is inherited across exec, so it would be the parent's.
double peak_memory_megabytes(pid_t process) {
    std::ifstream status{folder_of(process) / "status"};
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024.0;
    }
    return 0;
}

std::string count_system_calls() {
    std::ifstream file{id_file};
    if (!(file >> tracepoint)) {
        return std::string{id_file} + " cannot be read (is tracefs mounted, and are you root?)";
    }
    const descriptor trial = open_counter(0);
    if (trial.get() >= 0) return {};

    tracepoint = 0;
    return std::string{"perf_event_open: "} + std::strerror(errno) +
           " (see /proc/sys/kernel/perf_event_paranoid)";
}

system_call_counter::system_call_counter(pid_t process) {
    if (tracepoint == 0) return;
    std::vector<pid_t> threads = threads_of(process);
    // The calling thread last, so that the calls made here are not among those counted.
    const pid_t self = ::gettid();
    std::ranges::partition(threads, [self](pid_t each) { return each != self; });
    counters_.reserve(threads.size());
    for (const pid_t each : threads) counters_.push_back(open_counter(each));
}

system_call_counter system_call_counter::of_this_thread() {
    system_call_counter made;
    if (tracepoint != 0) made.counters_.push_back(open_counter(0));
    return made;
}

std::optional<std::uint64_t> system_call_counter::so_far() const noexcept {
    if (counters_.empty()) return std::nullopt;
    std::uint64_t sum = 0;
    for (auto each = counters_.rbegin(); each != counters_.rend(); ++each) {
        std::uint64_t count = 0;
        if (::read(each->get(), &count, sizeof(count)) != sizeof(count)) return std::nullopt;
        sum += count;
    }
    return sum;
}

}  // namespace lab
