// SPDX-License-Identifier: BSL-1.0
//
// One request on a client's connection of HTTP/2, and its response.
#pragma once

#include <gyre/base/intrusive.hpp>
#include <gyre/coro/stop.hpp>
#include <gyre/http/response.hpp>
#include <gyre/sync/event.hpp>
#include <http2/incoming_body.hpp>
#include <http2/outgoing_body.hpp>
#include <http2/response_head.hpp>

#include <cstddef>
#include <memory>
#include <string_view>

namespace gyre::http2 {

/// Counted: the caller of `send`, later the response, has it, and a producer has it as well. Does not move.
class client_exchange : public engine_stream, public list_link<> {
public:
    client_exchange(connection_core& on, const incoming_body::limits& in_bounds,
                    std::size_t out_bytes)
        : in{on, *this, in_bounds}, out{on, *this, out_bytes} {}

    void add_field(std::string_view name, std::string_view value);
    /// A field block has ended. False if it is malformed.
    [[nodiscard]] bool end_head(bool last, std::size_t interim_max);
    void fail(error why) noexcept;

    incoming_body in;
    outgoing_body out;
    response_head head;
    http::response_body body;  ///< Of the request.
    http::fields trailers;     ///< The same.
    event changed;
    error failed;
    error_code reset_by = error_code::none;
    stop_chain* producer = nullptr;  ///< Of its task, while it runs.
    std::size_t users = 1;
    bool head_done = false;
    bool unprocessed = false;
    bool producer_due = false;

private:
    std::size_t interims_ = 0;
};

}  // namespace gyre::http2
