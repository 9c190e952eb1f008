// SPDX-License-Identifier: BSL-1.0
//
// The queue and its bounds: see include/gyre/stream/outbox.hpp.
#include <gyre/stream/outbox.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>
#include <bit>

namespace gyre {

outbox::outbox(const outbox_options& options) : options_{options} {
    constexpr std::size_t places_max = std::size_t{1} << 31;
    expects(options.bytes_max > 0, "an outbox holds at least one byte");
    expects(options.messages_max > 0 && options.messages_max <= places_max,
            "an outbox holds at least one message, and 2^31 at most");
}

error outbox::refusal(const shared_bytes& message) const noexcept {
    if (failure_) return failure_;
    if (closed_) return {errc::closed, activity::write};
    if (message.size() > options_.bytes_max) return {errc::message_size, activity::write};
    return {};
}

outbox_bound outbox::bound_for(std::size_t bytes) const noexcept {
    if (count_ == options_.messages_max) return outbox_bound::messages;
    return bytes > options_.bytes_max - bytes_ ? outbox_bound::bytes : outbox_bound::none;
}

outbox::admission outbox::take(shared_bytes& message, std::optional<key> of) noexcept {
    if (of && replaced(message, *of)) return admission::queued;
    const outbox_bound met = bound_for(message.size());
    if (met != outbox_bound::none) {
        switch (options_.when_full) {
            case slow_consumer::wait: return admission::must_wait;
            case slow_consumer::drop_oldest:
                if (!make_room(message.size())) {
                    ++counters_.dropped;
                    return admission::queued;
                }
                // With what is left of the others it may fit in the place of the older state.
                if (of && replaced(message, *of)) return admission::queued;
                break;
            case slow_consumer::disconnect:
                bound_met_ = met;
                fail({errc::limit_exceeded, activity::write});
                return admission::queued;
        }
    }
    put(message, of);
    return admission::queued;
}

bool outbox::replaced(shared_bytes& message, key of) noexcept {
    const std::uint32_t place = find(of);
    if (place == none) return false;
    shared_bytes& older = ring_[place].message;
    const std::size_t others = bytes_ - older.size();
    if (message.size() > options_.bytes_max - others) return false;
    bytes_ = others + message.size();
    older = std::move(message);
    ++counters_.conflated;
    note_bytes();
    return true;
}

// What is being written stays. False if a message of `bytes` has no room beside that.
bool outbox::make_room(std::size_t bytes) noexcept {
    const std::size_t held = std::max<std::size_t>(pinned_, front_written_ > 0 ? 1 : 0);
    std::size_t held_bytes = 0;
    for (std::size_t each = 0; each < held; ++each) held_bytes += at(each).message.size();
    if (held == options_.messages_max || bytes > options_.bytes_max - held_bytes) return false;
    while (bound_for(bytes) != outbox_bound::none) {
        const std::uint32_t oldest = place_of(held);
        leave_chain(oldest);
        bytes_ -= ring_[oldest].message.size();
        // At most a gathered write's worth is moved; none of that stands in a chain.
        for (std::size_t each = held; each > 0; --each) at(each) = std::move(at(each - 1));
        at(0) = entry{};
        first_ = place_of(1);
        --count_;
        ++counters_.dropped;
    }
    return true;
}

void outbox::put(shared_bytes& message, std::optional<key> of) noexcept {
    if (count_ == ring_.size()) grow();
    const std::uint32_t place = place_of(count_++);
    entry& last = ring_[place];
    bytes_ += message.size();
    last.message = std::move(message);
    if (of) {
        last.of = *of;
        enter_chain(place);
    }
    note_bytes();
    writer_.wake_one();
}

void outbox::note_bytes() noexcept {
    counters_.queued_bytes_max = std::max(counters_.queued_bytes_max, bytes_);
}

// Lets senders go on that there is room for, in their order.
void outbox::admit() noexcept {
    while (!senders_.empty()) {
        auto& first = static_cast<send_awaiter&>(senders_.front());
        if (take(first.message_, first.key_) == admission::must_wait) return;
        senders_.wake_one();
    }
}

void outbox::pop_front() noexcept {
    const std::uint32_t place = place_of(0);
    leave_chain(place);
    bytes_ -= ring_[place].message.size();
    ring_[place] = entry{};
    first_ = place_of(1);
    --count_;
}

void outbox::grow() noexcept {
    std::vector<entry> larger(std::max(first_size, ring_.size() * 2));
    for (std::size_t each = 0; each < count_; ++each) larger[each] = std::move(at(each));
    ring_ = std::move(larger);
    first_ = 0;
    buckets_.assign(ring_.size(), none);
    for (std::size_t each = 0; each < count_; ++each) {
        if (ring_[each].has_key) enter_chain(static_cast<std::uint32_t>(each));
    }
}

// Multiplied by the golden ratio, so that keys in a row, or in steps, spread over the buckets.
std::uint32_t& outbox::bucket_of(key of) noexcept {
    const int bits = std::countr_zero(buckets_.size());
    return buckets_[(of * 0x9e3779b97f4a7c15U) >> (64 - bits)];
}

std::uint32_t outbox::find(key of) noexcept {
    if (buckets_.empty()) return none;
    std::uint32_t place = bucket_of(of);
    while (place != none && ring_[place].of != of) place = ring_[place].next;
    return place;
}

void outbox::enter_chain(std::uint32_t place) noexcept {
    std::uint32_t& bucket = bucket_of(ring_[place].of);
    ring_[place].has_key = true;
    ring_[place].next = std::exchange(bucket, place);
}

void outbox::leave_chain(std::uint32_t place) noexcept {
    if (!ring_[place].has_key) return;
    ring_[place].has_key = false;
    std::uint32_t* link = &bucket_of(ring_[place].of);
    while (*link != place) link = &ring_[*link].next;
    *link = ring_[place].next;
}

io_result<> outbox::try_send(shared_bytes message, std::optional<key> of) noexcept {
    if (const error refused = refusal(message)) return refused;
    if (message.empty()) return {};
    if (!senders_.empty() || take(message, of) == admission::must_wait) {
        return error{errc::resource_unavailable, activity::write};
    }
    return failure_;
}

void outbox::close() noexcept {
    closed_ = true;
    senders_.wake_all(errc::closed);
    writer_.wake_all(errc::closed);  // It waits only while there is nothing to write.
}

void outbox::fail(error reason) noexcept {
    expects(static_cast<bool>(reason), "an outbox fails for a reason");
    if (failure_) return;
    failure_ = reason;
    senders_.wake_all(reason);
    writer_.wake_all(reason);
    failure_watch_.wake_all();
}

void outbox::renew() noexcept {
    expects(!has_writer_, "an outbox is renewed when its writer has ended");
    failure_ = {};
    bound_met_ = outbox_bound::none;
    front_written_ = 0;
}

void outbox::send_awaiter::request(stop_level level) noexcept {
    waiter::request(level);
    to_.admit();  // Those behind may want less.
}

bool outbox::send_awaiter::await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
    if (stopped_before(*given)) return go_on(handle, *given, errc::canceled);
    if (const error refused = to_.refusal(message_)) return go_on(handle, *given, refused);
    if (message_.empty()) return go_on(handle, *given);
    if (to_.senders_.empty() && to_.take(message_, key_) == admission::queued) {
        return go_on(handle, *given, to_.failure_);
    }
    return wait_in(to_.senders_, handle, *given);
}

bool outbox::next_awaiter::await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
    if (stopped_before(*given)) return go_on(handle, *given, errc::canceled);
    if (from_.failure_) return go_on(handle, *given, from_.failure_);
    if (from_.count_ > 0) return go_on(handle, *given);
    if (from_.closed_) return go_on(handle, *given, errc::closed);
    return wait_in(from_.writer_, handle, *given);
}

// What it was woken for may have been let go of since.
io_result<> outbox::next_awaiter::await_resume() const noexcept {
    if (outcome()) return outcome();
    return from_.failure_;
}

bool outbox::failed_awaiter::await_suspend(std::coroutine_handle<> handle,
                                           const environment* given) noexcept {
    if (of_.failure_) return go_on(handle, *given);
    return wait_in(of_.failure_watch_, handle, *given);
}

outbox::writing::writing(outbox& from) noexcept : from_{from} {
    expects(!from.has_writer_, "an outbox has one writer at a time");
    from.has_writer_ = true;
}

outbox::writing::~writing() {
    from_.has_writer_ = false;
    from_.pinned_ = 0;
}

// At most half of what may be queued, so that what is pinned leaves room for what is newer.
const_buffers outbox::writing::gather() noexcept {
    const std::size_t messages_max =
        std::clamp<std::size_t>(from_.options_.messages_max / 2, 1, buffers_per_call_max);
    const std::size_t most = std::min(messages_max, from_.count_);
    std::size_t bytes = 0;
    std::size_t taken = 0;
    for (; taken < most; ++taken) {
        const const_buffer next = from_.at(taken).message.bytes();
        bytes += next.size();
        if (taken > 0 && bytes > from_.options_.bytes_max / 2) break;
        from_.leave_chain(from_.place_of(taken));
        parts_[taken] = next;
    }
    from_.pinned_ = taken;
    return const_buffers{parts_}.first(taken);
}

bool outbox::writing::wrote(std::size_t bytes) noexcept {
    from_.pinned_ = 0;
    if (bytes > 0) ++from_.counters_.writes;
    from_.front_written_ += bytes;
    while (from_.count_ > 0 && from_.front_written_ >= from_.at(0).message.size()) {
        from_.front_written_ -= from_.at(0).message.size();
        from_.pop_front();
        ++from_.counters_.written;
    }
    from_.admit();
    return from_.front_written_ > 0;
}

}  // namespace gyre
