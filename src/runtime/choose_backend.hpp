// SPDX-License-Identifier: BSL-1.0
//
// Which host and which backend a loop gets, and the sentence that says why.
#pragma once

#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/loop_backend.hpp>
#include <runtime/waker.hpp>

#include <memory>

namespace gyre {

struct chosen_backend {
    std::unique_ptr<loop_backend> backend;
    error status;  // Set if what was required cannot be had; `backend` then only keeps time.
};

/// The process's, as its loop_decorator has it.
[[nodiscard]] host& choose_host() noexcept;

/// What `options` ask for, an explicit choice before GYRE_BACKEND before io_uring.
[[nodiscard]] chosen_backend choose_backend(const io_context_options& options,
                                            std::shared_ptr<waker> shared);

/// What follows `before`, which was running and which the kernel refuses from now on: epoll after a ring, and
/// after epoll what keeps time only.
[[nodiscard]] chosen_backend choose_next_backend(const backend_info& before,
                                                 const io_context_options& options,
                                                 std::shared_ptr<waker> shared, error refusal);

}  // namespace gyre
