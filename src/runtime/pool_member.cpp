// SPDX-License-Identifier: BSL-1.0
//
// Taking, stealing, sleeping: see pool_member.hpp.
#include <runtime/pool_member.hpp>

#include <runtime/wake_state.hpp>

#include <utility>

namespace gyre {
namespace {

constexpr std::size_t batch_from_inbox = 32;

}  // namespace

void pool_state::wake_one() noexcept {
    while (searching.load() == 0 && !watch_suffices() && !sleepers.empty()) {
        searching.fetch_add(1);  // In the name of the member that we wake, which sees it then.
        const unsigned sleeper = sleepers.remove_any();
        if (sleeper != member_set::members_max) {
            members[sleeper]->loop.wake_->wake_if_asleep();
            return;
        }
        // In vain; but a member may have gone to sleep because we seemed to be searching.
        searching.fetch_sub(1);
        if (inbox.empty() && with_surplus.empty()) return;
    }
}

// A member that wakes counts itself as active before it takes what it was woken by. So if nothing is
// posted anywhere, and no member was active or became so meanwhile, nothing is on its way.
bool pool_state::at_rest() const noexcept {
    const std::uint64_t before = active.load();
    if (!none_active(before) || !inbox.empty()) return false;
    for (const auto& each : members) {
        if (!each->loop.wake_->nothing_posted()) return false;
    }
    return active.load() == before;
}

pool_member::pool_member(pool_state& of, unsigned which, const io_context_options& options)
    : shared{of}, number{which}, loop{options}, random_{which * 0x9e3779b97f4a7c15U + 1} {
    shared.active.fetch_add(one_active);
    loop.join_pool(*this);
}

void pool_member::share(work& item) noexcept {
    if (queue_.push(item)) {
        announce_surplus();
        return;
    }
    // The new one, not the old ones: what was posted first is to run first, or something that posts
    // again and again, itself last, would be back before what it has posted.
    shared.inbox.push(item);
    shared.wake_one();
}

void pool_member::announce_surplus() noexcept {
    if (queue_.size() <= shared.steal_threshold || shared.with_surplus.contains(number)) return;
    shared.with_surplus.add(number);
    shared.wake_one();
}

// By the owner, or by a thief that has found nothing. If the owner adds something at this very moment,
// that stays unannounced until it adds more; it is awake and will do it itself. If it says so after
// everything is gone, the next thief withdraws it again.
void pool_member::withdraw_surplus() noexcept {
    if (shared.with_surplus.contains(number)) shared.with_surplus.remove(number);
}

work* pool_member::take_own() noexcept {
    if (work* const own = queue_.pop()) return own;
    withdraw_surplus();
    return nullptr;
}

work* pool_member::take() noexcept {
    // What comes from outside must not wait for ever behind items that post themselves again.
    const bool overdue = ++own_in_a_row_ > own_in_a_row_max;
    if (!overdue) {
        if (work* const own = take_own()) return own;
    }
    own_in_a_row_ = 0;
    if (watching_) return nullptr;  // Not before `search` has looked whether that is needed.
    if (overdue) {
        work* one = nullptr;
        shared.inbox.take_some(1, [&one](work& item) noexcept { one = &item; });
        if (one == nullptr) return take_own();
        if (!shared.inbox.empty()) shared.wake_one();  // As below; it may take long.
        return one;
    }
    work* first = nullptr;
    shared.inbox.take_some(batch_from_inbox, [&](work& item) noexcept {
        if (first == nullptr) {
            first = &item;
        } else {
            static_cast<void>(queue_.push(item));  // It was empty, and only its owner adds.
        }
    });
    if (first != nullptr) {
        fed_ = true;
        stop_searching();
        announce_surplus();
        // A member that saw us taking may have gone to sleep because of it.
        if (!shared.inbox.empty()) shared.wake_one();
        return first;
    }
    if (!searching_ || !search()) return nullptr;
    return queue_.pop();  // Unless another thief was quicker.
}

bool pool_member::search() noexcept {
    // What the watch has seen may be as little as need not be announced.
    const bool has_watched = watching_;
    if (watch_instead() || (!has_watched && shared.with_surplus.empty())) {
        stop_searching();
        return false;
    }
    if (!searching_) {
        unsigned none = 0;
        if (!shared.searching.compare_exchange_strong(none, 1)) return false;
        searching_ = true;
    }
    searches.add();
    const bool found = steal();
    stop_searching();
    if (found) announce_surplus();
    return found;
}

// Begins with any of the others, so that not all thieves come to the same one.
bool pool_member::steal() noexcept {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    const auto count = static_cast<unsigned>(shared.members.size());
    const auto start = static_cast<unsigned>(random_ % count);
    for (unsigned step = 0; step < count; ++step) {
        pool_member& other = *shared.members[(start + step) % count];
        if (&other == this) continue;
        if (const std::uint64_t some = other.queue_.give_half(queue_)) {
            stolen.add(some);
            return true;
        }
        other.withdraw_surplus();
    }
    return false;
}

// There may be more, or something new: no member was woken for that while we were looking.
void pool_member::stop_searching() noexcept {
    if (!searching_) return;
    searching_ = false;
    shared.searching.fetch_sub(1);
    if (must_look()) shared.wake_one();
}

// Whether there is something that no other member sees to: one that is searching wakes the next one
// if there is more, and so does one that is taking from the inbox.
bool pool_member::must_look() const noexcept {
    if (shared.searching.load() != 0 || shared.watch_suffices()) return false;
    return !shared.with_surplus.empty() || (!shared.inbox.empty() && !shared.inbox.being_taken());
}

bool pool_member::work_in_sight() const noexcept {
    return !shared.inbox.empty() || !shared.with_surplus.empty();
}

// Being woken takes longer than some items. Where these are posted without end a second loop is awake only
// to fight over them, and on a busy machine it takes the processor from the poster. So if items
// have been short and a member is awake, one member sleeps for a while only, and no other is woken;
// it joins in when something that it saw last time is still there. True if it is, or becomes, that
// one.
bool pool_member::watch_instead() noexcept {
    const bool others_awake =
        shared.brisk.load() && shared.sleepers.size() + 1 < shared.members.size();
    if (watching_) {
        if (others_awake && !something_still_waits()) return true;
        watching_ = false;
        shared.watched.store(false);
        return false;
    }
    // A member woken for something that is gone by now would be woken for the next one as well.
    const bool worth_it = searching_ || work_in_sight();
    if (!others_awake || !worth_it || shared.watched.exchange(true)) return false;
    watching_ = true;
    remember_what_waits();
    return true;
}

bool pool_member::expects_more() noexcept {
    const bool fed = std::exchange(fed_, false);
    return fed && !watching_ && shared.brisk.load() &&
           shared.sleepers.size() + 1 == shared.members.size();
}

void pool_member::end_watch() noexcept {
    if (!watching_) return;
    watching_ = false;
    shared.watched.store(false);
    if (work_in_sight()) shared.wake_one();
}

void pool_member::remember_what_waits() noexcept {
    inbox_rounds_ = shared.inbox.rounds();
    inbox_waited_ = !shared.inbox.empty();
    added_before_.resize(shared.members.size());
    for (std::size_t each = 0; each < added_before_.size(); ++each) {
        added_before_[each] = shared.members[each]->queue_.added();
    }
}

bool pool_member::something_still_waits() const noexcept {
    if (inbox_waited_ && !shared.inbox.empty() && shared.inbox.rounds() - inbox_rounds_ < 2) {
        return true;
    }
    for (std::size_t each = 0; each < added_before_.size(); ++each) {
        if (shared.members[each]->queue_.taken() < added_before_[each]) return true;
    }
    return false;
}

// The second bound is wider, so that one pause of a thread among many items does not make them long.
void pool_member::record_pace(std::size_t count, duration took) noexcept {
    constexpr duration short_item = std::chrono::microseconds{1};
    constexpr duration pause = std::chrono::microseconds{10};
    constexpr std::size_t count_min = 64;
    const bool before = shared.brisk.load(std::memory_order_relaxed);
    if (before && took > static_cast<duration::rep>(count) * short_item + pause)
        shared.brisk.store(false);
    if (!before && count >= count_min && took <= static_cast<duration::rep>(count) * short_item)
        shared.brisk.store(true);
}

bool pool_member::prepare_to_sleep() noexcept {
    stop_searching();
    if (watching_) remember_what_waits();
    shared.sleepers.add(number);
    in_sleepers_ = true;
    if (must_look()) {
        woke_up();
        return false;
    }

    const bool ending = shared.ending.load();
    if (ending && loop.stop_roots()) {
        woke_up();
        return false;
    }
    if (!loop.rests(ending)) return true;
    stuck = !loop.roots().empty();
    resting_ = true;
    if (none_active(shared.active.fetch_sub(1) - 1) && shared.waiting.load() > 0) {
        {
            const std::lock_guard lock{shared.mutex};
        }
        shared.rested.notify_all();
    }
    return true;
}

void pool_member::woke_up() noexcept {
    if (!in_sleepers_) return;
    in_sleepers_ = false;
    if (resting_) {
        resting_ = false;
        shared.active.fetch_add(one_active);
    }
    // The member that took us out of the set wants us to search, and has counted us.
    if (!shared.sleepers.remove(number)) searching_ = true;
}

}  // namespace gyre
