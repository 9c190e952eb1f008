// SPDX-License-Identifier: BSL-1.0
//
// What a program must be able to do to be measured: the stopwatch, and the answer of those who
// cannot.
#include <lab/contender.hpp>

#include <lab/allocations.hpp>
#include <lab/fail.hpp>

#include <time.h>

#include <string>
#include <string_view>

namespace lab {
namespace {

std::chrono::nanoseconds processor_time() noexcept {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

cannot_run no_rows(std::string_view suite) {
    return {"takes no part in the suite " + std::string{suite}};
}

cannot_run one_thread_only() { return {"takes no part in rows of several threads"}; }

}  // namespace

stopwatch::stopwatch() noexcept
    : processor_before_{processor_time()},
      allocations_before_{allocations_of_this_thread()},
      switches_before_{context_switches()},
      calls_{0} {
    started_ = std::chrono::steady_clock::now();  // Last: the other readings are not the work.
}

cost stopwatch::stop() const noexcept {
    const auto stopped = std::chrono::steady_clock::now();
    const auto processor_after = processor_time();
    auto calls = calls_.so_far();
    if (calls) *calls -= 2;  // The last two.
    return {stopped - started_, processor_after - processor_before_,
            allocations_of_this_thread() - allocations_before_,
            context_switches() - switches_before_, calls};
}

outcome contender::dispatch(const dispatch_case&) { return no_rows("dispatch"); }
outcome contender::throughput(const throughput_case&) { return no_rows("throughput"); }
outcome contender::latency(const latency_case&) { return no_rows("latency"); }
outcome contender::http(const http_case&) { return no_rows("http"); }
outcome contender::shared_dispatch(const shared_dispatch_case&) { return one_thread_only(); }
outcome contender::threads_throughput(const threads_throughput_case&) { return one_thread_only(); }
outcome contender::threads_http(const threads_http_case&) { return one_thread_only(); }
outcome contender::timers(const timers_case&) { return no_rows("timers"); }
outcome contender::churn(const churn_case&) { return no_rows("churn"); }
outcome contender::fan_out(const fan_out_case&) { return no_rows("fan_out"); }
std::string contender::refusal_to_echo(const echo_case&) const { return no_rows("echo").reason; }
void contender::echo(const echo_case&, descriptor) { fail("echo: not written"); }

}  // namespace lab
