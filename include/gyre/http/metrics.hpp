// SPDX-License-Identifier: BSL-1.0
//
// Counts of requests and how long they took, as text for Prometheus.
//
// Labels are the method and the class of the status, nothing that a peer can invent: the number of series is
// fixed.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/http/handler.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gyre::http {

/// The counters of a server. Any thread may count and read; servers on several loops may share it.
class metrics {
public:
    /// Upper ends of the buckets of durations; one more has what is longer.
    static constexpr std::array<std::chrono::microseconds, 10> buckets{
        std::chrono::microseconds{100}, std::chrono::microseconds{500},
        std::chrono::milliseconds{1},   std::chrono::milliseconds{5},
        std::chrono::milliseconds{25},  std::chrono::milliseconds{100},
        std::chrono::milliseconds{500}, std::chrono::seconds{1},
        std::chrono::seconds{5},        std::chrono::seconds{30}};

    /// Counts an answer. Cost: three atomic additions.
    void count(method by, status answer, duration took) noexcept;

    /// A request has begun, or ended.
    void begin() noexcept { in_flight_.fetch_add(1, std::memory_order_relaxed); }
    void end() noexcept { in_flight_.fetch_sub(1, std::memory_order_relaxed); }

    /// The text format, version 0.0.4, of all series that are not 0.
    [[nodiscard]] std::string text() const;

    /// How many requests were answered.
    [[nodiscard]] std::uint64_t answered() const noexcept;

private:
    static constexpr std::size_t methods = static_cast<std::size_t>(method::other) + 1;
    static constexpr std::size_t classes = 5;

    std::array<std::array<std::atomic<std::uint64_t>, classes>, methods> answers_{};
    std::array<std::atomic<std::uint64_t>, buckets.size() + 1> took_{};
    std::atomic<std::uint64_t> took_sum_ns_ = 0;
    std::atomic<std::int64_t> in_flight_ = 0;
};

/// Counts requests in `into`, which is borrowed and outlives the handler.
[[nodiscard]] middleware count_requests(metrics& into);

/// Answers with the text of `of`, which is borrowed and outlives the handler.
[[nodiscard]] handler metrics_page(const metrics& of);

}  // namespace gyre::http
