// SPDX-License-Identifier: BSL-1.0
//
// Which processor a thread runs on, for programs whose jitter matters.
//
// A loop that is moved between processors finds cold caches there. The configuration says where a
// facility stays (`pin_to_cpu`); nothing else in the exchange asks the kernel for it.
#pragma once

#include <gyre/base/result.hpp>

namespace exchange {

/// Keeps the calling thread, and the threads it begins, on one processor.
///
/// @param  cpu  Its number, from 0.
/// Errors:  `errc::invalid_argument` if there is no such processor, or it is not ours to use.
[[nodiscard]] gyre::io_result<> pin_this_thread(unsigned cpu) noexcept;

}  // namespace exchange
