// SPDX-License-Identifier: BSL-1.0
//
// The smallest program: a coroutine that waits.
#include <gyre/gyre.hpp>

#include <cstdio>

using namespace std::chrono_literals;

gyre::task<> hello() {
    for (int count = 3; count > 0; --count) {
        std::printf("%d\n", count);
        static_cast<void>(co_await gyre::sleep_for(20ms));
    }
    std::printf("hello\n");
}

int main() { gyre::run(hello()); }
