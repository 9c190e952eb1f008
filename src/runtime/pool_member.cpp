// SPDX-License-Identifier: BSL-1.0
//
// Taking and stealing: see pool_member.hpp.
#include <runtime/pool_member.hpp>

#include <runtime/wake_state.hpp>

#include <algorithm>

namespace gyre {
namespace {

constexpr std::size_t batch_from_inbox = 32;

}  // namespace

const steal_queue& pool_state::queue(unsigned member) const noexcept {
    return members[member]->queue;
}

bool pool_state::posted() const noexcept {
    const auto nothing = [](const auto& each) { return each->loop.wake_->nothing_posted(); };
    return !std::ranges::all_of(members, nothing);
}

void pool_state::wake(unsigned member) noexcept { members[member]->loop.wake_->wake_if_asleep(); }

pool_member::pool_member(pool_state& of, unsigned which, const io_context_options& options)
    : shared{of},
      number{which},
      loop{options},
      parking_{of.lot, which},
      random_{which * 0x9e3779b97f4a7c15U + 1} {
    loop.join_pool(*this);
}

void pool_member::share(work& item) noexcept {
    if (queue.push(item)) {
        announce_surplus();
        return;
    }
    // The new one, not the old ones: what was posted first is to run first, or something that posts
    // again and again, itself last, would be back before what it has posted.
    shared.inbox.push(item);
    shared.lot.wake_one();
}

void pool_member::announce_surplus() noexcept {
    if (queue.size() > shared.steal_threshold) shared.lot.announce_surplus(number);
}

work* pool_member::take_own() noexcept {
    if (work* const own = queue.pop()) return own;
    shared.lot.withdraw_surplus(number);
    return nullptr;
}

work* pool_member::take() noexcept {
    // What comes from outside must not wait for ever behind items that post themselves again.
    const bool overdue = ++own_in_a_row_ > own_in_a_row_max;
    if (!overdue) {
        if (work* const own = take_own()) return own;
    }
    own_in_a_row_ = 0;
    if (pace.kept()) return nullptr;  // Not before `search` has looked whether that is needed.
    if (overdue) {
        work* one = nullptr;
        shared.inbox.take_some(1, [&one](work& item) noexcept { one = &item; });
        if (one == nullptr) return take_own();
        if (!shared.inbox.empty()) shared.lot.wake_one();  // As below; it may take long.
        return one;
    }
    work* first = nullptr;
    shared.inbox.take_some(batch_from_inbox, [&](work& item) noexcept {
        if (first == nullptr) {
            first = &item;
        } else {
            static_cast<void>(queue.push(item));  // It was empty, and only its owner adds.
        }
    });
    if (first != nullptr) {
        pace.feed();
        parking_.end_search();
        announce_surplus();
        // A member that saw us taking may have gone to sleep because of it.
        if (!shared.inbox.empty()) shared.lot.wake_one();
        return first;
    }
    if (!parking_.searching() || !search()) return nullptr;
    return queue.pop();  // Unless another thief was quicker.
}

bool pool_member::search() noexcept {
    // What the watch has seen may be as little as need not be announced.
    const bool has_watched = pace.kept();
    if (pace.keep(parking_) || (!has_watched && !shared.lot.any_surplus())) {
        parking_.end_search();
        return false;
    }
    if (!parking_.begin_search()) return false;
    searches.add();
    const bool found = steal();
    parking_.end_search();
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
        if (const std::uint64_t some = other.queue.give_half(queue)) {
            stolen.add(some);
            return true;
        }
        shared.lot.withdraw_surplus(other.number);
    }
    return false;
}

bool pool_member::prepare_to_sleep() noexcept {
    pace.remember();
    if (!parking_.fall_asleep()) return false;
    const bool ending = shared.ending.load();
    if (ending && loop.stop_roots()) {
        woke_up();
        return false;
    }
    if (!loop.rests(ending)) return true;
    stuck = loop.has_awaited_roots() || (ending && !loop.roots().empty());
    if (parking_.rest() && shared.waiting.load() > 0) {
        {
            const std::lock_guard lock{shared.mutex};
        }
        shared.rested.notify_all();
    }
    return true;
}

}  // namespace gyre
