// SPDX-License-Identifier: BSL-1.0
//
// How a forked child is told from its parent.
#pragma once

namespace gyre {

/// How many forks lie between this process and the one that began the program. What notes the number when
/// it is made knows by it whether it is used in a child. Any thread. A load.
[[nodiscard]] unsigned fork_count() noexcept;

}  // namespace gyre
