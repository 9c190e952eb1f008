// SPDX-License-Identifier: BSL-1.0
//
// To learn that what a path stands for has changed, whichever way that was done.
//
// file_watch.hpp watches files and directories, and a path is neither: certificates are renewed by a link
// that is replaced, settings by a directory that is, logs by a rename. This follows the path through all of
// them, and reports a burst of changes once.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace gyre {

/// When changes are reported.
struct path_watch_options {
    path_watch_options() = default;  // No aggregate: see docs/guide/compilers.md.
    path_watch_options(duration quiet_for, duration at_most_for) noexcept
        : quiet{quiet_for}, at_most{at_most_for} {}

    /// How long there was no change before those so far are reported: what is written in pieces is read
    /// once. Zero reports at once.
    duration quiet = std::chrono::milliseconds{50};

    /// How long after the first of them they are reported although they go on.
    duration at_most = std::chrono::seconds{1};
};

/// Paths that are followed, or none. Moves; closes at the latest when destroyed.
///
/// A change is whatever may make the next reading of a path another one: the file is written, cut, replaced,
/// removed or made; of a directory, a name in it or what is called so. A component of the path, parents
/// included, is moved, removed, made or allowed; a symbolic link at any of them leads elsewhere; a file
/// system on the way is unmounted; the kernel has lost events. Nothing of a path need exist. What is called
/// otherwise in the same directories is no change.
///
/// inotify(7) does not know of changes that another machine makes to a network file system, of a mount over a
/// directory, or of the removal of a bind mount: for those, limit `changed` by a timeout and look. What
/// /proc's links that jump lead to is not followed.
///
/// @code
/// io_result<path_watch> opened = co_await path_watch::open({"/etc/app/settings"});
/// if (!opened.ok()) co_return opened.error();
/// path_watch settings = opened.take();
/// for (;;) {
///     // Read the file here: what changes from `open` on is reported.
///     const io_result<> changed = co_await settings.changed();
///     if (!changed.ok()) co_return changed.error();
/// }
/// @endcode
///
/// May be closed or destroyed while its `changed` waits, which then ends with `errc::canceled`; one that was
/// not awaited by then ends with `errc::closed`. Belongs to the loop that it was opened on.
class path_watch {
public:
    /// Not open: `changed` ends with `errc::closed`.
    path_watch() noexcept;
    path_watch(path_watch&&) noexcept;
    path_watch& operator=(path_watch other) noexcept;
    ~path_watch();

    /// Looks the paths up and watches everything on the way to each.
    ///
    /// @param  paths  Owned. Relative ones begin where the process works at the time.
    ///
    /// Errors:        `errc::process_descriptors_exhausted`, for whole users as well;
    ///                `errc::no_space_on_device` if the user has too many watches (inotify(7));
    ///                `errc::permission_denied` where changes would go unseen: a directory that may not be
    ///                read, and something in it that may not either, or is not there; `errc::name_too_long`;
    ///                `errc::limit_exceeded` for a path of more than 256 components, links' included;
    ///                `errc::invalid_argument` for an empty path or one with a NUL; what the file system
    ///                says else.
    /// Cancellation:  `errc::canceled`.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          a descriptor and a thread-pool call or two of microseconds for each component; a watch
    ///                for each of them, and for each link.
    [[nodiscard]] static task<io_result<path_watch>> open(std::vector<std::string> paths,
                                                          path_watch_options when = {});

    /// Waits until there was a change since `open`, or since what the last call has reported, and then none
    /// for `quiet`, or until `at_most` is over. A path that stands for something else by now is followed
    /// there before this ends, so what is read afterwards is never older than what is watched. It may report
    /// a change where the content is the same.
    ///
    /// Errors:        as `open`; the change is still to be reported, and the next call looks again. Paths are
    ///                not followed meanwhile, so a caller that goes on waits first.
    /// Cancellation:  `errc::canceled`; no change is lost.
    /// Threads:       resumes on the caller's executor. One at a time, which is checked.
    /// Cost:          for an event, a comparison with each watched name; for a report of what has moved, as
    ///                `open` without the descriptor.
    [[nodiscard]] task<io_result<>> changed() { return changed_of(followed_); }

    /// Outside of coroutines too. Errors: `errc::closed`.
    io_result<> close() noexcept;

    [[nodiscard]] bool is_open() const noexcept;

private:
    struct followed;  // What waits has its own share: it outlives the watch.

    explicit path_watch(std::shared_ptr<followed> open) noexcept;

    [[nodiscard]] static task<io_result<>> changed_of(std::shared_ptr<followed> of);

    std::shared_ptr<followed> followed_;
};

}  // namespace gyre
