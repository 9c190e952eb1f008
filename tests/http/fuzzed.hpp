// SPDX-License-Identifier: BSL-1.0
//
// What must hold of any bytes at all: libfuzzer.cpp looks for some that break it, and a test replays damaged
// messages in every build. A promise that is broken ends the program.
#pragma once

#include <gyre/base/buffer.hpp>

namespace gyre::testing {

/// The head of a request is read or refused the same way whole and byte by byte, and what was read can be
/// written and read again.
void request_head(const_buffer bytes);

/// The same of the head of a response.
void response_head(const_buffer bytes);

/// A chunked body is the same whole and byte by byte.
void chunked_body(const_buffer bytes);

/// Forms, queries, cookies, credentials and dates: nothing but that they can be read or not.
void small_texts(const_buffer bytes);

}  // namespace gyre::testing
