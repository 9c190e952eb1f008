// SPDX-License-Identifier: BSL-1.0
//
// How a run ends that did not do its work: without a number.
//
// A contender that skipped a message must not look fast, so whoever notices ends the process, and
// run.py prints the reason in place of the row.
#pragma once

#include <string_view>

namespace lab {

/// Ends the program with status 2 and a message on standard error.
[[noreturn]] void fail(std::string_view what);

/// Fails unless `condition` holds.
inline void require(bool condition, std::string_view what) {
    if (!condition) [[unlikely]]
        fail(what);
}

}  // namespace lab
