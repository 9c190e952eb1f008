// SPDX-License-Identifier: BSL-1.0
//
// The versions that a build with gyre::http2 speaks: HTTP/2 where the client agrees, else HTTP/1.
#include <gyre/http2/serve_connection.hpp>
#include <gyre/web/server.hpp>
#include <web/versions.hpp>

#include <utility>

namespace gyre::web {

std::vector<std::string> protocols_spoken() { return {"h2", "http/1.1", "http/1.0"}; }

task<io_result<>> serve_multiplexed(any_stream stream, const http::handler& handle,
                                    const http::connection_options& options,
                                    const http::connection_hooks& hooks) {
    // What both versions bound has one name for who sets it.
    http2::connection_options limits;
    limits.head_bytes_max = options.head.bytes_max;
    limits.fields_max = options.head.fields_max;
    limits.body_bytes_max = options.body_bytes_max;
    limits.dropped_bytes_max = options.dropped_bytes_max;
    limits.write_bytes_max = options.write_bytes_max;
    limits.requests_max = options.requests_max;
    limits.body_silence_max = options.body_silence_max;
    limits.times.head_max = options.head_time_max;
    limits.times.idle_max = options.idle_time_max;
    limits.times.write_max = options.write_time_max;
    limits.times.linger_max = options.linger_time_max;
    limits.scheme = options.scheme;
    limits.peer = options.peer;
    limits.client = options.client;
    http2::connection_hooks told;
    told.date = hooks.date;
    told.on_exception = hooks.on_exception;
    told.on_answered = hooks.on_answered;
    const io_result<> ended =
        co_await http2::serve_connection(std::move(stream), handle, limits, told);
    co_return ended;
}

}  // namespace gyre::web
