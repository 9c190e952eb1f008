// SPDX-License-Identifier: BSL-1.0
//
// Many latencies as the few numbers of a table.
//
// Differences of a per cent are looked for here, so quantiles are taken from the sorted values themselves
// and not from a histogram.
#pragma once

#include <gyre/base/time.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace exchange::bench {

struct latency_summary {
    std::size_t count = 0;
    gyre::duration min{};
    gyre::duration max{};
    double mean_ns = 0;
    gyre::duration p50{};
    gyre::duration p95{};
    gyre::duration p99{};
    gyre::duration p99_9{};
    gyre::duration p99_99{};

    /// Whether enough values lie beyond the quantile `part` for it to be more than an accident.
    [[nodiscard]] bool knows(double part) const noexcept {
        constexpr double beyond_min = 5;
        return (1 - part) * static_cast<double>(count) >= beyond_min - 1e-6;
    }
};

/// The value that a share of `part` of all values does not exceed.
///
/// @param  sorted  Not empty.
[[nodiscard]] inline gyre::duration quantile(const std::vector<gyre::duration>& sorted,
                                             double part) noexcept {
    const auto wanted = std::ceil(part * static_cast<double>(sorted.size()) - 1e-9);
    const auto at = static_cast<std::size_t>(std::max(wanted, 1.0)) - 1;
    return sorted[std::min(at, sorted.size() - 1)];
}

[[nodiscard]] inline latency_summary summarise(std::vector<gyre::duration> values) {
    if (values.empty()) return {};
    std::ranges::sort(values);
    double sum = 0;
    for (const gyre::duration each : values) sum += static_cast<double>(each.count());
    return {.count = values.size(),
            .min = values.front(),
            .max = values.back(),
            .mean_ns = sum / static_cast<double>(values.size()),
            .p50 = quantile(values, 0.5),
            .p95 = quantile(values, 0.95),
            .p99 = quantile(values, 0.99),
            .p99_9 = quantile(values, 0.999),
            .p99_99 = quantile(values, 0.9999)};
}

}  // namespace exchange::bench
