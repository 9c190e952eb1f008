// SPDX-License-Identifier: BSL-1.0
//
// Assertions: about mistakes of the program, never about input or the kernel.
//
// A failed check prints where it happened, runs a hook (the runtime installs one that lists the
// pending coroutines, so a broken invariant says who was waiting for what), and aborts. `expects`
// and `ensures` stay on in release builds; `audit` is for checks too dear for that.
#pragma once

#include <source_location>

namespace gyre {

/// Which check has failed, and where; for a hook that is told before the process aborts.
struct check_failure {
    const char* kind;  ///< "precondition", "postcondition", "unreachable", ...; static storage.
    const char* text;  ///< What was promised; static storage, may be empty.
    std::source_location where;
};

/// Called once before the process aborts. Must not assume a consistent program; may allocate.
using check_hook = void (*)(const check_failure&) noexcept;

/// Installs `hook` for the process and returns the one before; null restores the default.
/// Threads: any.
check_hook set_check_hook(check_hook hook) noexcept;

/// Reports the failure to standard error and through the hook, then aborts.
[[noreturn]] void fail_check(const char* kind, const char* text,
                             std::source_location where = std::source_location::current()) noexcept;

/// What the caller owes.
constexpr void expects(bool condition, const char* text = "",
                       std::source_location where = std::source_location::current()) noexcept {
    if (!condition) [[unlikely]]
        fail_check("precondition", text, where);
}

/// What we promised.
constexpr void ensures(bool condition, const char* text = "",
                       std::source_location where = std::source_location::current()) noexcept {
    if (!condition) [[unlikely]]
        fail_check("postcondition", text, where);
}

#ifdef NDEBUG
inline constexpr bool audits_run = false;
#else
inline constexpr bool audits_run = true;
#endif

/// A check that costs too much for release builds; `condition` is called only in debug builds.
template <class Condition>
constexpr void audit(Condition&& condition, const char* text = "",
                     std::source_location where = std::source_location::current()) noexcept {
    if constexpr (audits_run) {
        if (!condition()) [[unlikely]]
            fail_check("audit", text, where);
    }
}

}  // namespace gyre
