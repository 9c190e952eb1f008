// SPDX-License-Identifier: BSL-1.0
//
// The matching facility: sequencer, books, order entry and public feed of one exchange, as one process.
//
// This is its command line; run_facility.hpp is what it does.
#include <exchange/bin/command_line.hpp>
#include <exchange/bin/run_facility.hpp>
#include <exchange/management/affinity.hpp>
#include <exchange/net/application/life_name.hpp>

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

using namespace exchange;

namespace {

constexpr const char* about = R"(Runs a matching facility until SIGTERM or SIGINT.

When clients may come it prints `ready: order entry ADDRESS, feed ADDRESS, requests
ADDRESS, backend NAME, life NAME`. The last is what all streams and the feed are called
from this start to the end. The first signal ends the day in order (streams and feed
end, clients leave), a second one ends the process at once. SIGQUIT tells who is there
and, on gyre, what every coroutine waits for.

Nothing is kept beyond the end, whichever it is: the next start begins a new life.)";

constexpr const char* exit_codes =
    "Exit status: 0 after an orderly end, 1 if it could not begin, 2 if the configuration is bad.";

[[nodiscard]] int start(const config& how) {
    if (how.cpu) {
        const auto [refused] = pin_this_thread(*how.cpu);
        if (refused) {
            std::fprintf(stderr, "matching_facility: cannot stay on processor %u: %s\n", *how.cpu,
                         refused.message().c_str());
            return 1;
        }
    }
    switch (how.backend) {
        case facility_backend::gyre_uring:
        case facility_backend::gyre_epoll: break;
        case facility_backend::asio_coroutine:
        case facility_backend::asio_callback: return run_on_asio(how);
    }
    return run_on_gyre(how);
}

}  // namespace

int main(int count, char** arguments) {
    std::string path;
    std::string backend;
    bool only_check = false;
    CLI::App options{about, "matching_facility"};
    options.footer(exit_codes);
    options.add_option("config", path, "The configuration file")->required();
    options.add_option("--backend", backend, "Instead of the file's: " + all_backends());
    options.add_flag("--check", only_check, "Read the configuration, say what is wrong, and end");
    if (const auto status = parse_command_line(options, count, arguments)) return *status;

    config_reading reading = load_config(path);
    if (!backend.empty()) {
        const auto found = find_backend(backend);
        if (found) reading.value.backend = *found;
        else reading.errors.push_back({"--backend", "expected one of " + all_backends()});
    }
    if (!reading.errors.empty()) return complain(path, reading.errors);
    if (only_check) {
        std::printf("%s: in order\n", path.c_str());
        return 0;
    }
    matching_service_options& service = reading.value.service;
    service.stream.session = service.feed.session = life_name(wall_time());
    // Clients choose their numbers, and must not know which of them are in each other's way.
    std::random_device chance;
    service.sequencing.limits.client_index_key = std::uint64_t{chance()} << 32 | chance();
    return start(reading.value);
}
