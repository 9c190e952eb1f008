// SPDX-License-Identifier: BSL-1.0
//
// Assertions about our own mistakes. No command can make one fail, however wrong it is.
//
// The library has the same word with a message; the core may not include it, nor print. A trap stops
// the process before a wrong book is published, and leaves the state in the core dump.
#pragma once

namespace exchange {

/// What the caller owes. Stays on in release builds.
constexpr void expects(bool condition) noexcept {
    if (!condition) [[unlikely]]
        __builtin_trap();
}

}  // namespace exchange
