// SPDX-License-Identifier: BSL-1.0
//
// What a program of the exchange's benchmarks says of a turn, as run.py wants it: metrics in the order of the
// tables. lab/measure/turns.py is the reader.
#pragma once

#include <exchange/bench/latency_summary.hpp>

#include <lab/kit/histogram.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace exchange::bench {

/// In the order of the tables.
class metric_list {
public:
    using json = nlohmann::ordered_json;

    void add(std::string_view metric, std::string_view unit, std::string_view better,
             double value) {
        values_.push_back(
            {{"metric", metric}, {"unit", unit}, {"better", better}, {"value", value}});
    }

    /// In microseconds, of which the last are left out where too few lie beyond.
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

    void add_latency(const lab::histogram& it) {
        const auto add_one = [&](const char* name, std::optional<double> nanoseconds) {
            if (nanoseconds) add(name, "us", "lower", *nanoseconds / 1000.0);
        };
        add_one("min", static_cast<double>(it.min()));
        add_one("max", static_cast<double>(it.max()));
        add_one("mean", it.mean());
        for (const auto& [name, part] : quantiles) add_one(name, it.known_quantile(part));
    }

    [[nodiscard]] const json& values() const noexcept { return values_; }

private:
    static constexpr std::array<std::pair<const char*, double>, 5> quantiles{
        {{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}}};

    json values_ = json::array();
};

}  // namespace exchange::bench
