// SPDX-License-Identifier: BSL-1.0
//
// How long something took, counted in buckets whose width grows with it, so that every quantile is known to
// within an eighth from a few kilobytes.
//
// The buckets are those of an HDR histogram with three significant bits: 8 for each power of two. What two
// readings differ by is what happened between them.
#pragma once

#include <gyre/base/time.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace exchange {

/// Threads:  One at a time.
/// Cost:     2.4 KB, no allocation; `record` is some arithmetic and three stores.
class latency_histogram {
public:
    static constexpr unsigned bits = 3;  // Of a value, that its bucket knows.
    static constexpr unsigned powers_max =
        40;  // 2^40 ns are 18 minutes: what is longer counts as that.
    static constexpr std::size_t buckets = std::size_t{powers_max - bits + 1} << bits;

    void record(gyre::duration took) noexcept {
        const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
        record_ns(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)));
    }
    void record_ns(std::uint64_t ns) noexcept {
        ns = std::min(ns, longest);
        ++counts_[bucket_of(ns)];
        ++count_;
        least_ = std::min(least_, ns);
        most_ = std::max(most_, ns);
    }

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t least_ns() const noexcept { return count_ > 0 ? least_ : 0; }
    [[nodiscard]] std::uint64_t most_ns() const noexcept { return most_; }

    /// The smallest value that this share of all is not above, rounded up to the end of its bucket: 0.99 for
    /// p99. 0 if nothing was recorded.
    [[nodiscard]] std::uint64_t quantile_ns(double share) const noexcept {
        const double wanted = share * static_cast<double>(count_);
        std::uint64_t seen = 0;
        for (std::size_t each = 0; each < buckets; ++each) {
            seen += counts_[each];
            if (seen > 0 && static_cast<double>(seen) >= wanted)
                return std::min(last_of(each), most_);
        }
        return most_;
    }

    /// Calls `tell(last value of the bucket, how many)` for each that has any, smallest first.
    template <class Tell>
    void for_each(const Tell& tell) const {
        for (std::size_t each = 0; each < buckets; ++each)
            if (counts_[each] > 0) tell(last_of(each), counts_[each]);
    }

    /// The bucket of a value, and the last value of a bucket.
    [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t ns) noexcept {
        if (ns < (1U << bits)) return ns;
        const auto power = static_cast<unsigned>(std::bit_width(ns)) - 1 - bits;
        return (std::size_t{power} << bits) + (ns >> power);
    }
    [[nodiscard]] static constexpr std::uint64_t last_of(std::size_t bucket) noexcept {
        if (bucket < (1U << (bits + 1))) return bucket;
        const std::size_t power = (bucket >> bits) - 1;
        const std::uint64_t first = (std::uint64_t{bucket} & ((1U << bits) - 1)) + (1U << bits);
        return ((first + 1) << power) - 1;
    }

private:
    static constexpr std::uint64_t longest = (std::uint64_t{1} << powers_max) - 1;

    std::array<std::uint64_t, buckets> counts_{};
    std::uint64_t count_ = 0;
    std::uint64_t least_ = ~std::uint64_t{0};
    std::uint64_t most_ = 0;
};

}  // namespace exchange
