// SPDX-License-Identifier: BSL-1.0
//
// One request on a server's connection of HTTP/2, and its answer.
#pragma once

#include <gyre/base/intrusive.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/stop.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>
#include <gyre/sync/event.hpp>
#include <http2/incoming_body.hpp>
#include <http2/outgoing_body.hpp>
#include <http2/request_head.hpp>

#include <optional>
#include <string_view>

namespace gyre::http2 {

/// Used for one stream after another, so that its memory is. Does not move.
class server_exchange : public engine_stream, public list_link<> {
public:
    server_exchange(connection_core& on, const incoming_body::limits& in_bounds,
                    std::size_t out_bytes)
        : in{on, *this, in_bounds}, out{on, *this, out_bytes} {}

    void clear() noexcept;

    /// A field of the head or, behind that, of the trailers.
    void add_field(std::string_view name, std::string_view value);

    /// The head is complete: what is wrong with it, as the status of the answer; nothing if it is fine.
    ///
    /// @param  last  No body follows.
    /// @return `status::bad_request` stands for what is malformed: the stream is reset.
    [[nodiscard]] std::optional<http::status> judge_head(bool last, std::uint64_t body_bytes_max);

    http::request request;
    incoming_body in;
    outgoing_body out;
    std::optional<http::response> answer;
    std::optional<http::status> refused;  ///< Answered without the handler.
    event changed;                        ///< All of the answer has left, or the stream is closed.
    event left;                           ///< The peer wants no answer any more.
    time_point begun_at{};                ///< When the handler was asked.
    time_point sent_at{};                 ///< When something of the answer has left.
    stop_chain* chain = nullptr;          ///< Of its task.
    bool head_done = false;
    bool running = false;    ///< It has a task.
    bool head_said = false;  ///< Of the answer.
    bool closed = false;     ///< The engine knows it no longer, or the connection has ended.

private:
    request_head head_;
};

}  // namespace gyre::http2
