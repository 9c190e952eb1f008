// SPDX-License-Identifier: BSL-1.0
//
// A lock-free stack: many threads push, one takes everything at once.
//
// A list of the objects themselves, so a push allocates nothing and never fails. Taking all with one
// exchange is immune to the ABA problem that single pops would have.
#pragma once

#include <atomic>

namespace gyre {

/// @tparam  Node  What is pushed; borrowed until it is taken.
/// @tparam  Next  The member of `Node` that the stack uses meanwhile.
template <class Node, Node* Node::* Next>
class mpsc_stack {
public:
    mpsc_stack() noexcept = default;
    mpsc_stack(const mpsc_stack&) = delete;
    mpsc_stack& operator=(const mpsc_stack&) = delete;

    /// Adds `item`. Any thread. True if the stack was empty before: then the taker may be asleep.
    ///
    /// Sequentially consistent, like `empty`: if the taker says "I sleep" and then finds the stack
    /// empty, a push that comes later sees that it sleeps.
    bool push(Node& item) noexcept {
        Node* newest = newest_.load(std::memory_order_relaxed);
        do item.*Next = newest;
        while (!newest_.compare_exchange_weak(newest, &item, std::memory_order_seq_cst,
                                              std::memory_order_relaxed));
        return newest == nullptr;
    }

    /// Whether nothing is there. Any thread.
    [[nodiscard]] bool empty() const noexcept {
        return newest_.load(std::memory_order_seq_cst) == nullptr;
    }

    /// Hands everything to `visit(Node&)`, oldest first. One thread. False if nothing was there, which costs
    /// a load.
    template <class Visitor>
    bool take_all(Visitor&& visit) noexcept {
        if (newest_.load(std::memory_order_relaxed) == nullptr) return false;
        Node* newest = newest_.exchange(nullptr, std::memory_order_acquire);
        Node* oldest = nullptr;
        while (newest != nullptr) {
            Node* following = newest->*Next;
            newest->*Next = oldest;
            oldest = newest;
            newest = following;
        }
        while (oldest != nullptr) {
            Node* following = oldest->*Next;
            visit(*oldest);
            oldest = following;
        }
        return true;
    }

private:
    std::atomic<Node*> newest_ = nullptr;
};

}  // namespace gyre
