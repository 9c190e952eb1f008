// SPDX-License-Identifier: BSL-1.0
//
// What is done to names: asking, renaming, removing, listing, and reading or replacing what one stands for.
//
// Each is an operation of the loop's, so that a slow disk holds up no other coroutine; std::filesystem has
// the same as calls that block. file.hpp is for what is in a file.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/basic_descriptor.hpp>
#include <gyre/io/file.hpp>
#include <gyre/runtime/submit.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace gyre {

// Implementation: keeps one name or two until the operation is over.
class finish_names {
public:
    finish_names(std::string path, std::string other) noexcept
        : path_{std::move(path)}, other_{std::move(other)} {}

    [[nodiscard]] std::int32_t prepare(path_operation& op, io_context& on) noexcept;
    [[nodiscard]] io_result<> operator()(const path_operation& op) const noexcept {
        return error_of(op);
    }

private:
    std::string path_;
    std::string other_;
};

using names_submission = submission<path_operation, finish_names>;

// Implementation: keeps the name of a link, and what it says.
class finish_link {
public:
    explicit finish_link(std::string path) noexcept : path_{std::move(path)} {}

    [[nodiscard]] std::int32_t prepare(path_operation& op, io_context& on);
    [[nodiscard]] io_result<std::string> operator()(const path_operation& op);

private:
    std::string path_;
    std::string text_;
};

// All of these: relative names begin where the process works.
// Errors:        what the file system says: `errc::no_such_file`, `errc::permission_denied`,
//                `errc::not_a_directory`, `errc::name_too_long`, `errc::read_only_file_system`, ...;
//                `errc::invalid_argument` for names with a NUL.
// Cancellation:  `errc::canceled` if it has not begun; one that has is waited for.
// Threads:       resumes on the caller's executor.
// Cost:          no allocation but for the name; as a file's operations.

/// What the file system knows of what is called `path`, and not of what a symbolic link at its end leads to
/// if that is not `followed`.
[[nodiscard]] inline auto status_of(std::string path, bool followed = true) noexcept {
    return submission<path_operation, finish_status>{path_operation{opcode::file_status},
                                                     finish_status{std::move(path), followed}};
}

/// What the symbolic link called `path` says; there need not be what it leads to.
/// Errors: `errc::invalid_argument` if it is no link.
/// Cost:   an allocation of 4 KiB.
[[nodiscard]] inline auto read_link(std::string path) noexcept {
    return submission<path_operation, finish_link>{path_operation{opcode::read_link},
                                                   finish_link{std::move(path)}};
}

/// Gives what is called `from` the name `to`, in one step: others see the one or the other. What had that
/// name loses it, unless it is a directory that holds something (rename(2)).
/// Errors: `errc::across_devices` between two file systems.
[[nodiscard]] names_submission rename_file(std::string from, std::string to) noexcept;

/// The same only if nothing is called `to`. Errors: `errc::file_exists`.
[[nodiscard]] names_submission rename_new(std::string from, std::string to) noexcept;

/// Takes the name away; the file goes with its last name, when the last program has closed it.
/// Errors: `errc::is_a_directory`.
[[nodiscard]] names_submission remove_file(std::string path) noexcept;

/// Removes a directory that is empty.
/// Errors: `errc::directory_not_empty`.
[[nodiscard]] names_submission remove_directory(std::string path) noexcept;

/// Makes a directory in one that exists. Errors: `errc::file_exists`.
[[nodiscard]] names_submission make_directory(
    std::string path, std::filesystem::perms permissions = std::filesystem::perms::all) noexcept;

/// One name in a directory.
struct directory_entry {
    std::string_view name;  ///< Borrowed from the directory until its next `next`.
    file_kind kind =
        file_kind::unknown;  ///< `unknown` where the file system does not say: ask `status_of`.
    std::uint64_t inode = 0;
};

/// An open directory, whose entries are read one by one in no order; "." and ".." are left out.
///
///     auto opened = co_await directory::open("/var/log");
///     if (!opened.ok()) co_return opened.error();
///     directory logs = opened.take();
///     for (;;) {
///         const auto [error, entry] = co_await logs.next();
///         if (error) break;   // errc::eof: that was all
///     }
///
/// What is made or removed meanwhile may be met or not; everything else is met once. Moves. May be closed or
/// destroyed while its `next` waits, which then ends with `errc::canceled`; one that was not awaited by then
/// ends with `errc::closed`.
class directory : public basic_descriptor {
public:
    /// Not open: everything ends with `errc::closed`.
    directory() noexcept = default;

    /// Opens the directory at `path`.
    ///
    /// Errors: as above, `errc::not_a_directory`.
    [[nodiscard]] static task<io_result<directory>> open(std::string path);

    /// The next entry; `errc::eof` behind the last. One at a time, which is checked.
    /// Cost:  an operation for each 32 KiB of entries, some 500 of them, whose memory is allocated once.
    [[nodiscard]] task<io_result<directory_entry>> next() { return next_of(opened(), listed_); }

    /// Opens the file called `path` in this directory or below it, whatever symbolic links do meanwhile: one
    /// that leads out of it is not followed, nor is such a "..", an absolute name, or a link of /proc's that
    /// jumps (openat2(2), RESOLVE_BENEATH). For names that come from others.
    ///
    /// Errors:  as `file::open`; `errc::across_devices` if it leads out; `errc::resource_unavailable` if
    ///          directories were moved meanwhile and it is not known: try again; `errc::closed`.
    /// Cost:    as `file::open`. Where a sandbox or an old kernel refuses that call, a call for each name
    ///          of the path; `errc::symbolic_link_loop` past 4,096 of these then.
    [[nodiscard]] auto open_beneath(std::string path, const file_options& how = {}) noexcept {
        return submission<itself_operation, finish_open_beneath>{
            opened(), itself_operation{opcode::open_file},
            finish_open_beneath{std::move(path), how}};
    }

private:
    explicit directory(handle open);

    // What was read and not handed out; the reader's as well, so that it outlives the directory.
    struct listing {
        bool awaited = false;
        std::size_t begin = 0;
        std::size_t end = 0;
        std::array<std::byte, std::size_t{32} * 1024> space;
    };

    [[nodiscard]] static task<io_result<directory_entry>> next_of(opening from,
                                                                  std::shared_ptr<listing> into);

    std::shared_ptr<listing> listed_;
};

/// All that the file called `path` holds, as text; `bytes_of` makes bytes of it.
///
/// It is read to its end, whatever size it is said to have: those of /proc are said to have none. A FIFO, a
/// terminal or a device is waited for; a FIFO from its first writer to its last.
///
/// @param  bytes_max  More is an error.
/// @return The content; with an error of a read, what came before it.
///
/// Errors:        as `file::open`; `errc::is_a_directory`; `errc::limit_exceeded`, with the first `bytes_max`
///                bytes; what the device says. The message says which step it was.
/// Cancellation:  `errc::canceled`.
/// Threads:       resumes on the caller's executor.
/// Cost:          an open, and a read for 16 KiB, for twice that, and so on to 256 KiB, on the spot where the
///                page cache has it; frames; memory of 16 KiB, or at most twice the content.
[[nodiscard]] task<io_result<std::string>> read_file(std::string path,
                                                     std::size_t bytes_max = std::size_t{1} << 20);

/// Makes `path` stand for `content`, or leaves it as it was: at no time, not even behind a crash of the
/// machine, is there a part of one (rename(2), and fsync(2) of the file and of its directory). The new file
/// is made beside it as "PATH.XXXXXXXX.new", of a name that has no room for that a part, and removed where a
/// step fails. The directory is opened first, so it must be readable.
///
/// @param  content      Borrowed until completion.
/// @param  permissions  Of the new file, less the process's umask.
///
/// Errors:        of any step; `path` is as it was, unless only the last one failed: the sync of the
///                directory.
/// Cancellation:  `errc::canceled`, and `path` is as it was: from the rename on it goes to its end.
/// Threads:       resumes on the caller's executor.
/// Cost:          six operations, two of which wait for the device.
[[nodiscard]] task<io_result<>> replace_file(
    std::string path, const_buffer content,
    std::filesystem::perms permissions = static_cast<std::filesystem::perms>(0666));

}  // namespace gyre
