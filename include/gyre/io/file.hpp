// SPDX-License-Identifier: BSL-1.0
//
// Files: in order, as a stream, or at positions, as storage.
//
// io_uring carries their operations out where it is; elsewhere workers of the loop do, because no file is
// ever waited for by readiness. What the page cache holds needs neither. file_system.hpp has what is done
// to names.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/io/descriptor.hpp>
#include <gyre/io/transfer.hpp>
#include <gyre/runtime/submit.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace gyre {

class file;

/// What an open file is for: reading, writing, or both.
enum class file_access : std::uint8_t { read, write, read_write };

/// How a file is opened (open(2)). The ready-made ones cover most uses.
struct file_options {
    file_options() noexcept = default;
    explicit file_options(file_access for_what) noexcept : access{for_what} {}

    file_access access = file_access::read;
    bool create = false;     ///< If there is none.
    bool exclusive = false;  ///< With `create`: `errc::file_exists` if there is one.
    bool truncate = false;   ///< What it holds is dropped.
    bool append = false;     ///< Each write in order goes to what is then the end.
    bool every_write_durable =
        false;  ///< Each write is over when its bytes are on the device (O_DSYNC).

    /// Past the kernel's cache (O_DIRECT): memory, sizes and positions are then multiples of the device's
    /// block, 512 or 4,096 bytes as a rule. For programs that keep a cache of their own.
    bool direct = false;

    /// Of a file that is created, less the process's umask.
    std::filesystem::perms permissions =
        static_cast<std::filesystem::perms>(0666);  // As fopen(3) does.

    [[nodiscard]] static file_options reading() noexcept { return {}; }
    /// A new file, or an old one that is emptied.
    [[nodiscard]] static file_options writing() noexcept {
        file_options it{file_access::write};
        it.create = it.truncate = true;
        return it;
    }
    /// A log: an old one is kept, and written to at its end.
    [[nodiscard]] static file_options appending() noexcept {
        file_options it{file_access::write};
        it.create = it.append = true;
        return it;
    }
    /// Storage: both ways, made if there is none.
    [[nodiscard]] static file_options updating() noexcept {
        file_options it{file_access::read_write};
        it.create = true;
        return it;
    }
};

/// What kind of file there is under a name.
enum class file_kind : std::uint8_t {
    regular,
    directory,
    symbolic_link,
    pipe,
    socket,
    character_device,
    block_device,
    unknown
};

/// What the file system knows of a file (statx(2)). Times before 1677 or after 2262 are the first or the last
/// that there is.
struct file_status {
    using time = std::chrono::sys_time<std::chrono::nanoseconds>;

    std::uint64_t size = 0;  ///< Bytes.
    std::uint64_t allocated =
        0;  ///< Bytes that it takes on the device; a sparse file fewer than `size`.
    std::uint64_t links = 0;  ///< Names.
    std::uint64_t inode = 0;  ///< With `device`: which file it is, whatever it is called.
    std::uint64_t device = 0;
    std::uint32_t user = 0;
    std::uint32_t group = 0;
    std::filesystem::perms permissions{};
    file_kind kind = file_kind::unknown;
    time modified{};
    time accessed{};
    time changed{};  ///< When this record was.
    time created{};  ///< 0 where the file system does not keep it.
};

// Implementation: how raw results become results.

/// Of an open: keeps the name, and owns what was opened until it is handed out.
class finish_open {
public:
    finish_open(std::string path, const file_options& how) noexcept
        : path_{std::move(path)}, options_{how} {}

    [[nodiscard]] std::int32_t prepare(path_operation& op, io_context& on) noexcept;
    [[nodiscard]] io_result<file> operator()(const path_operation& op) noexcept;

private:
    std::string path_;
    file_options options_;
    host* host_ = nullptr;
};

/// Of an open beneath a directory.
class finish_open_beneath : public finish_open {
public:
    using finish_open::finish_open;

    [[nodiscard]] std::int32_t prepare(path_operation& op, io_context& on) noexcept;

private:
    std::array<std::uint64_t, 3> how_{};  // A struct open_how.
};

/// Of a write at a position: any number of them may be under way.
struct finish_positional_write {
    template <class Operation>
    [[nodiscard]] std::int32_t prepare(Operation& op, io_context&) const noexcept {
        return op.size == 0 ? nothing_to_transfer : 0;
    }
    [[nodiscard]] io_result<std::size_t> operator()(const operation& op) const noexcept {
        return outcome_of_write(op);
    }
};

/// Of a question about a file: keeps what the kernel writes its answer to.
class finish_status {
public:
    finish_status() noexcept = default;
    explicit finish_status(std::string path, bool followed) noexcept
        : path_{std::move(path)}, of_name_{true}, followed_{followed} {}

    [[nodiscard]] std::int32_t prepare(path_operation& op, io_context& on) noexcept;
    [[nodiscard]] io_result<file_status> operator()(const path_operation& op) const noexcept;

private:
    std::string path_;  // Of a name; else it is for the target itself.
    bool of_name_ = false;
    bool followed_ = true;
    alignas(8) std::array<std::byte, 256> found_{};  // A struct statx.
};

/// Of a transfer that moves a position of the caller's.
template <class Finish>
struct finish_advancing : Finish {
    explicit finish_advancing(std::uint64_t& of) noexcept : offset{&of} {}

    template <class Operation>
    [[nodiscard]] io_result<std::size_t> operator()(const Operation& op) const noexcept {
        const io_result<std::size_t> done = Finish::operator()(op);
        *offset += done.value();
        return done;
    }

    std::uint64_t* offset;
};

/// An open file, or none. Moves; closes at the latest when destroyed.
///
/// Two ways to use one, which do not disturb each other. As a stream, with what every descriptor has, it is
/// read and written where its position is, which moves (and is written at its end if it was opened to
/// append): one writer at a time, which is checked, and one reader, which is the program's to see to. At
/// positions, with `..._at`, any number of reads and writes may be under way at once, in no order.
///
/// Whatever waits here:
/// Errors:        what the device and the file system say: `errc::no_space_on_device`,
///                `errc::input_output`, ...; `errc::file_too_large` beyond RLIMIT_FSIZE, without a
///                SIGXFSZ if that was set when the file was opened; `errc::closed` if it was closed before
///                it was awaited.
///                io_result says which call met it.
/// Cancellation:  `errc::canceled` if it has not begun; an operation that has is waited for, and its result
///                reported.
/// Threads:       resumes on the caller's executor.
/// Cost:          no allocation. At positions, and what is no transfer: on io_uring an entry; the kernel's
///                own workers where it would block. In order, and on epoll, a call on the spot for a read of
///                up to 256 KiB that the page cache holds, else a worker of the loop
///                (`io_context_options::worker_threads_max`): tens of microseconds.
class file : public descriptor {
public:
    /// Not open: everything ends with `errc::closed`.
    file() noexcept = default;

    /// Takes charge of what is open.
    explicit file(handle open) noexcept : descriptor{std::move(open)} {}

    /// Opens the file called `path`; relative names begin where the process works. Never waits for a peer:
    /// a FIFO is opened at once to be read, and to be written if there is a reader (fifo(7)). Reads of it
    /// wait for its first writer.
    ///
    /// @param  path  Without NUL.
    ///
    /// Errors:  `errc::no_such_file`, `errc::permission_denied`, `errc::file_exists`,
    ///          `errc::is_a_directory`, `errc::no_such_device_or_address` (a FIFO to be written that
    ///          has no reader), `errc::invalid_argument` (`direct` where the file system has no
    ///          such thing, among others), `errc::resource_unavailable` (another program has a lease of it,
    ///          fcntl(2), which that is asked now to give up: open it again later), ...
    [[nodiscard]] static auto open(std::string path, const file_options& how = {}) noexcept {
        return submission<path_operation, finish_open>{path_operation{opcode::open_file},
                                                       finish_open{std::move(path), how}};
    }

    /// Takes ownership of `number`, an open file that has no other owner, for use on `on`.
    [[nodiscard]] static file adopt(io_context& on, int number) noexcept {
        return file{handle{on.host(), number}};
    }

    /// Reads from `offset` on, in bytes; the position stays. As `read_some` otherwise. Devices such as
    /// /dev/zero have any position.
    /// @pre  offset <= INT64_MAX, here and below.
    ///
    /// Errors:  `errc::invalid_seek`, here and below, of what has no positions: a pipe, a FIFO, a terminal, a
    ///          socket. At once, whether it is ready or not.
    [[nodiscard]] auto read_some_at(std::uint64_t offset, read_space into) noexcept {
        return submission<read_operation, finish_read>{opened(),
                                                       read_operation{into, position(offset)}};
    }
    [[nodiscard]] auto read_some_at(std::uint64_t offset, mutable_buffers into) noexcept {
        return submission<parts_operation, buffer_parts>{
            opened(), parts_operation{opcode::read_scatter, position(offset)}, buffer_parts{into}};
    }

    /// Writes to `offset`, in bytes; the position stays. Beyond the end there are zeros between. A file
    /// that was opened to append is written to at its end all the same (pwrite(2), BUGS).
    [[nodiscard]] auto write_some_at(std::uint64_t offset,
                                     const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        return submission<write_operation, finish_positional_write>{
            opened(), write_operation{from, position(offset)}};
    }
    [[nodiscard]] auto write_some_at(std::uint64_t offset, const_buffers from) noexcept {
        return submission<parts_operation, buffer_parts>{
            opened(), parts_operation{opcode::write_gather, position(offset)}, buffer_parts{from}};
    }

    /// The same, and over when the bytes are on the device: one operation in place of a write and a
    /// `sync_data`, for a journal's groups (RWF_DSYNC). What others have written to the file meanwhile is
    /// not waited for.
    [[nodiscard]] auto write_durably_at(std::uint64_t offset,
                                        const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        write_operation op{from, position(offset)};
        op.durable = true;
        return submission<write_operation, finish_positional_write>{opened(), std::move(op)};
    }
    [[nodiscard]] auto write_durably_at(std::uint64_t offset, const_buffers from) noexcept {
        parts_operation op{opcode::write_gather, position(offset)};
        op.durable = true;
        return submission<parts_operation, buffer_parts>{opened(), std::move(op),
                                                         buffer_parts{from}};
    }

    class cursor;

    /// A stream over it that begins at `offset` and has a position of its own: for `read_exactly`,
    /// `write_all`, buffered readers. Several may be in use at once. Borrows the file.
    [[nodiscard]] cursor at(std::uint64_t offset) noexcept GYRE_LIFETIMEBOUND;

    /// Brings all that was written, and what the file system knows of the file, to the device (fsync(2)).
    /// After an error what was written since the last success may be lost, and trying again proves nothing.
    [[nodiscard]] auto sync_all() noexcept { return synchronize(extent_operation::everything); }

    /// The same without what is not needed to read it again, such as times (fdatasync(2)).
    [[nodiscard]] auto sync_data() noexcept { return synchronize(extent_operation::data); }

    /// Brings these bytes to the device, but neither the file's size nor where its blocks are, nor what the
    /// device itself has cached (sync_file_range(2)): a way to spread the work of a later `sync_data`, no
    /// promise of durability.
    [[nodiscard]] auto sync_range(std::uint64_t offset, std::uint64_t size) noexcept {
        return synchronize(extent_operation::range, offset, size);
    }

    /// Cuts it, or extends it with zeros, to `size` bytes. The position stays where it is.
    [[nodiscard]] auto resize(std::uint64_t size) noexcept {
        extent_operation op{opcode::resize};
        op.size = position(size);
        return submission<extent_operation, finish_plain>{opened(), std::move(op)};
    }

    /// Has the device set room aside, so that writes there cannot fail for lack of it; the file grows with
    /// zeros if it ends before (fallocate(2)).
    /// Errors:  `errc::no_space_on_device`; `errc::not_supported` by the file system.
    [[nodiscard]] auto allocate(std::uint64_t offset, std::uint64_t size) noexcept {
        extent_operation op{opcode::allocate};
        op.offset = position(offset);
        op.size = position(size);
        return submission<extent_operation, finish_plain>{opened(), std::move(op)};
    }

    /// What the file system knows of it.
    [[nodiscard]] auto status() noexcept {
        return submission<itself_operation, finish_status>{opened(),
                                                           itself_operation{opcode::file_status}};
    }

private:
    // A negative one would mean the current position.
    [[nodiscard]] static std::int64_t position(std::uint64_t offset) noexcept {
        expects(offset <= INT64_MAX, "files have no positions beyond INT64_MAX");
        return static_cast<std::int64_t>(offset);
    }

    [[nodiscard]] submission<extent_operation, finish_plain> synchronize(
        int how, std::uint64_t offset = 0, std::uint64_t size = 0) noexcept {
        extent_operation op{opcode::synchronize};
        op.mode = how;
        op.offset = position(offset);
        op.size = position(size);
        return {opened(), std::move(op)};
    }
};

/// A duplex stream from a position of the file on. Moves between operations.
class file::cursor {
public:
    cursor(file& of, std::uint64_t offset) noexcept : of_{&of}, offset_{offset} {}

    /// Where the next operation begins, in bytes.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

    /// As those of the file; one at a time.
    [[nodiscard]] auto read_some(read_space into) noexcept {
        return submission<read_operation, finish_advancing<finish_read>>{
            of_->opened(), read_operation{into, position(offset_)},
            finish_advancing<finish_read>{offset_}};
    }
    [[nodiscard]] auto write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        return submission<write_operation, finish_advancing<finish_positional_write>>{
            of_->opened(), write_operation{from, position(offset_)},
            finish_advancing<finish_positional_write>{offset_}};
    }

private:
    file* of_;
    std::uint64_t offset_;
};

inline file::cursor file::at(std::uint64_t offset) noexcept { return {*this, offset}; }

}  // namespace gyre
