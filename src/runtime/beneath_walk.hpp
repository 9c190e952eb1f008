// SPDX-License-Identifier: BSL-1.0
//
// Opening what is beneath a directory where the kernel, or a sandbox, has no openat2(2).
//
// Old versions of Docker and of libseccomp refuse that call, and Linux before 5.6 lacks it. A plain openat(2)
// in its place would follow links that lead out, so names are walked one by one.
#pragma once

#include <linux/openat2.h>

namespace gyre {

/// Opens `path` below the directory `root` as openat2(2) does with RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS:
/// links and ".." are followed while they stay below, whatever others rename meanwhile. Returns the
/// descriptor or -errno: -EXDEV for what leads out, by a link of /proc's too; -EAGAIN where directories
/// were moved before a ".."; -ELOOP past 40 links or 4,096 steps. Waits for the device. Any thread.
///
/// @param  path  Borrowed; ends with NUL.
/// @param  how   Flags and mode, without O_NOFOLLOW and O_PATH; `resolve` is not looked at.
[[nodiscard]] int open_by_walk(int root, const char* path, const open_how& how);

}  // namespace gyre
