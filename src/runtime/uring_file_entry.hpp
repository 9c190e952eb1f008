// SPDX-License-Identifier: BSL-1.0
//
// Operations on files as submission entries of io_uring.
//
// A file's requests have nothing to wait for and no hints to give, so they need none of what
// uring_backend.cpp does for sockets.
#pragma once

#include <gyre/runtime/operation.hpp>
#include <runtime/uring_abi.hpp>

namespace gyre {

/// Whether every ring of ours knows `op`, a file's.
[[nodiscard]] bool has_file_entry(const operation& op) noexcept;

/// Fills in all but the descriptor and the user data.
/// @pre  has_file_entry(op).
void prepare_file_entry(const operation& op, io_uring_sqe& to) noexcept;

}  // namespace gyre
