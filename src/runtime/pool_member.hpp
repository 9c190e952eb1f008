// SPDX-License-Identifier: BSL-1.0
//
// How the loops of an io_pool share work, and how they fall asleep and are woken.
//
// Each loop has a queue from which the others may steal; what comes from outside of the pool waits in one
// inbox. A loop with nothing left first looks into these, one loop at a time, and then sleeps. Two
// rules keep anything from being forgotten. Whoever adds work looks for sleepers afterwards, and whoever
// is about to sleep says so before it looks for work a last time. And as long as somebody is searching
// nobody else is woken, so a search that was worth it wakes the next searcher.
#pragma once

#include <gyre/base/single_writer_counter.hpp>
#include <gyre/runtime/io_context.hpp>
#include <runtime/shared_inbox.hpp>
#include <runtime/steal_queue.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
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

    [[nodiscard]] bool empty() const noexcept {
        for (const auto& each : words_) {
            if (each.load() != 0) return false;
        }
        return true;
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

class pool_member;

/// What the members of one pool have in common.
struct pool_company {
    shared_inbox inbox;
    member_set sleepers;  // Whom to wake; one who wakes on his own leaves by himself.
    member_set rich;      // Whose queue is worth a thief's way.
    std::atomic<unsigned> searching = 0;  // Members that are looking for work, or were woken to.
    std::atomic<unsigned> active = 0;     // Members that have, or may still get, something to do.
    std::atomic<bool> ending = false;     // Every root is asked to stop.
    std::atomic<unsigned> waiting = 0;    // Threads that wait for `at_rest`.
    unsigned steal_threshold = 1;

    std::mutex mutex;
    std::condition_variable rested;
    std::vector<std::unique_ptr<pool_member>> members;

    /// Wakes a sleeper to look for work, unless somebody is at it already. Any thread.
    void wake_one() noexcept;

    /// Whether no member has anything to do or can get anything from another one. Any thread.
    [[nodiscard]] bool at_rest() const noexcept;
};

/// One loop of a pool, and its thread.
class pool_member {
public:
    pool_member(pool_company& company, unsigned number, const io_context_options& options);
    pool_member(const pool_member&) = delete;
    pool_member& operator=(const pool_member&) = delete;

    // For the loop, on its thread.

    /// The next of what is shared and need not be searched for; null if there is none.
    [[nodiscard]] work* take() noexcept;

    /// Looks for work among the others. Null if there is none, or somebody else is looking.
    [[nodiscard]] work* search() noexcept;

    /// The loop has nothing to do and is about to sleep. False if it must look for work again.
    [[nodiscard]] bool lie_down() noexcept;

    /// It is awake again; before it takes what it was woken for.
    void get_up() noexcept;

    /// Adds `item` to what may be stolen; from a thread of this member.
    void share(work& item) noexcept;

    // For the pool.

    pool_company& company;
    const unsigned number;
    io_context loop;
    std::thread thread;
    single_writer_counter stolen;    // Items it took from others' queues.
    single_writer_counter searches;  // How often it looked for some.

    std::atomic<bool> stuck = false;  // It rests, but has roots left.

    /// Whether there is anything that `take` or `search` might find.
    [[nodiscard]] bool work_in_sight() const noexcept;

private:
    [[nodiscard]] work* take_own() noexcept;
    void spill() noexcept;
    void note_wealth() noexcept;
    void deny_wealth() noexcept;
    void stop_searching(bool found) noexcept;

    steal_queue queue_;
    std::atomic<bool> said_rich_ = false;  // A hint; thieves take it back.
    bool searching_ = false;
    bool lying_ = false;    // In `sleepers`, or taken out of it by whoever woke us.
    bool resting_ = false;  // Not counted in `active`.
    std::uint64_t random_;
};

}  // namespace gyre
