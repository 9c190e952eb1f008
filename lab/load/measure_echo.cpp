// SPDX-License-Identifier: BSL-1.0
//
// Puts a server and its load on cores of their own, and reads the server's costs from outside.
#include <lab/load/measure_echo.hpp>

#include <lab/kit/descriptor_limit.hpp>
#include <lab/kit/fail.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace lab {
namespace {

double resident_megabytes(pid_t process) {
    std::ifstream file{"/proc/" + std::to_string(process) + "/statm"};
    double pages = 0;
    file >> pages >> pages;  // The second number.
    return pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// How often the server has allocated, by the library in front of its malloc (allocation_counter.cpp).
class allocation_count {
public:
    explicit allocation_count(std::string library) : library_{std::move(library)} {
        if (library_.empty()) return;
        file_ = descriptor{::memfd_create("allocations", MFD_CLOEXEC)};
        require(file_.get() >= 0 && ::ftruncate(file_.get(), 2 * sizeof(std::uint64_t)) == 0,
                "echo: memfd_create");
    }

    [[nodiscard]] std::vector<std::string> environment() const {
        if (library_.empty()) return {};
        const std::string path =
            "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file_.get());
        return {"LD_PRELOAD=" + library_, "LAB_ALLOCATIONS=" + path};
    }

    [[nodiscard]] std::optional<std::uint64_t> so_far() const {
        if (library_.empty()) return {};
        std::uint64_t count = 0;
        require(::pread(file_.get(), &count, sizeof(count), 0) == sizeof(count), "echo: pread");
        // Every program has made some by now: none at all is a counter that does not count.
        require(count > 0, "echo: " + library_ + " does not count");
        return count;
    }

private:
    std::string library_;
    descriptor file_{-1};
};

// Lines of `counted NAME COUNT`, for the part of all messages that was measured.
std::vector<std::pair<std::string, double>> counted_in(const std::string& output,
                                                       std::uint64_t messages) {
    std::vector<std::pair<std::string, double>> found;
    std::istringstream lines{output};
    std::string word;
    std::string name;
    for (double count = 0; lines >> word >> name >> count && word == "counted";) {
        found.emplace_back(name, count / static_cast<double>(messages));
    }
    return found;
}

}  // namespace

std::variant<echo_result, not_started> measure_echo(const echo_case& work,
                                                    const echo_options& how) {
    raise_descriptor_limit();
    const core_split cores = cores_for(work.threads);
    const allocation_count allocations{how.allocation_counter};
    auto started =
        start_server({how.server, "echo", work.threads, cores.server, allocations.environment()});
    if (auto* const failed = std::get_if<not_started>(&started)) return std::move(*failed);
    require(::sched_setaffinity(0, sizeof(cores.load), &cores.load) == 0,
            "echo: sched_setaffinity");

    auto& server = std::get<started_server>(started);
    echo_result result;
    histogram warm_up;
    {
        echo_clients clients{work, server.address};
        clients.play(work.warm_up, warm_up);
        result.no_delay_seen = server.process.require_no_delay(clients.ports());

        const auto allocations_before = allocations.so_far();
        const server_watch watch{server.process};
        const auto load_before = *processor_time(CLOCK_THREAD_CPUTIME_ID);
        clients.play(work.measured, result.latency);
        result.load_processor = *processor_time(CLOCK_THREAD_CPUTIME_ID) - load_before;
        result.spent = watch.stop();
        if (allocations_before) result.allocations = *allocations.so_far() - *allocations_before;
        result.resident_megabytes = resident_megabytes(server.process.id());
    }
    server.process.stop();
    result.counted = counted_in(server.rest_of_output(), warm_up.count() + result.latency.count());
    return result;
}

}  // namespace lab
