// SPDX-License-Identifier: BSL-1.0
//
// The heap behind timer_queue.hpp.
#include <runtime/timer_queue.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>

namespace gyre {

timer_queue::~timer_queue() {
    // Timers may outlive the queue; they must not believe themselves armed.
    for (entry& each : heap_) each.it->position = timer::idle;
}

void timer_queue::arm(timer& it, time_point deadline) noexcept {
    it.deadline = deadline;
    if (!it.armed()) {
        heap_.push_back({});
        sift_up(heap_.size() - 1, {deadline, sequence_++, &it});
        return;
    }
    entry& held = heap_[it.position];
    if (deadline < held.key) sift_up(it.position, {deadline, sequence_++, &it});
}

void timer_queue::disarm(timer& it) noexcept {
    if (it.armed()) remove(it.position);
}

void timer_queue::advance(time_point now) noexcept {
    // One that has moved since is settled once its old deadline has come, and not before.
    while (!heap_.empty() && heap_.front().key <= now) {
        settle_first();
        if (heap_.front().key > now) return;
        timer& due = *heap_.front().it;
        remove(0);
        due.fired(due);
    }
}

time_point timer_queue::next() noexcept {
    if (heap_.empty()) return never;
    settle_first();
    return heap_.front().key;
}

// Brings the first timer to its real place until the first one is where it belongs.
void timer_queue::settle_first() noexcept {
    for (;;) {
        const entry first = heap_.front();
        if (first.key == first.it->deadline) return;
        sift_down(0, {first.it->deadline, sequence_++, first.it});
    }
}

void timer_queue::remove(std::size_t at) noexcept {
    heap_[at].it->position = timer::idle;
    const entry last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    if (at > 0 && before(last, heap_[(at - 1) / arity])) {
        sift_up(at, last);
    } else {
        sift_down(at, last);
    }
}

void timer_queue::place(std::size_t at, const entry& e) noexcept {
    heap_[at] = e;
    e.it->position = static_cast<std::uint32_t>(at);
}

void timer_queue::sift_up(std::size_t at, entry e) noexcept {
    while (at > 0) {
        const std::size_t parent = (at - 1) / arity;
        if (!before(e, heap_[parent])) break;
        place(at, heap_[parent]);
        at = parent;
    }
    place(at, e);
}

void timer_queue::sift_down(std::size_t at, entry e) noexcept {
    for (;;) {
        const std::size_t first = at * arity + 1;
        if (first >= heap_.size()) break;
        const std::size_t end = std::min(first + arity, heap_.size());
        std::size_t least = first;
        for (std::size_t child = first + 1; child < end; ++child) {
            if (before(heap_[child], heap_[least])) least = child;
        }
        if (!before(heap_[least], e)) break;
        place(at, heap_[least]);
        at = least;
    }
    place(at, e);
}

}  // namespace gyre
