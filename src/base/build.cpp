// SPDX-License-Identifier: BSL-1.0
//
// The symbol that include/gyre/base/build.hpp asks for.
#include <gyre/base/build.hpp>

#if defined(__cpp_exceptions)
const char gyre::built_with_exceptions = 1;
#else
const char gyre::built_without_exceptions = 1;
#endif
