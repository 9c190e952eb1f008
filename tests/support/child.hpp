// SPDX-License-Identifier: BSL-1.0
//
// Tests that need a process of their own.
//
// Seccomp filters, resource limits, user ids and signals stick to a process, so what is tested under
// them runs in a forked child, which tells its parent what failed through a pipe and its exit status.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace gyre::testing {

/// The child's side: where it says what is wrong.
class child_process {
public:
    explicit child_process(int report) noexcept : report_{report} {}

    /// Notes `promise` as broken unless `kept`.
    void check(bool kept, std::string_view promise);

    /// Adds a line to the report without failing.
    void say(std::string_view line) const;

    [[nodiscard]] bool failed() const noexcept { return failed_; }

private:
    int report_;
    bool failed_ = false;
};

/// What became of it.
struct child_report {
    int status = -1;   ///< The exit status, or 128 + the signal that ended it.
    std::string text;  ///< What it said, and the promises it found broken, a line each.

    [[nodiscard]] bool passed() const noexcept { return status == 0; }
};

/// Runs `body` in a forked child and waits for its end. The child ends with status 0 unless a check
/// failed (1), and by SIGALRM if it has not ended after the harness's patience. There must be no
/// other thread, and no loop of the parent's may be touched in `body`.
[[nodiscard]] child_report in_child(const std::function<void(child_process&)>& body);

/// Starts `body` in a forked child and returns its process id; the caller waits for it. `body`'s
/// value is the exit status.
[[nodiscard]] int start_child(const std::function<int()>& body);

/// Waits for the end of process `id`: its exit status, or 128 + the signal that ended it.
[[nodiscard]] int wait_for_child(int id);

}  // namespace gyre::testing
