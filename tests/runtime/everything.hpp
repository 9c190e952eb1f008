// SPDX-License-Identifier: BSL-1.0
//
// A little of everything that a program may ask of the kernel, step by step, each with its effect looked at.
//
// For kernels that refuse a call: a step may then fail, as long as it says so. It must not hang, nor say that
// it was canceled, nor say ok and not have done it.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/runtime/io_context.hpp>
#include <support/scratch_directory.hpp>

#include <string>
#include <vector>

namespace gyre::testing {

/// One step: its name, and what it does. Yields `errc::foreign` if its effect is wrong.
struct everything_step {
    const char* name;
    task<io_result<>> (*run)(io_context& io, const scratch_directory& in);
};

[[nodiscard]] const std::vector<everything_step>& everything();

}  // namespace gyre::testing
