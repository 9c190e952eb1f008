// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/bench/core_sampler.hpp>

#include <exchange/bench/loopback.hpp>

#include <lab/kit/fail.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>

namespace exchange::bench {
namespace {

using gyre::duration;
using gyre::time_point;

time_point clock_now() noexcept { return std::chrono::steady_clock::now(); }

/// The clock of a thread of this process, as pthread_getcpuclockid makes it: of the kernel's number for it.
clockid_t processor_clock_of(pid_t thread) noexcept {
    constexpr unsigned per_thread_and_scheduled = 6;
    return static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | per_thread_and_scheduled);
}

}  // namespace

thread_clocks thread_clocks::of_others() {
    thread_clocks made;
    for (const auto& each : std::filesystem::directory_iterator{"/proc/self/task"}) {
        const pid_t thread = std::stoi(each.path().filename().string());
        if (thread != ::gettid()) made.clocks_.push_back(processor_clock_of(thread));
    }
    return made;
}

duration thread_clocks::spent() const noexcept {
    duration all{};
    for (const clockid_t each : clocks_) {
        timespec spent{};
        if (::clock_gettime(each, &spent) != 0) continue;
        all += std::chrono::seconds{spent.tv_sec} + std::chrono::nanoseconds{spent.tv_nsec};
    }
    return all;
}

core_sampler::core_sampler(int processor, beside what) {
    if (what == beside::measured) measured_ = thread_clocks::of_others();
    gaps_.resize(gaps_max);  // Touched now, and not when there is something to see.
    gaps_.clear();
    thread_ = std::thread{[this, processor, what] { run(processor, what == beside::measured); }};
    looking_.wait();
}

void core_sampler::stop() {
    stopped_ = true;
    if (thread_.joinable()) thread_.join();
}

void core_sampler::run(int processor, bool gives_way) {
    stay_on_processor(processor);
    // What is spent on looking at other clocks is no gap.
    constexpr int tries = 64;
    const time_point begin = clock_now();
    for (int each = 0; each < tries; ++each) static_cast<void>(measured_.spent());
    const duration gap_min =
        std::max<duration>(std::chrono::microseconds{2}, (clock_now() - begin) * 3 / tries);

    duration spent = measured_.spent();
    const time_point first = clock_now();
    time_point last = first;
    looking_.count_down();
    const sched_param none{};
    if (gives_way && ::sched_setscheduler(0, SCHED_IDLE, &none) != 0)
        lab::fail("exchange: a thread cannot give way to all others");
    for (bool over = false; !over;) {
        over = stopped_.load(std::memory_order_relaxed);  // What came before it is seen.
        const time_point now = clock_now();
        if (now - last >= gap_min && gaps_.size() < gaps_max) {
            const duration spent_now = measured_.spent();
            gaps_.push_back({last, now, spent_now - spent});
            spent = spent_now;
        }
        last = now;
    }
    sampled_ = last - first;
}

}  // namespace exchange::bench
