// SPDX-License-Identifier: BSL-1.0
//
// A socket owns its descriptor: it moves and does not copy.
//
// must not compile: deleted
#include <gyre/io/stream_socket.hpp>

gyre::stream_socket twice(const gyre::stream_socket& it) { return it; }
