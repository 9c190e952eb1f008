// SPDX-License-Identifier: BSL-1.0
//
// Forks and joins with task groups.
//
// A parent that forks again and again keeps its group and joins it each time; what forks once, inside
// a nested fork, has a group for that. `when_all` of a vector of tasks was tried for both: equal from
// 64 children on, slower below, as it allocates twice for each fork.
#include <lab/in_process/gyre/library.hpp>

#include <lab/in_process/sessions.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>

#include <cstddef>
#include <cstdint>

namespace {

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

using gyre_lab::library;

class fan_out_session final : public lab::loop_session<library> {
public:
    fan_out_session(const library::settings& how, const lab::fan_out_case& work)
        : loop_session{how}, work_{work} {}

    void play(lab::slice& now) override {
        const std::uint64_t forks = now.operations / lab::unit_of(work_);
        for (std::size_t i = 0; i < work_.parents; ++i) {
            library::spawn(loop_.context(), parent(work_, forks, now.done));
        }
        loop_.run();
    }

private:
    lab::fan_out_case work_;
};

}  // namespace

lab::preparation gyre_lab::prepare(const library::settings& how, const lab::fan_out_case& work) {
    return lab::prepared<fan_out_session>(how, work);
}
