// SPDX-License-Identifier: BSL-1.0
//
// A payload that owns something is not copied out of a result; the message says how it leaves.
//
// must not compile: take\(\)
#include <gyre/base/result.hpp>
#include <gyre/io/stream_socket.hpp>

// snippet: value_copied
gyre::stream_socket keep(gyre::io_result<gyre::stream_socket>& accepted) {
    return accepted.value();
}
// end of snippet
