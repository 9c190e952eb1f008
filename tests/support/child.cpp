// SPDX-License-Identifier: BSL-1.0
//
// Forking and collecting: see child.hpp.
#include <support/child.hpp>

#include <support/harness.hpp>

#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>

namespace gyre::testing {

void child_process::check(bool kept, std::string_view promise) {
    if (kept) return;
    failed_ = true;
    say(promise);
}

void child_process::say(std::string_view line) const {
    std::string whole = std::string{line} + '\n';
    const iovec piece{whole.data(), whole.size()};
    // Also where a test has one of the two refused.
    if (::write(report_, whole.data(), whole.size()) < 0)
        static_cast<void>(!::writev(report_, &piece, 1));
}

int start_child(const std::function<int()>& body) {
    std::fflush(nullptr);
    const int id = ::fork();
    REQUIRE(id >= 0);
    if (id != 0) return id;

    // Nor must it outlive a parent that crashes: it would hold the pipe that a test reads to its end.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // A child that hangs must not outlive its test, nor run the parent's destructors.
    ::alarm(
        static_cast<unsigned>(std::chrono::duration_cast<std::chrono::seconds>(patience).count()));
    // A failed REQUIRE must not carry the child back into the parent's test run.
    const auto guarded = [&body]() noexcept { return body(); };
    ::_exit(guarded());
}

int wait_for_child(int id) {
    int status = 0;
    while (::waitpid(id, &status, 0) < 0) REQUIRE(errno == EINTR);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

child_report in_child(const std::function<void(child_process&)>& body) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const int id = start_child([&] {
        ::close(ends[0]);
        child_process self{ends[1]};
        body(self);
        return self.failed() ? 1 : 0;
    });
    ::close(ends[1]);

    child_report report;
    std::array<char, 512> space{};
    for (;;) {
        const ssize_t got = ::read(ends[0], space.data(), space.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        report.text.append(space.data(), static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
    report.status = wait_for_child(id);
    return report;
}

}  // namespace gyre::testing
