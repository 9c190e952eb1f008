// SPDX-License-Identifier: BSL-1.0
//
// Kernels that refuse io_uring, and loops that are to live on under them.
//
// A seccomp filter stays with its process, so all of it is for children (child.hpp).
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <support/child.hpp>

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::testing {

/// How long a loop in a child may take for what takes a moment.
inline constexpr duration child_patience = std::chrono::seconds{20};

/// From now on the kernel answers these calls with an error, as container runtimes have it do
/// (seccomp(2)). `answer` is an errno value.
void forbid(std::span<const unsigned> calls, unsigned answer);

void forbid_setup();       ///< EPERM for io_uring_setup.
void forbid_enter();       ///< EPERM for io_uring_enter.
void forbid_register();    ///< EPERM for io_uring_register.
void forbid_everything();  ///< EPERM for all three.

[[nodiscard]] io_context_options require(backend_choice choice);

/// The tiers of io_uring; a kernel may lack some.
[[nodiscard]] std::vector<backend_choice> tiers();

/// Those of them that this kernel has. Where it has none, the test is skipped.
[[nodiscard]] std::vector<backend_choice> tiers_here();

/// Whether this kernel has io_uring. Where it has not, the test is skipped.
[[nodiscard]] bool has_uring();

[[nodiscard]] bool is_uring(const io_context& io);

[[nodiscard]] bool says(const std::string& text, std::string_view what);

/// Runs `body` in a child in which nothing but the options chooses the backend. Fails the test if the
/// child does.
void check_in_child(const std::function<void(child_process&)>& body);

/// Runs `it` to its end, or reports what it hangs in.
void run_to_end(child_process& me, io_context& io, task<> it);

/// Writes all of `text` into the socket, past the loop.
void put(const stream_socket& into, std::string_view text);

/// A round trip and a sleep: what any loop must be able to do.
[[nodiscard]] task<> use_a_little(io_context& io, child_process& me);

}  // namespace gyre::testing
