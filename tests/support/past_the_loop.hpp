// SPDX-License-Identifier: BSL-1.0
//
// What a test has a peer do at once, as a process of its own would: without an await, and without a turn of
// the loop.
//
// It is for every backend: on the kernel these are system calls, in a world they are those of the machine.
#pragma once

#include <gyre/io/endpoint.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>

#include <string_view>

namespace gyre::testing {

/// A connection to `where`, which listens and has room for it.
[[nodiscard]] stream_socket connect_now(io_context& io, const endpoint& where);

/// Sends all of `text`, for which there is room.
void say_now(io_context& io, const stream_socket& on, std::string_view text);

/// Whether a write would not wait.
[[nodiscard]] bool has_room_now(io_context& io, const stream_socket& on);

/// An option of the kernel's that is a number, by its level and name.
[[nodiscard]] int option_now(io_context& io, const basic_socket& of, int level, int name);

}  // namespace gyre::testing
