// SPDX-License-Identifier: BSL-1.0
//
// Closing and waiting: see include/gyre/io/basic_descriptor.hpp.
#include <gyre/io/basic_descriptor.hpp>

#include <poll.h>

#include <cerrno>

namespace gyre {

io_result<> basic_descriptor::close() noexcept {
    const int failed = handle_.close();
    if (failed == -EBADF) return error{errc::closed, activity::close};
    if (failed < 0) return error::from_errno(-failed, activity::close);
    return {};
}

submission<wait_ready_operation, finish_wait> basic_descriptor::wait(readiness what) noexcept {
    const std::uint32_t events = what == readiness::readable ? POLLIN : POLLOUT;
    return submission<wait_ready_operation, finish_wait>{opened(), wait_ready_operation{events}};
}

error basic_descriptor::perform_now(operation& op) const noexcept {
    op.result = handle_.on().perform_now(op);
    return error_of(op);
}

}  // namespace gyre
