// SPDX-License-Identifier: BSL-1.0
//
// A program that is process 1, as the main program of a container is.
//
// The kernel hands it the orphans of all others and gives it only signals that it listens for. What the
// library does about the one and the other is here, in a namespace of processes of the test's own.
#include <gyre/io/process.hpp>

#include <gyre/io/run.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>
#include <support/refusals.hpp>
#include <support/skip.hpp>

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

bool enter_new_processes() {
    // Users other than root may have one as root of a user namespace, where that is allowed.
    return ::unshare(CLONE_NEWPID) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0;
}

bool may_be_first() {
    const int child = start_child([] { return enter_new_processes() ? 0 : 1; });
    if (wait_for_child(child) == 0) return true;
    skip("no namespace of processes may be made here");
    return false;
}

// Runs `body` on each backend as process 1 of others, of which `beside` is called by their parent.
void check_as_first(const std::function<void(child_process&, backend_choice)>& body,
                    const std::function<void(child_process&, int)>& beside = {}) {
    if (!may_be_first()) return;
    for (const backend_choice backend : backends_under_test()) {
        if (backend == backend_choice::custom) continue;
        INFO(std::string{describe(backend)});
        check_in_child([&](child_process& me) {
            std::signal(SIGTERM, SIG_DFL);  // The test runner's handler would report in our place.
            me.check(enter_new_processes(), "it has processes of its own");
            const int first = start_child([&] {
                me.check(::getpid() == 1, "it is process 1");
                body(me, backend);
                return me.failed() ? 1 : 0;
            });
            if (beside) return beside(me, first);
            me.check(wait_for_child(first) == 0, "it ends well");
        });
    }
}

// A shell that leaves an orphan behind and ends with `status`.
process_options leaving_orphan(int status) {
    process_options how;
    how.arguments = {"-c", "sleep 0 & exit " + std::to_string(status)};
    return how;
}

// An ended child that nothing has waited for, and leaves it so; 0: every child is running or gone.
pid_t zombie(int how) {
    siginfo_t found{};
    if (::waitid(P_ALL, 0, &found, WEXITED | WNOWAIT | how) != 0) return -1;
    return found.si_pid;
}

}  // namespace

TEST_CASE("process 1 gets the ends of its own programs, whatever orphans end beside them") {
    check_as_first([](child_process& me, backend_choice backend) {
        io_context io{require(backend)};
        const auto use = [&]() -> task<> {
            for (int status = 0; status < 20; ++status) {
                auto started = co_await process::start("sh", leaving_orphan(status));
                me.check(started.ok(), "a start: " + started.error().message());
                process it = started.take();
                const auto ended = co_await it.wait();
                me.check(ended.value() == exit_status::exited(status), "its own status");
            }
            const auto said = co_await run_process("echo", process_options{});
            me.check(said.ok() && said.value().output == "\n", "what a program says");
        };
        run_to_end(me, io, use());
    });
}

TEST_CASE("orphans of process 1 are left to the program, which may wait for each") {
    check_as_first([](child_process& me, backend_choice backend) {
        io_context io{require(backend)};
        const auto use = [&]() -> task<> {
            process_options forever;
            forever.arguments = {"1000"};
            auto started = co_await process::start("sleep", forever);
            process running = started.take();
            const auto ended = co_await run_process("sh", leaving_orphan(0));
            me.check(ended.ok(), "a program that leaves an orphan");

            const pid_t orphan = zombie(0);  // The only other child, which ends soon.
            me.check(orphan > 0 && orphan != running.id(), "an orphan has ended");
            const auto more = co_await run_process("true", process_options{});
            me.check(more.ok() && zombie(WNOHANG) == orphan, "it is still there");
            me.check(::waitpid(orphan, nullptr, 0) == orphan, "until the program waits for it");
            me.check(zombie(WNOHANG) == 0, "which leaves what runs alone");
            const auto killed = co_await running.terminate(20s);
            me.check(killed.value() == exit_status::killed(SIGTERM, false),
                     "and its end is reported");
        };
        run_to_end(me, io, use());
    });
}

TEST_CASE("process 1 ends by a signal, and at once by a second one") {
    const auto body = [](child_process&, backend_choice backend) {
        run_options options;
        options.loop = require(backend);
        options.grace = 1000s;
        options.signal_gap = 0s;
        const auto program = []() -> task<io_result<>> { co_return co_await sleep_for(1000s); };
        ::_exit(run_until_signal(program(), options));
    };
    const auto beside = [](child_process& me, int first) {
        // Signals that it does not listen for yet are lost on process 1, and not its end.
        int status = 0;
        while (::waitpid(first, &status, WNOHANG) == 0) {
            ::kill(first, SIGTERM);
            ::sched_yield();
        }
        me.check(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGTERM, "it has ended");
    };
    check_as_first(body, beside);
}
