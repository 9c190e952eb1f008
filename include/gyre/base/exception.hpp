// SPDX-License-Identifier: BSL-1.0
//
// A user's exception on its way from a coroutine to its awaiter.
//
// The library itself throws nothing; in builds without exceptions this slot is empty and free. It is
// the only place that has to know which build it is in.
#pragma once

#include <gyre/base/build.hpp>

#include <exception>
#include <string>
#include <utility>

namespace gyre {

#if defined(__cpp_exceptions)

/// Holds at most one exception in flight.
class exception_slot {
public:
    /// Takes the exception being handled; call it inside a handler.
    void capture() noexcept { held_ = std::current_exception(); }

    /// Moves `other`'s exception here unless one is held already: the first failure is the cause.
    void keep_first(exception_slot& other) noexcept {
        if (!held_) held_ = std::move(other.held_);
        other.held_ = nullptr;
    }

    void rethrow_if_any() {
        if (held_) std::rethrow_exception(std::exchange(held_, nullptr));
    }

    /// Another slot with the same exception, for another caller that is told of it.
    [[nodiscard]] exception_slot share() const noexcept { return *this; }

    /// Gives up what it holds; null if that is nothing.
    [[nodiscard]] std::exception_ptr take() noexcept { return std::exchange(held_, nullptr); }

    [[nodiscard]] bool empty() const noexcept { return !held_; }

private:
    std::exception_ptr held_;
};

/// Runs `body`, catching into `slot`; returns whether it finished.
template <class Body>
bool run_catching(exception_slot& slot, Body&& body) noexcept {
    try {
        body();
        return true;
    } catch (...) {
        slot.capture();
        return false;
    }
}

#else

class exception_slot {
public:
    [[noreturn]] void capture() noexcept { std::terminate(); }
    void keep_first(exception_slot&) noexcept {}
    void rethrow_if_any() noexcept {}
    [[nodiscard]] exception_slot share() const noexcept { return {}; }
    [[nodiscard]] std::exception_ptr take() noexcept { return nullptr; }
    [[nodiscard]] bool empty() const noexcept { return true; }
};

template <class Body>
bool run_catching(exception_slot&, Body&& body) noexcept {
    body();
    return true;
}

#endif

/// What it is, and what it says of itself if it is a std::exception: "std::runtime_error: refused". Without
/// exceptions, and of a null one: empty. Allocates the text.
[[nodiscard]] std::string describe(const std::exception_ptr& thrown);

}  // namespace gyre
