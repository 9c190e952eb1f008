// SPDX-License-Identifier: BSL-1.0
//
// How the loops of an io_pool share work, and how they fall asleep and are woken.
//
// Each loop has a queue from which the others may steal; what comes from outside of the pool waits in one
// inbox. A loop with nothing left first looks into these, one loop at a time, and then sleeps. Three
// rules keep anything from being forgotten. Each poster looks for sleepers afterwards, and a loop
// that is about to sleep says so before it looks for work a last time. As long as one loop is
// searching no other is woken, so a search that was worth it wakes the next searcher. And while
// items are short, one member keeps watch in place of all this
// (docs/decisions/0010-short-items.md).
#pragma once

#include <gyre/base/single_writer_counter.hpp>
#include <gyre/base/time.hpp>
#include <gyre/runtime/io_context.hpp>
#include <runtime/shared_inbox.hpp>
#include <runtime/started_thread.hpp>
#include <runtime/steal_queue.hpp>

#include <pthread.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace gyre {

/// A set of members, by number. Every function is sequentially consistent and for any thread.
class member_set {
public:
    static constexpr unsigned members_max = 256;

    void add(unsigned member) noexcept { word(member).fetch_or(bit(member)); }

    /// False if it was not in the set.
    bool remove(unsigned member) noexcept {
        return (word(member).fetch_and(~bit(member)) & bit(member)) != 0;
    }

    [[nodiscard]] bool contains(unsigned member) const noexcept {
        return (words_[member / bits].load() & bit(member)) != 0;
    }

    [[nodiscard]] bool empty() const noexcept {
        for (const auto& each : words_) {
            if (each.load() != 0) return false;
        }
        return true;
    }

    /// How many there are.
    [[nodiscard]] std::size_t size() const noexcept {
        std::size_t count = 0;
        for (const auto& each : words_) {
            count += static_cast<std::size_t>(std::popcount(each.load()));
        }
        return count;
    }

    /// Removes any one; `members_max` if it was empty.
    [[nodiscard]] unsigned remove_any() noexcept {
        for (unsigned index = 0; index < words_.size(); ++index) {
            for (std::uint64_t found = words_[index].load(); found != 0;
                 found = words_[index].load()) {
                const unsigned member =
                    index * bits + static_cast<unsigned>(std::countr_zero(found));
                if (remove(member)) return member;
            }
        }
        return members_max;
    }

private:
    static constexpr unsigned bits = 64;

    [[nodiscard]] static constexpr std::uint64_t bit(unsigned member) noexcept {
        return std::uint64_t{1} << (member % bits);
    }
    [[nodiscard]] std::atomic<std::uint64_t>& word(unsigned member) noexcept {
        return words_[member / bits];
    }

    std::array<std::atomic<std::uint64_t>, members_max / bits> words_{};
};

class io_pool;
class pool_member;

/// One more member has something to do.
inline constexpr std::uint64_t one_active = (std::uint64_t{1} << 32) + 1;
[[nodiscard]] constexpr bool none_active(std::uint64_t active) noexcept {
    return static_cast<std::uint32_t>(active) == 0;
}

/// What the members of one pool have in common.
struct pool_state {
    shared_inbox inbox;
    member_set sleepers;                  // To be woken; one that wakes by itself leaves it itself.
    member_set with_surplus;              // Whose queue is worth a thief's way.
    std::atomic<unsigned> searching = 0;  // Members that are looking for work, or were woken to.
    // How many members have something to do, or may still get it, in the lower half; how often one more
    // did in the upper half, so that a moment with none is told from the next one.
    std::atomic<std::uint64_t> active = 0;
    std::atomic<bool> ending = false;   // Every root is asked to stop.
    std::atomic<unsigned> waiting = 0;  // Threads that wait for `at_rest`.
    std::atomic<unsigned> asking = 0;   // Threads inside `request_stop`; the pool ends after them.
    unsigned steal_threshold = 1;
    unsigned forks = 0;  // The fork_count of the process that has the threads.
    const sigset_t blocked_by_maker = signal_mask();  // What the program's own threads block.

    /// Items have been short of late: about as short as waking a loop takes, or shorter.
    std::atomic<bool> brisk = false;
    std::atomic<bool> watched = false;  // One member is `watching_`.

    std::mutex mutex;
    std::condition_variable rested;
    std::vector<std::unique_ptr<pool_member>> members;

    /// Wakes a sleeper to look for work, unless a member is searching already. Any thread.
    void wake_one() noexcept;

    /// Whether what is added need not wake a member: one is awake, which will come to it soon, and
    /// a watch sees to it if it does not. Any thread.
    [[nodiscard]] bool watch_suffices() const noexcept {
        return brisk.load() && watched.load() && sleepers.size() < members.size();
    }

    /// Whether no member has anything to do or can get anything from another one. Any thread.
    [[nodiscard]] bool at_rest() const noexcept;
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
    [[nodiscard]] bool has_own() const noexcept { return queue_.size() > 0; }

    /// With nothing of its own left, takes some of what the others have, to where `take` finds it and
    /// others may take it again. False if there was nothing, or another member is searching.
    [[nodiscard]] bool search() noexcept;

    /// Whether more short items will probably follow those that it has just run, while all others
    /// sleep. Asking again, without any since, says no.
    [[nodiscard]] bool expects_more() noexcept;

    /// The loop has nothing to do and is about to sleep. False if it must look for work again.
    [[nodiscard]] bool prepare_to_sleep() noexcept;

    /// When it must be awake again although nothing happens.
    [[nodiscard]] time_point alarm(time_point now) const noexcept {
        return watching_ ? now + watch_period : never;
    }

    /// It is awake again; before it takes what it was woken for.
    void woke_up() noexcept;

    /// The loop has something of its own to do.
    void end_watch() noexcept;

    /// `count` items in a row took so long.
    void record_pace(std::size_t count, duration took) noexcept;

    [[nodiscard]] bool believes_brisk() const noexcept {
        return shared.brisk.load(std::memory_order_relaxed);
    }

    /// Adds `item` to what may be stolen; from a thread of this member.
    void share(work& item) noexcept;

    // For the pool.

    pool_state& shared;
    const unsigned number;
    io_context loop;
    pthread_t thread{};
    io_pool* pool = nullptr;         // What its thread runs it for.
    single_writer_counter stolen;    // Items it took from others' queues.
    single_writer_counter searches;  // How often it looked for some.

    std::atomic<bool> stuck = false;  // It rests, but has roots left.

    /// Whether there is anything that `take` or `search` might find.
    [[nodiscard]] bool work_in_sight() const noexcept;

private:
    [[nodiscard]] work* take_own() noexcept;
    [[nodiscard]] bool steal() noexcept;
    [[nodiscard]] bool must_look() const noexcept;
    [[nodiscard]] bool watch_instead() noexcept;
    void remember_what_waits() noexcept;
    [[nodiscard]] bool something_still_waits() const noexcept;
    void announce_surplus() noexcept;
    void withdraw_surplus() noexcept;
    void stop_searching() noexcept;

    static constexpr std::uint64_t own_in_a_row_max = 4 * steal_queue::capacity;
    static constexpr duration watch_period = std::chrono::milliseconds{1};

    steal_queue queue_;
    std::uint64_t own_in_a_row_ = 0;  // Taken from it since the inbox was last looked into.
    bool searching_ = false;
    bool in_sleepers_ = false;  // In `sleepers`, or taken out of it by the member that woke us.
    bool resting_ = false;      // Not counted in `active`.
    bool watching_ = false;
    bool fed_ = false;  // From the inbox, since it was last asked what it expects.
    std::uint64_t random_;

    // What waited when the watch last looked.
    bool inbox_waited_ = false;
    std::uint64_t inbox_rounds_ = 0;
    std::vector<std::uint64_t> added_before_;  // To the queue of each member.
};

}  // namespace gyre
