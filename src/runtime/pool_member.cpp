// SPDX-License-Identifier: BSL-1.0
//
// Taking, stealing, sleeping: see pool_member.hpp.
#include <runtime/pool_member.hpp>

namespace gyre {
namespace {

constexpr std::size_t batch_from_inbox = 32;

}  // namespace

void pool_company::wake_one() noexcept {
    if (searching.load() != 0) return;
    const unsigned sleeper = sleepers.remove_any();
    if (sleeper == member_set::members_max) return;
    searching.fetch_add(1);  // In its name; it notices when it gets up.
    members[sleeper]->loop.wake_if_asleep();
}

// A member that wakes counts itself as active before it takes what it was woken by. So if nothing is
// posted anywhere, and nobody was active before and after that was seen, then nothing is on its way.
bool pool_company::at_rest() const noexcept {
    if (active.load() != 0 || !inbox.empty()) return false;
    for (const auto& each : members) {
        if (!each->loop.nothing_posted()) return false;
    }
    return active.load() == 0;
}

pool_member::pool_member(pool_company& of, unsigned which, const io_context_options& options)
    : company{of}, number{which}, loop{options}, random_{which * 0x9e3779b97f4a7c15U + 1} {
    company.active.fetch_add(1);
    loop.join_company(*this);
}

void pool_member::share(work& item) noexcept {
    if (!queue_.push(item)) {
        spill();
        static_cast<void>(queue_.push(item));  // The owner alone adds, so there is room now.
    }
    note_wealth();
}

// Somebody else may do the older half: it goes where everybody looks.
void pool_member::spill() noexcept {
    for (std::uint64_t each = 0; each < steal_queue::capacity / 2; ++each) {
        work* const oldest = queue_.pop();
        if (oldest == nullptr) break;
        company.inbox.push(*oldest);
    }
}

void pool_member::note_wealth() noexcept {
    if (said_rich_.load(std::memory_order_relaxed) || queue_.size() <= company.steal_threshold)
        return;
    said_rich_.store(true, std::memory_order_relaxed);
    company.rich.add(number);
    company.wake_one();
}

// By the owner, or by a thief that has found nothing. If the owner adds something at this very moment,
// that stays unannounced until it adds more; it is awake and will do it itself.
void pool_member::deny_wealth() noexcept {
    if (!said_rich_.load(std::memory_order_relaxed)) return;
    said_rich_.store(false, std::memory_order_relaxed);
    company.rich.remove(number);
}

work* pool_member::take_own() noexcept {
    if (work* const own = queue_.pop()) return own;
    deny_wealth();
    return nullptr;
}

work* pool_member::take() noexcept {
    if (work* const own = take_own()) return own;
    work* first = nullptr;
    company.inbox.take_some(batch_from_inbox, [&](work& item) noexcept {
        if (first == nullptr) {
            first = &item;
        } else {
            static_cast<void>(queue_.push(item));  // It was empty, and only its owner adds.
        }
    });
    if (first != nullptr) {
        stop_searching(true);
        note_wealth();
        return first;
    }
    return searching_ ? search() : nullptr;
}

work* pool_member::search() noexcept {
    // A turn may end with some left; what is stolen needs an empty queue.
    if (work* const own = take_own()) return own;
    if (company.rich.empty()) {
        stop_searching(false);
        return nullptr;
    }
    if (!searching_) {
        unsigned nobody = 0;
        if (!company.searching.compare_exchange_strong(nobody, 1)) return nullptr;
        searching_ = true;
    }
    searches.add();
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    const auto count = static_cast<unsigned>(company.members.size());
    const auto start = static_cast<unsigned>(random_ % count);
    for (unsigned step = 0; step < count; ++step) {
        pool_member& other = *company.members[(start + step) % count];
        if (&other == this) continue;
        if (const std::uint64_t some = other.queue_.give_half(queue_)) {
            stolen.add(some);
            break;
        }
        other.deny_wealth();
    }
    work* const first = queue_.pop();
    stop_searching(first != nullptr);
    if (first != nullptr) note_wealth();
    return first;
}

// Where there was something there may be more; nobody was woken for that while we were looking.
void pool_member::stop_searching(bool found) noexcept {
    if (!searching_) return;
    searching_ = false;
    company.searching.fetch_sub(1);
    if (found && work_in_sight()) company.wake_one();
}

bool pool_member::work_in_sight() const noexcept {
    return !company.inbox.empty() || !company.rich.empty();
}

bool pool_member::lie_down() noexcept {
    stop_searching(false);
    company.sleepers.add(number);
    lying_ = true;
    if (work_in_sight()) {
        get_up();
        return false;
    }

    const bool ending = company.ending.load();
    if (ending && loop.stop_roots()) {
        get_up();
        return false;
    }
    if (!loop.rests(ending)) return true;
    stuck = !loop.roots().empty();
    resting_ = true;
    if (company.active.fetch_sub(1) == 1 && company.waiting.load() > 0) {
        {
            const std::lock_guard lock{company.mutex};
        }
        company.rested.notify_all();
    }
    return true;
}

void pool_member::get_up() noexcept {
    if (!lying_) return;
    lying_ = false;
    if (resting_) {
        resting_ = false;
        company.active.fetch_add(1);
    }
    // Whoever took us out of the set wants us to search, and has counted us.
    if (!company.sleepers.remove(number)) searching_ = true;
}

}  // namespace gyre
