// SPDX-License-Identifier: BSL-1.0
//
// Fields of a message on their way to and from HTTP/2, which has no fields about connections.
#pragma once

#include <gyre/http/fields.hpp>
#include <gyre/http/request.hpp>
#include <http2/engine.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace gyre::http2 {

/// Adds the fields that HTTP/2 may carry: none about the connection or about framing, which frames are.
///
/// @param  from  Borrowed until the message is sent.
void add_fields(engine& to, const http::fields& from) noexcept;

/// True if HTTP/2 can say it: `http::is_sendable`, and no target in absolute form, whose parts have fields.
[[nodiscard]] bool is_sendable(const http::request& it, std::optional<std::uint64_t> size) noexcept;

/// The number in a field Content-Length.
[[nodiscard]] std::optional<std::uint64_t> declared_size(const http::fields& of) noexcept;

}  // namespace gyre::http2
