// SPDX-License-Identifier: BSL-1.0
//
// A stranger's first program, built against the installed package.
#include <gyre/gyre.hpp>

#include <cstdio>

gyre::task<int> answer() {
    static_cast<void>(co_await gyre::sleep_for(std::chrono::milliseconds{1}));
    co_return 42;
}

int main() { std::printf("the answer is %d\n", gyre::run(answer())); }
