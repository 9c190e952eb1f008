// SPDX-License-Identifier: BSL-1.0
//
// Whether a process that is not a child of ours has ended.
//
// An orphan that has ended is a zombie until its new parent reaps it. That is the machine's first process,
// which may take seconds, or never do it in a container.
#pragma once

#include <support/settle.hpp>

#include <csignal>
#include <fstream>
#include <string>

namespace gyre::testing {

/// Whether `process` runs no more: the kernel does not know it, or only keeps its status for its parent.
inline bool has_ended(int process) {
    if (::kill(process, 0) != 0) return true;
    std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
    std::string stat;
    std::getline(file, stat);
    const std::size_t name_end = stat.rfind(')');  // A name may hold anything, ") R" included.
    return name_end == std::string::npos || stat.compare(name_end, 3, ") Z") == 0;
}

/// Blocks until it has ended. False if patience ends first.
inline bool ends(int process) {
    return eventually([process] { return has_ended(process); });
}

}  // namespace gyre::testing
