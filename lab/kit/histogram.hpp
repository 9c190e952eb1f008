// SPDX-License-Identifier: BSL-1.0
//
// Latencies, counted in constant memory with a bounded relative error.
//
// Keeping every sample would make the memory of a run depend on its length and disturb the caches
// of what is measured. Here a value costs one increment, and a quantile read back is at most
// 1 / 256 away from a value that was recorded. histogram_test.cpp holds it to that.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lab {

/// Counts of unsigned values (the lab records nanoseconds), in buckets whose width grows with the
/// value: 128 equal buckets for each power of two, and exact below 256.
///
/// Minimum, maximum, count, mean and deviation are exact. Copying copies 58 KiB.
class histogram {
public:
    /// Adds one value. Never allocates.
    void record(std::uint64_t value) noexcept {
        ++counts_[bucket_of(value)];
        ++count_;
        sum_ += value;
        square_sum_ += static_cast<double>(value) * static_cast<double>(value);
        min_ = std::min(min_, value);
        max_ = std::max(max_, value);
    }

    /// Adds everything that `other` has recorded.
    void add(const histogram& other) noexcept {
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
            counts_[bucket] += other.counts_[bucket];
        }
        count_ += other.count_;
        sum_ += other.sum_;
        square_sum_ += other.square_sum_;
        min_ = std::min(min_, other.min_);
        max_ = std::max(max_, other.max_);
    }

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
    [[nodiscard]] std::uint64_t max() const noexcept { return max_; }

    [[nodiscard]] double mean() const noexcept {
        return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
    }

    /// The standard deviation of what was recorded, as of a whole population.
    [[nodiscard]] double deviation() const noexcept {
        if (count_ == 0) return 0.0;
        const double centre = mean();
        const double variance = square_sum_ / static_cast<double>(count_) - centre * centre;
        return std::sqrt(std::max(variance, 0.0));
    }

    /// The value that a share of `part` of all recorded values does not exceed.
    ///
    /// @param part  Between 0 and 1: 0.5 is the median, 0.999 leaves one in a thousand above it.
    /// @return The middle of the bucket that holds this value, never outside [min(), max()];
    ///         0 if nothing was recorded.
    [[nodiscard]] std::uint64_t quantile(double part) const noexcept {
        if (count_ == 0) return 0;

        auto wanted = static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(count_)));
        wanted = std::clamp<std::uint64_t>(wanted, 1, count_);

        std::size_t bucket = 0;
        for (std::uint64_t seen = counts_[0]; seen < wanted; seen += counts_[bucket]) ++bucket;

        return std::clamp(middle_of(bucket), min_, max_);
    }

    /// The same; none where so few values lie beyond it that it would be an accident.
    [[nodiscard]] std::optional<std::uint64_t> known_quantile(double part) const noexcept {
        constexpr double beyond_min = 5;
        if ((1 - part) * static_cast<double>(count_) < beyond_min - 1e-6) return std::nullopt;
        return quantile(part);
    }

    /// Calls `visit(value, count)` for each bucket with values in it, `value` being its middle.
    template <class Visit>
    void for_each_bucket(Visit visit) const {
        for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
            if (counts_[bucket] > 0) visit(middle_of(bucket), counts_[bucket]);
        }
    }

private:
    static constexpr int precision_bits = 7;
    static constexpr std::size_t buckets_per_power = std::size_t{1} << precision_bits;
    static constexpr std::size_t bucket_count = (64 - precision_bits + 1) * buckets_per_power;

    // How many low bits of `value` its bucket ignores.
    static constexpr int coarseness_of(std::uint64_t value) noexcept {
        return std::max(0, static_cast<int>(std::bit_width(value)) - precision_bits - 1);
    }

    static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
        const int coarseness = coarseness_of(value);
        return static_cast<std::size_t>(coarseness) * buckets_per_power +
               static_cast<std::size_t>(value >> coarseness);
    }

    static constexpr std::uint64_t middle_of(std::size_t bucket) noexcept {
        if (bucket < 2 * buckets_per_power) return bucket;  // One value per bucket: exact.

        const auto coarseness = static_cast<int>(bucket / buckets_per_power) - 1;
        const auto leading = bucket - static_cast<std::size_t>(coarseness) * buckets_per_power;
        return (std::uint64_t{leading} << coarseness) + (std::uint64_t{1} << (coarseness - 1));
    }

    std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(bucket_count);
    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;
    double square_sum_ = 0;
    std::uint64_t min_ = UINT64_MAX;
    std::uint64_t max_ = 0;
};

}  // namespace lab
