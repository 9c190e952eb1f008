// SPDX-License-Identifier: BSL-1.0
//
// One writer, many readers, no number that never was.
#include <gyre/base/single_writer_counter.hpp>

#include <doctest/doctest.h>

#include <thread>

TEST_CASE("a counter that another thread watches only ever grows, to what was added") {
    gyre::single_writer_counter it;
    bool fell = false;
    std::thread watcher{[&] {
        std::uint64_t last = 0;
        while (last < 300'000) {
            const std::uint64_t now = it.value();
            fell = fell || now < last;
            last = now;
        }
    }};
    for (int each = 0; each < 100'000; ++each) it.add(3);
    watcher.join();

    CHECK_FALSE(fell);
    CHECK(it.value() == 300'000);
}
