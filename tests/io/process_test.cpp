// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/process.hpp promises of children.
#include <gyre/io/process.hpp>

#include <gyre/io/file.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/child.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/other_process.hpp>
#include <support/scratch_directory.hpp>
#include <support/settle.hpp>
#include <support/skip.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

process_options shell(std::string script) {
    process_options how;
    how.arguments = {"-c", std::move(script)};
    return how;
}

task<process_output> outcome_of(process_options how, std::string program = "/bin/sh") {
    io_result<process_output> ended = co_await run_process(std::move(program), std::move(how));
    CHECK_MESSAGE(ended.ok(), ended.error().message());
    co_return ended.take();
}

bool exists(int process) { return ::kill(process, 0) == 0; }

// A child of this test program's that nobody has waited for.
bool has_children() {
    siginfo_t found{};
    return ::waitid(P_ALL, 0, &found, WEXITED | WNOHANG | WNOWAIT) == 0 && found.si_pid != 0;
}

}  // namespace

TEST_CASE("a child has none of our descriptors, and none of what we do with signals") {
    sigset_t some{};
    ::sigaddset(&some, SIGTERM);
    ::sigaddset(&some, SIGUSR1);
    sigset_t usual{};
    ::pthread_sigmask(SIG_BLOCK, &some, &usual);
    using action = struct sigaction;
    action ignored{};
    ignored.sa_handler = SIG_IGN;
    action before{};
    ::sigaction(SIGUSR2, &ignored, &before);
    const int leaked = ::open("/dev/null", O_RDONLY);  // Without close-on-exec.
    on_each_backend_of("processes", [](io_context&) -> task<> {
        // The listing itself has one open.
        const process_output open = co_await outcome_of(shell("ls -x /proc/$$/fd"));
        CHECK(open.output.substr(0, 7) == "0  1  2");
        CHECK(open.output.find_first_of("3456789") == std::string::npos);
        const process_output masks =
            co_await outcome_of(shell("grep -E '^Sig(Blk|Ign)' /proc/self/status"));
        unsigned long long blocked = 1;
        unsigned long long ignored = 1;
        CHECK(std::sscanf(masks.output.c_str(), "SigBlk: %llx SigIgn: %llx", &blocked, &ignored) ==
              2);
        CHECK(blocked == 0);
        // glibc keeps its own two, 32 and 33, from children that have yet to set them up.
        constexpr unsigned long long reserved = 3ULL << 31;
        CHECK((ignored & ~reserved) == 0);
    });
    ::close(leaked);
    ::sigaction(SIGUSR2, &before, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &usual, nullptr);
}

TEST_CASE("streams of a child reach it though ours are closed and have lent it their numbers") {
    for (const backend_choice each : backends_under_test()) {
        const child_report report = in_child([&](child_process& me) {
            io_context_options options;
            options.backend = each;
            io_context io{options};
            const auto program = [&]() -> task<> {
                ::close(STDIN_FILENO);
                auto ended = co_await run_process("/bin/cat", {}, bytes_of("hello"));
                me.check(ended.ok() && ended.take().output == "hello", "what cat was given");
            };
            launch(io, program(), or_terminate{});
            io.run();
        });
        CHECK_MESSAGE(report.passed(), report.text);
    }
}

TEST_CASE("a start that fails for want of a descriptor has run nothing") {
    const scratch_directory home;
    on_each_backend_of("processes", [&](io_context&) -> task<> {
        rlimit before{};
        REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
        const rlimit fewer{64, before.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &fewer) == 0);
        std::vector<int> taken;
        for (int each; (each = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0;)
            taken.push_back(each);

        process_options how = shell("echo x > ran");
        how.directory = home.path();
        int refused = 0;
        for (bool started = false; !started && !taken.empty();) {
            io_result<process> child = co_await process::start("/bin/sh", how);
            started = child.ok();
            if (started) {
                process running = child.take();
                CHECK((co_await running.wait()).value() == exit_status::exited(0));
            } else {
                ++refused;
                CHECK(child.error() == errc::process_descriptors_exhausted);
            }
            CHECK(std::filesystem::remove(home / "ran") == started);
            ::close(taken.back());
            taken.pop_back();
        }
        for (const int each : taken) ::close(each);
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
        CHECK(refused > 0);
    });
}

namespace {

const std::vector<conformance_row> on_the_kernel{
    {"a program is run, is given its input, and what it says is kept",
     [](io_context&) -> task<> {
         process_options how = shell("cat; echo error >&2; exit 3");

         const io_result<process_output> ended =
             co_await run_process("sh", std::move(how), bytes_of("the input"));

         REQUIRE(ended.ok());
         CHECK(ended.value().output == "the input");
         CHECK(ended.value().error == "error\n");
         CHECK(ended.value().status == exit_status::exited(3));
         CHECK_FALSE(ended.value().status.success());
         CHECK(ended.value().status.message() == "exited with 3");
     }},
    {"arguments are handed over as they are",
     [](io_context&) -> task<> {
         process_options how;
         how.arguments = {"%s|", "two words", "$HOME", "", "'; exit 1", "*"};
         const process_output said = co_await outcome_of(how, "printf");
         CHECK(said.output == "two words|$HOME||'; exit 1|*|");
     }},
    {"a program that is not there, or no program, is an error and leaves no child",
     [](io_context&) -> task<> {
         const scratch_directory home;
         const std::string text = home.put("text", "no program");
         const std::size_t before = open_descriptors();

         const auto missing = co_await process::start("gyre_no_such_program");
         CHECK(missing.error() == errc::no_such_file);
         CHECK(missing.error().message() == "start of a process: No such file or directory");
         const auto no_program = co_await process::start(text);
         CHECK(no_program.error() == errc::permission_denied);
         const auto folder = co_await process::start("/");
         CHECK(folder.error() == errc::permission_denied);
         process_options nowhere;
         nowhere.directory = home / "missing";
         const auto in_nowhere = co_await process::start("true", nowhere);
         CHECK(in_nowhere.error() == errc::no_such_file);
         process_options closed;
         closed.output = child_stream::descriptor(9999);
         const auto on_closed = co_await process::start("true", closed);
         CHECK(on_closed.error() == errc::bad_descriptor);
         process_options cut;
         cut.arguments = {std::string{"a\0b", 3}};
         const auto with_nul = co_await process::start("true", cut);
         CHECK(with_nul.error() == errc::invalid_argument);
         process_options nameless;
         nameless.environment = std::vector<std::string>{"=value"};
         const auto without_name = co_await process::start("true", nameless);
         CHECK(without_name.error() == errc::invalid_argument);
         const auto nothing = co_await process::start("");
         CHECK(nothing.error() == errc::invalid_argument);

         CHECK(open_descriptors() == before);
         CHECK_FALSE(has_children());
     }},
    {"environment and working directory are what was asked for, or ours",
     [](io_context&) -> task<> {
         const scratch_directory home;
         process_options how = shell("echo $GYRE_SEEN $HOME; pwd -P");
         how.environment = std::vector<std::string>{"GYRE_SEEN=yes"};
         how.directory = home.path().string();
         const process_output said = co_await outcome_of(how);
         CHECK(said.output == "yes\n" + std::filesystem::canonical(home.path()).string() + "\n");

         const process_output ours = co_await outcome_of(shell("echo $PATH; pwd -P"));
         CHECK(ours.output == std::string{::getenv("PATH")} + "\n" +
                                  std::filesystem::current_path().string() + "\n");
     }},
    {"streams go where they are sent",
     [](io_context&) -> task<> {
         const scratch_directory home;
         auto made = co_await file::open(home / "log", file_options::writing());
         file log = made.take();
         process_options how = shell("cat; echo out; echo err >&2");
         how.input = child_stream::null();
         how.output = child_stream::descriptor(log.native_handle());
         how.error = child_stream::same_as_output();
         auto started = co_await process::start("sh", how);
         process child = started.take();
         CHECK_FALSE(child.input().is_open());
         CHECK_FALSE(child.output().is_open());
         const auto ended = co_await child.wait();
         CHECK(ended.value().success());
         CHECK(home.get("log") == "out\nerr\n");

         // Each other's numbers.
         int crossed[2];
         REQUIRE(::pipe2(crossed, O_CLOEXEC) == 0);
         process_options swapped = shell("echo to the first; echo to the second >&2");
         swapped.input = child_stream::null();
         swapped.output = child_stream::descriptor(crossed[1]);
         swapped.error = child_stream::piped();
         auto second = co_await process::start("sh", swapped);
         process other = second.take();
         CHECK((co_await other.wait()).value().success());
         std::array<std::byte, 32> space;
         const auto got = co_await other.error().read_some(space);
         CHECK(text_of(std::span{space}.first(got.value())) == "to the second\n");
         readable_pipe first = readable_pipe::adopt(*io_context::current(), crossed[0]);
         const auto heard = co_await first.read_some(space);
         CHECK(text_of(std::span{space}.first(heard.value())) == "to the first\n");
         ::close(crossed[1]);
     }},
    {"a thousand children at once are all heard of, each with its own status",
     [](io_context&) -> task<> {
         constexpr int children = 1000;
         constexpr int codes = 200;
         int heard = 0;
         const auto run_one = [&](int number) -> task<> {
             auto started = co_await process::start("/bin/sh", [&] {
                 process_options how = shell("exit " + std::to_string(number % codes));
                 how.input = how.output = how.error = child_stream::null();
                 return how;
             }());
             REQUIRE_MESSAGE(started.ok(), started.error().message());
             process child = started.take();
             const auto ended = co_await child.wait();
             CHECK(ended.value() == exit_status::exited(number % codes));
             ++heard;
         };
         const auto body = [&](task_group& group) -> task<> {
             for (int each = 0; each < children; ++each) group.spawn(run_one(each));
             co_return;
         };

         co_await with_group(body);

         CHECK(heard == children);
         CHECK_FALSE(has_children());
     }},
    {"a signal's victim says so, and nothing is sent to one that has ended",
     [](io_context&) -> task<> {
         auto started = co_await process::start("sleep", [] {
             process_options how;
             how.arguments = {"1000"};
             return how;
         }());
         process child = started.take();
         CHECK(exists(child.id()));
         CHECK(child.signal(SIGKILL).ok());

         const auto ended = co_await child.wait();
         CHECK(ended.value() == exit_status::killed(SIGKILL, false));
         CHECK(ended.value().message() == "killed by SIGKILL");
         const auto again = co_await child.wait();
         CHECK(again.value() == ended.value());
         CHECK(child.signal(SIGKILL).error() == errc::no_such_process);
         CHECK(child.signal_group(SIGKILL).error() == errc::invalid_argument);
     }},
    {"a child that ends when it is asked to is not killed, one that does not is",
     [](io_context&) -> task<> {
         process_options good =
             shell("trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done");
         process_options stubborn = shell("trap '' TERM; echo ready; while :; do sleep 0.01; done");
         good.output = stubborn.output = child_stream::piped();
         std::array<std::byte, 16> space;

         auto first = co_await process::start("sh", good);
         process child = first.take();
         CHECK((co_await child.output().read_some(space)).ok());
         const auto ended = co_await child.terminate(30s);
         CHECK(ended.value() == exit_status::exited(7));

         auto second = co_await process::start("sh", stubborn);
         process other = second.take();
         CHECK((co_await other.output().read_some(space)).ok());
         const auto killed = co_await other.terminate(20ms);
         CHECK(killed.value() == exit_status::killed(SIGKILL, false));
     }},
    {"a process that goes out of scope takes its child with it, and leaves no zombie",
     [](io_context&) -> task<> {
         int id = -1;
         {
             auto started = co_await process::start("sleep", [] {
                 process_options how;
                 how.arguments = {"1000"};
                 return how;
             }());
             process child = started.take();
             id = child.id();
         }
         // The next one sweeps up, if the child had not ended at once.
         for (int tries = 0; exists(id) && tries < 1000; ++tries) {
             CHECK((co_await run_process("true")).ok());
         }
         CHECK_FALSE(exists(id));
     }},
    {"a forked process that has a copy of it does not end its parent's child",
     [](io_context&) -> task<> {
         process_options how = shell("read line; exit 5");
         how.input = child_stream::piped();
         auto started = co_await process::start("sh", how);
         process child = started.take();
         const int copy = ::fork();
         if (copy == 0) {
             {
                 const process dropped = std::move(child);
             }
             ::_exit(0);
         }
         int status = -1;
         CHECK(::waitpid(copy, &status, 0) == copy);
         CHECK(status == 0);

         CHECK(child.input().close().ok());
         const auto ended = co_await child.wait();
         CHECK(ended.value() == exit_status::exited(5));
     }},
    {"a detached process goes on, and leaves no zombie",
     [](io_context&) -> task<> {
         const scratch_directory home;
         process_options how = shell("read line; echo $line > done.new; mv done.new done");
         how.directory = home.path().string();
         how.input = child_stream::descriptor(0);
         int held[2];
         REQUIRE(::pipe2(held, O_CLOEXEC) == 0);
         how.input = child_stream::descriptor(held[0]);
         auto started = co_await process::start("sh", how);
         process child = started.take();
         const int id = child.id();
         child.detach();
         CHECK_FALSE(child.is_open());
         CHECK(exists(id));

         CHECK(::write(held[1], "went on\n", 8) == 8);
         CHECK(eventually([&] { return home.get("done") == "went on\n"; }));
         for (int tries = 0; exists(id) && tries < 1000; ++tries) {
             CHECK((co_await run_process("true")).ok());
         }
         CHECK_FALSE(exists(id));
         ::close(held[0]);
         ::close(held[1]);
     }},
    {"a group is signalled as one",
     [](io_context&) -> task<> {
         process_options how = shell("sleep 1000 & echo $!; wait");
         how.output = child_stream::piped();
         how.own_group = true;
         auto started = co_await process::start("sh", how);
         process child = started.take();
         std::array<std::byte, 16> space;
         const auto said = co_await child.output().read_some(space);
         const int grandchild =
             std::stoi(std::string{text_of(std::span{space}.first(said.value()))});
         CHECK(::getpgid(grandchild) == child.id());

         CHECK(child.signal_group(SIGKILL).ok());

         const auto ended = co_await child.wait();
         CHECK(ended.value() == exit_status::killed(SIGKILL, false));
         CHECK(ends(grandchild));
         CHECK(child.signal_group(SIGKILL).error() == errc::no_such_process);
     }},
    {"what a child has started ends with it, if that is asked for",
     [](io_context&) -> task<> {
         std::array<std::byte, 16> space;
         const auto number_from = [&](readable_pipe& from) -> task<int> {
             const auto said = co_await from.read_some(space);
             co_return std::stoi(std::string{text_of(std::span{space}.first(said.value()))});
         };
         process_options leaves = shell("sleep 1000 & echo $!; exit 3");
         leaves.output = child_stream::piped();
         leaves.kill_group = true;
         auto started = co_await process::start("sh", leaves);
         process left = started.take();
         const int first = co_await number_from(left.output());
         CHECK((co_await left.wait()).value() == exit_status::exited(3));
         CHECK(ends(first));

         process_options stays = shell("sleep 1000 & echo $!; wait");
         stays.output = child_stream::piped();
         stays.kill_group = true;
         auto begun = co_await process::start("sh", stays);
         process terminated = begun.take();
         const int second = co_await number_from(terminated.output());
         CHECK((co_await terminated.terminate(60s)).value() == exit_status::killed(SIGTERM, false));
         CHECK(ends(second));

         auto again = co_await process::start("sh", stays);
         auto destroyed = std::make_unique<process>(again.take());
         const int third = co_await number_from(destroyed->output());
         destroyed.reset();
         CHECK(ends(third));

         // It has the pipes as well.
         const auto ran = co_await run_process("sh", leaves);
         CHECK(ran.value().status == exit_status::exited(3));
         CHECK(ends(std::stoi(ran.value().output)));
     }},
    {"a wait that is stopped can be begun again, and a program that says too much is killed",
     [](io_context&) -> task<> {
         process_options how = shell("read line; exit 5");
         how.input = child_stream::piped();
         auto started = co_await process::start("sh", how);
         process child = started.take();
         const auto stopped = co_await with_timeout(1ms, child.wait());
         CHECK(stopped.error() == errc::timed_out);
         CHECK(child.input().close().ok());
         const auto ended = co_await child.wait();
         CHECK(ended.value() == exit_status::exited(5));

         const auto talker = co_await run_process("yes", {}, {}, 10'000);
         CHECK(talker.error() == errc::limit_exceeded);
         // Whatever else of the run ends with it: here its input, which no program reads any more.
         const std::string much(4 << 20, 'x');
         const auto echo = co_await run_process("cat", {}, bytes_of(much), 10'000);
         CHECK(echo.error() == errc::limit_exceeded);
         const auto complainer = co_await run_process("sh", shell("yes >&2"), {}, 10'000);
         CHECK(complainer.error() == errc::limit_exceeded);
         const auto given_up = co_await with_timeout(5ms, run_process("sleep", [] {
                                                         process_options forever;
                                                         forever.arguments = {"1000"};
                                                         return forever;
                                                     }()));
         CHECK(given_up.error() == errc::timed_out);
     }},
    {"a run that is stopped is not told as ended, though its program has",
     [](io_context&) -> task<> {
         // What the shell leaves behind has the output open.
         const auto cut = co_await with_timeout(
             300ms, run_process("/bin/sh", shell("echo begin; (sleep 1; echo end) &")));

         CHECK(cut.error() == errc::timed_out);
     }},
    {"no process answers as none",
     [](io_context&) -> task<> {
         process none;
         CHECK(none.id() == -1);
         CHECK(none.signal(SIGTERM).error() == errc::closed);
         const auto waited = co_await none.wait();
         CHECK(waited.error() == errc::closed);
         none.detach();
     }},
};

const conformance_suite on_the_kernel_suite{"processes", on_the_kernel};

}  // namespace

TEST_CASE("each way in which a program cannot be started has its error, and leaves no child") {
    const scratch_directory home;
    const std::string garbage = home.put("garbage", "\x01no program");
    const std::string orphan = home.put("orphan", "#!/nosuch/interpreter\n");
    const std::string busy = home.put("busy", "");
    std::filesystem::copy_file("/bin/true", busy,
                               std::filesystem::copy_options::overwrite_existing);
    for (const std::string& each : {garbage, orphan, busy})
        std::filesystem::permissions(each, std::filesystem::perms::owner_all);
    std::filesystem::create_symlink(home / "b", home / "a");
    std::filesystem::create_symlink(home / "a", home / "b");
    on_each_backend_of("processes", [&](io_context&) -> task<> {
        const std::size_t before = open_descriptors();
        const auto why = [](std::string program, process_options how) -> task<error> {
            const auto started = co_await process::start(std::move(program), std::move(how));
            co_return started.error();
        };
        const process_options plain;
        process_options long_argument;
        long_argument.arguments = {std::string(256 * 1024, 'x')};  // MAX_ARG_STRLEN is 128 KiB.
        process_options in_file;
        in_file.directory = garbage;

        CHECK((co_await why(garbage, plain)) == errc::not_executable);
        CHECK((co_await why(orphan, plain)) == errc::no_such_file);
        CHECK((co_await why(garbage + "/below", plain)) == errc::not_a_directory);
        CHECK((co_await why(home / "a", plain)) == errc::symbolic_link_loop);
        CHECK((co_await why("/" + std::string(300, 'x'), plain)) == errc::name_too_long);
        CHECK((co_await why("/bin/true", long_argument)) == errc::argument_list_too_long);
        CHECK((co_await why("/bin/true", in_file)) == errc::not_a_directory);
        const int writer = ::open(busy.c_str(), O_WRONLY | O_CLOEXEC);
        CHECK((co_await why(busy, plain)) == errc::text_file_busy);
        ::close(writer);

        CHECK(open_descriptors() == before);
        CHECK_FALSE(has_children());
    });
}

TEST_CASE("at the limit of processes none is started, and later one is") {
    if (::getuid() != 0) return skip("it takes root to become a user without processes");
    with_every_backend([](const io_context_options& options) {
        const child_report report = in_child([&](child_process& me) {
            // A number that no user of the machine has.
            const auto nobody = static_cast<uid_t>(2'000'000'000 + ::getpid());
            me.check(::setgid(nobody) == 0 && ::setuid(nobody) == 0, "a user of its own");
            io_context io{options};
            const auto run = [&]() -> task<> {
                // The worker is a process of the limit's as well, and is there after the first start.
                const auto first = co_await run_process("true");
                me.check(first.ok(), "the first: " + first.error().message());
                rlimit usual{};
                ::getrlimit(RLIMIT_NPROC, &usual);
                const rlimit none{1, usual.rlim_max};
                ::setrlimit(RLIMIT_NPROC, &none);
                const auto refused = co_await process::start("true");
                ::setrlimit(RLIMIT_NPROC, &usual);
                const auto last = co_await run_process("true");
                me.check(refused.error() == errc::resource_unavailable, refused.error().message());
                me.check(last.ok(), "the last: " + last.error().message());
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

namespace {

process_options for_a_while() {
    process_options how;
    how.arguments = {"1000"};
    return how;
}

task<> note_wait(process& of, std::optional<error>& ended) {
    const io_result<exit_status> status = co_await of.wait();
    ended = status.error();
}

task<> note_end(process& of, std::optional<error>& ended) {
    const io_result<exit_status> status = co_await of.terminate(60s);
    ended = status.error();
}

}  // namespace

TEST_CASE("a process may be moved, detached or destroyed while its end is waited for") {
    on_each_backend_of("processes", [](io_context& io) -> task<> {
        const process_options how = for_a_while();
        for (const bool detached : {false, true}) {
            auto started = co_await process::start("sleep", how);
            auto child = std::make_unique<process>(started.take());
            const int id = child->id();
            std::optional<error> waited;
            std::optional<error> again;
            launch(io, note_wait(*child, waited), or_terminate{});
            launch(io, note_wait(*child, again), or_terminate{});
            co_await settle();
            auto unawaited = child->wait();
            auto moved = std::make_unique<process>(std::move(*child));
            child.reset();
            co_await settle();
            CHECK_FALSE(waited);

            if (detached) moved->detach();
            moved.reset();
            const auto never = co_await std::move(unawaited);
            co_await settle();

            CHECK(waited == errc::canceled);
            CHECK(again == errc::canceled);
            CHECK(never.error() == errc::closed);
            if (detached) ::kill(id, SIGKILL);
        }
    });
}

TEST_CASE("a process that is moved while it is waited for tells its end all the same") {
    on_each_backend_of("processes", [](io_context& io) -> task<> {
        const process_options how = for_a_while();
        auto started = co_await process::start("sleep", how);
        auto child = std::make_unique<process>(started.take());
        std::optional<error> waited;
        launch(io, note_wait(*child, waited), or_terminate{});
        co_await settle();
        process moved = std::move(*child);
        child.reset();

        CHECK(moved.signal(SIGKILL).ok());
        const auto ended = co_await moved.wait();
        while (!waited) co_await yield();

        CHECK(ended.value() == exit_status::killed(SIGKILL, false));
        CHECK(waited == error{});
    });
}

TEST_CASE("a process may be destroyed while it is asked to end") {
    on_each_backend_of("processes", [](io_context& io) -> task<> {
        process_options stubborn = shell("trap '' TERM; echo ready; while :; do sleep 0.01; done");
        stubborn.output = child_stream::piped();
        std::array<std::byte, 16> space{};
        auto started = co_await process::start("sh", stubborn);
        auto child = std::make_unique<process>(started.take());
        CHECK((co_await child->output().read_some(space)).ok());
        std::optional<error> ended;
        launch(io, note_end(*child, ended), or_terminate{});
        co_await settle();

        child.reset();
        co_await settle();

        CHECK(ended == errc::canceled);
    });
}
