// SPDX-License-Identifier: BSL-1.0
//
// What gyre's loops count: it explains a row, and is nothing to win by. in_process/gyre uses it, too.
#pragma once

#include <gyre/runtime/io_context.hpp>

#include <array>
#include <cstdint>
#include <cstdio>

namespace servers {

/// A line of output that the load reads after the server's end: `counted NAME COUNT`.
inline void tell(const char* name, std::uint64_t count) {
    std::printf("counted %s %llu\n", name, static_cast<unsigned long long>(count));
}

struct figure {
    const char* name;
    std::uint64_t count;
};

/// What several loops have counted together.
class loop_figures {
public:
    void add(gyre::io_context& loop) {
        const gyre::loop_counters of = loop.counters();
        visits_ += of.visits;
        wakeups_ += of.wakeups;
        rearms_ += of.rearms;
        shortages_ += of.shortages;
    }

    [[nodiscard]] std::array<figure, 4> all() const {
        return {{{"visits", visits_},
                 {"wakeups", wakeups_},
                 {"rearms", rearms_},
                 {"shortages", shortages_}}};
    }

    void tell() const {
        for (const auto& [name, count] : all()) servers::tell(name, count);
    }

private:
    std::uint64_t visits_ = 0;
    std::uint64_t wakeups_ = 0;
    std::uint64_t rearms_ = 0;
    std::uint64_t shortages_ = 0;
};

}  // namespace servers
