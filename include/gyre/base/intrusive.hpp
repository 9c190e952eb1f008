// SPDX-License-Identifier: BSL-1.0
//
// Lists whose links live in the listed objects, because waiting must not allocate.
//
// Everything that can be pending (operations, waiters, roots, group children) is a member of such a
// list, and has to leave it in constant time when it is cancelled. Objects are borrowed and must
// leave the list before they die.
#pragma once

#include <gyre/base/check.hpp>

#include <cstddef>

namespace gyre {

/// One place in one list. Derive from it, once per list (`Tag` tells several lists apart).
template <class Tag = void>
class list_link {
public:
    list_link() noexcept = default;
    list_link(const list_link&) = delete;
    list_link& operator=(const list_link&) = delete;

    [[nodiscard]] bool linked() const noexcept { return next_ != nullptr; }

    /// Leaves its list; nothing happens if it is in none.
    void unlink() noexcept {
        if (next_ == nullptr) return;
        next_->previous_ = previous_;
        previous_->next_ = next_;
        next_ = previous_ = nullptr;
    }

private:
    template <class, class>
    friend class list;

    list_link* next_ = nullptr;  // Invariant: both null, or both in the same ring.
    list_link* previous_ = nullptr;
};

/// A doubly linked list of `Element`s, which derive from `list_link<Tag>`. Constant-time everything
/// but `size`. Neither copies nor owns its elements.
template <class Element, class Tag = void>
class list {
public:
    list() noexcept { head_.next_ = head_.previous_ = &head_; }
    list(const list&) = delete;
    list& operator=(const list&) = delete;
    ~list() {
        expects(empty(), "an intrusive list dies only when empty");
        head_.next_ = head_.previous_ = nullptr;
    }

    [[nodiscard]] bool empty() const noexcept { return head_.next_ == &head_; }

    void push_back(Element& element) noexcept {
        link& it = element;
        expects(!it.linked(), "an element is in one list at a time");
        it.previous_ = head_.previous_;
        it.next_ = &head_;
        head_.previous_->next_ = &it;
        head_.previous_ = &it;
    }

    /// @pre  not empty.
    [[nodiscard]] Element& front() noexcept { return static_cast<Element&>(*head_.next_); }

    /// @pre  not empty.
    Element& pop_front() noexcept {
        Element& first = front();
        static_cast<link&>(first).unlink();
        return first;
    }

    /// Moves all of `other` behind what is here.
    void append(list& other) noexcept {
        if (other.empty()) return;
        link* const first = other.head_.next_;
        link* const last = other.head_.previous_;
        first->previous_ = head_.previous_;
        last->next_ = &head_;
        head_.previous_->next_ = first;
        head_.previous_ = last;
        other.head_.next_ = other.head_.previous_ = &other.head_;
    }

    /// Calls `visit(element)` for each; the element visited may leave the list meanwhile.
    template <class Visitor>
    void for_each(Visitor&& visit) {
        for (link* it = head_.next_; it != &head_;) {
            link* next = it->next_;
            visit(static_cast<Element&>(*it));
            it = next;
        }
    }

    /// The same, but any element may leave the list meanwhile. If the one that comes next does, the walk
    /// begins anew, so `visit` may meet an element more than once.
    template <class Visitor>
    void for_each_shrinking(Visitor&& visit) {
        for (link* it = head_.next_; it != &head_;) {
            link* next = it->next_;
            visit(static_cast<Element&>(*it));
            it = next->linked() ? next : head_.next_;
        }
    }

    /// The first element for which `wanted(element)`, or null.
    template <class Predicate>
    [[nodiscard]] Element* find(Predicate&& wanted) {
        for (link* it = head_.next_; it != &head_; it = it->next_) {
            if (wanted(static_cast<Element&>(*it))) return static_cast<Element*>(it);
        }
        return nullptr;
    }

    /// Whether it holds `element` and nothing else.
    [[nodiscard]] bool is_only(const Element& element) const noexcept {
        return head_.next_ == &element && head_.previous_ == &element;
    }

    [[nodiscard]] std::size_t size() const noexcept {
        std::size_t count = 0;
        for (const link* it = head_.next_; it != &head_; it = it->next_) ++count;
        return count;
    }

private:
    using link = list_link<Tag>;

    link head_;
};

}  // namespace gyre
