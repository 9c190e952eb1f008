// SPDX-License-Identifier: BSL-1.0
//
// How often the measuring thread asked for memory: time alone does not show what a library will
// cost once the heap is fragmented and shared.
#pragma once

#include <cstdint>

namespace lab {

/// Calls of malloc and its relatives by the calling thread since it started, `new` included.
[[nodiscard]] std::uint64_t allocations_of_this_thread() noexcept;

}  // namespace lab
