// SPDX-License-Identifier: BSL-1.0
//
// A stranger's first program, built against the installed package.
//
// With the package's compiler and with another one: coroutines hand control to each other across the
// border between the two, which must neither lose it nor let the stack grow (gyre/coro/resume.hpp).
#include "neighbour.hpp"

#include <gyre/gyre.hpp>

#include <cstdio>

gyre::task<int> answer() {
    const int waited = co_await waits_and_yields(42);
    co_return waited;
}

gyre::task<long> asks_often() {
    long sum = 0;
    for (int i = 0; i < 100'000; ++i) {
        const int ended = co_await yields_at_once(1);
        const gyre::io_result<> timed =
            co_await gyre::with_timeout(std::chrono::hours{1}, ends_at_once());
        sum += ended + static_cast<int>(timed.ok());
    }
    co_return sum;
}

int main() {
    std::printf("the answer is %d, ", gyre::run(answer()));
    std::printf("the sum %ld\n", gyre::run(asks_often()));
}
