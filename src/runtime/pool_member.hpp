// SPDX-License-Identifier: BSL-1.0
//
// How the loops of an io_pool share work.
//
// Each loop has a queue from which the others may steal; what comes from outside of the pool waits in one
// inbox. A loop with nothing left first looks into these, one loop at a time, and then sleeps: parking.hpp
// says how, and why nothing is forgotten. While items are short, one member keeps watch in place of all
// this: pace_watch.hpp.
#pragma once

#include <gyre/base/single_writer_counter.hpp>
#include <gyre/runtime/io_context.hpp>
#include <runtime/pace_watch.hpp>
#include <runtime/parking.hpp>
#include <runtime/shared_inbox.hpp>
#include <runtime/started_thread.hpp>
#include <runtime/steal_queue.hpp>

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace gyre {

class io_pool;
class pool_member;

/// What the members of one pool have in common.
struct pool_state {
    static constexpr unsigned members_max = 256;

    shared_inbox inbox;
    parking_lot<pool_state, members_max> lot{*this};
    pool_pace<> pace;
    std::atomic<bool> ending = false;   // Every root is asked to stop.
    std::atomic<bool> closing = false;  // The threads are to end.
    std::atomic<unsigned> waiting = 0;  // Threads that wait until the pool is at rest.
    std::atomic<unsigned> asking = 0;   // Threads inside `request_stop`; the pool ends after them.
    unsigned steal_threshold = 1;
    unsigned forks = 0;  // The fork_count of the process that has the threads.
    const sigset_t blocked_by_maker = signal_mask();  // What the program's own threads block.

    std::mutex mutex;
    std::condition_variable rested;
    std::vector<std::unique_ptr<pool_member>> members;

    // What parking and the watch ask. Any thread.

    [[nodiscard]] std::size_t size() const noexcept { return members.size(); }
    [[nodiscard]] const steal_queue& queue(unsigned member) const noexcept;
    [[nodiscard]] bool posted() const noexcept;  // To any loop by itself.
    void wake(unsigned member) noexcept;
};

/// One loop of a pool, and its thread.
class pool_member {
public:
    pool_member(pool_state& shared, unsigned number, const io_context_options& options);
    pool_member(const pool_member&) = delete;
    pool_member& operator=(const pool_member&) = delete;

    // For the loop, on its thread.

    /// The next of what is shared and need not be searched for; null if there is none.
    [[nodiscard]] work* take() noexcept;

    /// Whether a turn has ended with something left in its own queue.
    [[nodiscard]] bool has_own() const noexcept { return queue.size() > 0; }

    /// With nothing of its own left, takes some of what the others have, to where `take` finds it and
    /// others may take it again. False if there was nothing, or another member is searching.
    [[nodiscard]] bool search() noexcept;

    /// The loop has nothing to do and is about to sleep. False if it must look for work again.
    [[nodiscard]] bool prepare_to_sleep() noexcept;

    /// It is awake again; before it takes what it was woken for.
    void woke_up() noexcept { parking_.wake_up(); }

    /// Adds `item` to what may be stolen; from a thread of this member.
    void share(work& item) noexcept;

    // For the pool.

    pool_state& shared;
    const unsigned number;
    io_context loop;
    steal_queue queue;
    pace_watch<pool_state> pace{shared};
    pthread_t thread{};
    io_pool* pool = nullptr;         // What its thread runs it for.
    single_writer_counter stolen;    // Items it took from others' queues.
    single_writer_counter searches;  // How often it looked for some.

    std::atomic<bool> stuck = false;  // It rests, but has roots left.

private:
    [[nodiscard]] work* take_own() noexcept;
    [[nodiscard]] bool steal() noexcept;
    void announce_surplus() noexcept;

    static constexpr std::uint64_t own_in_a_row_max = 4 * steal_queue::capacity;

    parking<decltype(pool_state::lot)> parking_;
    std::uint64_t own_in_a_row_ = 0;  // Taken from it since the inbox was last looked into.
    std::uint64_t random_;
};

}  // namespace gyre
