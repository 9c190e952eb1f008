// SPDX-License-Identifier: BSL-1.0
//
// The next generation of a server: started with the listeners of this one, and waited for until it serves.
//
// Only then is the old one drained, so there is no moment at which none accepts, and a new one that fails
// changes nothing. What is in the listeners' queues is accepted by whichever of the two comes first.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/pipe.hpp>
#include <gyre/io/process.hpp>

#include <string>

namespace gyre {

/// Starts `program` and waits until it says that it is ready: by `ready_notice::tell`, or in a program
/// without gyre by a byte that it writes to the descriptor whose number is in GYRE_READY_FD.
///
/// @param  how           Its `passed` are the listeners, which the caller goes on using until this has
///                       succeeded, and then closes: by a drain of its `serve`.
/// @param  ready_within  How long the program may take for that.
/// @return The process, ready; and how it has ended if it was not ready before.
///
/// Errors:        of `process::start`; `errc::eof` if it has ended, or given up its end of the pipe, before
///                it was ready; `errc::timed_out`. Then the process is terminated, and has ended.
/// Cancellation:  `errc::canceled`; the process is killed.
/// Threads:       resumes on the caller's executor.
/// Cost:          as a start of a process; frames and a pipe.
[[nodiscard]] task<io_result<process, exit_status>> start_successor(std::string program,
                                                                    process_options how,
                                                                    duration ready_within);

/// The successor's side: the program that started this one is to be told when it is ready. Moves. Destroyed
/// untold, it says that this program never will be.
class ready_notice {
public:
    /// No program is to be told.
    ready_notice() noexcept = default;

    /// Takes over what GYRE_READY_FD announces, and forgets the announcement; no program is told if there
    /// is none. Once, and before there are threads: it changes the environment (setenv(3)). Outside of
    /// coroutines too.
    ///
    /// Errors: `errc::malformed`; `errc::bad_descriptor` if it is not open, or was opened by this program,
    ///         which shows by its FD_CLOEXEC: then it is left alone.
    [[nodiscard]] static io_result<ready_notice> take(io_context& on);

    /// Whether a program waits for it.
    [[nodiscard]] bool wanted() const noexcept { return to_.is_open(); }

    /// Tells that this program serves from now on: accepting may begin before or after. Ok if none waits.
    /// The notice outlives the task.
    ///
    /// Errors:        `errc::broken_pipe` if the program that waited has given up, and will end this program.
    /// Cancellation:  `errc::canceled`; nothing was told.
    /// Threads:       resumes on the caller's executor.
    /// Cost:          a frame and two system calls.
    [[nodiscard]] task<io_result<>> tell();

private:
    writable_pipe to_;
};

}  // namespace gyre
