// SPDX-License-Identifier: BSL-1.0
//
// One conversation of a protocol over everything that may carry it: whole, slow, in pieces, cut and broken.
//
// A test says what the program at each end does with its stream. What it says is not there to be mended by
// luck: an end that is told ok has got everything that it wanted, however the bytes came.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/stream/any_stream.hpp>

#include <functional>

namespace gyre::testing {

/// The program at one end of a connection: ok if it got all that it wanted.
using end_talk = std::function<task<io_result<>>(any_stream)>;

/// How the two programs have ended.
struct talk_results {
    io_result<> near = errc::busy;
    io_result<> far = errc::busy;
};

/// Runs `body(io)` on each backend, where `between_ends` connects sockets; then where it connects pipes in
/// memory that hold a byte, and a few more; then on two machines of a world, whose link delays and loses.
void on_every_transport(const std::function<task<>(io_context&)>& body);

/// Whether `between_ends` connects sockets of the kernel.
[[nodiscard]] bool on_kernel_sockets() noexcept;

/// Connects two ends by the transport that the body of a test runs on, and runs a program on each to its end;
/// `near` on the caller's loop.
[[nodiscard]] task<talk_results> between_ends(end_talk near, end_talk far);

/// Both programs end well over every transport.
void check_on_every_transport(const end_talk& near, const end_talk& far);

/// Runs them on a pipe that is cut after each number of bytes, up to all of them; some numbers are left out
/// where there are many. Both end by themselves within an hour of the world's.
void check_cut_everywhere(const end_talk& near, const end_talk& far);

/// Runs them on two machines, and has `near`'s break its connections at each moment at which something
/// happens. Both end by themselves within an hour.
void check_broken_everywhere(const end_talk& near, const end_talk& far);

}  // namespace gyre::testing
