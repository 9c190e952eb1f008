// SPDX-License-Identifier: BSL-1.0
//
// Heads and trailers of HTTP/1 as bytes.
//
// Framing is written here and nowhere else: whatever a program has set of Content-Length, Transfer-Encoding
// or Connection is left out, so that no message says two things about its end.
#pragma once

#include <gyre/http/head_parser.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

/// What a head says about connection and body.
struct head_framing {
    enum class connection : std::uint8_t {
        unsaid,      ///< The default of the version.
        close,       ///< No other message follows.
        keep_alive,  ///< Said to a peer of HTTP/1.0.
        upgrade      ///< Another protocol.
    };
    enum class body : std::uint8_t {
        unsaid,  ///< None, and no field about it; or until the connection's end.
        length,  ///< `length`, which may be 0.
        chunked
    };

    connection after = connection::unsaid;
    body as = body::unsaid;
    std::uint64_t length = 0;
};

/// Whether a message with these can be sent: a status of three digits, and no field that was refused.
[[nodiscard]] bool is_sendable(const response& it) noexcept;

/// The same: a token as the method, a target in a form that this method allows, an authority that is empty or
/// a host; each by the grammar that servers ask, in request_target.hpp.
[[nodiscard]] bool is_sendable(const request& it) noexcept;

/// The same with a body: what the request's own fields say of Host and framing is what is going to be sent.
/// That is one Host, of a host and perhaps a port, and the authority if there is that as well; a
/// Content-Length of the body's size; Transfer-Encoding "chunked" for a body of unknown size.
///
/// @param  size  Of the body; nothing if it is not known.
[[nodiscard]] bool is_sendable(const request& it, std::optional<std::uint64_t> size) noexcept;

/// What Host and `:authority` say: the field, or else the authority. @pre  `is_sendable(it, size)`.
[[nodiscard]] std::string_view host_of(const request& it GYRE_LIFETIMEBOUND) noexcept;

/// Appends status line and fields, with the empty line.
///
/// @param  date_line  A whole line, as `date_cache::line` makes it, unless the response has its own; may be
///                    empty.
/// @pre  `is_sendable(it)`.
void append_head(std::string& to, const response& it, head_framing framing,
                 std::string_view date_line);

/// Appends request line and fields, with the empty line; Host first, as `host_of` says.
/// @pre  `is_sendable(it)`.
void append_head(std::string& to, const request& it, head_framing framing);

/// Appends the last chunk and the trailers. What was refused of them is missing.
void append_last_chunk(std::string& to, const fields& trailers);

/// Appends the line of a chunk's size.
void append_chunk_size(std::string& to, std::uint64_t size);

}  // namespace gyre::http
