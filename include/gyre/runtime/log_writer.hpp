// SPDX-License-Identifier: BSL-1.0
//
// Lines for a log, from any thread, none of which waits for what the log is written to.
//
// A disk, a pipe and a terminal may each keep a write waiting, and a loop with it. Lines go to memory here,
// and a thread of the log's writes them, so what a stuck loop said last is there as well. Where they come
// faster than they can be written, some are missing: that is counted, and said in the log. Decision 0082
// tells more.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/runtime/handle.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace gyre {

/// How much a log holds, and how long it waits.
struct log_options {
    log_options() noexcept = default;

    /// Of lines that wait, ends included; a line without room is dropped. Twice as much memory is used, as
    /// much again while lines are written.
    std::size_t bytes_max = std::size_t{1} << 20;

    /// How long the first line waits for others before all are written. Each wakes the thread at most once in
    /// that time.
    duration gather_time = std::chrono::milliseconds{1};

    /// How long the end waits for a reader of a pipe, or a terminal, that takes nothing. A file's device is
    /// waited for without a limit.
    duration end_time_max = std::chrono::seconds{5};

    /// Of a file that is made, less the process's umask.
    std::filesystem::perms permissions = static_cast<std::filesystem::perms>(0666);
};

/// What became of a log's lines.
struct log_counters {
    std::uint64_t written = 0;  ///< Lines that the kernel took.
    std::uint64_t dropped = 0;  ///< Lines that found no room.
    std::uint64_t lost = 0;     ///< Lines that could not be written, or not as a whole.
    error failure;              ///< What a write, or opening the file again, has failed with last.
};

/// A log, or none. Moves while no other thread uses it.
///
/// Destroying it writes what it holds. So does a failed check, after its hook and for a second at most: what
/// the hook writes here is the log's last line. What ends a process otherwise (a signal, std::abort) loses
/// what came in the last `gather_time` or is being written.
///
/// In a forked child it takes no line, and may be destroyed: open another one there.
class log_writer {
public:
    /// None: takes no line.
    log_writer() noexcept;
    log_writer(log_writer&& other) noexcept;
    log_writer& operator=(log_writer&& other) noexcept;
    ~log_writer();

    /// Appends to the file called `path`, and makes it if there is none.
    ///
    /// Errors:  what open(2) says, and pthread_create(3). A write's are counted.
    /// Cost:    on the spot: an open, a thread, and the memory.
    [[nodiscard]] static io_result<log_writer> open(std::string path,
                                                    const log_options& options = {});

    /// Writes to the program's standard error, opened once more.
    /// Errors: as `standard_error`, and pthread_create(3).
    [[nodiscard]] static io_result<log_writer> to_standard_error(const log_options& options = {});

    /// Adds a line.
    ///
    /// @param  line  Copied; without its end. A line of it that ends within is one of two.
    /// @return Whether there was room.
    ///
    /// Threads:  any, but no handler of a signal. Lines of one thread keep their order.
    /// Cost:     a lock and a copy, and a system call if the thread sleeps; no allocation.
    bool write(std::string_view line) noexcept;

    /// Opens the file's name again, behind the lines so far: for what renames logs, such as logrotate(8), at
    /// the signal that it sends. Of standard error nothing. Where it fails the old file goes on, and
    /// `counters` and a line in it say why.
    ///
    /// Errors:   none.
    /// Threads:  any. Does not wait: `flush` does.
    void reopen() noexcept;

    /// Waits until the kernel has all lines so far, and the file was opened again if that was asked for.
    ///
    /// Errors:        what a write has failed with meanwhile, if lines were lost; `errc::timed_out` at
    ///                `deadline`; `errc::closed` of none, and in a forked child; those of `blocking`.
    /// Cancellation:  `errc::canceled` if it has not begun; it is waited for otherwise.
    /// Threads:       any; waits on a worker of the loop, and resumes on the caller's executor.
    /// Cost:          a worker's time.
    [[nodiscard]] task<io_result<>> flush(time_point deadline = never);

    /// The same for a thread without a loop, which blocks.
    io_result<> flush_blocking(time_point deadline = never) noexcept;

    /// Threads: any.
    [[nodiscard]] log_counters counters() const noexcept;

private:
    class state;

    explicit log_writer(std::unique_ptr<state> of) noexcept;
    [[nodiscard]] static io_result<log_writer> begun(handle target, std::string path,
                                                     const log_options& how);

    std::unique_ptr<state> state_;
};

}  // namespace gyre
