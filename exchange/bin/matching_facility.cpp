// SPDX-License-Identifier: BSL-1.0
//
// The matching facility: sequencer, books, order entry and public feed of one exchange, as one process.
//
// This is its command line; run_facility.hpp is what it does.
#include <exchange/bin/command_line.hpp>
#include <exchange/bin/run_facility.hpp>
#include <exchange/management/affinity.hpp>
#include <exchange/management/audit_file.hpp>
#include <exchange/management/descriptor_limit.hpp>
#include <exchange/management/exchange_check.hpp>
#include <exchange/management/memory_need.hpp>
#include <exchange/management/received_listeners.hpp>
#include <exchange/management/text_file.hpp>
#include <exchange/management/write_within.hpp>
#include <exchange/net/application/life_name.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <malloc.h>

using namespace exchange;

namespace {

constexpr const char* about = R"(Runs a matching facility until SIGTERM or SIGINT.

When clients may come it prints `ready: order entry ADDRESS, feed ADDRESS, requests
ADDRESS, backend NAME, life NAME`, and behind that `, websocket ADDRESS` and `, gateways
ADDRESS` where these may come. The life is what all streams and the feed are called from
this start to the end. The first signal ends the day in order (streams and feed end,
clients leave), a second one ends the process at once. SIGQUIT tells who is there and, on
gyre, what every coroutine waits for.

Nothing is kept beyond the end, whichever it is: the next start begins a new life.)";

/// What the facility may come to need: whether it is there, or why not.
struct memory_check {
    std::optional<config_error> error;
    std::string found;  // "needs at most ..."
};

[[nodiscard]] memory_check check_memory(const config& of) {
    const std::vector<memory_part> needed = memory_needs(of);
    const auto there = memory_there(read_text_file);
    memory_check made{why_too_much(needed, there), describe(needed, there)};
    if (!made.error && !can_be_reserved(sum_of(needed)))
        made.error = {"", made.found + ", and a limit of the process does not allow it"};
    return made;
}

constexpr const char* exit_codes =
    "Exit status: 0 after an orderly end, 1 if it could not begin, 2 if the configuration is bad\n"
    "or needs more memory or descriptors than there are.";

[[nodiscard]] int start(const config& how) {
    if (how.cpu) {
        const auto [refused] = pin_this_thread(*how.cpu);
        if (refused) {
            std::fprintf(stderr, "matching_facility: cannot stay on processor %u: %s\n", *how.cpu,
                         refused.message().c_str());
            return 1;
        }
    }
    return run_facility(how);
}

/// Runs it with the audit trail that it is to have.
[[nodiscard]] int keep_trail(config& how) {
    if (how.audit_file.empty()) {
        note_on_error_output(
            "matching_facility: operators.audit_file names no file: there is no audit trail\n");
        return start(how);
    }
    audit_file trail{std::string{how.host.stream.session.view()}};
    if (!trail.open(how.audit_file)) {
        std::fprintf(stderr, "matching_facility: the audit trail cannot be written: %s\n",
                     how.audit_file.c_str());
        return 1;
    }
    how.host.trail = &trail;
    const int status = start(how);
    if (trail.lost() > 0)
        note_on_error_output("matching_facility: " + std::to_string(trail.lost()) +
                             " lines of the audit trail are lost\n");
    return status;
}

}  // namespace

int main(int count, char** arguments) {
    // What is reserved for a day that may never come is to take no memory: from this size on the system
    // gives pages of zeros, where the allocator would write them.
    ::mallopt(M_MMAP_THRESHOLD, 16 << 10);
    ignore_broken_pipes();
    std::string path;
    std::string backend;
    bool only_check = false;
    CLI::App options{about, "matching_facility"};
    options.footer(exit_codes);
    options.add_option("config", path, "The configuration file")->required();
    options.add_option("--backend", backend, "Instead of the file's: " + all_backends);
    options.add_flag(
        "--check", only_check,
        "Read the configuration, say what is wrong or how much memory it needs, and end");
    if (const auto status = parse_command_line(options, count, arguments)) return *status;

    config_reading reading = load_facility_config(path);
    if (!backend.empty()) {
        const auto found = find_backend(backend);
        if (found) reading.value.backend = *found;
        else reading.errors.push_back({"--backend", "expected one of " + all_backends});
    }
    if (!reading.errors.empty()) return complain(path, reading.errors);
    const memory_check memory = check_memory(reading.value);
    if (memory.error) return complain(path, {*memory.error});
    if (const auto error = allow_descriptors(descriptors_needed(reading.value)))
        return complain(path, {*error});
    if (only_check) {
        const std::vector<config_error> faults = check_interfaces(reading.value);
        if (!faults.empty()) return complain(path, faults);
        std::printf("%s: in order, %s\n", path.c_str(), memory.found.c_str());
        return 0;
    }
    facility_options& doors = reading.value.facility;
    inherited_listeners inherited;
    if (const auto error = receive_listeners(
            inherited, std::array{doors.order_entry, doors.websocket, doors.gateways.at}))
        return complain(path, {*error});
    doors.inherited = &inherited;
    order_entry_host_options& host = reading.value.host;
    host.stream.session = host.feed.session = life_name(wall_time());
    host.operator_stream.session = host.stream.session;
    // Clients choose their numbers, and must not know which of them are in each other's way.
    std::random_device chance;
    host.sequencing.limits.client_index_key = std::uint64_t{chance()} << 32 | chance();
    return keep_trail(reading.value);
}
