// SPDX-License-Identifier: BSL-1.0
//
// Where values wait between two coroutines: the ring in channels and sets, and how a value changes places.
//
// A move may be a copy: a type of the time before moves, or a member of one. Without care such a value would
// keep what it holds alive in a ring that is empty, until another one comes to its place.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace gyre {

/// So many values at most, first in, first out. On one thread, or under a lock of the owner.
template <class Value>
class value_ring {
public:
    /// A value, in a `std::optional` if it has no null state of its own.
    using place =
        std::conditional_t<std::is_default_constructible_v<Value>, Value, std::optional<Value>>;

    explicit value_ring(std::size_t capacity) : places_(capacity) {}

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return places_.size(); }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] bool full() const noexcept { return count_ == places_.size(); }

    /// Moves a value to a place in its null state, so that nothing ends there that a value holds, and nothing
    /// of it stays where it was, if that was a place as well.
    template <class From>
    static void hand(From& value, place& to) {
        if constexpr (std::is_same_v<From, place> && !std::is_trivially_copyable_v<From>) {
            to = std::exchange(value, std::move(to));
        } else {
            to = std::move(value);
        }
    }

    /// @param  value  A Value or a place; afterwards it is as `hand` leaves it.
    /// @pre    not full.
    template <class From>
    void push(From& value) {
        hand(value, places_[wrapped(first_ + count_)]);
        ++count_;
    }

    /// Moves the oldest value out. It is counted no more, even if its move throws.
    ///
    /// @param  into  In its null state.
    /// @pre    not empty.
    void pop(place& into) {
        place& oldest = places_[first_];
        first_ = wrapped(first_ + 1);
        --count_;
        hand(oldest, into);
    }

private:
    [[nodiscard]] std::size_t wrapped(std::size_t index) const noexcept {
        return index < places_.size() ? index : index - places_.size();
    }

    std::vector<place> places_;  // `count_` values from `first_` on; null states beside.
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

}  // namespace gyre
