// SPDX-License-Identifier: BSL-1.0
//
// A value of a channel moves in the name of two coroutines, so its move may not throw.
//
// must not compile: neither of which could catch what its move throws
#include <gyre/sync/channel.hpp>

struct torn {
    torn() = default;
    torn(torn&&) noexcept(false) {}
    torn& operator=(torn&&) noexcept(false) { return *this; }
};

gyre::channel<torn> orders{4};
