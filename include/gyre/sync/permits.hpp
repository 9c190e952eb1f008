// SPDX-License-Identifier: BSL-1.0
//
// Permits of a semaphore that give themselves back, so that no way out of a scope forgets to.
#pragma once

#include <gyre/base/check.hpp>

#include <cstddef>
#include <utility>

namespace gyre {

/// Permits that were taken of a `Semaphore`; given back when destroyed. The null state holds none. Moves; one
/// thread at a time, that of a one-loop semaphore. Must not outlive it.
template <class Semaphore>
class held_permits {
public:
    held_permits() noexcept = default;
    /// @pre  they were taken of `of`.
    held_permits(Semaphore& of, std::size_t count) noexcept : of_{&of}, count_{count} {}
    held_permits(held_permits&& other) noexcept
        : of_{other.of_}, count_{std::exchange(other.count_, 0)} {}
    held_permits& operator=(held_permits&& other) noexcept {
        held_permits taken{std::move(other)};
        std::swap(of_, taken.of_);
        std::swap(count_, taken.count_);
        return *this;
    }
    ~held_permits() { release(); }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    /// Gives all of them back.
    void release() noexcept {
        if (count_ > 0) of_->release(std::exchange(count_, 0));
    }

    /// Moves `count` of them into a holder of their own. @pre  there are as many.
    [[nodiscard]] held_permits split(std::size_t count) noexcept {
        expects(count <= count_, "no more permits than are held");
        count_ -= count;
        return {*of_, count};
    }

    /// Keeps them from the semaphore for good: it has so many fewer then.
    void forget() noexcept { count_ = 0; }

private:
    Semaphore* of_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace gyre
