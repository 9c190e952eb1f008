// SPDX-License-Identifier: BSL-1.0
//
// `main` of every facility that is measured: finds the cell, has it played, and prints one line of JSON.
//
// It runs once for each turn of its suite: repeating, interleaving and judging are the business of
// lab/run.py.
#include <exchange/bench/measurement.hpp>

#include <lab/kit/allocations.hpp>
#include <lab/kit/fail.hpp>
#include <lab/kit/kernel_counts.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace exchange::bench {
namespace {

using json = nlohmann::ordered_json;

constexpr const char* suite_name = EXCHANGE_SUITE;  // "exchange", or "exchange_end_to_end".
constexpr const char* tuning_name =
    "exchange_tuning";  // Some of its cells, by contenders that differ.

/// What the facility's own thread spent on the measured messages.
class thread_costs final : public measurement_edges {
public:
    void begins() noexcept override {
        calls_ = lab::system_call_counter::of_this_thread();
        allocations_ = lab::allocations_of_this_thread();
    }
    void ends() noexcept override {
        allocations_ = lab::allocations_of_this_thread() - allocations_;
        system_calls_ = calls_.so_far();
    }

    [[nodiscard]] std::uint64_t allocations() const noexcept { return allocations_; }
    [[nodiscard]] std::optional<std::uint64_t> system_calls() const noexcept {
        return system_calls_;
    }

private:
    lab::system_call_counter calls_ = lab::system_call_counter::none();
    std::uint64_t allocations_ = 0;
    std::optional<std::uint64_t> system_calls_;
};

/// In the order of the tables.
class metric_list {
public:
    void add(std::string_view metric, std::string_view unit, std::string_view better,
             double value) {
        values_.push_back(
            {{"metric", metric}, {"unit", unit}, {"better", better}, {"value", value}});
    }

    void add_latency(const std::string& prefix, const latency_summary& it) {
        const auto add_one = [&](const char* name, double nanoseconds) {
            add(prefix + name, "us", "lower", nanoseconds / 1000.0);
        };
        const auto count_of = [](gyre::duration each) { return static_cast<double>(each.count()); };
        add_one("min", count_of(it.min));
        add_one("max", count_of(it.max));
        add_one("mean", it.mean_ns);
        add_one("p50", count_of(it.p50));
        add_one("p95", count_of(it.p95));
        add_one("p99", count_of(it.p99));
        if (it.knows(0.999)) add_one("p99.9", count_of(it.p99_9));
        if (it.knows(0.9999)) add_one("p99.99", count_of(it.p99_99));
    }

    [[nodiscard]] const json& values() const noexcept { return values_; }

private:
    json values_ = json::array();
};

void add_costs(metric_list& to, const cell_result& result, const thread_costs& costs,
               std::uint64_t measured_messages) {
    const auto add = [&](const char* metric, std::uint64_t count, std::uint64_t among) {
        to.add(metric, "1/op", "lower", static_cast<double>(count) / static_cast<double>(among));
    };
    add("allocations", costs.allocations(), measured_messages);
    if (costs.system_calls()) add("system_calls", *costs.system_calls(), measured_messages);
    add("receptions", result.receptions, result.inbound);
    add("flushes", result.flushes, result.inbound);
    add("datagrams", result.datagrams, result.inbound);
    if (result.counted.reads) add("reads", *result.counted.reads, result.inbound);
    if (result.counted.writes) add("writes", *result.counted.writes, result.inbound);
    add("feed_requests", result.requests, result.inbound);
}

latency_summary worst_second(const cell_result& result) {
    return *std::ranges::max_element(result.wire_by_second, {}, &latency_summary::p99_9);
}

/// Of each second p50, p99, p99.9, p99.99 and the maximum, in microseconds; of those that have a p99.9.
json seconds_of(const cell_result& result) {
    json all = json::array();
    for (const latency_summary& each : result.wire_by_second) {
        if (!each.knows(0.999)) continue;
        json one = json::array();
        for (const gyre::duration it : {each.p50, each.p99, each.p99_9, each.p99_99, each.max})
            one.push_back(static_cast<double>(it.count()) / 1e3);
        all.push_back(std::move(one));
    }
    return all;
}

json metrics_of(const cell_result& result, const thread_costs& costs, const cell& which) {
    metric_list metrics;
    metrics.add_latency("", result.internal);
    metrics.add_latency("wire_", result.wire);
    // By medians: the two were not measured at the same time, so a stall of either must not count.
    const auto microseconds = [](gyre::duration it) {
        return static_cast<double>(it.count()) / 1e3;
    };
    metrics.add("core", "us", "lower", microseconds(result.core.p50));
    metrics.add("net", "us", "lower", microseconds(result.internal.p50 - result.core.p50));
    metrics.add("way_in", "us", "lower", microseconds(result.way_in.p50));
    metrics.add("way_out", "us", "lower", microseconds(result.way_out.p50));
    metrics.add("events_rate", "ops/s", "higher", result.events_per_second);
    metrics.add("orders_rate", "ops/s", "higher", result.orders_per_second);
    metrics.add("achieved", "ops/s", "higher", result.achieved_per_second);
    metrics.add("saturated", "share", "lower", result.saturated ? 1 : 0);
    metrics.add("late_p99", "us", "lower", microseconds(result.lateness.p99));
    if (const latency_summary worst = worst_second(result); worst.knows(0.999))
        metrics.add("worst_second_p99.9", "us", "lower", microseconds(worst.p99_9));
    add_costs(metrics, result, costs,
              std::uint64_t{which.events} * shape_of(which.which).inbound());
    return metrics.values();
}

/// With so many cells, one turn is as long as a quick look may take. All others have the turns of a row in
/// the lab's five rounds.
struct round_plan {
    int rounds_max;
    int turns;
};
constexpr round_plan quick{.rounds_max = 1, .turns = 1};
constexpr round_plan glance{.rounds_max = 0, .turns = 1};
constexpr round_plan full{.rounds_max = 0, .turns = turns_of_row / 5};

void print_list(const char* suite, round_plan plan, const std::vector<cell>& cells) {
    for (const cell& each : cells) {
        const json line = {
            {"suite", suite}, {"case", name_of(each)},         {"description", describe(each)},
            {"threads", 2},   {"rounds_max", plan.rounds_max}, {"turns", plan.turns}};
        std::puts(line.dump().c_str());
    }
}

cell find_cell(const std::vector<cell>& among, std::string_view name) {
    for (const cell& each : among)
        if (name_of(each) == name) return each;
    lab::fail("exchange: no such case: " + std::string{name});
}

/// The facility's core first, then the load's; none if they would have to share one.
std::vector<int> processors() {
    cpu_set_t allowed;
    lab::require(::sched_getaffinity(0, sizeof(allowed), &allowed) == 0, "exchange: affinity");
    std::vector<int> found;
    for (int each = 0; each < CPU_SETSIZE; ++each)
        if (CPU_ISSET(each, &allowed)) found.push_back(each);
    if (found.size() < 2) return {-1, -1};
    return {found[found.size() - 1], found[found.size() - 2]};
}

struct arguments {
    bool list = false;
    bool counts_calls = false;
    bool unpinned = false;
    std::string suite = suite_name;
    std::string name;
    std::string scale_name = "quick";
    std::string feed = "multicast";
    facility_tuning how;
    unsigned spin_us = 0;
};

void declare(CLI::App& app, arguments& to) {
    app.add_flag("--list", to.list, "print every case, one line of JSON each");
    app.add_option("--suite", to.suite, "that of this program, or exchange_tuning")
        ->check(CLI::IsMember({suite_name, tuning_name}));
    app.add_option("--case", to.name, "a case of this suite; see --list");
    app.add_option("--scale", to.scale_name,
                   "full: --list has every rate, and asks for as many turns as the paper's counts "
                   "take; glance: a "
                   "row of each scenario, with few events")
        ->check(CLI::IsMember({"glance", "quick", "full"}));
    app.add_flag("--count-system-calls", to.counts_calls,
                 "count them, if the kernel allows it; the times of such a run mean nothing");
    app.add_option("--backend", to.how.backend, "for facilities that have more than one");
    app.add_option("--feed", to.feed, "how the feed travels")
        ->check(CLI::IsMember({"multicast", "unicast"}));
    app.add_flag("--unpinned", to.unpinned, "let the kernel choose cores");
    app.add_option("--spin-us", to.spin_us, "look for work so long before sleeping");
    app.add_option("--packets-per-turn", to.how.packets_per_turn_max,
                   "carried out before what they caused is written");
    app.add_option("--datagrams-per-send", to.how.datagrams_per_send, "at most");
}

json report_of(const arguments& given, const cell& which) {
    const auto facility = make_facility(given.how);
    const std::string refusal = given.counts_calls ? lab::count_system_calls() : std::string{};
    const std::vector<int> cores = given.unpinned ? std::vector<int>{-1, -1} : processors();
    const bool to_one = given.feed == "unicast";
    thread_costs costs;
    const cell_result result =
        measure(*facility, which,
                {.facility_processor = cores[0],
                 .load_processor = cores[1],
                 .feed = to_one ? feed_transport::unicast : feed_transport::multicast,
                 .edges = &costs});
    if (!result.fault.empty()) lab::fail("exchange: " + given.name + ": " + result.fault);

    const facility_identity about = facility->about();
    json report = {{"suite", given.suite},
                   {"case", given.name},
                   {"contender", about.name},
                   {"library", about.library},
                   {"version", about.version},
                   {"backend", about.backend},
                   {"metrics", metrics_of(result, costs, which)},
                   {"by_second", seconds_of(result)}};
    if (!refusal.empty()) report["system_calls_not_counted"] = refusal;
    return report;
}

int drive(int argument_count, char** argument_values) {
    CLI::App app{"Plays one cell of its suite once and prints one line of JSON."};
    arguments given;
    declare(app, given);
    CLI11_PARSE(app, argument_count, argument_values);
    given.how.spin_max = std::chrono::microseconds{given.spin_us};

    const bool is_glance = given.scale_name == "glance";
    if (given.list) {
        const bool is_full = given.scale_name == "full";
        const round_plan plan = is_full ? full : is_glance ? glance : quick;
        print_list(suite_name, plan,
                   is_full     ? all_cells()
                   : is_glance ? glance_cells()
                               : quick_cells());
        if (std::string_view{suite_name} == "exchange")
            print_list(tuning_name, plan, tuned_cells());
        return 0;
    }
    const cell which = find_cell(is_glance ? glance_cells() : all_cells(), given.name);
    std::puts(report_of(given, which).dump().c_str());
    return 0;
}

}  // namespace
}  // namespace exchange::bench

int main(int argument_count, char** arguments) {
    return exchange::bench::drive(argument_count, arguments);
}
