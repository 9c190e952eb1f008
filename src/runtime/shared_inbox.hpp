// SPDX-License-Identifier: BSL-1.0
//
// Work for whichever loop of a pool comes first: what threads outside of the pool post, and what no
// longer fits into a loop's own queue.
//
// Any thread adds, with one exchange; one loop at a time hands out, in the order of adding. A loop that
// finds another one at it does not wait: what is there is being taken care of.
#pragma once

#include <gyre/base/mpsc_stack.hpp>
#include <gyre/base/single_writer_counter.hpp>
#include <gyre/coro/work.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gyre {

class shared_inbox {
public:
    /// Adds `item`. Any thread. Sequentially consistent, like `empty`.
    void push(work& item) noexcept { added_.push(item); }

    /// Whether nothing is there. Any thread.
    [[nodiscard]] bool empty() const noexcept {
        return added_.empty() && !some_sorted_.load(std::memory_order_seq_cst);
    }

    /// Whether a thread is taking right now. Any thread. Sequentially consistent, and so is its end.
    [[nodiscard]] bool being_taken() const noexcept {
        return taking_.load(std::memory_order_seq_cst);
    }

    /// How often what was there has been set out for taking, all of it at once. If that has happened
    /// twice since a moment, then all that was there at that moment has been taken. Any thread.
    [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_.value(); }

    /// Calls `take(work&)` for the oldest ones, up to `count_max`. Returns how many; 0 also while another
    /// thread is taking. Any thread.
    template <class Taker>
    std::size_t take_some(std::size_t count_max, Taker&& take) noexcept {
        std::size_t count = 0;
        // Again if something came while there was nothing: its poster may have seen us taking.
        while (count == 0 && !empty() && !taking_.exchange(true, std::memory_order_acquire)) {
            some_sorted_.store(true,
                               std::memory_order_seq_cst);  // Never is nothing seen meanwhile.
            if (sorted_.empty()) {
                added_.take_all([this](work& item) noexcept { sorted_.push(item); });
                rounds_.add();
            }
            for (; count < count_max && !sorted_.empty(); ++count) take(sorted_.pop());
            some_sorted_.store(!sorted_.empty(), std::memory_order_seq_cst);
            taking_.store(false, std::memory_order_seq_cst);
        }
        return count;
    }

private:
    mpsc_stack<work, &work::next> added_;
    alignas(64) std::atomic<bool> taking_ = false;
    std::atomic<bool> some_sorted_ = false;  // False only while `sorted_` is empty.
    work_queue sorted_;                      // Oldest first. Under `taking_`, like the next one.
    single_writer_counter rounds_;
};

}  // namespace gyre
