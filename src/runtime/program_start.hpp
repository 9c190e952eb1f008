// SPDX-License-Identifier: BSL-1.0
//
// What a child does between our program and its own, and the descriptor that it has from its first moment.
//
// posix_spawn(3) returns a number only, which means no process any more where the child has ended and SIGCHLD
// is ignored, or a handler has reaped it. The kernel hands out a descriptor with the child (CLONE_PIDFD),
// which glibc offers from 2.39 on: docs/decisions/0073. perform_process.cpp makes ready what is needed here.
#pragma once

#include <gyre/base/error.hpp>
#include <gyre/runtime/resource_limit.hpp>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace gyre {

/// A number here, and the one that it becomes in the child.
struct moved_descriptor {
    int copy = -1;  ///< Close-on-exec, and no target of another one.
    int target = -1;
};

/// What a child is to become. The child writes into it, as it shares our memory until it is a program.
struct program_start {
    const char* const* paths = nullptr;  ///< To be tried in turn; ends with null.
    char* const* arguments = nullptr;    ///< Ends with null.
    char* const* environment = nullptr;  ///< Ends with null.
    const char* directory = nullptr;     ///< Null for ours.
    const moved_descriptor* moved = nullptr;
    int moved_count = 0;
    int first_closed = 0;  ///< From this number on it has no descriptor.
    int group = -1;        ///< Of processes: 0 for one of its own, -1 for ours.
    bool session = false;
    const resource_limit* limits = nullptr;
    std::size_t limit_count = 0;
    bool becomes_user = false;  ///< What follows.
    std::uint32_t user = 0;
    std::uint32_t user_group = 0;
    const std::uint32_t* user_groups = nullptr;
    std::size_t user_group_count = 0;
    int file_mask = -1;  ///< -1 for ours.

    // Written by the kernel and by the child.
    int descriptor = -1;  ///< Of the child (pidfd_open(2)), close-on-exec; -1 if there is none.
    int failed = 0;       ///< An errno value of the step that failed; the child has ended then.
    activity during = activity::start_process;  ///< That step.
};

/// Starts a child, and returns when it has become its program or has failed to: this thread sleeps until
/// then, the others go on (CLONE_VFORK). No copy of our memory is made.
///
/// @return The child's number, or -errno if there was no child. A child that failed is left to be reaped.
[[nodiscard]] pid_t start_program(program_start& it) noexcept;

}  // namespace gyre
