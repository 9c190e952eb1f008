// SPDX-License-Identifier: BSL-1.0
//
// A thread that does nothing but look at the clock, on the core of what is measured.
//
// What takes the core from it is either what is measured, whose processor time it reads after each gap, or
// the host: the noise floor below which no latency says anything about a library. Where it runs beside what
// is measured it gives way (SCHED_IDLE), so that it delays that by no more than a system call of its own.
#pragma once

#include <exchange/bench/core_gaps.hpp>

#include <atomic>
#include <cstddef>
#include <ctime>
#include <latch>
#include <thread>
#include <vector>

namespace exchange::bench {

/// The processor time of threads.
class thread_clocks {
public:
    thread_clocks() = default;
    /// All that this process has now, but the calling one.
    [[nodiscard]] static thread_clocks of_others();

    /// Of one that has ended, nothing.
    [[nodiscard]] gyre::duration spent() const noexcept;

private:
    std::vector<clockid_t> clocks_;
};

/// Samples from construction to `stop`.
///
/// Cost:  a core, as far as no other thread wants it; 24 bytes for each gap.
class core_sampler {
public:
    enum class beside {
        nothing,  ///< The host alone is looked at.
        measured,  ///< All threads that the process has now, but the calling one, are what is measured.
    };

    /// @param  processor  The core; -1: any, which says little.
    core_sampler(int processor, beside what);
    core_sampler(const core_sampler&) = delete;
    core_sampler& operator=(const core_sampler&) = delete;
    ~core_sampler() { stop(); }

    void stop();

    /// In their order. Meaningful after `stop`, as is the next one.
    [[nodiscard]] const std::vector<core_gap>& gaps() const noexcept { return gaps_; }
    /// For how long it has looked.
    [[nodiscard]] gyre::duration sampled() const noexcept { return sampled_; }

private:
    static constexpr std::size_t gaps_max = std::size_t{1} << 21;

    void run(int processor, bool gives_way);

    thread_clocks measured_;
    std::vector<core_gap> gaps_;
    gyre::duration sampled_{};
    std::latch looking_{1};
    std::atomic<bool> stopped_ = false;
    std::thread thread_;
};

}  // namespace exchange::bench
