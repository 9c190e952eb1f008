// SPDX-License-Identifier: BSL-1.0
//
// The one call: see affinity.hpp.
#include <exchange/management/affinity.hpp>

#include <sched.h>

#include <cerrno>

namespace exchange {

gyre::io_result<> pin_this_thread(unsigned cpu) noexcept {
    if (cpu >= CPU_SETSIZE) return gyre::error{gyre::errc::invalid_argument};
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    if (::sched_setaffinity(0, sizeof only, &only) != 0) return gyre::error::from_errno(errno);
    return {};
}

}  // namespace exchange
