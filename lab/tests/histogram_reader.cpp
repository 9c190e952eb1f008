// SPDX-License-Identifier: BSL-1.0
//
// What the lab's histogram says about given values: test_histogram_judge.py compares it with
// what another histogram says about the same ones.
//
// Reads unsigned integers of 64 bits, in this machine's order, from standard input until its end; prints one
// line of JSON.
#include <lab/kit/histogram.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>

int main() {
    lab::histogram all;
    std::array<std::uint64_t, 8'192> values{};
    for (std::size_t count = values.size(); count == values.size();) {
        count = std::fread(values.data(), sizeof(values[0]), values.size(), stdin);
        for (std::size_t i = 0; i < count; ++i) all.record(values[i]);
    }
    std::printf("{\"count\": %llu, \"min\": %llu, \"max\": %llu, \"mean\": %.3f, \"std\": %.3f",
                static_cast<unsigned long long>(all.count()),
                static_cast<unsigned long long>(all.min()),
                static_cast<unsigned long long>(all.max()), all.mean(), all.deviation());
    for (const double part : {0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 0.99999}) {
        std::printf(", \"%g\": %llu", 100 * part,
                    static_cast<unsigned long long>(all.quantile(part)));
    }
    std::puts("}");
}
