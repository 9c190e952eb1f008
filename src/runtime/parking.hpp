// SPDX-License-Identifier: BSL-1.0
//
// How the members of a pool fall asleep, look for work and are woken for it.
//
// Two rules keep anything from being forgotten. Each poster looks for sleepers after it has posted, and a
// member that is about to sleep says so before it looks for work a last time. As long as one member is
// searching no other is woken, so a search that ends looks whether it has to wake the next searcher.
//
// All that is shared is sequentially consistent, and what lies outside is asked for by name, so
// tests/runtime/parking_test.cpp takes this very code through every order of its atomic steps.
#pragma once

#include <gyre/base/check.hpp>
#include <runtime/member_set.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gyre {

template <class Lot>
class parking;

/// What the members of one pool have in common: who sleeps, who searches, who has too much.
///
/// @tparam  Pool    Has an `inbox`, knows whether any loop has something `posted()`, can `wake(member)`;
///                  and while its `pace.suffices(pool)`, no sleeper need be woken for what is added.
/// @tparam  Atomic  A test has one of its own.
template <class Pool, unsigned MembersMax = 256, template <class> class Atomic = std::atomic>
class parking_lot {
public:
    /// @param  pool  Borrowed; it holds the lot.
    explicit parking_lot(Pool& pool) noexcept : pool_{pool} {}

    /// Something was added: wakes a sleeper to look for it, unless a member is searching already.
    /// Any thread.
    void wake_one() noexcept {
        while (searching_.load() == 0 && !pool_.pace.suffices(pool_) && !sleepers_.empty()) {
            searching_.fetch_add(1);  // In the name of the member that we wake, which sees it then.
            const unsigned sleeper = sleepers_.remove_any();
            if (sleeper != MembersMax) {
                pool_.wake(sleeper);
                return;
            }
            // In vain; but a member may have gone to sleep because we seemed to be searching.
            searching_.fetch_sub(1);
            if (!work_in_sight()) return;
        }
    }

    /// The queue of `member` is worth a thief's way. Any thread.
    void announce_surplus(unsigned member) noexcept {
        if (with_surplus_.contains(member)) return;
        with_surplus_.add(member);
        wake_one();
    }

    /// By the owner, or by a thief that has found nothing. If the owner adds something at this very
    /// moment, that stays unannounced until it adds more; it is awake and will do it itself. If it
    /// says so after everything is gone, the next thief withdraws it again.
    void withdraw_surplus(unsigned member) noexcept {
        if (with_surplus_.contains(member)) with_surplus_.remove(member);
    }

    [[nodiscard]] bool any_surplus() const noexcept { return !with_surplus_.empty(); }

    /// Whether there is anything that a member might find. Any thread.
    [[nodiscard]] bool work_in_sight() const noexcept {
        return !pool_.inbox.empty() || any_surplus();
    }

    /// How many sleep and were not woken yet. Any thread.
    [[nodiscard]] std::size_t sleeping() const noexcept { return sleepers_.size(); }

    /// Whether no member has anything to do or can get anything from another one. Any thread.
    ///
    /// A member that wakes counts itself as active before it takes what it was woken by. So if nothing is
    /// posted anywhere, and no member was active or became so meanwhile, nothing is on its way.
    [[nodiscard]] bool at_rest() const noexcept {
        const std::uint64_t before = active_.load();
        return none_active(before) && pool_.inbox.empty() && !pool_.posted() &&
               active_.load() == before;
    }

    /// All members are gone, and others may come.
    void forget_members() noexcept { active_.store(0); }

private:
    friend class parking<parking_lot>;
    friend struct parking_counts;  // A test's.

    /// One more member has something to do.
    static constexpr std::uint64_t one_active = (std::uint64_t{1} << 32) + 1;
    [[nodiscard]] static constexpr bool none_active(std::uint64_t active) noexcept {
        return static_cast<std::uint32_t>(active) == 0;
    }

    // Whether there is something that no other member sees to: one that is searching wakes the next one
    // if there is more, and so does one that is taking from the inbox.
    [[nodiscard]] bool must_look() const noexcept {
        if (searching_.load() != 0 || pool_.pace.suffices(pool_)) return false;
        return any_surplus() || (!pool_.inbox.empty() && !pool_.inbox.being_taken());
    }

    Pool& pool_;
    member_set<MembersMax, Atomic> sleepers_;  // To be woken, as long as they are in it.
    member_set<MembersMax, Atomic> with_surplus_;
    Atomic<unsigned> searching_ = 0;  // Members that are looking for work, or were woken to.
    // How many members have something to do, or may still get it, in the lower half; how often one more
    // did in the upper half, so that a moment with none is told from the next one.
    Atomic<std::uint64_t> active_ = 0;
};

/// How one member does it. The member's own thread only.
template <class Lot>
class parking {
public:
    /// @param  lot  Borrowed; outlives the member.
    parking(Lot& lot, unsigned member) noexcept : lot_{&lot}, member_{member} {
        lot.active_.fetch_add(Lot::one_active);
    }

    [[nodiscard]] bool searching() const noexcept { return now_ == state::searching; }

    /// False if another member is searching. One that was woken searches already.
    [[nodiscard]] bool begin_search() noexcept {
        unsigned none = 0;
        if (searching()) return true;
        if (!lot_->searching_.compare_exchange_strong(none, 1)) return false;
        now_ = state::searching;
        return true;
    }

    /// There may be more, or something new: no member was woken for that while this one was looking.
    void end_search() noexcept {
        if (!searching()) return;
        now_ = state::awake;
        lot_->searching_.fetch_sub(1);
        if (lot_->must_look()) lot_->wake_one();
    }

    /// With nothing to do and its search ended. False if it must look for work again.
    [[nodiscard]] bool fall_asleep() noexcept {
        expects(now_ == state::awake, "a search ends before its member sleeps");
        lot_->sleepers_.add(member_);
        now_ = state::asleep;
        if (!lot_->must_look()) return true;
        wake_up();
        return false;
    }

    /// Asleep, it waits for nothing but posts. True if no member is active any more.
    [[nodiscard]] bool rest() noexcept {
        now_ = state::resting;
        return Lot::none_active(lot_->active_.fetch_sub(1) - 1);
    }

    /// Before it takes what it was woken for, if it was.
    void wake_up() noexcept {
        if (now_ < state::asleep) return;
        if (now_ == state::resting) lot_->active_.fetch_add(Lot::one_active);
        // The member that took us out of the set wants us to search, and has counted us.
        now_ = lot_->sleepers_.remove(member_) ? state::awake : state::searching;
    }

private:
    friend struct parking_counts;  // A test's.

    enum class state : unsigned char {
        awake,
        searching,  // Counted in `searching_`.
        asleep,     // In `sleepers_`, or taken out of it by what woke it and has counted it there.
        resting,    // The same, and not counted in `active_`.
    };

    Lot* lot_;
    unsigned member_;
    state now_ = state::awake;
};

}  // namespace gyre
