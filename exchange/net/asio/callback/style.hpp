// SPDX-License-Identifier: BSL-1.0
//
// Two ways in which programs of callbacks write, so that both can be measured.
#pragma once

#include <cstdint>

namespace exchange {

enum class callback_style : std::uint8_t {
    /// Every write is an asynchronous operation, and goes on in its handler.
    asynchronous,

    /// What the kernel takes at once is written on the spot; only the rest waits for a handler.
    tried_first,
};

}  // namespace exchange
