// SPDX-License-Identifier: BSL-1.0
//
// A value of a callback moves in the name of foreign code, so its move may not throw.
//
// must not compile: neither of which could catch what its move throws
#include <gyre/interop/callbacks.hpp>

struct torn {
    torn() = default;
    torn(torn&&) noexcept(false) {}
    torn& operator=(torn&&) noexcept(false) { return *this; }
};

void give(gyre::callback<torn> done) { static_cast<void>(done.wanted()); }
