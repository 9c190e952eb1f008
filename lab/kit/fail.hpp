// SPDX-License-Identifier: BSL-1.0
//
// How a program of the lab ends that did not do its work: without a number.
//
// A contender that skipped a message must not look fast, so the code that notices it ends the process,
// and run.py prints the reason in place of the row.
#pragma once

#include <string_view>

namespace lab {

/// The status of a program that has failed.
inline constexpr int failed = 1;

/// Ends the program with the status `failed` and one line on standard error.
[[noreturn]] void fail(std::string_view what);

/// Fails unless `condition` holds.
inline void require(bool condition, std::string_view what) {
    if (!condition) [[unlikely]]
        fail(what);
}

}  // namespace lab
