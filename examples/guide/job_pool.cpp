// SPDX-License-Identifier: BSL-1.0
//
// Jobs that compute, on all processors: so many at a time, stopped by the first failure or by ^C.
//
//     job_pool [MOST [JOBS]]
//
// docs/guide/05_threads.md explains it. It counts the primes below MOST, each job those of a part.
// snippet: program
#include <gyre/gyre.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace std::chrono_literals;

bool is_prime(long number) {
    for (long factor = 2; factor * factor <= number; ++factor) {
        if (number % factor == 0) return false;
    }
    return number > 1;
}

// A job, which computes and waits for nothing, so it asks now and then whether it is to stop.
gyre::task<gyre::io_result<long>> count_primes(long first, long end) {
    long found = 0;
    for (long number = first; number < end; ++number) {
        if (is_prime(number)) ++found;
        if (number % 256 != 0) continue;
        const auto asked = co_await gyre::this_task::stop_state();
        if (asked == gyre::stop_level::stop) co_return gyre::errc::canceled;
        co_await gyre::yield();  // Others of this loop have their turn.
    }
    co_return found;
}

// Runs on the loop of its caller, and waits there while the job runs wherever there is time.
gyre::task<gyre::io_result<long>> run_job(gyre::io_pool& pool, long first, long end) {
    auto counted = co_await gyre::on(pool, count_primes(first, end));
    co_return counted;
}

struct totals {
    long primes = 0;
    long jobs = 0;  // That have come to their end.
};

// Everything in here is on one loop, so `sum` needs no lock.
gyre::task<gyre::io_result<>> run_jobs(gyre::io_pool& pool, long most, long jobs, totals& sum) {
    const auto body = [&](gyre::task_group& group) -> gyre::task<gyre::io_result<>> {
        gyre::task_set<gyre::io_result<long>> running{group, 2 * pool.size()};
        const long part = most / jobs + 1;
        for (long begun = 0; begun < jobs || !running.empty();) {
            if (begun < jobs && !running.full()) {
                running.spawn(run_job(pool, begun * part, std::min(begun * part + part, most)));
                ++begun;
                continue;
            }
            const auto [stopped, counted] = co_await running.next();
            if (stopped) co_return stopped;
            if (!counted.ok()) co_return counted.error();
            sum.primes += counted.value();
            ++sum.jobs;
        }
        co_return gyre::io_result<>{};
    };
    const auto done = co_await gyre::with_group(body);
    co_return done;
}

gyre::task<gyre::io_result<>> job_pool(gyre::io_pool& pool, long most, long jobs) {
    if (pool.status()) co_return pool.status();
    std::printf("%ld jobs\n", jobs);
    std::fflush(stdout);

    totals sum;
    const auto done = co_await run_jobs(pool, most, jobs, sum);
    std::printf("%ld of them done, %ld primes\n", sum.jobs, sum.primes);
    co_return done;
}

int main(int count, char** arguments) {
    const long most = count > 1 ? std::atol(arguments[1]) : 2'000'000;
    const long jobs = count > 2 ? std::atol(arguments[2]) : 1000;
    if (most < 1 || most > 1'000'000'000'000 || jobs < 1 || jobs > 1'000'000) {
        std::fprintf(stderr, "usage: job_pool [MOST [JOBS]]\n");
        return 2;
    }
    gyre::io_pool pool;
    gyre::run_options options;
    options.grace = 0s;  // ^C stops it at once.
    return gyre::run_until_signal(job_pool(pool, most, jobs), options);
}
// end of snippet
