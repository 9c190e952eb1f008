// SPDX-License-Identifier: BSL-1.0
//
// A control group of a test's own, for children that run out of what a container leaves them.
#pragma once

#include <string>

namespace gyre::testing {

/// A group in which no process is yet, below that of the tests; removed when destroyed, once its processes
/// have ended. Of the first version of cgroups(7) where `controller` is mounted so, else of the second one.
class control_group {
public:
    /// @param  controller  "cpu", "pids", ...
    explicit control_group(const std::string& controller);
    control_group(const control_group&) = delete;
    control_group& operator=(const control_group&) = delete;
    ~control_group();

    /// False where this user may make none. Nothing else may be called then.
    [[nodiscard]] bool exists() const noexcept { return !path_.empty(); }

    /// Whether it is of the second version.
    [[nodiscard]] bool unified() const noexcept { return unified_; }

    /// Writes to one of its files. False if the kernel refuses it.
    [[nodiscard]] bool set(const std::string& name, const std::string& value) const;

    /// Moves the calling process into it. False if the kernel refuses it.
    [[nodiscard]] bool enter() const;

private:
    std::string path_;
    bool unified_ = false;
};

}  // namespace gyre::testing
