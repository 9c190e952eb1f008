// SPDX-License-Identifier: BSL-1.0
//
// Sockets that were open before the program: from a service manager, or from the generation before.
//
// A listener that is handed on refuses no connection while programs change: what is not accepted by the one
// is accepted by the next. The protocol is systemd's (sd_listen_fds(3)); process.hpp speaks its other side.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/io/descriptor.hpp>

#include <string>
#include <vector>

namespace gyre {

/// One that this program was started with.
struct inherited_descriptor {
    std::string name;  ///< As its giver called it; "unknown" if it did not.
    descriptor it;     ///< `stream_acceptor::adopt(on, it.release())` makes a listener of it.
};

/// Takes over what LISTEN_FDS announces, in its order, and forgets the announcement, so that children hear
/// nothing of it. None if there is no announcement, or one for another process (LISTEN_PID). They are
/// closed in programs that are executed from now on, and get other numbers.
///
/// Once, and before there are threads: it changes the environment (setenv(3)). Outside of coroutines too.
///
/// Errors: `errc::malformed` announcements; `errc::bad_descriptor` if one is not open, or was opened by
///         this program, which shows by its FD_CLOEXEC: then all are left alone.
[[nodiscard]] io_result<std::vector<inherited_descriptor>> take_inherited_descriptors(
    io_context& on);

}  // namespace gyre
