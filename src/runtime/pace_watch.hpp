// SPDX-License-Identifier: BSL-1.0
//
// Why short items do not wake a pool: docs/decisions/0010-short-items.md.
//
// Being woken takes longer than some items. Where these are posted without end a second loop is awake only
// to fight over them, and on a busy machine it takes the processor from the poster. So if items have been
// short and a member is awake, one member sleeps for a while only, and no other is woken; it joins in when
// something that it saw last time is still there.
//
// Nothing depends on it but speed: a pool whose pace never suffices, and a watch that is never kept, lose
// nothing.
#pragma once

#include <gyre/base/time.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace gyre {

/// What the members of one pool know of it.
template <template <class> class Atomic = std::atomic>
struct pool_pace {
    /// Items have been short of late: about as short as waking a loop takes, or shorter.
    Atomic<bool> brisk = false;
    Atomic<bool> watched = false;  // One member keeps watch.

    /// Whether what is added need not wake a member: one is awake, which will come to it soon, and
    /// a watch sees to it if it does not. Any thread.
    template <class Pool>
    [[nodiscard]] bool suffices(const Pool& pool) const noexcept {
        return brisk.load() && watched.load() && pool.lot.sleeping() < pool.size();
    }
};

/// The part of one member, for its own thread.
///
/// @tparam  Pool  Has a `size()`, a `lot` to park in, an `inbox`, the `queue(member)` of each, and a `pace`.
template <class Pool>
class pace_watch {
public:
    /// @param  pool  Borrowed; outlives the member.
    explicit pace_watch(Pool& pool) noexcept : pool_{&pool} {}

    // For its loop.

    /// `count` items in a row took so long. The second bound is wider, so that one pause of a thread
    /// among many items does not make them long.
    void record(std::size_t count, duration took) noexcept {
        constexpr duration short_item = std::chrono::microseconds{1};
        constexpr duration pause = std::chrono::microseconds{10};
        constexpr std::size_t count_min = 64;
        const duration short_ones = static_cast<duration::rep>(count) * short_item;
        const bool before = believes_brisk();
        if (before && took > short_ones + pause) pool_->pace.brisk.store(false);
        if (!before && count >= count_min && took <= short_ones) pool_->pace.brisk.store(true);
    }

    [[nodiscard]] bool believes_brisk() const noexcept {
        return pool_->pace.brisk.load(std::memory_order_relaxed);
    }

    /// Whether more short items will probably follow those that it has just run, while all others
    /// sleep. Asking again, without any since, says no.
    [[nodiscard]] bool expects_more() noexcept {
        const bool fed = std::exchange(fed_, false);
        return fed && !kept_ && pool_->pace.brisk.load() &&
               pool_->lot.sleeping() + 1 == pool_->size();
    }

    /// When it must be awake again although nothing happens.
    [[nodiscard]] time_point alarm(time_point now) const noexcept {
        constexpr duration period = std::chrono::milliseconds{1};
        return kept_ ? now + period : never;
    }

    /// The loop has something of its own to do.
    void end() noexcept {
        if (!kept_) return;
        stop();
        if (pool_->lot.work_in_sight()) pool_->lot.wake_one();
    }

    // For its member.

    [[nodiscard]] bool kept() const noexcept { return kept_; }

    /// It has got something from the inbox.
    void feed() noexcept { fed_ = true; }

    /// In place of a search. True if it keeps watch, or begins to; a member that was woken for something
    /// that is gone by now would be woken for the next one as well.
    ///
    /// @param  own  How it is parked.
    template <class Parking>
    [[nodiscard]] bool keep(const Parking& own) noexcept {
        const bool others_awake =
            pool_->pace.brisk.load() && pool_->lot.sleeping() + 1 < pool_->size();
        if (kept_) {
            if (others_awake && !something_still_waits()) return true;
            stop();
            return false;
        }
        if (!others_awake || !(own.searching() || pool_->lot.work_in_sight())) return false;
        if (pool_->pace.watched.exchange(true)) return false;
        kept_ = true;
        remember();
        return true;
    }

    /// What waits now, if it keeps watch: it is about to sleep.
    void remember() noexcept {
        if (!kept_) return;
        inbox_rounds_ = pool_->inbox.rounds();
        inbox_waited_ = !pool_->inbox.empty();
        for (unsigned each = 0; each < pool_->size(); ++each) {
            added_before_[each] = pool_->queue(each).added();
        }
    }

private:
    void stop() noexcept {
        kept_ = false;
        pool_->pace.watched.store(false);
    }

    [[nodiscard]] bool something_still_waits() const noexcept {
        if (inbox_waited_ && !pool_->inbox.empty() && pool_->inbox.rounds() - inbox_rounds_ < 2) {
            return true;
        }
        for (unsigned each = 0; each < pool_->size(); ++each) {
            if (pool_->queue(each).taken() < added_before_[each]) return true;
        }
        return false;
    }

    Pool* pool_;
    bool kept_ = false;
    bool fed_ = false;  // From the inbox, since it was last asked what it expects.

    // What waited when it last looked.
    bool inbox_waited_ = false;
    std::uint64_t inbox_rounds_ = 0;
    std::array<std::uint64_t, Pool::members_max> added_before_{};  // To the queue of each member.
};

}  // namespace gyre
