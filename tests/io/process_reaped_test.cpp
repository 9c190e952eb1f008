// SPDX-License-Identifier: BSL-1.0
//
// Processes in programs that take the ends of all children away: SIGCHLD ignored, or a handler that reaps.
//
// What a program does with SIGCHLD is the whole process's, so each of these has a child to do it in. Programs
// are started by a thread of the loop's own, whose memory the child shares for a moment.
#include <gyre/io/process.hpp>

#include <support/harness.hpp>
#include <support/refusals.hpp>

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <functional>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

void reap_all(int) {
    const int interrupted = errno;
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    errno = interrupted;
}

struct taker_of_ends {
    const char* name;
    std::function<void()> begin;
};

const std::vector<taker_of_ends> takers{
    {"SIGCHLD is ignored", [] { ::signal(SIGCHLD, SIG_IGN); }},
    {"the kernel keeps no children",
     [] {
         struct sigaction how{};
         how.sa_handler = SIG_DFL;
         how.sa_flags = SA_NOCLDWAIT;
         ::sigaction(SIGCHLD, &how, nullptr);
     }},
    {"a handler reaps all", [] { ::signal(SIGCHLD, reap_all); }},
};

using check_body = std::function<task<>(io_context&, child_process&)>;

void check_without_ends(const check_body& body) {
    for (const backend_choice backend : backends_under_test()) {
        if (backend == backend_choice::custom) continue;
        for (const taker_of_ends& each : takers) {
            INFO(std::string{each.name}, " on ", std::string{describe(backend)});
            check_in_child([&](child_process& me) {
                each.begin();
                io_context io{require(backend)};
                run_to_end(me, io, body(io, me));
            });
        }
    }
}

}  // namespace

TEST_CASE("a program that has run is started, though its end was taken before we looked") {
    check_without_ends([](io_context&, child_process& me) -> task<> {
        int refused = 0;
        for (int round = 0; round < 100; ++round) {
            auto started = co_await process::start("/bin/true");
            if (!started.ok()) {
                ++refused;
                continue;
            }
            process it = started.take();
            me.check(it.id() > 0, "a process has a number");
            const auto ended = co_await it.wait();
            me.check(ended.ok() ? ended.value().success() : ended.error() == errc::no_child_process,
                     "its end: " + ended.error().message());
        }
        me.check(refused == 0, std::to_string(refused) + " of 100 that ran were told as refused");
    });
}

TEST_CASE("a program that cannot run says why, though its end was taken before we looked") {
    check_without_ends([](io_context&, child_process& me) -> task<> {
        for (int round = 0; round < 20; ++round) {
            const auto none = co_await process::start("/nosuch/program");
            me.check(none.error() == errc::no_such_file, none.error().message());
            const auto folder = co_await process::start("/tmp/");
            me.check(folder.error() == errc::permission_denied, folder.error().message());
        }
    });
}

TEST_CASE("a process whose end is taken takes no signals, and another's process gets none") {
    check_without_ends([](io_context&, child_process& me) -> task<> {
        auto started = co_await process::start("/bin/true");
        me.check(started.ok(), started.error().message());
        if (!started.ok()) co_return;
        process it = started.take();
        const auto ended = co_await it.wait();
        me.check(ended.error() == errc::no_child_process || ended.ok(), ended.error().message());
        const error gone = it.signal(SIGTERM).error();
        me.check(gone == errc::no_such_process, "its signal: " + gone.message());
    });
}
