// SPDX-License-Identifier: BSL-1.0
//
// What is done when an exception leaves a scope of a coroutine, and not when the coroutine is destroyed.
#pragma once

#include <gyre/base/exception.hpp>

#include <exception>
#include <utility>

namespace gyre::http {

/// Calls `Told` if the scope that it stands in is left by an exception. What `Told` throws then is dropped.
template <class Told>
class on_throw {
public:
    explicit on_throw(Told told) noexcept : told_{std::move(told)} {}
    on_throw(const on_throw&) = delete;
    on_throw& operator=(const on_throw&) = delete;
    ~on_throw() {
        if (std::uncaught_exceptions() <= before_) return;
        exception_slot dropped;
        static_cast<void>(run_catching(dropped, told_));
    }

private:
    Told told_;
    int before_ = std::uncaught_exceptions();
};

}  // namespace gyre::http
