// SPDX-License-Identifier: BSL-1.0
//
// Whatever the kernel gives a number for: terminals, pipes, devices, and what other libraries have opened.
//
// Classes for particular things stand beside it (stream_socket.hpp, pipe.hpp); this one has no opinion of
// what is open. Asio calls it posix::stream_descriptor, tokio AsyncFd.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/io/basic_descriptor.hpp>
#include <gyre/io/transfer.hpp>
#include <gyre/runtime/handle.hpp>
#include <gyre/runtime/submit.hpp>

#include <cstddef>
#include <utility>

namespace gyre {

/// An open descriptor of any kind, or none. One writer at a time, which is checked, by `write_all` and its
/// like for whole messages; readers of what is waited for are served in their order.
///
/// Whether it blocks (O_NONBLOCK) is left as it was: that is shared with all processes that have it open,
/// as a terminal's is, and either will do here. What cannot be waited for (a file, /dev/null) is always
/// ready; a file's reads and writes are carried out by io_uring or by a worker of the loop, at its position
/// and in the order in which the one before has ended.
///
/// Neither a write nor a read holds up the loop, whether or not the other end goes on, unless another process
/// is quicker. Where something blocks and cannot be asked for a single try, a write takes as much at once as
/// there is room for when it is ready: of a terminal a part of a line, at most 256 bytes, of a FIFO 4,096. A
/// device that has room for less when it is ready would hold up the loop.
class descriptor : public basic_descriptor {
public:
    using message_writer = claimed_writer<descriptor>;

    /// Not open: everything ends with `errc::closed`.
    descriptor() noexcept = default;

    /// Takes charge of what is open.
    explicit descriptor(handle open) noexcept;

    /// Takes ownership of `number`, which must be open and have no other owner, for use on `on`.
    [[nodiscard]] static descriptor adopt(io_context& on, int number) noexcept {
        return descriptor{handle{on.host(), number}};
    }

    /// Opens what `number` is once more (fcntl(2), F_DUPFD_CLOEXEC): for what another owner will close,
    /// such as a library's socket. Outside of coroutines too.
    /// Errors: `errc::bad_descriptor`, `errc::process_descriptors_exhausted`.
    [[nodiscard]] static io_result<descriptor> duplicate(io_context& on, int number) noexcept;

    /// Reads what is there, at least one byte, at most `into.size()`. Devices that speak in records
    /// (eventfd(2), inotify(7), timerfd_create(2)) want room for a whole one.
    ///
    /// @param  into  Borrowed until completion. Empty yields {ok, 0}.
    /// @return The bytes read; zero only with an error or an empty buffer.
    ///
    /// Errors:        `errc::eof` at the end; what read(2) says. The emulator's side of a terminal (pty(7))
    ///                is at its end while no process has the terminal open, which Linux calls EIO. A FIFO is
    ///                at its end when its writers have left, and not before the first one has come.
    ///                `errc::closed` if it was closed before it was awaited.
    /// Cancellation:  `errc::canceled` and no byte lost: what had been read is reported instead. A file's
    ///                that has begun is waited for.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no allocation; a system call, and another one after a wait. For a file that the page
    ///                cache does not hold a worker's time: tens of microseconds.
    [[nodiscard]] auto read_some(read_space into) noexcept {
        return submission<read_operation, finish_read>{opened(), read_operation{into}};
    }

    /// The same into several buffers, filled in order; at most `buffers_per_call_max` of them.
    [[nodiscard]] auto read_some(mutable_buffers into) noexcept {
        return submission<parts_operation, buffer_parts>{
            opened(), parts_operation{opcode::read_scatter}, buffer_parts{into}};
    }

    /// Writes at least one byte of `from`.
    ///
    /// @param  from  Borrowed until completion. Empty yields {ok, 0}.
    /// @return The bytes that were taken; zero only with an error or an empty buffer.
    ///
    /// Errors:        `errc::broken_pipe` if there is no reader, never a SIGPIPE; `errc::busy` while
    ///                another write is under way; what write(2) says. `errc::closed` if it was closed
    ///                before it was awaited.
    /// Cancellation:  `errc::canceled`: nothing was written. A file's that has begun is waited for.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          no allocation; as a read. Before Linux 6.18 two system calls more, which keep SIGPIPE
    ///                off.
    [[nodiscard]] auto write_some(const_buffer from GYRE_LIFETIMEBOUND) noexcept {
        return submission<write_operation, finish_write>{opened(), write_operation{from}};
    }

    /// The same from several buffers, in order; at most `buffers_per_call_max` of them.
    [[nodiscard]] auto write_some(const_buffers from) noexcept {
        return submission<parts_operation, buffer_parts>{
            opened(), parts_operation{opcode::write_gather}, buffer_parts{from}};
    }

protected:
    friend message_writer;

    [[nodiscard]] auto write_claimed(const_buffer from, write_claim& by) noexcept {
        return submission<write_operation, finish_claimed<finish_write>>{
            opened(), write_operation{from}, {finish_write{}, by}};
    }
    [[nodiscard]] auto write_claimed(const_buffers from, std::size_t skipped,
                                     write_claim& by) noexcept {
        return submission<parts_operation, finish_claimed<buffer_parts>>{
            opened(), parts_operation{opcode::write_gather}, {buffer_parts{from, skipped}, by}};
    }
};

/// The program's standard input, output or error, opened once more: closing this leaves the program's own
/// one open. A terminal is opened by its name, where its permissions allow that: this one does not block, and
/// the program's own one, which other processes share, is left as it was. Outside of coroutines too.
/// Errors: as `descriptor::duplicate`.
///
/// In the place of one that the program was started without, the first loop has opened /dev/null: reads end
/// with `errc::eof`, and writes are dropped. Without a /dev/null both end with `errc::bad_descriptor`.
[[nodiscard]] io_result<descriptor> standard_input(io_context& on) noexcept;
[[nodiscard]] io_result<descriptor> standard_output(io_context& on) noexcept;
[[nodiscard]] io_result<descriptor> standard_error(io_context& on) noexcept;

}  // namespace gyre
