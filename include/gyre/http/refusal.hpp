// SPDX-License-Identifier: BSL-1.0
//
// Why a message of HTTP/1 was refused, for the answer and for the log.
//
// Each reason that a peer can give has a name of its own: an operator who sees 400 in a log wants to know
// whether it was a scanner, an old client or an attempt to smuggle.
#pragma once

#include <gyre/base/error.hpp>
#include <gyre/http/status.hpp>

#include <cstdint>

namespace gyre::http {

/// What was wrong with a message.
enum class refusal : std::uint8_t {
    none,
    start_line,        ///< No request line or status line of the grammar.
    method_unknown,    ///< A method that the parser does not know.
    target_malformed,  ///< A target with characters or of a form that it may not have.
    target_too_long,   ///< A target of more bytes than allowed.
    version_unknown,   ///< Neither HTTP/1.0 nor HTTP/1.1.
    line_ending,       ///< A line feed without its carriage return, or the other way round.
    folded_line,       ///< A line that begins with white space: obsolete folding.
    null_byte,         ///< A NUL in the head.
    field_malformed,   ///< A name that is no token, a blank before the colon, a control in a value.
    head_too_large,    ///< A head of more bytes than allowed.
    fields_too_many,   ///< A head of more fields than allowed.
    host_missing,      ///< HTTP/1.1 without Host.
    host_malformed,    ///< More than one Host, or one with characters that no host has.
    length_malformed,  ///< A Content-Length that is no number, or occurs twice.
    length_and_coding,   ///< Content-Length beside Transfer-Encoding.
    coding_unknown,      ///< A transfer coding other than chunked.
    coding_malformed,    ///< Chunked twice or not last, or with HTTP/1.0.
    body_too_large,      ///< A Content-Length of more bytes than allowed.
    chunk_size,          ///< A chunk size that is no hexadecimal number, or too large.
    chunk_framing,       ///< A chunk that does not end where it should.
    chunk_extensions,    ///< More bytes of chunk extensions than allowed.
    trailers_malformed,  ///< Trailers outside of the grammar.
    trailers_too_large,  ///< More bytes or fields of trailers than allowed.
    expectation_unknown  ///< Expect with anything but 100-continue.
};

/// A sentence for logs, such as "a line feed without its carriage return". Static storage.
[[nodiscard]] const char* describe(refusal why) noexcept;

/// What a server answers, and closes the connection.
[[nodiscard]] status status_for(refusal why) noexcept;

/// `errc::limit_exceeded` for what was too large, else `errc::malformed`; ok for none.
[[nodiscard]] error error_for(refusal why) noexcept;

}  // namespace gyre::http
