// SPDX-License-Identifier: BSL-1.0
//
// The test runner's main; apart from everything, so that doctest is compiled once.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
