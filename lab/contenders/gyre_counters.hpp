// SPDX-License-Identifier: BSL-1.0
//
// What gyre's loops count, beside what they cost.
#pragma once

#include <lab/contender.hpp>

#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/io_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gyre_lab {

/// The counters that tell why a row is as it is.
struct loop_figures {
    std::uint64_t visits = 0;
    std::uint64_t wakeups = 0;
    std::uint64_t rearms = 0;
    std::uint64_t shortages = 0;
    std::uint64_t blocks_made = 0;
    std::uint64_t stolen = 0;

    void add(gyre::io_context& loop) {
        const gyre::loop_counters of = loop.counters();
        visits += of.visits;
        wakeups += of.wakeups;
        rearms += of.rearms;
        shortages += of.shortages;
    }
};

[[nodiscard]] inline loop_figures figures_of(gyre::io_context& loop) {
    loop_figures all;
    all.add(loop);
    all.blocks_made = loop.receive_memory().blocks_made;  // For the thread of the loop only.
    return all;
}

[[nodiscard]] inline loop_figures figures_of(gyre::io_pool& pool) {
    loop_figures all;
    for (std::size_t each = 0; each < pool.size(); ++each) all.add(pool[each]);
    all.stolen = pool.counters().stolen;
    return all;
}

/// The metrics of what was counted from `before` to `after`.
[[nodiscard]] inline std::vector<lab::counter> counted_between(const loop_figures& before,
                                                               const loop_figures& after) {
    const auto grown = [&](std::uint64_t loop_figures::* which) {
        return static_cast<double>(after.*which - before.*which);
    };
    return {{"visits", grown(&loop_figures::visits)},
            {"wakeups", grown(&loop_figures::wakeups)},
            {"rearms", grown(&loop_figures::rearms)},
            {"shortages", grown(&loop_figures::shortages)},
            {"blocks_made", grown(&loop_figures::blocks_made)},
            {"stolen", grown(&loop_figures::stolen)}};
}

/// A stopwatch that reads the counters of a loop or of a pool as well, outside of the time it takes.
template <class Runner>
class counting_watch {
public:
    explicit counting_watch(Runner& runner) : runner_{runner}, before_{figures_of(runner)} {}

    [[nodiscard]] lab::cost stop() const {
        lab::cost spent = watch_.stop();
        spent.counted = counted_between(before_, figures_of(runner_));
        return spent;
    }

private:
    Runner& runner_;
    loop_figures before_;
    lab::stopwatch watch_;
};

}  // namespace gyre_lab
