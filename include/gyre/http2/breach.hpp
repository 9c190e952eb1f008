// SPDX-License-Identifier: BSL-1.0
//
// Why a connection of HTTP/2 was given up by our side, for the log.
//
// A peer can keep every rule of the protocol and still cost without end. Each way in which it can do so has
// a name of its own: an operator who sees ENHANCE_YOUR_CALM wants to know what the peer was at.
#pragma once

#include <gyre/base/error.hpp>
#include <gyre/http2/error_code.hpp>

#include <cstdint>

namespace gyre::http2 {

/// What a peer did that its connection was ended for.
enum class breach : std::uint8_t {
    none,
    protocol,           ///< Frames that RFC 9113 forbids.
    preface,            ///< No HTTP/2: the connection did not begin as one.
    compression,        ///< A field block that HPACK cannot read.
    flow_control,       ///< More bytes than its window.
    frame_size,         ///< A frame longer than was agreed, or too short for its kind.
    continuations,      ///< A field block in too many frames.
    head_size,          ///< A field block of far more bytes than allowed, sent or inflated.
    rapid_reset,        ///< Streams opened and reset, faster than requests were answered.
    refused_streams,    ///< Streams opened again and again beyond what was allowed.
    ping_flood,         ///< PING without end.
    settings_flood,     ///< SETTINGS without end, or one with too many of them.
    priority_flood,     ///< PRIORITY without end.
    window_flood,       ///< WINDOW_UPDATE without end, for few bytes sent.
    empty_frames,       ///< DATA, HEADERS or CONTINUATION without content, that end nothing.
    unknown_frames,     ///< Frames of unknown kinds without end.
    stream_errors,      ///< Streams that had to be reset for what came on them, again and again.
    output_queue,       ///< Answers to control frames pile up: it asks and does not read.
    memory,             ///< The engine has used up the memory that one connection may have.
    head_too_slow,      ///< A field block, or the preface, that did not end in time.
    settings_too_slow,  ///< Our SETTINGS were not acknowledged in time.
    silence             ///< Nothing came, not even the answer to a PING.
};

/// A sentence for logs, such as "streams opened and reset faster than requests were answered". Static
/// storage.
[[nodiscard]] const char* describe(breach why) noexcept;

/// The code of the GOAWAY that tells the peer: ENHANCE_YOUR_CALM for everything that is legal and too much.
[[nodiscard]] error_code code_for(breach why) noexcept;

/// `errc::limit_exceeded` for what was too much, `errc::timed_out` for what was too slow, else
/// `errc::malformed`; ok for none.
[[nodiscard]] error error_for(breach why) noexcept;

}  // namespace gyre::http2
