// SPDX-License-Identifier: BSL-1.0
//
// Certificates and keys in files, and their replacement while a server runs.
//
// TLS takes text, because it reads no files; this reads them without holding up the loop, and again when
// they were renewed.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/tls/context.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace gyre::web {

/// Where an identity is.
struct identity_files {
    identity_files() = default;
    identity_files(std::string chain, std::string key)
        : certificates{std::move(chain)}, private_key{std::move(key)} {}

    std::string certificates;  ///< Our own and its issuers', PEM.
    std::string private_key;   ///< PEM; may be the same file.
    std::string password;      ///< Of the private key; empty if it is not encrypted.
};

/// Reads one. What is in the files is checked when a context is made of it.
///
/// @param  from  Owned.
///
/// Errors:        as `file::open`; `errc::limit_exceeded` for a file of more than a mebibyte.
/// Cancellation:  `errc::canceled`.
/// Threads:       resumes on the caller's executor.
/// Cost:          a few operations on files.
[[nodiscard]] task<io_result<tls::identity>> read_identity(identity_files from);

/// Reads them, and has handshakes of `of` use them from now on: `tls::context::reload`.
///
/// @param  of, from  Owned.
///
/// Errors:        as `read_identity` and `tls::context::reload`; the context is as it was then.
/// Cancellation:  `errc::canceled`; the context is as it was.
/// Threads:       resumes on the caller's executor. Keys are parsed on a worker of the loop.
/// Cost:          as `read_identity`.
[[nodiscard]] task<io_result<>> reload_from(tls::context of, std::vector<identity_files> from);

/// When files that have changed are read, and who is told.
struct reload_options {
    reload_options() = default;  // No aggregate: see docs/guide/compilers.md.

    /// How long files must have been left alone: chain and key are written one after the other.
    duration settle_time = std::chrono::milliseconds{500};

    /// How long after the first change they are read although they are not left alone.
    duration settle_time_max = std::chrono::seconds{5};

    /// Told of each attempt: what renews certificates does not look at the server.
    std::function<void(io_result<>)> on_reload;
};

/// Follows the paths of the files by a `path_watch`, and does the same each time that one of them has changed
/// and settled: by links that are replaced, directories that are, or in place. Until it is stopped: a child
/// of the server's group.
///
/// An attempt that fails changes nothing but `on_reload`; the next change is another one. Files that are not
/// there are waited for. `on_reload` learns as well that paths cannot be followed any more, for want of a
/// permission or of watches, which is tried again each second.
///
/// Errors:        as `path_watch::open`.
/// Cancellation:  `errc::canceled`; by a drain too.
/// Threads:       the caller's loop.
/// Cost:          a descriptor; nothing while nothing changes.
[[nodiscard]] task<io_result<>> reload_on_change(tls::context of, std::vector<identity_files> from,
                                                 reload_options options = {});

}  // namespace gyre::web
