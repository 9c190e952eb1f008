// SPDX-License-Identifier: BSL-1.0
//
// How an answer has ended: for logs and metrics. A handler cannot tell, since it returns before its body is
// written.
#pragma once

#include <gyre/base/time.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/status.hpp>

#include <cstdint>
#include <functional>

namespace gyre::http {

/// The end of one answer of a server.
struct answer_end {
    enum class kind : std::uint8_t {
        complete,  ///< All of it was sent, or over HTTP/1 stands before the next answer to be sent.
        client_left,  ///< The client has left, or has taken its request back, whatever was answered.
        cut  ///< Its producer has failed, a limit of time has passed, or the server was stopped.
    };

    kind how = kind::complete;
    http::status status = http::status::ok;  ///< The one that was sent.
    std::uint64_t body_bytes =
        0;            ///< Of the body, without framing; of one that was cut, so many at most.
    duration took{};  ///< From the end of the request's head, by the loop's clock.
};

/// Told of each answer to a request that a handler got; on the connection's loop. Must not throw.
using answer_listener = std::function<void(const request&, const answer_end&)>;

}  // namespace gyre::http
