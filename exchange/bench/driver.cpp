// SPDX-License-Identifier: BSL-1.0
//
// `main` of every facility that is measured: finds the cell, has it played, and prints one line of JSON.
//
// It runs once for each turn of its suite: repeating, interleaving and judging are the business of
// lab/run.py.
#include <exchange/bench/core_sampler.hpp>
#include <exchange/bench/loopback.hpp>
#include <exchange/bench/measurement.hpp>
#include <exchange/bench/metric_list.hpp>

#include <lab/kit/allocations.hpp>
#include <lab/kit/fail.hpp>
#include <lab/kit/kernel_counts.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace exchange::bench {
namespace {

using json = metric_list::json;

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

void add_costs(metric_list& to, const cell_result& result, const thread_costs& costs,
               std::uint64_t measured_messages) {
    const auto add = [&](const char* metric, std::uint64_t count, std::uint64_t among) {
        to.add(metric, "1/op", "lower", static_cast<double>(count) / static_cast<double>(among));
    };
    to.add("cpu", "ns/op", "lower", result.processor_ns);
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

void add_floor(metric_list& to, const noise_floor& it) {
    to.add("gaps_10us", "1/s", "lower", it.above_10us);
    to.add("gaps_100us", "1/s", "lower", it.above_100us);
    to.add("gaps_1ms", "1/s", "lower", it.above_1ms);
    to.add("gap_longest", "ms", "lower", static_cast<double>(it.longest.count()) / 1e6);
    to.add("lost", "%", "lower", 100 * it.lost);
}

/// Of each of the longest delays: its length, the host's part of it and that of our loops, all in
/// microseconds, and whose fault it was.
json worst_of(const cell_result& result) {
    json all = json::array();
    for (const explained_delay& each : result.worst) {
        json one = json::array();
        for (const gyre::duration it :
             {each.message.complete - each.message.due, each.host, each.turn})
            one.push_back(static_cast<double>(it.count()) / 1e3);
        one.push_back(describe(each.cause));
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
    if (!result.worst.empty()) add_floor(metrics, result.host);
    add_costs(metrics, result, costs,
              std::uint64_t{which.events} * shape_of(which.which).inbound());
    return metrics.values();
}

struct round_plan {
    int rounds_max;
    int turns;
};

/// What is played of this program, by suite.
struct known_suite {
    std::string_view name;
    bool through_gateway;
    std::vector<cell> (*glance)();
    std::vector<cell> (*quick)();
    std::vector<cell> (*full)();
    round_plan full_plan;
    bool samples_core = false;
};

/// The turns of a row, in the lab's five rounds.
constexpr round_plan as_the_paper{.rounds_max = 0, .turns = turns_of_row / 5};
constexpr round_plan twice{.rounds_max = 0, .turns = 2};
constexpr round_plan once{.rounds_max = 0, .turns = 1};
constexpr std::array known_suites{
    known_suite{"exchange", false, glance_cells, quick_cells, all_cells, as_the_paper},
    known_suite{"exchange_tuning", false, glance_cells, tuned_cells, tuned_cells, as_the_paper},
    known_suite{"exchange_end_to_end", true, glance_cells, end_to_end_cells, end_to_end_cells,
                twice},
    known_suite{"exchange_end_to_end_tuning", true, glance_cells, tuned_end_to_end_cells,
                tuned_end_to_end_cells, twice},
    known_suite{"exchange_jitter", true, short_jitter_cells, short_jitter_cells, jitter_cells, once,
                true},
};

const known_suite& find_suite(std::string_view name) {
    const auto* const found = std::ranges::find(known_suites, name, &known_suite::name);
    lab::require(found != known_suites.end(), "exchange: no such suite");
    return *found;
}

std::vector<cell> cells_of(const known_suite& suite, std::string_view scale) {
    return scale == "full" ? suite.full() : scale == "glance" ? suite.glance() : suite.quick();
}

/// With so many cells, one turn is as long as a quick look may take.
void print_list(const known_suite& suite, std::string_view scale) {
    const round_plan plan =
        scale == "full" ? suite.full_plan : round_plan{scale == "glance" ? 0 : 1, 1};
    for (const cell& each : cells_of(suite, scale)) {
        const json line = {{"suite", suite.name},           {"case", name_of(each)},
                           {"description", describe(each)}, {"threads", 2},
                           {"rounds_max", plan.rounds_max}, {"turns", plan.turns}};
        std::puts(line.dump().c_str());
    }
}

/// Calls of a case that only the full run has are counted with the quick scale.
cell find_cell(const known_suite& suite, std::string_view scale, std::string_view name) {
    for (const std::string_view each_scale : {scale, std::string_view{"full"}})
        for (const cell& each : cells_of(suite, each_scale))
            if (name_of(each) == name) return each;
    lab::fail("exchange: no such case: " + std::string{name});
}

struct arguments {
    bool list = false;
    bool counts_calls = false;
    bool unpinned = false;
    bool host_only = false;
    std::string suite = "exchange";
    std::string name;
    std::string scale_name = "quick";
    std::string feed = "multicast";
    facility_tuning how;
    unsigned spin_us = 0;
    std::optional<unsigned> timer_slack_us;
};

void declare(CLI::App& app, arguments& to) {
    app.add_flag("--list", to.list, "print every case of the suite, one line of JSON each");
    std::vector<std::string> names;
    for (const known_suite& each : known_suites) names.emplace_back(each.name);
    app.add_option("--suite", to.suite, "exchange, or one that plays its scenarios in another way")
        ->check(CLI::IsMember(names));
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
    app.add_flag("--host-only", to.host_only,
                 "no facility: look at its core for as long as the cell takes");
    app.add_flag("--unpinned", to.unpinned, "let the kernel choose cores");
    app.add_option("--spin-us", to.spin_us, "look for work so long before sleeping");
    app.add_option("--packets-per-turn", to.how.packets_per_turn_max,
                   "carried out before what they caused is written");
    app.add_option("--datagrams-per-send", to.how.datagrams_per_send, "at most");
    app.add_option("--ring-submissions", to.how.ring_submissions, "entries of gyre's ring");
    app.add_option("--receive-block-bytes", to.how.receive_block_bytes, "of gyre's leased reads");
    app.add_option("--timer-slack-us", to.timer_slack_us, "of gyre's loops");
}

json report_of(const arguments& given, const cell& which) {
    const auto facility = make_facility(given.how);
    const std::string refusal = given.counts_calls ? lab::count_system_calls() : std::string{};
    const two_processors cores = given.unpinned ? two_processors{} : choose_processors();
    const bool to_one = given.feed == "unicast";
    thread_costs costs;
    const cell_result result =
        measure(*facility, which,
                {.facility_processor = cores.served,
                 .load_processor = cores.load,
                 .feed = to_one ? feed_transport::unicast : feed_transport::multicast,
                 .edges = &costs,
                 .samples_core = find_suite(given.suite).samples_core});
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
    if (!result.worst.empty()) report["worst"] = worst_of(result);
    if (!refusal.empty()) report["system_calls_not_counted"] = refusal;
    return report;
}

/// What no facility can be better than.
json host_report_of(const arguments& given, const cell& which) {
    core_sampler sampler{choose_processors().served, core_sampler::beside::nothing};
    std::this_thread::sleep_for(std::chrono::seconds{which.events_in_all()} /
                                which.rate_per_second);
    sampler.stop();
    metric_list metrics;
    add_floor(metrics, floor_of(sampler.gaps(), sampler.sampled()));
    return {{"suite", given.suite},       {"case", given.name}, {"contender", "host"},
            {"library", "none"},          {"version", ""},      {"backend", "none"},
            {"metrics", metrics.values()}};
}

int drive(int argument_count, char** argument_values) {
    CLI::App app{"Plays one cell of its suite once and prints one line of JSON."};
    arguments given;
    declare(app, given);
    CLI11_PARSE(app, argument_count, argument_values);
    given.how.spin_max = std::chrono::microseconds{given.spin_us};
    if (given.timer_slack_us)
        given.how.timer_slack = std::chrono::microseconds{*given.timer_slack_us};
    const known_suite& suite = find_suite(given.suite);
    given.how.through_gateway = suite.through_gateway;
    if (given.list) {
        print_list(suite, given.scale_name);
        return 0;
    }
    const cell which = find_cell(suite, given.scale_name, given.name);
    const json report = given.host_only ? host_report_of(given, which) : report_of(given, which);
    std::puts(report.dump().c_str());
    return 0;
}

}  // namespace
}  // namespace exchange::bench

int main(int argument_count, char** arguments) {
    return exchange::bench::drive(argument_count, arguments);
}
