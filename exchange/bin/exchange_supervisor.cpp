// SPDX-License-Identifier: BSL-1.0
//
// Runs all processes of an exchange, and keeps them running.
//
// This is its command line; supervisor.hpp is what it does.
#include <exchange/bin/command_line.hpp>
#include <exchange/bin/exchange_process.hpp>
#include <exchange/bin/supervisor.hpp>
#include <exchange/management/exchange_check.hpp>
#include <exchange/management/supervisor_config.hpp>

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

using namespace exchange;

namespace {

constexpr const char* about =
    R"(Starts the programs of an exchange in order, and keeps them running.

Each child is started when those that it stands behind have said that they are ready, and
started again if it ends by itself, later after each failure in a row. What children print
is printed with their names before it. When all are ready it prints `ready: N children`.
SIGTERM and SIGINT end them from the last to the first; a second signal kills them. If this
process is killed, they end by themselves.)";

constexpr const char* exit_codes =
    "Exit status: 0 after an orderly end, 1 if it could not begin or a child failed too often, 2 "
    "if the\n"
    "configuration is bad.";

/// Where the programs beside this one are.
[[nodiscard]] std::string own_folder() {
    std::error_code failed;
    const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", failed);
    return failed ? "." : own.parent_path().string();
}

[[nodiscard]] int supervise(const supervisor_config& how) {
    gyre::io_context context;
    if (const gyre::error refused = context.status()) {
        std::fprintf(stderr, "exchange_supervisor: %s\n", refused.message().c_str());
        return 1;
    }
    event_log log{::fileno(stderr), "exchange_supervisor", how.process.log};
    served_supervisor served{context, how, own_folder(), log};
    return exchange_process<gyre_traits, served_supervisor>{
        context, served, how.process, gyre::describe(context.backend().kind), log}
        .run();
}

}  // namespace

int main(int count, char** arguments) {
    std::string path;
    bool only_check = false;
    CLI::App options{about, "exchange_supervisor"};
    options.footer(exit_codes);
    options.add_option("config", path, "The configuration file")->required();
    options.add_flag("--check", only_check,
                     "Read the configuration and those of the children, say what is wrong with "
                     "them or between them, and end");
    if (const auto status = parse_command_line(options, count, arguments)) return *status;
    const supervisor_config_reading reading = load_supervisor_config(path);
    if (!reading.errors.empty()) return complain(path, reading.errors);
    if (only_check) {
        const std::vector<config_error> faults = check_children(reading.value, own_folder());
        if (!faults.empty()) return complain(path, faults);
        std::printf("%s: in order\n", path.c_str());
        return 0;
    }
    return supervise(reading.value);
}
