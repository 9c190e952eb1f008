// SPDX-License-Identifier: BSL-1.0
//
// Makes a connection hold little, so that an end that does not read stops the other one soon.
//
// The kernel grows the buffers of a connection over loopback to megabytes, and a facility offers no option
// against that.
#pragma once

#include <exchange/tests/net/other_end.hpp>

namespace exchange::testing {

/// Leaves a descriptor the smallest buffer; `name` is SO_SNDBUF or SO_RCVBUF.
inline void shrink_buffer(int number, int name) {
    const int least = 1;
    REQUIRE(::setsockopt(number, SOL_SOCKET, name, &least, sizeof least) == 0);
}

/// Little waits to be read at this end.
inline void narrow_this_end(int near) { shrink_buffer(near, SO_RCVBUF); }

/// Little waits to be sent at the other end.
inline void narrow_other_end(int near) { shrink_buffer(other_end_of(near), SO_SNDBUF); }

}  // namespace exchange::testing
