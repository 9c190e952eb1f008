// SPDX-License-Identifier: BSL-1.0
//
// Forks and joins with task groups.
//
// A parent that forks again and again keeps its group and joins it each time; what forks once, inside
// a nested fork, has a group for that. `when_all` of a vector of tasks was tried for both: equal from
// 64 children on, slower below, as it allocates twice for each fork.
#pragma once

#include <lab/in_process/gyre/library.hpp>

#include <lab/in_process/sessions.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>

#include <cstddef>
#include <cstdint>

namespace gyre_lab {

using gyre::task;

// All parameters of coroutines in this file are borrowed: they outlive the run of the loop.

inline task<> child(std::uint64_t& ended) {
    co_await gyre::yield();
    ++ended;
}

inline void spawn_children(gyre::task_group& into, std::size_t count, std::uint64_t& ended) {
    for (std::size_t i = 0; i < count; ++i) into.spawn(child(ended));
}

inline task<> fork_once(std::size_t children, std::uint64_t& ended) {
    const auto body = [&](gyre::task_group& group) -> task<> {
        spawn_children(group, children, ended);
        co_return;
    };
    co_await gyre::with_group(body);
}

inline void begin_fork(gyre::task_group& group, const lab::fan_out_case& work,
                       std::uint64_t& ended) {
    if (work.groups == 1) return spawn_children(group, work.children_per_group, ended);

    for (std::size_t i = 0; i < work.groups; ++i) {
        group.spawn(fork_once(work.children_per_group, ended));
    }
}

inline task<> parent(const lab::fan_out_case& work, std::uint64_t forks, std::uint64_t& ended) {
    const auto body = [&](gyre::task_group& group) -> task<> {
        for (std::uint64_t fork = 0; fork < forks; ++fork) {
            begin_fork(group, work, ended);
            co_await group.join();
        }
    };
    co_await gyre::with_group(body);
}

class parents : public lab::no_end {
public:
    parents(gyre::io_context& loop, const lab::fan_out_case& work) : loop_{loop}, work_{work} {}

    void begin(std::uint64_t children, lab::slice& now) {
        const std::uint64_t forks = children / lab::unit_of(work_);
        for (std::size_t i = 0; i < work_.parents; ++i) {
            library::spawn(loop_, parent(work_, forks, now.done));
        }
    }

private:
    gyre::io_context& loop_;
    lab::fan_out_case work_;
};

}  // namespace gyre_lab
