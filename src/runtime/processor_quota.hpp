// SPDX-License-Identifier: BSL-1.0
//
// How much processor time containers leave to this process.
//
// A container of two processors' time on a machine of 64 may run on all of them, so the affinity says 64; a
// pool of so many threads uses its time up in a fraction of each period and then stands still.
#pragma once

#include <string>

namespace gyre {

/// The processors that the control groups of this process let it use at a time, rounded up: at least 1, and 0
/// where no limit is set or known. The least counts among its group and those that this one is in, as far as
/// they are mounted here, of both versions of cgroups(7). Reads files; any thread.
///
/// @param  root  What stands before "/proc/self/cgroup" and before mount points: empty but in tests.
[[nodiscard]] unsigned processors_by_quota(const std::string& root = {});

}  // namespace gyre
