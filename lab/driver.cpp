// SPDX-License-Identifier: BSL-1.0
//
// `main` of every contender: finds the case, has it run, and prints one line of JSON.
//
// One process runs one case once. Repeating, interleaving and judging belong to run.py, which
// needs to know nothing about a contender but its command line.
#include <lab/contender.hpp>
#include <lab/echo.hpp>
#include <lab/fail.hpp>
#include <lab/kernel_counts.hpp>
#include <lab/scenario.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace lab {
namespace {

using json = nlohmann::ordered_json;

// Collects the metrics of one run in the order of the tables.
class metric_list {
public:
    void add(std::string_view metric, std::string_view unit, std::string_view better,
             double value) {
        values_.push_back(
            {{"metric", metric}, {"unit", unit}, {"better", better}, {"value", value}});
    }

    void add_latency(const histogram& nanoseconds) {
        add("mean", "us", "lower", nanoseconds.mean() / 1000.0);
        add_quantiles(nanoseconds, {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}});
        add("min", "us", "lower", static_cast<double>(nanoseconds.min()) / 1000.0);
        add("max", "us", "lower", static_cast<double>(nanoseconds.max()) / 1000.0);
    }

    void add_cost(const cost& spent, std::uint64_t operation_count, bool one_thread) {
        const auto operations = static_cast<double>(operation_count);
        const auto processor = static_cast<double>(spent.processor.count());
        const auto allocations = static_cast<double>(spent.allocations);

        add("cpu", "ns/op", "lower", processor / operations);
        if (one_thread) add("allocations", "1/op", "lower", allocations / operations);
        if (spent.context_switches) {
            add("context_switches", "1/op", "lower",
                static_cast<double>(*spent.context_switches) / operations);
        }
        if (spent.system_calls) {
            add("system_calls", "1/op", "lower",
                static_cast<double>(*spent.system_calls) / operations);
        }
        for (const counter& each : spent.counted) {
            add(each.name, "1/op", "lower", each.count / operations);
        }
    }

    // What the tables of `echo` have beyond that.
    void add_block(const histogram& nanoseconds) {
        add("std", "us", "lower", nanoseconds.deviation() / 1000.0);
        add_quantiles(nanoseconds, {{"p25", 0.25}, {"p75", 0.75}, {"p99.99", 0.9999}});
        add("messages", "", "higher", static_cast<double>(nanoseconds.count()));
    }

    // How much of the time the load has worked: at 100 % it is what was measured.
    void add_load(const cost& spent) {
        const std::chrono::duration<double> worked = spent.load_processor;
        add("load_busy", "%", "lower", 100 * worked / std::chrono::duration<double>{spent.wall});
    }

    void add_memory(double megabytes) { add("memory", "MB", "lower", megabytes); }

    [[nodiscard]] const json& values() const noexcept { return values_; }

private:
    struct named_part {
        std::string_view name;
        double part;
    };

    // Without those of which too little is known.
    void add_quantiles(const histogram& nanoseconds, std::initializer_list<named_part> wanted) {
        for (const auto& [name, part] : wanted) {
            const auto value = nanoseconds.known_quantile(part);
            if (value) add(name, "us", "lower", static_cast<double>(*value) / 1000.0);
        }
    }

    json values_ = json::array();
};

double seconds(const measurement& result) {
    return std::chrono::duration<double>{result.spent.wall}.count();
}

template <class Case>
    requires std::same_as<Case, dispatch_case> || std::same_as<Case, shared_dispatch_case>
void add_headline(metric_list& metrics, const Case& work, const measurement& result) {
    require(result.amount == work.items, "dispatch: not every item ran");
    const auto items = static_cast<double>(work.items);

    metrics.add("throughput", "Mops/s", "higher", items / seconds(result) / 1e6);
    metrics.add("time", "ns", "lower", seconds(result) * 1e9 / items);
}

void add_headline(metric_list& metrics, const throughput_case& work, const measurement& result) {
    const std::uint64_t directions = work.direction == flow::both_ways ? 2 : 1;
    const std::uint64_t bytes = work.bytes_per_direction * directions;
    require(result.amount == bytes, "throughput: not every byte arrived");

    metrics.add("throughput", "MB/s", "higher", static_cast<double>(bytes) / seconds(result) / 1e6);
}

void add_headline(metric_list& metrics, const threads_throughput_case& work,
                  const measurement& result) {
    throughput_case all = work.each;
    all.bytes_per_direction *= work.threads;
    add_headline(metrics, all, result);
}

void add_headline(metric_list& metrics, const latency_case& work, const measurement& result) {
    require(result.amount == work.pairs * work.rounds_per_pair &&
                result.latency.count() == result.amount,
            "latency: not every round was played");

    metrics.add_latency(result.latency);
}

void add_headline(metric_list& metrics, const http_case& work, const measurement& result) {
    require(result.amount == work.connections * work.requests_per_connection &&
                result.latency.count() == result.amount,
            "http: not every request was answered");

    metrics.add("throughput", "ops/s", "higher",
                static_cast<double>(result.amount) / seconds(result));
    metrics.add_latency(result.latency);
}

void add_headline(metric_list& metrics, const threads_http_case& work, const measurement& result) {
    add_headline(metrics, work.all, result);
}

void add_headline(metric_list& metrics, const echo_case& work, const measurement& result) {
    const double rate = static_cast<double>(result.amount) / seconds(result);
    metrics.add("throughput", "ops/s", "higher", rate);
    metrics.add_latency(result.latency);
    metrics.add_block(result.latency);
    metrics.add("transfer", "MiB/s", "higher",
                rate * static_cast<double>(work.message_bytes) / (1 << 20));
    metrics.add("seconds", "s", "higher", seconds(result));
    metrics.add_load(result.spent);
}

// What fires at given moments, or is pushed back in given numbers a second, has no speed of its own:
// its result is what it cost.
bool has_speed(const timers_case& work) {
    return work.use != timer_use::fire_together && work.operations_per_tick == 0;
}

void add_headline(metric_list& metrics, const timers_case& work, const measurement& result) {
    require(result.amount == work.operations, "timers: not every timer did what it should");
    if (has_speed(work)) {
        metrics.add("throughput", "Mops/s", "higher",
                    static_cast<double>(result.amount) / seconds(result) / 1e6);
    }
    if (work.use == timer_use::fire_together) metrics.add_latency(result.latency);
}

void add_headline(metric_list& metrics, const churn_case& work, const measurement& result) {
    require(result.amount == work.connections && result.latency.count() == result.amount,
            "churn: not every connection was made");

    metrics.add("throughput", "ops/s", "higher",
                static_cast<double>(result.amount) / seconds(result));
    metrics.add_latency(result.latency);
}

void add_headline(metric_list& metrics, const fan_out_case& work, const measurement& result) {
    require(result.amount == work.children(), "fan_out: not every child has ended");

    metrics.add("throughput", "Mops/s", "higher",
                static_cast<double>(result.amount) / seconds(result) / 1e6);
}

// What "per operation" means: per item, buffer, round trip, request, timer, connection or child.
template <class Case>
std::uint64_t operations_of(const Case&, const measurement& result) {
    return result.amount;
}

std::uint64_t operations_of(const throughput_case& work, const measurement& result) {
    return result.amount / work.buffer_bytes;
}

std::uint64_t operations_of(const threads_throughput_case& work, const measurement& result) {
    return operations_of(work.each, result);
}

// Allocations are counted for the thread that holds the stopwatch, and so only where it does all the
// work.
template <class Case>
constexpr bool runs_on_others =
    std::same_as<Case, shared_dispatch_case> || std::same_as<Case, threads_throughput_case> ||
    std::same_as<Case, threads_http_case>;

outcome run(contender& who, const dispatch_case& work) { return who.dispatch(work); }
outcome run(contender& who, const throughput_case& work) { return who.throughput(work); }
outcome run(contender& who, const latency_case& work) { return who.latency(work); }
outcome run(contender& who, const http_case& work) { return who.http(work); }
outcome run(contender& who, const shared_dispatch_case& work) { return who.shared_dispatch(work); }
outcome run(contender& who, const threads_http_case& work) { return who.threads_http(work); }
outcome run(contender& who, const threads_throughput_case& work) {
    return who.threads_throughput(work);
}
outcome run(contender& who, const echo_case& work) { return measure_echo(who, work); }
outcome run(contender& who, const timers_case& work) { return who.timers(work); }
outcome run(contender& who, const churn_case& work) { return who.churn(work); }
outcome run(contender& who, const fan_out_case& work) { return who.fan_out(work); }

json report_of(contender& who, const scenario& chosen) {
    const identity about = who.about();
    json report = {{"suite", chosen.suite},    {"case", chosen.name},
                   {"contender", about.name},  {"library", about.library},
                   {"version", about.version}, {"backend", about.backend}};

    std::visit(
        [&](const auto& work) {
            const outcome result = run(who, work);
            if (const auto* refusal = std::get_if<cannot_run>(&result)) {
                report["cannot_run"] = refusal->reason;
                return;
            }

            const auto& measured = std::get<measurement>(result);
            metric_list metrics;
            add_headline(metrics, work, measured);
            using case_type = std::decay_t<decltype(work)>;
            metrics.add_cost(measured.spent, operations_of(work, measured),
                             chosen.threads == 1 && !runs_on_others<case_type>);
            if constexpr (std::same_as<case_type, echo_case>) {
                report["no_delay_seen"] = measured.spent.no_delay_seen;
                metrics.add_memory(measured.spent.memory_megabytes);
            } else {
                metrics.add_memory(peak_memory_megabytes(0));
            }
            report["metrics"] = metrics.values();
        },
        chosen.what);
    return report;
}

void print_list(scale size) {
    for (const scenario& each : all_scenarios(size)) {
        const json line = {{"suite", each.suite},
                           {"case", each.name},
                           {"description", each.description},
                           {"threads", each.threads},
                           {"rounds_max", each.rounds_max}};
        std::puts(line.dump().c_str());
    }
}

const scenario& find_scenario(const std::vector<scenario>& all, std::string_view suite,
                              std::string_view name) {
    for (const scenario& each : all) {
        if (each.suite == suite && each.name == name) return each;
    }
    fail("no such case: " + std::string{suite} + " " + std::string{name});
}

int drive(int argument_count, char** arguments) {
    CLI::App app{"Runs one case of the lab once and prints one line of JSON."};
    bool list = false;
    std::string suite;
    std::string name;
    std::string scale_name = "quick";
    std::string backend;
    app.add_flag("--list", list, "print every case, one line of JSON each");
    app.add_option("--suite", suite, "one of the suites; see --list");
    app.add_option("--case", name, "a case of this suite; see --list");
    app.add_option("--scale", scale_name, "quick: about 0.2 s, full: about 1 s")
        ->check(CLI::IsMember({"quick", "full"}));
    bool counts_calls = false;
    app.add_flag("--count-system-calls", counts_calls,
                 "count them, if the kernel allows it; the times of such a run mean nothing");
    app.add_option("--backend", backend, "for contenders that have more than one");
    CLI11_PARSE(app, argument_count, arguments);

    const scale size = scale_name == "full" ? scale::full : scale::quick;
    if (list) {
        print_list(size);
        return 0;
    }

    const std::vector<scenario> all = all_scenarios(size);
    const scenario& chosen = find_scenario(all, suite, name);
    const std::unique_ptr<contender> who = make_contender(backend);
    const std::string refusal = counts_calls ? count_system_calls() : std::string{};
    json report = report_of(*who, chosen);
    if (!refusal.empty()) report["system_calls_not_counted"] = refusal;
    std::puts(report.dump().c_str());
    return 0;
}

}  // namespace

}  // namespace lab

int main(int argument_count, char** arguments) { return lab::drive(argument_count, arguments); }
