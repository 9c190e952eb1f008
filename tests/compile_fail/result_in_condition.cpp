// SPDX-License-Identifier: BSL-1.0
//
// `if (result)` would mean the opposite of what its reader thinks, so a result is no condition.
//
// must not compile: could not convert|not contextually convertible|no viable conversion
#include <gyre/base/result.hpp>

#include <cstddef>

std::size_t progress(gyre::io_result<std::size_t> read) {
    if (read) return read.value();
    return 0;
}
