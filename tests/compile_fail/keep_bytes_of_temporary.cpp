// SPDX-License-Identifier: BSL-1.0
//
// The bytes of a string that is gone; g++ has no warning of it.
//
// must not compile: will be destroyed at the end of the full-expression
#include <gyre/base/buffer.hpp>

#include <string>

gyre::const_buffer keep(int number) {
    const gyre::const_buffer bytes = gyre::bytes_of("number " + std::to_string(number));
    return bytes;
}
