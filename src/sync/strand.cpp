// SPDX-License-Identifier: BSL-1.0
//
// One at a time: see include/gyre/sync/strand.hpp.
#include <gyre/sync/strand.hpp>

namespace gyre {

constinit work strand::busy{nullptr};

// The inbox is null while the strand is at rest. The poster that changes that posts the strand
// below; until it rests again, the list ends in `busy`, so that later posters see that it will look
// again.
bool strand::push(work& item) noexcept {
    work* newest = inbox_.load(std::memory_order_relaxed);
    do item.next = newest;
    while (!inbox_.compare_exchange_weak(newest, &item, std::memory_order_acq_rel,
                                         std::memory_order_relaxed));
    return newest == nullptr;
}

void strand::post(work& item) noexcept {
    if (push(item)) below_.post(*this);
}

sleeper* strand::enqueue(work& item) noexcept {
    return push(item) ? below_.enqueue(*this) : nullptr;
}

void strand::take_inbox() noexcept {
    work* newest = inbox_.exchange(&busy, std::memory_order_acq_rel);
    work* oldest = nullptr;
    while (newest != nullptr && newest != &busy) {
        work* following = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = following;
    }
    while (oldest != nullptr) {
        work* following = oldest->next;
        ready_.push(*oldest);
        oldest = following;
    }
}

// Not at rest, the strand is posted below or runs, so whatever stays behind in `ready_` will be run.
void strand::retract(work& item) noexcept {
    if (inbox_.load(std::memory_order_acquire) == nullptr) return;
    take_inbox();
    ready_.remove(item);
}

void strand::run_some(work& item) noexcept {
    auto& self = static_cast<strand&>(item);
    bool destroyed = false;
    self.destroyed_ = &destroyed;
    self.take_inbox();
    for (int ran = 0; ran < items_per_turn && !self.ready_.empty(); ++ran) {
        work& next = self.ready_.pop();
        self.home_.backlog().begin_item();
        next.run(next);
        if (destroyed) return;
    }
    self.destroyed_ = nullptr;
    work* marker = &busy;
    if (self.ready_.empty() &&
        self.inbox_.compare_exchange_strong(marker, nullptr, std::memory_order_acq_rel)) {
        return;  // At rest.
    }
    self.below_.post(self);
}

}  // namespace gyre
