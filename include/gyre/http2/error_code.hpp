// SPDX-License-Identifier: BSL-1.0
//
// The codes with which streams and connections of HTTP/2 end, and what they are among our errors.
#pragma once

#include <gyre/base/error.hpp>

#include <cstdint>

namespace gyre::http2 {

/// Why a stream was reset, or a connection given up. A peer may send others; they count as `internal`.
// RFC 9113, 7.
enum class error_code : std::uint32_t {
    none = 0x0,
    protocol = 0x1,
    internal = 0x2,
    flow_control = 0x3,
    settings_timeout = 0x4,
    stream_closed = 0x5,
    frame_size = 0x6,
    refused_stream = 0x7,
    cancel = 0x8,
    compression = 0x9,
    connect = 0xa,
    enhance_your_calm = 0xb,
    inadequate_security = 0xc,
    http_1_1_required = 0xd
};

/// "REFUSED_STREAM", ...; "unknown" for what has no name. Static storage.
[[nodiscard]] const char* describe(error_code code) noexcept;

/// What an operation on a stream ends with that the peer has reset: `errc::connection_reset` for CANCEL and
/// NO_ERROR, `errc::connection_refused` for REFUSED_STREAM, `errc::limit_exceeded` for ENHANCE_YOUR_CALM,
/// `errc::protocol_not_supported` for HTTP_1_1_REQUIRED, `errc::permission_denied` for INADEQUATE_SECURITY,
/// `errc::connection_aborted` for INTERNAL_ERROR and CONNECT_ERROR, `errc::protocol_error` for the others,
/// which blame us.
[[nodiscard]] error error_for(error_code code) noexcept;

/// How a stream is reset on which `failed` has happened on our side: CANCEL for a stop, a time-out and what
/// a limit forbade, PROTOCOL_ERROR for what was malformed, INTERNAL_ERROR for the rest.
[[nodiscard]] error_code code_for(error failed) noexcept;

}  // namespace gyre::http2
