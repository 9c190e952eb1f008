// SPDX-License-Identifier: BSL-1.0
//
// As many descriptors as this process may have: a thousand connections and more need more than shells
// usually allow.
#pragma once

#include <lab/kit/fail.hpp>

#include <sys/resource.h>

namespace lab {

inline void raise_descriptor_limit() {
    rlimit limit{};
    require(::getrlimit(RLIMIT_NOFILE, &limit) == 0, "lab: getrlimit");
    limit.rlim_cur = limit.rlim_max;
    require(::setrlimit(RLIMIT_NOFILE, &limit) == 0, "lab: setrlimit");
}

}  // namespace lab
