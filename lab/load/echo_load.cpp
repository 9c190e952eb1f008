// SPDX-License-Identifier: BSL-1.0
//
// Loads an echo server once and prints one line of JSON: a turn of the suites `echo`, `baseline` and `cost`.
//
//     lab_echo_load --case '{"bytes":1000,"connections":100,"threads":1,"rate":0,"buffer":131072,
//                            "warm_up_ms":100,"measured_ms":250}'
//                   [--count-system-calls] [--count-allocations] -- SERVER [ARGUMENT...]
//
// `{buffer}` among the arguments stands for the case's buffer.
#include <lab/kit/fail.hpp>
#include <lab/load/measure_echo.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace {

using json = nlohmann::ordered_json;

// The metrics of one run, in the order of the tables. Quantiles of which too little is known are left out.
json metrics_of(const lab::echo_result& of, const lab::echo_case& work) {
    json all = json::array();
    const auto add = [&](std::string_view metric, std::string_view unit, std::string_view better,
                         double value) {
        all.push_back({{"metric", metric}, {"unit", unit}, {"better", better}, {"value", value}});
    };
    const auto add_time = [&](std::string_view metric, double nanoseconds) {
        add(metric, "us", "lower", nanoseconds / 1'000);
    };
    const auto answers = static_cast<double>(of.latency.count());
    const auto add_per_answer = [&](std::string_view metric, std::optional<std::uint64_t> count) {
        if (count) add(metric, "1/op", "lower", static_cast<double>(*count) / answers);
    };
    const auto wall = static_cast<double>(of.spent.wall.count());
    const auto processor = static_cast<double>(of.spent.processor.count());
    const double rate = answers / wall * 1e9;

    add("throughput", "ops/s", "higher", rate);
    add_time("mean", of.latency.mean());
    using quantile = std::pair<std::string_view, double>;
    for (const auto& [name, part] : std::initializer_list<quantile>{{"p25", 0.25},
                                                                    {"p50", 0.5},
                                                                    {"p75", 0.75},
                                                                    {"p90", 0.9},
                                                                    {"p99", 0.99},
                                                                    {"p99.9", 0.999},
                                                                    {"p99.99", 0.9999}}) {
        const auto value = of.latency.known_quantile(part);
        if (value) add_time(name, static_cast<double>(*value));
    }
    add_time("min", static_cast<double>(of.latency.min()));
    add_time("max", static_cast<double>(of.latency.max()));
    add_time("std", of.latency.deviation());
    add("messages", "", "higher", answers);
    add("transfer", "MiB/s", "higher", rate * static_cast<double>(work.message_bytes) / (1 << 20));
    add("seconds", "s", "higher", wall / 1e9);
    add("load_busy", "%", "lower", 100 * static_cast<double>(of.load_processor.count()) / wall);
    add("busy", "%", "higher", 100 * processor / wall);
    add("cpu", "ns/op", "lower", processor / answers);
    add_per_answer("context_switches", of.spent.context_switches);
    add_per_answer("system_calls", of.spent.system_calls);
    add_per_answer("allocations", of.allocations);
    for (const auto& [name, count] : of.counted) {
        if (count > 0) add(name, "1/op", "lower", count);
    }
    add("memory", "MB", "lower", of.spent.memory_megabytes);
    add("rss", "MiB", "lower", of.resident_megabytes);
    return all;
}

lab::echo_case parse_case(std::string_view text) {
    const json given = json::parse(text, nullptr, false);
    lab::require(given.is_object(), "lab_echo_load: --case takes an object in JSON");
    lab::echo_case work;
    work.message_bytes = given.at("bytes");
    work.connections = given.at("connections");
    work.threads = given.value("threads", 1);
    work.buffer_bytes = given.value("buffer", work.message_bytes);
    work.messages_per_second = given.value("rate", 0);
    work.warm_up = std::chrono::milliseconds{given.at("warm_up_ms").get<int>()};
    work.measured = std::chrono::milliseconds{given.at("measured_ms").get<int>()};
    lab::require(work.message_bytes > 0 && work.connections > 0 && work.threads > 0,
                 "lab_echo_load: bytes, connections and threads are more than 0");
    return work;
}

std::string beside_this_program(std::string_view name) {
    return std::filesystem::canonical("/proc/self/exe").parent_path() / name;
}

int usage() {
    std::fputs(
        "usage: lab_echo_load --case JSON [--count-system-calls] [--count-allocations] -- "
        "SERVER [ARGUMENT...]\n",
        stderr);
    return 2;
}

}  // namespace

int main(int count, char** arguments) {
    std::string_view work_text;
    lab::echo_options how;
    bool counts_calls = false;
    int at = 1;
    for (; at < count && std::string_view{arguments[at]} != "--"; ++at) {
        const std::string_view name{arguments[at]};
        if (name == "--count-system-calls") {
            counts_calls = true;
        } else if (name == "--count-allocations") {
            how.allocation_counter = beside_this_program("liblab_allocation_counter.so");
        } else if (name == "--case" && at + 1 < count) {
            work_text = arguments[++at];
        } else {
            return usage();
        }
    }
    how.server.assign(arguments + std::min(at + 1, count), arguments + count);
    if (how.server.empty() || work_text.empty()) return usage();

    const lab::echo_case work = parse_case(work_text);
    std::ranges::replace(how.server, "{buffer}", std::to_string(work.buffer_bytes));
    std::string refusal = counts_calls ? lab::count_system_calls() : std::string{};
    const auto found = lab::measure_echo(work, how);
    json report;
    if (const auto about = lab::identity_of(how.server); about.size() == 3) {
        report = {{"library", about[0]}, {"version", about[1]}, {"backend", about[2]}};
    }
    if (const auto* const failed = std::get_if<lab::not_started>(&found)) {
        report["cannot_run"] = failed->reason;
    } else {
        const auto& result = std::get<lab::echo_result>(found);
        lab::require(result.latency.count() > 0, "echo: nothing was sent back");
        report["metrics"] = metrics_of(result, work);
        report["no_delay_seen"] = result.no_delay_seen;
        json& buckets = report["latency_buckets"] = json::array();
        result.latency.for_each_bucket(
            [&](std::uint64_t value, std::uint64_t times) { buckets.push_back({value, times}); });
        if (counts_calls && refusal.empty() && !result.spent.system_calls) {
            refusal = lab::unreadable_count;
        }
    }
    if (!refusal.empty()) report["system_calls_not_counted"] = refusal;
    std::puts(report.dump().c_str());
    return 0;
}
