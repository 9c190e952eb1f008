// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <support/network_namespace.hpp>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace gyre::testing {

bool enter_network(const std::string& path) noexcept {
    const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (number < 0) return false;
    const bool entered = ::setns(number, CLONE_NEWNET) == 0;
    ::close(number);
    return entered;
}

bool enter_new_network() noexcept {
    // Who is not root may have one as root of a user namespace, where that is allowed.
    return ::unshare(CLONE_NEWNET) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
}

}  // namespace gyre::testing
