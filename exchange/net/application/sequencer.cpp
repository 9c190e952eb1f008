// SPDX-License-Identifier: BSL-1.0
//
// Commands that concern all partitions, and what is said of them only once: see sequencer.hpp.
#include <exchange/net/application/sequencer.hpp>

#include <algorithm>

namespace exchange {

sequencer::sequencer(const sequencer_options& options, event_receiver& events)
    : clock_{options.clocks},
      events_{events},
      numbers_{options.limits.sessions_max},
      epochs_(std::size_t{options.limits.sessions_max} + 1) {
    expects(options.partitions > 0 && options.partitions <= partitions_limit);
    partition_limits limits = options.limits;
    for (limits.partition = 0; limits.partition < options.partitions; ++limits.partition)
        partitions_.emplace_back(limits, numbers_);
    single_ = options.partitions == 1;
    active_ = &partitions_.front();
}

void sequencer::resume() noexcept {
    if (active_->busy()) active_->resume(event_sink::to(relay_));
    if (!active_->busy() && next_ != all_told) tell_next();
}

timestamp_ns sequencer::next_expiry() const noexcept {
    timestamp_ns first = ~timestamp_ns{0};
    for (const partition& each : partitions_) first = std::min(first, each.next_expiry());
    return first;
}

timestamp_ns sequencer::next_phase_change() const noexcept {
    timestamp_ns first = ~timestamp_ns{0};
    for (const partition& each : partitions_) first = std::min(first, each.next_phase_change());
    return first;
}

std::size_t sequencer::find(session_id from, const order_reference& target) const noexcept {
    if (target.id != order_id::none) {
        const std::size_t named = partition_of(target.id);
        return named < partitions_.size() ? named : 0;
    }
    for (std::size_t each = 0; each < partitions_.size(); ++each)
        if (partitions_[each].rests(from, target)) return each;
    return 0;
}

void sequencer::tell_all(const command& what) noexcept {
    everywhere_ = what;
    next_ = 0;
    telling_all_ = true;
    refused_ = found_ = false;
    tell_next();
}

// One step at most, so that the others have their turn before the next partition.
void sequencer::tell_next() noexcept {
    const numbering how = next_ == 0 ? numbering::checked : numbering::known;
    std::visit([&](const auto& it) { begin_in(next_++, it, how); }, everywhere_);
    if (refused_ || next_ == partitions_.size()) next_ = all_told;
}

// Of what all partitions answer alike only the first answer goes on.
bool sequencer::is_answered_elsewhere(const event& it) noexcept {
    const bool first = current_ == 0;
    const bool last = current_ + 1 == partitions_.size();
    switch (it.kind) {
        case event_kind::order_cancelled: found_ = true; return false;
        case event_kind::protection_set:
        case event_kind::admin_accepted: return !first;
        case event_kind::admin_rejected: refused_ = true; return !first;
        case event_kind::order_rejected:
            if (it.order_rejected.reason == reject_reason::nothing_to_cancel)
                return found_ || !last;
            refused_ = true;
            return !first;
        default: return false;
    }
}

void sequencer::hand_on(const event_batch& batch) noexcept {
    event_batch rest = batch;
    // An answer stands alone or before all that it causes.
    if (telling_all_ && is_answered_elsewhere(batch.events.front())) {
        rest.events = batch.events.subspan(1);
        ++rest.first_out_seq;
        ++rest.first_index;
        if (rest.events.empty()) return;
    }
    events_.take(rest, origin_);
}

}  // namespace exchange
