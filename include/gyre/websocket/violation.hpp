// SPDX-License-Identifier: BSL-1.0
//
// What a peer can do wrong, in one list.
//
// An operator who reads "protocol error" in a log cannot tell a broken client from an attack. Each way has
// its own sentence here, the number that the peer is told, and the error that our caller gets.
#pragma once

#include <gyre/base/error.hpp>
#include <gyre/websocket/close_code.hpp>

#include <cstdint>

namespace gyre::websocket {

/// A rule that the peer's bytes break.
enum class violation : std::uint8_t {
    none,
    reserved_bits,             ///< RSV2, RSV3, or RSV1 where no extension gives it a meaning.
    reserved_opcode,           ///< 3 to 7, 11 to 15.
    fragmented_control,        ///< A control frame without FIN.
    long_control,              ///< A control frame of more than 125 bytes.
    stray_continuation,        ///< A continuation of nothing.
    interrupted_message,       ///< A new message before the end of the last one.
    missing_mask,              ///< A client's frame without a mask.
    unexpected_mask,           ///< A server's frame with one.
    wasteful_length,           ///< A length in more bytes than it needs.
    impossible_length,         ///< A length of 2^63 or more.
    large_frame,               ///< More than `parse_limits::frame_bytes_max`.
    large_message,             ///< More than `parse_limits::message_bytes_max`, inflated or not.
    text_not_utf8,             ///< In a message.
    short_close,               ///< A close frame of one byte.
    forbidden_close_code,      ///< One that does not travel.
    close_text_not_utf8,       ///< The words in a close frame.
    corrupt_deflate_data,      ///< Does not inflate.
    too_many_deflate_streams,  ///< One message in more final blocks than any message needs.
};

/// A sentence for an operator, such as "a client's frame without a mask"; static storage.
[[nodiscard]] const char* describe(violation which) noexcept;

/// What the peer is told. @pre  not `none`.
[[nodiscard]] close_code close_code_for(violation which) noexcept;

/// What the caller gets: `errc::limit_exceeded` for what is too large, `errc::malformed` for a payload
/// that is not what it says, `errc::protocol_error` for everything else; no error for `none`.
[[nodiscard]] error error_for(violation which) noexcept;

}  // namespace gyre::websocket
