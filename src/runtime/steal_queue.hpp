// SPDX-License-Identifier: BSL-1.0
//
// A work-stealing queue: a loop's ready work, of which other loops may take half.
//
// A ring of pointers. The owner adds at one end; at the other end all of them take, the owner one
// at a time and thieves by halves, and one compare-and-swap decides between them. The scheme is
// that of Go's run queues: a thief copies first and claims afterwards, so a failed claim costs only
// the copy, and positions never wrap, so a claim that succeeds proves that what was copied was
// still there.
#pragma once

#include <gyre/coro/work.hpp>

#include <array>
#include <atomic>
#include <cstdint>

namespace gyre {

class steal_queue {
public:
    static constexpr std::uint64_t capacity = 1024;

    /// Adds `item` behind the others. False if it is full. The owner only.
    [[nodiscard]] bool push(work& item) noexcept {
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        if (tail - head_.load(std::memory_order_acquire) >= capacity) return false;
        slot(tail).store(&item, std::memory_order_relaxed);
        tail_.store(tail + 1, std::memory_order_release);
        return true;
    }

    /// Takes the oldest; null if it is empty. The owner only.
    [[nodiscard]] work* pop() noexcept {
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        std::uint64_t head = head_.load(std::memory_order_acquire);
        while (head != tail) {
            work* first = slot(head).load(std::memory_order_relaxed);
            if (head_.compare_exchange_weak(head, head + 1, std::memory_order_acq_rel,
                                            std::memory_order_acquire)) {
                return first;
            }
        }
        return nullptr;
    }

    /// Moves the older half, rounded up, to `thief`, which is empty. Returns how many. The owner of
    /// `thief` only.
    std::uint64_t give_half(steal_queue& thief) noexcept {
        const std::uint64_t to = thief.tail_.load(std::memory_order_relaxed);
        std::uint64_t head = head_.load(std::memory_order_acquire);
        for (;;) {
            const std::uint64_t there = tail_.load(std::memory_order_acquire) - head;
            const std::uint64_t count = there - there / 2;
            if (count == 0) return 0;
            if (count > capacity / 2) {  // The two ends were read at different moments.
                head = head_.load(std::memory_order_acquire);
                continue;
            }
            for (std::uint64_t each = 0; each < count; ++each) {
                work* item = slot(head + each).load(std::memory_order_relaxed);
                thief.slot(to + each).store(item, std::memory_order_relaxed);
            }
            if (head_.compare_exchange_weak(head, head + count, std::memory_order_acq_rel,
                                            std::memory_order_acquire)) {
                thief.tail_.store(to + count, std::memory_order_release);
                return count;
            }
        }
    }

    /// How many there are; at once out of date, except for what the owner itself has added.
    [[nodiscard]] std::uint64_t size() const noexcept {
        const std::uint64_t head = head_.load(std::memory_order_relaxed);
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        return tail > head ? tail - head : 0;
    }

    /// How many have ever been added, and how many taken. Any thread; at once out of date.
    [[nodiscard]] std::uint64_t added() const noexcept {
        return tail_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t taken() const noexcept {
        return head_.load(std::memory_order_relaxed);
    }

private:
    using place = std::atomic<work*>;

    [[nodiscard]] place& slot(std::uint64_t position) noexcept {
        return slots_[position % capacity];
    }

    alignas(64) std::atomic<std::uint64_t> head_ = 0;  // All that take.
    alignas(64) std::atomic<std::uint64_t> tail_ = 0;  // The owner, and it alone.
    std::array<place, capacity> slots_{};
};

}  // namespace gyre
