// SPDX-License-Identifier: BSL-1.0
//
// Where a version of HTTP beyond HTTP/1 is plugged in: the one place that knows whether this build has it.
//
// ALPN tells servers and clients what the peer speaks, and `protocols_spoken` (gyre/web/server.hpp) what is
// offered; nothing else in this layer depends on it.
#pragma once

#include <gyre/http/serve_connection.hpp>

namespace gyre::web {

/// Serves a connection whose ALPN says "h2"; as `http::serve_connection` otherwise.
[[nodiscard]] task<io_result<>> serve_multiplexed(any_stream stream, const http::handler& handle,
                                                  const http::connection_options& options,
                                                  const http::connection_hooks& hooks);

}  // namespace gyre::web
