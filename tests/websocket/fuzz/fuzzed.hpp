// SPDX-License-Identifier: BSL-1.0
//
// What fuzzers do with bytes that anybody may send: functions that abort where a promise is broken.
//
// libfuzzer.cpp hands them to libFuzzer; ../fuzzed_test.cpp hands them damaged bytes in every build.
#pragma once

#include <gyre/base/buffer.hpp>

namespace gyre::testing {

/// The parser tells the same of bytes however they are cut, and never more than was shown.
/// @param  input  Two bytes of settings, then what a peer sends.
void fuzz_frames(const_buffer input);

/// An inflater stays within its room, and comes to an end.
void fuzz_inflate(const_buffer input);

/// What a deflater makes in pieces, an inflater makes the same of.
void fuzz_deflate(const_buffer input);

/// Handshakes of both ends answer whatever their fields are. The input's lines are names and values in turn.
void fuzz_handshake(const_buffer input);

}  // namespace gyre::testing
