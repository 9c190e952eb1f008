// SPDX-License-Identifier: BSL-1.0
//
// What gyre's loops count: it explains a row, and is nothing to win by.
#pragma once

#include <gyre/runtime/io_context.hpp>

#include <cstdint>
#include <cstdio>

namespace servers {

/// A line of output that the load reads after the server's end: `counted NAME COUNT`.
inline void tell(const char* name, std::uint64_t count) {
    std::printf("counted %s %llu\n", name, static_cast<unsigned long long>(count));
}

struct loop_figures {
    std::uint64_t visits = 0;
    std::uint64_t wakeups = 0;
    std::uint64_t rearms = 0;
    std::uint64_t shortages = 0;

    void add(gyre::io_context& loop) {
        const gyre::loop_counters of = loop.counters();
        visits += of.visits;
        wakeups += of.wakeups;
        rearms += of.rearms;
        shortages += of.shortages;
    }
    void tell() const {
        servers::tell("visits", visits);
        servers::tell("wakeups", wakeups);
        servers::tell("rearms", rearms);
        servers::tell("shortages", shortages);
    }
};

}  // namespace servers
