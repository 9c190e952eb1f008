// SPDX-License-Identifier: BSL-1.0
//
// To hear of what happens to files and in directories (inotify(7)), for what is configured by a file,
// follows a log, or picks up what is dropped.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/basic_descriptor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace gyre {

/// What happens; any of them together, by `|`. Some are of the file itself, some of a name in a watched
/// directory. The values are the kernel's.
enum class file_event : std::uint32_t {
    none = 0,
    accessed = 0x1,
    modified = 0x2,
    attributes_changed = 0x4,  ///< Permissions, times, links.
    written_and_closed = 0x8,  ///< One who could write has closed it: what is dropped is whole now.
    opened = 0x20,
    moved_away = 0x40,       ///< A name in the directory; `cookie` ties it to its `moved_here`.
    moved_here = 0x80,       ///< A name in the directory.
    created = 0x100,         ///< A name in the directory.
    removed = 0x200,         ///< A name in the directory.
    itself_removed = 0x400,  ///< The last name of what is watched, and no program has it open.
    itself_moved = 0x800,
    unmounted = 0x2000,  ///< With the file system; told without being asked for.
    overflow =
        0x4000,  ///< Changes were lost: look at everything again. Told without being asked for.
    watch_ended =
        0x8000  ///< It was removed, or what it watched is gone. Told without being asked for.
};

[[nodiscard]] constexpr file_event operator|(file_event left, file_event right) noexcept {
    return static_cast<file_event>(static_cast<std::uint32_t>(left) |
                                   static_cast<std::uint32_t>(right));
}

/// One thing that has happened.
struct file_change {
    /// Whether it is one of `events`.
    [[nodiscard]] constexpr bool is(file_event events) const noexcept {
        return (static_cast<std::uint32_t>(what) & static_cast<std::uint32_t>(events)) != 0;
    }

    int watch = -1;  ///< The number that `add` returned; -1 of an overflow.
    file_event what = file_event::none;
    bool of_directory = false;  ///< What it has happened to is one.
    std::uint32_t cookie = 0;   ///< The same for both ends of a move.
    std::string_view name;  ///< In a watched directory; borrowed until the next `next`. Else empty.
};

/// A set of watches, or none. Moves; closes at the latest when destroyed.
///
/// The kernel keeps as many changes for it as /proc/sys/fs/inotify/max_queued_events says; where more come
/// than are read there is one `overflow`. A directory is watched alone, without those in it. May be closed or
/// destroyed while its `next` waits, which then ends with `errc::canceled`; one that was not awaited by then
/// ends with `errc::closed`.
class file_watch : public basic_descriptor {
public:
    /// Not open: everything ends with `errc::closed`.
    file_watch() noexcept = default;

    /// Without any watch yet; outside of coroutines too.
    /// Errors: `errc::process_descriptors_exhausted`, for whole users as well (inotify(7)).
    [[nodiscard]] static io_result<file_watch> open(io_context& on);

    /// Watches what is called `path` for `events`, outside of coroutines too. What is watched already under
    /// any name keeps its number, and is watched for these events only. It is the file that is watched and
    /// not its name: one that is replaced by a rename is another (path_watch.hpp follows the name).
    ///
    /// @return The number that its changes are told under, above 0.
    ///
    /// Errors:  `errc::no_such_file`, `errc::permission_denied`, `errc::no_space_on_device` if the user has
    ///          too many, `errc::invalid_argument` for no event or a name with a NUL, `errc::closed`.
    io_result<int> add(const std::string& path, file_event events) noexcept;

    /// No more of this one; `watch_ended` follows what was told by then. Outside of coroutines too.
    /// Errors: `errc::invalid_argument` if there is no such number, `errc::closed`.
    io_result<> remove(int watch) noexcept;

    /// The next change.
    ///
    /// Errors:        `errc::closed`.
    /// Cancellation:  `errc::canceled`; no change is lost.
    /// Threads:       resumes on the caller's executor. One at a time, which is checked.
    /// Cost:          a frame; a read for all changes that are there, 4 KiB of them at most.
    [[nodiscard]] task<io_result<file_change>> next() { return next_of(opened(), told_); }

private:
    explicit file_watch(handle open);

    // What was read and not handed out; the reader's as well, so that it outlives the watch.
    struct changes {
        [[nodiscard]] file_change take() noexcept;

        bool awaited = false;
        std::size_t begin = 0;
        std::size_t end = 0;
        std::array<std::byte, 4096> space;
    };

    [[nodiscard]] static task<io_result<file_change>> next_of(opening from,
                                                              std::shared_ptr<changes> into);

    std::shared_ptr<changes> told_;
};

}  // namespace gyre
