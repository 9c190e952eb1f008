// SPDX-License-Identifier: BSL-1.0
//
// What fuzzers do with bytes that anybody may send: functions that abort where a promise is broken.
//
// libfuzzer.cpp hands them to libFuzzer; ../fuzzed_test.cpp hands them damaged bytes in every build.
#pragma once

#include <gyre/base/buffer.hpp>

#include <cstddef>
#include <vector>

namespace gyre::testing {

/// A server comes to an end with whatever a client sends, within its bounds.
/// @param  input  A byte of settings, then what the client sends.
void fuzz_server(const_buffer input);

/// The same of a client and its server.
void fuzz_client(const_buffer input);

/// Two honest ends, and somebody between them: what arrives is the beginning of what was sent, and two that
/// believe that they agree do.
/// @param  input  A byte of settings, then what is done to the bytes that pass.
void fuzz_between(const_buffer input);

/// An input that the function of this name makes something of, to begin with: OpenSSL is not built to tell a
/// fuzzer where it has been.
[[nodiscard]] std::vector<std::byte> proper_server(std::byte settings);
[[nodiscard]] std::vector<std::byte> proper_client(std::byte settings);
[[nodiscard]] std::vector<std::byte> proper_between(std::byte settings);

}  // namespace gyre::testing
