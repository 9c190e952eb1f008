// SPDX-License-Identifier: BSL-1.0
//
// The user that a process is to be, with all groups at once.
//
// Who gives up a user and keeps groups has given up little (setgroups(2)), so the three come together.
#pragma once

#include <gyre/base/result.hpp>
#include <gyre/coro/task.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gyre {

/// A user, a group, and the supplementary groups: no others are kept.
struct process_user {
    process_user() noexcept = default;
    process_user(std::uint32_t of_user, std::uint32_t of_group,
                 std::vector<std::uint32_t> others = {}) noexcept
        : user{of_user}, group{of_group}, groups{std::move(others)} {}

    std::uint32_t user = 0;
    std::uint32_t group = 0;
    std::vector<std::uint32_t> groups;

    [[nodiscard]] friend bool operator==(const process_user&, const process_user&) = default;
};

/// Looks a user up as the system does (getpwnam(3), getgrouplist(3)): its group, and all groups that it is
/// in.
///
/// @param  name  Such as "www-data".
///
/// Errors:        `errc::unknown_user`; what reading the system's data says; those of `blocking`.
/// Cancellation:  `errc::canceled` if it has not begun; it is waited for otherwise.
/// Threads:       a worker of the loop asks; resumes on the caller's executor.
/// Cost:          files, or a directory server.
[[nodiscard]] task<io_result<process_user>> find_user(std::string name);

}  // namespace gyre
