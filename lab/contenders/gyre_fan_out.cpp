// SPDX-License-Identifier: BSL-1.0
//
// Forks and joins with task groups.
//
// A parent that forks again and again keeps its group and joins it each time; what forks once, inside
// a nested fork, has a group for that. `when_all` of a vector of tasks was tried for both: equal from
// 64 children on, slower below, as it allocates twice for each fork.
#include <lab/contenders/gyre_counters.hpp>
#include <lab/contenders/gyre_suites.hpp>

#include <lab/contender.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>

#include <cstddef>
#include <cstdint>

namespace {

using gyre::io_context;
using gyre::task;

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.

task<> child(std::uint64_t& ended) {
    co_await gyre::yield();
    ++ended;
}

void spawn_children(gyre::task_group& into, std::size_t count, std::uint64_t& ended) {
    for (std::size_t i = 0; i < count; ++i) into.spawn(child(ended));
}

task<> fork_once(std::size_t children, std::uint64_t& ended) {
    const auto body = [&](gyre::task_group& group) -> task<> {
        spawn_children(group, children, ended);
        co_return;
    };
    co_await gyre::with_group(body);
}

void begin_fork(gyre::task_group& group, const lab::fan_out_case& work, std::uint64_t& ended) {
    if (work.groups == 1) return spawn_children(group, work.children_per_group, ended);

    for (std::size_t i = 0; i < work.groups; ++i) {
        group.spawn(fork_once(work.children_per_group, ended));
    }
}

task<> parent(const lab::fan_out_case& work, std::uint64_t forks, std::uint64_t& ended) {
    const auto body = [&](gyre::task_group& group) -> task<> {
        for (std::uint64_t fork = 0; fork < forks; ++fork) {
            begin_fork(group, work, ended);
            co_await group.join();
        }
    };
    co_await gyre::with_group(body);
}

std::uint64_t run(io_context& loop, const lab::fan_out_case& work, std::uint64_t forks) {
    std::uint64_t ended = 0;
    for (std::size_t i = 0; i < work.parents; ++i) {
        launch(loop, parent(work, forks, ended), gyre::or_terminate{});
    }
    loop.run();
    return ended;
}

}  // namespace

lab::outcome gyre_lab::measure_fan_out(const gyre::io_context_options& options,
                                       const lab::fan_out_case& work) {
    io_context loop{options};
    run(loop, work, work.warm_up_forks_per_parent);

    const gyre_lab::counting_watch watch{loop};
    const std::uint64_t ended = run(loop, work, work.forks_per_parent);
    return lab::measurement{.spent = watch.stop(), .amount = ended};
}
