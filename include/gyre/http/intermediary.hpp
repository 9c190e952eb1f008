// SPDX-License-Identifier: BSL-1.0
//
// A program that passes messages on needs the fields that may go further, and bodies that flow.
//
// A handler with a client in it is a reverse proxy. Fields about one connection must not reach the next one,
// where they would mean something else: a forgotten one is how requests are smuggled.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/fields.hpp>

namespace gyre::http {

/// Adds to `to` the fields of `from` that an intermediary passes on, in their order: all but those that
/// `connection` names, and `connection`, `keep-alive`, `proxy-authenticate`, `proxy-authentication-info`,
/// `proxy-authorization`, `proxy-connection`, `te`, `trailer`, `transfer-encoding`, `upgrade`. See RFC 9110,
/// 7.6.1 and 11.7.
///
/// `te: trailers` is passed on as the last field: `pass_on` passes trailers on, and servers of gRPC want it.
/// `content-length` and `host` are passed on: the caller removes them where it sends its own.
///
/// Errors:        none.
/// Threads:       any; one at a time for each of both.
/// Cost:          a lookup for each field, whatever a peer has sent; memory only if `connection` names some.
///
/// @param  from  Not `to`.
void copy_end_to_end(const fields& from, fields& to);

/// Passes a body on: each piece is flushed when it has come, for a reader at the other end may wait for it.
/// Then the trailers, as `copy_end_to_end`.
///
/// Errors:        those of `body_reader::read_some` but `errc::eof`, and of `body_writer::write_some`. A
///                producer that yields them cuts its message visibly, as the one it read was cut.
/// Cancellation:  `errc::canceled`; what has been read and not written is lost.
/// Threads:       resumes on the caller's executor, on which both bodies are.
/// Cost:          one frame and 16 KiB, whatever the body's length; a read and a write for each piece.
///
/// @param  from  Its message lives until completion.
[[nodiscard]] task<io_result<>> pass_on(body_reader from, body_writer to);

}  // namespace gyre::http
