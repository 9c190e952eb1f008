// SPDX-License-Identifier: BSL-1.0
//
// Processes where a sandbox keeps calls from us: those on descriptors of processes, and close_range.
//
// Old versions of Docker refuse what they do not know, and some sandboxes still do. Filters stick to a
// process, so each has a child. A thread of the loop's own starts programs.
#include <gyre/io/process.hpp>

#include <support/harness.hpp>
#include <support/refusals.hpp>
#include <support/skip.hpp>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <span>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::array answers{EPERM, EACCES, ENOSYS};

using sandboxed_body = std::function<task<>(child_process&, int answer)>;

void check_in_sandbox(std::span<const unsigned> refused, const sandboxed_body& body) {
    for (const backend_choice backend : backends_under_test()) {
        if (backend == backend_choice::custom) continue;
        for (const int answer : answers) {
            INFO(answer, " on ", std::string{describe(backend)});
            check_in_child([&](child_process& me) {
                forbid(refused, static_cast<unsigned>(answer));
                io_context io{require(backend)};
                run_to_end(me, io, body(me, answer));
            });
        }
    }
}

process_options shell(std::string script) {
    process_options how;
    how.arguments = {"-c", std::move(script)};
    return how;
}

// Waits for its end, and leaves that to be taken.
bool is_killed(int process) {
    siginfo_t found{};
    return ::waitid(P_PID, static_cast<id_t>(process), &found, WEXITED | WNOWAIT) == 0 &&
           found.si_status == SIGKILL;
}

task<> check_signals(child_process& me, int) {
    process_options forever = shell("exec sleep 1000");
    forever.own_group = true;
    auto first = co_await process::start("sh", forever);
    me.check(first.ok(), "a start: " + first.error().message());
    if (!first.ok()) co_return;
    process one = first.take();
    me.check(one.signal(SIGKILL).ok(), "a signal");
    const auto killed = co_await one.wait();
    me.check(killed.value() == exit_status::killed(SIGKILL, false), "it has arrived");
    me.check(one.signal(SIGTERM).error() == errc::no_such_process, "once it has ended");

    auto second = co_await process::start("sh", forever);
    process group = second.take();
    me.check(group.signal_group(SIGTERM).ok(), "a signal of a group");
    const auto ended = co_await group.wait();
    me.check(ended.value() == exit_status::killed(SIGTERM, false), "it has arrived as well");

    auto third = co_await process::start("sh", forever);
    process asked = third.take();
    const auto terminated = co_await asked.terminate(20s);
    me.check(terminated.value() == exit_status::killed(SIGTERM, false), "an end that is asked for");

    auto fourth = co_await process::start("sh", forever);
    const int left = fourth.value().id();
    {
        const process destroyed = fourth.take();
    }
    me.check(is_killed(left), "what is destroyed is killed");
}

task<> check_leaks(child_process& me, int) {
    const int leaked = ::open("/dev/null", O_RDONLY);  // Without close-on-exec.
    const auto listed = co_await run_process("sh", shell("ls -x /proc/$$/fd"));
    me.check(leaked > 2 && listed.ok(), "a listing: " + listed.error().message());
    const std::string& numbers = listed.value().output;
    me.check(numbers.find_first_of("3456789") == std::string::npos, "no more than: " + numbers);
}

// False where this user may not.
bool hide_proc() {
    return ::unshare(CLONE_NEWNS) == 0 &&
           ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("none", "/proc", "tmpfs", 0, nullptr) == 0;
}

}  // namespace

TEST_CASE("a process is signaled and killed though calls on its descriptor are refused") {
    constexpr std::array<unsigned, 2> calls{SYS_pidfd_open, SYS_pidfd_send_signal};
    check_in_sandbox(calls, check_signals);
}

TEST_CASE("a child has none of our descriptors though close_range is refused") {
    constexpr std::array<unsigned, 1> calls{SYS_close_range};
    check_in_sandbox(calls, check_leaks);
}

TEST_CASE("a start that can close nothing says which call was refused") {
    if (::getuid() != 0) return skip("it takes root to hide /proc");
    constexpr std::array<unsigned, 1> calls{SYS_close_range};
    check_in_sandbox(calls, [](child_process& me, int answer) -> task<> {
        if (!hide_proc()) {
            me.say("skipped: no name space of mounts");
            co_return;
        }
        const auto refused = co_await process::start("true");
        const error why = refused.error();
        me.check(why == static_cast<errc>(answer), "the reason: " + why.message());
    });
}
