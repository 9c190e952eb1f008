// SPDX-License-Identifier: BSL-1.0
//
// A value of a shared channel moves in the name of two threads, so its move may not throw.
//
// must not compile: neither of which could catch what its move throws
#include <gyre/sync/shared_channel.hpp>

struct torn {
    torn() = default;
    torn(torn&&) noexcept(false) {}
    torn& operator=(torn&&) noexcept(false) { return *this; }
};

gyre::shared_channel<torn> orders{4};
