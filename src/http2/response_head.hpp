// SPDX-License-Identifier: BSL-1.0
//
// The fields that begin a response of HTTP/2, as a client receives them. request_head.hpp is a server's side.
#pragma once

#include <gyre/http/fields.hpp>
#include <gyre/http/status.hpp>

#include <string_view>

namespace gyre::http2 {

/// One head after another: those of interim responses come first.
struct response_head {
    /// Adds one field, pseudo-fields included, in the order in which they came.
    void add(std::string_view name, std::string_view value);

    /// The last field was added.
    ///
    /// @return True if the head is well-formed, and `status` is set.
    [[nodiscard]] bool finish() noexcept;

    http::status status = http::status::ok;
    http::fields fields;

private:
    unsigned number_ = 0;  // Of the status that comes.
};

}  // namespace gyre::http2
