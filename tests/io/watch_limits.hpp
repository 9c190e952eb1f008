// SPDX-License-Identifier: BSL-1.0
//
// What a user may have of inotify, made small for a test and for it alone.
#pragma once

#include <sched.h>

#include <fstream>
#include <string>

namespace gyre::testing {

/// In a child: a user namespace of its own, with what its user may have of inotify. False if that is refused.
inline bool limit_watches(int sets, int watches) {
    if (::unshare(CLONE_NEWUSER) != 0) return false;
    const auto put = [](const char* name, int value) {
        std::ofstream file{std::string{"/proc/sys/user/"} + name};
        file << value << std::flush;
        return file.good();
    };
    return put("max_inotify_instances", sets) && put("max_inotify_watches", watches);
}

/// How many changes the kernel keeps for a set of watches; 0 if it does not say.
inline int queued_changes_max() {
    int most = 0;
    std::ifstream{"/proc/sys/fs/inotify/max_queued_events"} >> most;
    return most;
}

}  // namespace gyre::testing
