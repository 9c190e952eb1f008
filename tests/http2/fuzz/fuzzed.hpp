// SPDX-License-Identifier: BSL-1.0
//
// What fuzzers do with frames that anybody may send: functions that abort where a promise is broken.
//
// libfuzzer.cpp hands them to libFuzzer; ../fuzzed_test.cpp hands them damaged frames in every build.
#pragma once

#include <gyre/base/buffer.hpp>

namespace gyre::testing {

/// The engine of a server hears the same of bytes however they are cut, and keeps within its memory.
/// @param  input  Two bytes of settings, then what a client sends.
void fuzz_server(const_buffer input);

/// The same of a client's that has asked for something.
void fuzz_client(const_buffer input);

}  // namespace gyre::testing
