// SPDX-License-Identifier: BSL-1.0
//
// The order entry gateway: clients of an exchange on one side, the matching facility on the other.
//
// This is its command line; run_gateway.hpp is what it does.
#include <exchange/bin/command_line.hpp>
#include <exchange/bin/run_gateway.hpp>
#include <exchange/management/access_token.hpp>
#include <exchange/management/descriptor_limit.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

#include <malloc.h>

using namespace exchange;

namespace {

constexpr const char* about = R"(Runs an order entry gateway until SIGTERM or SIGINT.

When clients may come it prints `ready: order entry ADDRESS, facility ADDRESS, backend
NAME`, and behind that `, websocket ADDRESS` where clients of WebSocket may, whether or not
the facility is there: until it is, logins wait. The first signal lets clients leave, a
second one ends the process at once. SIGQUIT tells who is there and, on gyre, what every
coroutine waits for.

A gateway keeps nothing: a client that comes again, to this one or to another, goes on
where it was.)";

constexpr const char* exit_codes =
    "Exit status: 0 after an orderly end, 1 if it could not begin, 2 if the configuration is bad\n"
    "or needs more descriptors than there are.";

[[nodiscard]] int print_token() {
    const access_token made = make_access_token();
    if (made.hash.empty()) {
        std::fputs("order_entry_gateway: the system gives no chance\n", stderr);
        return 1;
    }
    std::printf("token %s\nhash %s\n", made.secret.c_str(), made.hash.c_str());
    return 0;
}

[[nodiscard]] int start(const gateway_config& how) {
    if (how.backend == facility_backend::asio_coroutine) return run_gateway_on_asio(how);
    return run_gateway_on_gyre(how);
}

}  // namespace

int main(int count, char** arguments) {
    // Windows of clients that read are never used: from this size on the system gives pages when they are.
    ::mallopt(M_MMAP_THRESHOLD, 16 << 10);
    std::string path;
    std::string backend;
    bool only_check = false;
    bool new_token = false;
    CLI::App options{about, "order_entry_gateway"};
    options.footer(exit_codes);
    options.add_option("config", path, "The configuration file");
    options.add_option("--backend", backend, "Instead of the file's: " + all_backends());
    options.add_flag("--check", only_check,
                     "Read the configuration, say what is wrong with it, and end");
    options.add_flag("--new-token", new_token,
                     "Print a token for a user, and the hash that the gateway is to know of it");
    if (const auto status = parse_command_line(options, count, arguments)) return *status;
    if (new_token) return print_token();

    gateway_config_reading reading = load_gateway_config(path);
    if (!backend.empty()) {
        const auto found = find_backend(backend);
        if (found && *found != facility_backend::asio_callback) reading.value.backend = *found;
        else reading.errors.push_back({"--backend", "expected one of those with coroutines"});
    }
    if (!reading.errors.empty()) return complain(path, reading.errors);
    if (reading.open_to_others)
        std::fprintf(stderr, "order_entry_gateway: warning: others than you can read %s\n",
                     reading.value.credentials_file.c_str());
    if (const auto error = allow_descriptors(descriptors_needed(reading.value)))
        return complain(path, {*error});
    if (only_check) {
        std::printf("%s: in order\n", path.c_str());
        return 0;
    }
    return start(reading.value);
}
