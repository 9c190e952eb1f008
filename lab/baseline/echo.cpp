// SPDX-License-Identifier: BSL-1.0
//
// The lab's own clients of an echo server, for cases that ab and wrk cannot play.
//
// They are those of the suite `echo`: every byte that returns is compared, that TCP_NODELAY is set on the
// server's ends is looked up, and what the server has spent is read from outside.
#include <lab/echo.hpp>
#include <lab/fail.hpp>
#include <lab/histogram.hpp>
#include <lab/kernel_counts.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace {

using json = nlohmann::ordered_json;
using seconds = std::chrono::duration<double>;

json latency_of(const lab::histogram& nanoseconds) {
    json found = {{"mean", nanoseconds.mean() / 1000.0}};
    for (const auto& [name, part] : {std::pair{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}}) {
        const auto value = nanoseconds.known_quantile(part);
        if (value) found[name] = static_cast<double>(*value) / 1000.0;
    }
    return found;
}

json report_of(const lab::outcome& seen) {
    if (const auto* const refusal = std::get_if<lab::cannot_run>(&seen)) {
        return {{"cannot_run", refusal->reason}};
    }
    const auto& [spent, amount, latency] = std::get<lab::measurement>(seen);
    json report = {{"requests", amount},
                   {"seconds", seconds{spent.wall}.count()},
                   {"processor_seconds", seconds{spent.processor}.count()},
                   {"memory_megabytes", spent.memory_megabytes},
                   {"load_processor_seconds", seconds{spent.load_processor}.count()},
                   {"no_delay_seen", spent.no_delay_seen},
                   {"latency_us", latency_of(latency)}};
    if (spent.context_switches) report["context_switches"] = *spent.context_switches;
    if (spent.system_calls) report["system_calls"] = *spent.system_calls;
    return report;
}

}  // namespace

int main(int count, char** arguments) {
    CLI::App app{
        "Loads an echo server with clients that send their next message when the last is back."};
    lab::echo_case work{};
    work.threads = 1;
    unsigned warm_up_ms = 0;
    unsigned measured_ms = 0;
    std::vector<std::string> server;
    app.add_option("--connections", work.connections)->required();
    app.add_option("--message-bytes", work.message_bytes)->required();
    app.add_option("--warm-up-ms", warm_up_ms)->required();
    app.add_option("--measured-ms", measured_ms)->required();
    bool counts_calls = false;
    app.add_flag("--count-system-calls", counts_calls, "which slows them down");
    app.add_option("server", server, "the program and its arguments, behind `--`")->required();
    CLI11_PARSE(app, count, arguments);

    work.buffer_bytes = work.message_bytes;
    work.warm_up = std::chrono::milliseconds{warm_up_ms};
    work.measured = std::chrono::milliseconds{measured_ms};
    std::string refusal = counts_calls ? lab::count_system_calls() : std::string{};
    json report = report_of(lab::measure_echo(server, work));
    if (counts_calls && refusal.empty() && !report.contains("system_calls")) {
        refusal = lab::unreadable_count;
    }
    if (!refusal.empty()) report["system_calls_not_counted"] = refusal;
    std::puts(report.dump().c_str());
    return 0;
}
