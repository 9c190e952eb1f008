// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/process.hpp promises of users, limits and masks of children, of what they have used, and of
// words for the step that failed.
#include <gyre/io/process.hpp>

#include <support/child.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/skip.hpp>

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// Numbers that no user of the machine has.
constexpr std::uint32_t stranger = 2'000'000'001;
constexpr std::uint32_t strangers = 2'000'000'002;

process_options shell(std::string script) {
    process_options how;
    how.arguments = {"-c", std::move(script)};
    return how;
}

task<std::string> said_by(process_options how) {
    io_result<process_output> ended = co_await run_process("/bin/sh", std::move(how));
    CHECK_MESSAGE(ended.ok(), ended.error().message());
    const process_output said = ended.take();
    CHECK_MESSAGE(said.status.success(), said.error);
    co_return said.output;
}

// A child of this test program's that was not waited for.
bool has_children() {
    siginfo_t found{};
    return ::waitid(P_ALL, 0, &found, WEXITED | WNOHANG | WNOWAIT) == 0 && found.si_pid != 0;
}

const std::vector<conformance_row> on_the_kernel{
    {"a child has the limits and the mask that it was given, and the others are ours",
     [](io_context&) -> task<> {
         const scratch_directory home;
         process_options how = shell(
             "ulimit -Sn; ulimit -Hn; ulimit -Sc; umask; echo > made; ulimit -St; ulimit -Sf");
         how.directory = home.path();
         how.limits = {{RLIMIT_NOFILE, 20, 30}, {RLIMIT_CORE, 0}};
         how.file_mask = static_cast<std::filesystem::perms>(0077);
         process_options plain = shell("ulimit -Sn; ulimit -Hn; umask");

         const std::string ours = co_await said_by(plain);
         const std::string theirs = co_await said_by(std::move(how));
         const std::string again = co_await said_by(std::move(plain));

         CHECK(theirs.starts_with("20\n30\n0\n0077\n"));
         CHECK(theirs.ends_with("unlimited\nunlimited\n"));
         CHECK(std::filesystem::status(home / "made").permissions() ==
               static_cast<std::filesystem::perms>(0600));
         CHECK(again == ours);
         CHECK(ours.find("0077") == std::string::npos);
     }},
    {"a limit that the kernel refuses is an error that says so, and nothing runs",
     [](io_context&) -> task<> {
         const scratch_directory home;
         process_options above = shell("touch " + (home / "ran"));
         above.limits = {{RLIMIT_NOFILE, 20, 10}};
         process_options unknown = shell("touch " + (home / "ran"));
         unknown.limits = {{1000, 1}};

         const auto first = co_await process::start("/bin/sh", std::move(above));
         const auto second = co_await process::start("/bin/sh", std::move(unknown));

         CHECK(first.error() == errc::invalid_argument);
         CHECK(first.error().message() == "limits of a process: Invalid argument");
         CHECK(second.error().message() == "limits of a process: Invalid argument");
         CHECK(std::filesystem::is_empty(home.path()));
         CHECK_FALSE(has_children());
     }},
    {"a start that fails says with which step",
     [](io_context&) -> task<> {
         process_options nowhere;
         nowhere.directory = "/nowhere";
         process_options unopened;
         unopened.output = child_stream::descriptor(1'000'000);

         const auto directory = co_await process::start("true", std::move(nowhere));
         const auto descriptor = co_await process::start("true", std::move(unopened));
         const auto program = co_await process::start("/nowhere/true");

         CHECK(directory.error().message() == "directory of a process: No such file or directory");
         CHECK(descriptor.error().message() == "descriptors of a process: Bad file descriptor");
         CHECK(program.error().message() == "start of a process: No such file or directory");
         CHECK_FALSE(has_children());
     }},
    {"a process tells what it has used, its children included, once it was waited for",
     [](io_context&) -> task<> {
         // The grandchild has 32 MiB in memory, and spends a tenth of a second.
         process_options how = shell(
             "sh -c 'dd if=/dev/zero of=/dev/null bs=32M count=1 2>/dev/null; i=0; "
             "while [ $i -lt 100000 ]; do i=$((i + 1)); done'; true");
         process it = (co_await process::start("/bin/sh", how)).take();
         const process_usage before = it.usage();
         const auto ended = co_await it.wait();
         const process_usage used = it.usage();
         const auto output = co_await run_process("/bin/sh", std::move(how));

         CHECK(ended.ok());
         CHECK(before.memory_bytes_max == 0);
         CHECK(before.user_time == duration::zero());
         for (const process_usage& each : {used, output.value().usage}) {
             CHECK(each.memory_bytes_max >= 32 << 20);
             CHECK(each.memory_bytes_max < 1 << 30);
             CHECK(each.user_time + each.system_time > 10ms);
             CHECK(each.user_time + each.system_time < 60s);
             CHECK(each.page_faults > 1000);
             CHECK(each.waits > 0);
         }
         CHECK(process{}.usage().memory_bytes_max == 0);
     }},
    {"a user is found by its name, with all of its groups",
     [](io_context&) -> task<> {
         const auto root = co_await find_user("root");
         const auto unknown = co_await find_user("no such user");
         const auto cut = co_await find_user(std::string{"root\0x", 6});

         CHECK(root.error() == error{});
         CHECK(root.value().user == 0);
         CHECK(root.value().group == 0);
         CHECK(std::ranges::count(root.value().groups, 0U) == 1);
         CHECK(unknown.error() == errc::unknown_user);
         CHECK(unknown.error().message() == "user of a process: no such user");
         CHECK(cut.error() == errc::invalid_argument);
     }},
};

const conformance_suite on_the_kernel_suite{"processes", on_the_kernel};

}  // namespace

TEST_CASE(
    "a child is the user that it was given, with those groups and no other, and we are who we "
    "were") {
    if (::getuid() != 0) return skip("it takes root to become another user");
    const scratch_directory home;
    REQUIRE(::chmod(home.path().c_str(), 0755) == 0);
    std::filesystem::create_directory(home / "theirs");
    REQUIRE(::chown((home / "theirs").c_str(), stranger, strangers) == 0);
    std::filesystem::permissions(home / "theirs", std::filesystem::perms::owner_all);
    on_each_backend_of("processes", [&](io_context&) -> task<> {
        const int dumpable = ::prctl(PR_GET_DUMPABLE);
        process_options how = shell(
            "id -u; id -g; id -G; sed -n 's/^CapEff:[[:space:]]*0*$/no privileges/p' "
            "/proc/self/status; umask > made && stat -c %u:%g made && rm made");
        how.directory = home / "theirs";
        how.user = process_user{stranger, strangers, {3, 4}};
        how.limits = {{RLIMIT_NOFILE, 64}};
        process_options alone = shell("id -G");
        alone.user = process_user{stranger, strangers};

        const std::string said = co_await said_by(std::move(how));
        const std::string groups = co_await said_by(std::move(alone));

        CHECK(said == std::to_string(stranger) + "\n" + std::to_string(strangers) + "\n" +
                          std::to_string(strangers) + " 3 4\nno privileges\n" +
                          std::to_string(stranger) + ":" + std::to_string(strangers) + "\n");
        CHECK(groups == std::to_string(strangers) + "\n");
        CHECK(::getuid() == 0);
        CHECK(::geteuid() == 0);
        CHECK(::prctl(PR_GET_DUMPABLE) == dumpable);
    });
}

TEST_CASE("a directory that its user may not enter is refused, whoever starts it") {
    if (::getuid() != 0) return skip("it takes root to become another user");
    const scratch_directory home;  // Of mode 0700.
    REQUIRE(::chmod(home.path().c_str(), 0700) == 0);
    on_each_backend_of("processes", [&](io_context&) -> task<> {
        process_options how;
        how.directory = home.path();
        how.user = process_user{stranger, strangers};

        const auto started = co_await process::start("true", std::move(how));

        CHECK(started.error().message() == "directory of a process: Permission denied");
        CHECK_FALSE(has_children());
    });
}

TEST_CASE("who is not root gives its children no user, and raises none of their limits") {
    if (::getuid() != 0) return skip("it takes root to begin as one");
    with_every_backend([](const io_context_options& options) {
        const child_report report = in_child([&](child_process& me) {
            me.check(
                ::setgroups(0, nullptr) == 0 && ::setgid(strangers) == 0 && ::setuid(stranger) == 0,
                "a user of its own");
            const rlimit few{20, 20};
            me.check(::setrlimit(RLIMIT_CORE, &few) == 0, "a limit");
            io_context io{options};
            const auto run = [&]() -> task<> {
                process_options user;
                user.user = process_user{0, 0};
                process_options limit;
                limit.limits = {{RLIMIT_CORE, 30}};
                const auto first = co_await process::start("true", std::move(user));
                const auto second = co_await process::start("true", std::move(limit));
                me.check(first.error().message() == "user of a process: Operation not permitted",
                         first.error().message());
                me.check(second.error().message() == "limits of a process: Operation not permitted",
                         second.error().message());
                me.check(!has_children(), "no children");
            };
            bool ended = false;
            launch(io, run(), [&](task_outcome<void> outcome) {
                outcome.get();
                ended = true;
            });
            io.run_for(patience / 2);
            me.check(ended, "it has ended");
        });
        CHECK_MESSAGE(report.passed(), report.text);
    });
}
