// SPDX-License-Identifier: BSL-1.0
//
// The smallest thing a loop can run, and the queue it waits in.
//
// Whatever becomes ready (a resumed coroutine, a finished operation, a posted callback) embeds one
// `work`, so that making something ready never allocates. executor.hpp says where it may be posted.
#pragma once

#include <utility>

namespace gyre {

/// Runs once per posting. Borrowed by the queue from posting until `run` is called.
struct work {
    using function = void (*)(work&) noexcept;

    work() noexcept = default;
    constexpr explicit work(function f) noexcept : run{f} {}

    // Copies take what to do, never the place in a queue.
    work(const work& other) noexcept : run{other.run} {}
    work& operator=(const work& other) noexcept {
        run = other.run;
        return *this;
    }

    work* next = nullptr;  // Owned by the queue it is in.
    function run = nullptr;
};

/// First in, first out but for `push_first`; for one thread.
class work_queue {
public:
    [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }

    void push(work& item) noexcept {
        item.next = nullptr;
        *tail_ = &item;
        tail_ = &item.next;
    }

    /// Before all others.
    void push_first(work& item) noexcept {
        item.next = head_;
        if (head_ == nullptr) tail_ = &item.next;
        head_ = &item;
    }

    /// @pre  not empty.
    work& pop() noexcept {
        work& first = *head_;
        head_ = first.next;
        if (head_ == nullptr) tail_ = &head_;
        return first;
    }

    /// Takes `item` out wherever it stands; linear. Returns whether it was there.
    bool remove(work& item) noexcept {
        for (work** it = &head_; *it != nullptr; it = &(*it)->next) {
            if (*it != &item) continue;
            if (tail_ == &item.next) tail_ = it;
            *it = item.next;
            return true;
        }
        return false;
    }

    /// Moves all of `other` behind what is here.
    void append(work_queue& other) noexcept {
        if (other.empty()) return;
        *tail_ = other.head_;
        tail_ = std::exchange(other.tail_, &other.head_);
        other.head_ = nullptr;
    }

    work_queue() noexcept = default;
    work_queue(const work_queue&) = delete;
    work_queue& operator=(const work_queue&) = delete;

private:
    work* head_ = nullptr;
    work** tail_ = &head_;  // Invariant: points at the null that ends the queue.
};

}  // namespace gyre
