// SPDX-License-Identifier: BSL-1.0
//
// The untyped part of include/gyre/sync/task_group.hpp.
#include <gyre/sync/task_group.hpp>

namespace gyre {

void task_group::note(error failed) noexcept {
    if (!failed) return;
    if (!first_error_) first_error_ = failed;
    if (options_.mode == group_mode::stop_on_first_error) request_stop();
}

void task_group::keep_failure(exception_slot& failed) noexcept {
    failure_.keep_first(failed);
    request_stop();
}

}  // namespace gyre
