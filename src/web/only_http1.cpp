// SPDX-License-Identifier: BSL-1.0
//
// The versions that a build without gyre::http2 speaks: HTTP/1 alone.
#include <gyre/web/server.hpp>
#include <web/versions.hpp>

namespace gyre::web {

std::vector<std::string> protocols_spoken() { return {"http/1.1", "http/1.0"}; }

// A program that offers what is not there by its own context is told so.
task<io_result<>> serve_multiplexed(any_stream, const http::handler&,
                                    const http::connection_options&,
                                    const http::connection_hooks&) {
    co_return errc::protocol_not_supported;
}

std::string_view unspoken_protocol() noexcept { return "h2"; }

std::unique_ptr<multiplexed_connection> make_multiplexed(any_stream, const http::client_options&,
                                                         std::size_t, std::function<void()>) {
    return nullptr;
}

}  // namespace gyre::web
