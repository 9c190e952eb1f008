// SPDX-License-Identifier: BSL-1.0
//
// What a test does that cannot run here: it says why, and is reported as skipped.
//
// A test that returned instead would count as passed, and a kernel that lacks what half of the tests are
// about would look as good as any. main.cpp turns what is noted here into the exit status that ctest knows as
// SKIP_RETURN_CODE.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace gyre::testing {

/// What a test program ends with in which nothing failed and every test skipped itself; CMakeLists.txt tells
/// ctest.
inline constexpr int skipped_status = 77;

/// Test cases of this process that have skipped themselves, and how often they have said so: a test may on
/// each backend.
inline unsigned tests_skipped = 0;
inline unsigned skips = 0;

/// Asked at the end of the program, if there is one; false fails the program. By conformance.cpp, where a
/// program has families: others, such as those of the exchange's core, link no library.
inline bool (*last_check)() = nullptr;

/// How many assertions the current test case has come to so far. Of main.cpp.
[[nodiscard]] int assertions_made() noexcept;

/// Reports the current test as skipped; the caller returns at once.
inline void skip(const std::string& reason) {
    static const void* last = nullptr;
    const void* const current = doctest::getContextOptions()->currentTest;
    MESSAGE("skipped: ", reason);
    ++skips;
    if (std::exchange(last, current) != current) ++tests_skipped;
}

}  // namespace gyre::testing
