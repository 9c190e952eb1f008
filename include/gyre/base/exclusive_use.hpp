// SPDX-License-Identifier: BSL-1.0
//
// The check that what is for one user at a time has one.
#pragma once

#include <gyre/base/check.hpp>

namespace gyre {

/// A use of something, which ends with this object at the latest. Moves before it begins.
class exclusive_use {
public:
    /// @param  used  Borrowed while it lasts: whether there is one.
    explicit exclusive_use(bool& used) noexcept : used_{used} {}
    exclusive_use(exclusive_use&& other) noexcept : used_{other.used_} {}
    ~exclusive_use() { end(); }

    /// @param  rule  What is broken if there is another one; static storage.
    void begin(const char* rule) noexcept {
        expects(!used_, rule);
        used_ = begun_ = true;
    }
    void end() noexcept {
        if (begun_) used_ = begun_ = false;
    }

private:
    bool& used_;
    bool begun_ = false;
};

}  // namespace gyre
