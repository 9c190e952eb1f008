// SPDX-License-Identifier: BSL-1.0
#include "neighbour.hpp"

#include <chrono>

gyre::task<int> waits_and_yields(int value) {
    static_cast<void>(co_await gyre::sleep_for(std::chrono::milliseconds{1}));
    const int same = co_await yields_at_once(value);
    co_return same;
}

gyre::task<int> yields_at_once(int value) { co_return value; }

gyre::task<gyre::io_result<>> ends_at_once() { co_return gyre::io_result<>{}; }
