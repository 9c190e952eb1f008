// SPDX-License-Identifier: BSL-1.0
//
// A handler that serves the files of a directory, and nothing outside of it.
//
// What a path means is decided twice: here, where a segment that could lead somewhere else is refused
// before the file system sees it, and in the kernel, which opens beneath the directory only, whatever
// symbolic links do meanwhile. Files are read piece by piece as the client takes them, and never hold up the
// loop.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/http/handler.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::web {

/// How requests become names of files, and how those are served.
struct static_options {
    static_options() = default;  // No aggregate: see docs/guide/compilers.md.

    /// What stands before the names in a request's path, such as "/assets": without a slash at its end.
    std::string prefix;

    /// What answers for a directory: the first that there is. Directories are never listed.
    std::vector<std::string> index_files{"index.html"};

    /// Names that begin with a dot. Those below "/.well-known" are served in any case (RFC 8615).
    bool hidden_files = false;

    /// Serve NAME.zst or NAME.gz in place of NAME to clients that accept it, where there is one. They are
    /// taken as they are: each deployment has to keep them in step.
    bool precompressed = false;

    std::string cache_control;   ///< For all files; empty: none.
    std::size_t ranges_max = 8;  ///< In a request; the whole file is sent if it wants more of them.

    /// Of a name; empty, or if it returns nothing: `content_type_of`. Any thread; must not throw.
    std::function<std::string_view(std::string_view name)> content_type;
};

/// The media type that belongs to a file's name by its last dot, with `charset=utf-8` for text;
/// "application/octet-stream" if it is none of the common ones. Static storage.
[[nodiscard]] std::string_view content_type_of(std::string_view name) noexcept;

/// Serves what is in `directory`: GET and HEAD, conditions, ranges, index files.
///
/// What leads out of the directory, by whatever way, is answered as if it were not there: 404. So is what is
/// no file and no directory, and a path that could be written in another way ("//", "/./", an encoded slash).
/// A directory without its slash is redirected. A file that may not be read is 403.
///
/// A file is sent as long as it was when it was opened; one that is cut meanwhile ends the connection, so
/// that no client takes a part for the whole. A file that is replaced by renaming a new one into its place is
/// sent as the one or the other.
///
/// @param  directory  Looked up for each request, so a deployment may replace it by a rename or a link.
/// @param  options    Owned.
/// @return A handler for any number of loops.
// RFC 9110, 8.8, 13, 14 and 15.
[[nodiscard]] http::handler static_files(std::string directory, static_options options = {});

}  // namespace gyre::web
