// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/path_watch.hpp promises of time, limits, refusals and ends.
#include <base/ending.hpp>
#include <gyre/io/path_watch.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <io/watch_limits.hpp>
#include <support/child.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/settle.hpp>
#include <support/skip.hpp>

#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

const path_watch_options at_once{0ms, 0ms};

task<path_watch> watch_of(std::string path, path_watch_options when = at_once) {
    std::vector<std::string> paths{std::move(path)};
    io_result<path_watch> opened = co_await path_watch::open(std::move(paths), when);
    CHECK(opened.ok());
    co_return opened.take();
}

task<error> refusal_of(std::string path) {
    std::vector<std::string> paths{std::move(path)};
    const io_result<path_watch> opened = co_await path_watch::open(std::move(paths), at_once);
    co_return opened.error();
}

// Counts reports until there is an error.
task<> count_reports(path_watch& of, int& count, std::optional<error>& ended) {
    for (;;) {
        const io_result<> changed = co_await of.changed();
        if (!changed.ok()) {
            ended = changed.error();
            co_return;
        }
        ++count;
    }
}

// Lets coroutines run, and the workers that they wait for.
task<> settle_with_workers() {
    constexpr int looks = 32;
    for (int each = 0; each < looks; ++each) {
        co_await settle();
        static_cast<void>(co_await blocking([] {}));
    }
    co_await settle();
}

// Of all sets of this process.
int watches_of_the_kernel() {
    int count = 0;
    for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fdinfo"}) {
        std::ifstream info{each.path()};
        for (std::string line; std::getline(info, line);) count += line.starts_with("inotify wd");
    }
    return count;
}

const std::vector<conformance_row> on_the_kernel{
    {"what is called otherwise beside a followed file is no change",
     [](io_context& io) -> task<> {
         const scratch_directory home;
         std::filesystem::create_directory(home / "folder");
         static_cast<void>(home.put("folder/it", "1"));
         path_watch it = co_await watch_of(home / "folder/it");
         int count = 0;
         std::optional<error> ended;
         launch(io, count_reports(it, count, ended), or_terminate{});
         co_await settle_with_workers();

         for (const char* const other : {"folder/other", "folder/its", "other", "folders"}) {
             static_cast<void>(home.put(other, "x"));
             std::filesystem::rename(home / other, home / "x");
             std::filesystem::rename(home / "x", home / other);
             std::filesystem::permissions(home / other, std::filesystem::perms::owner_all);
             std::filesystem::remove(home / other);
         }
         std::filesystem::create_directory(home / "folder/below");
         co_await settle_with_workers();
         CHECK(count == 0);

         static_cast<void>(home.put("folder/it", "2"));
         co_await settle_with_workers();
         CHECK(count > 0);
         static_cast<void>(it.close());
         co_await settle();
         CHECK(ended == errc::canceled);
     }},
    {"changes that go on are reported when their time is over, and no later",
     [](io_context&) -> task<> {
         const scratch_directory home;
         static_cast<void>(home.put("it", ""));
         path_watch it = co_await watch_of(home / "it", path_watch_options{1h, 20ms});
         bool reported = false;
         const auto write = [&]() -> task<> {
             while (!reported) {
                 static_cast<void>(home.put("it", "x"));
                 const io_result<> slept = co_await sleep_for(1ms);
                 if (!slept.ok()) co_return;
             }
         };
         const auto wait = [&]() -> task<> {
             const io_result<> changed = co_await it.changed();
             CHECK(changed.ok());
             reported = true;
         };
         co_await when_all(write(), wait());
     }},
    {"changes in a row are reported once, when they have ended",
     [](io_context& io) -> task<> {
         const scratch_directory home;
         path_watch it = co_await watch_of(home / "it", path_watch_options{20ms, 1h});
         for (int each = 0; each < 10; ++each) {
             static_cast<void>(home.put("new", "x"));
             std::filesystem::rename(home / "new", home / "it");
         }
         CHECK((co_await it.changed()).ok());

         int count = 0;
         std::optional<error> ended;
         launch(io, count_reports(it, count, ended), or_terminate{});
         co_await settle_with_workers();
         static_cast<void>(it.close());
         co_await settle();
         CHECK(count == 0);
     }},
    {"a wait that is stopped, at whichever step, loses no change and leaves no watch behind",
     [](io_context&) -> task<> {
         const scratch_directory home;
         const auto swap = [&home](int round) {
             const std::string version = home / ("version" + std::to_string(round));
             std::filesystem::create_directories(version + "/b/c");
             std::filesystem::create_symlink(version, home / "new");
             std::filesystem::rename(home / "new", home / "a");
         };
         swap(0);
         path_watch it = co_await watch_of(home / "a/b/c/it");
         const int watches = watches_of_the_kernel();
         int round = 0;
         int stopped = 0;
         io_result<> changed;
         // Ever later, so that each of its steps is met.
         for (duration limit{1}; stopped == 0 || !changed.ok(); limit += limit / 4 + duration{1}) {
             swap(++round);
             changed = co_await with_timeout(limit, it.changed());
             if (changed.ok()) continue;
             CHECK(changed.error() == errc::timed_out);
             ++stopped;
         }
         swap(++round);
         CHECK((co_await it.changed()).ok());
         CHECK(watches_of_the_kernel() == watches);
         static_cast<void>(it.close());
         CHECK(watches_of_the_kernel() == 0);
     }},
    {"however often a path moves, the kernel has a watch for each thing on its way",
     [](io_context&) -> task<> {
         const scratch_directory home;
         std::filesystem::create_directories(home / "a/b");
         path_watch it = co_await watch_of(home / "a/b/it");
         const int watches = watches_of_the_kernel();
         constexpr int rounds = 100;
         for (int round = 0; round < rounds; ++round) {
             std::filesystem::rename(home / "a", home / ("old" + std::to_string(round)));
             CHECK((co_await it.changed()).ok());
             CHECK(watches_of_the_kernel() < watches);
             std::filesystem::create_directories(home / "a/b");
             CHECK((co_await it.changed()).ok());
         }
         CHECK(watches_of_the_kernel() == watches);
     }},
    {"paths that cannot be followed say why",
     [](io_context&) -> task<> {
         const scratch_directory home;
         std::string deep = home.path().string();
         for (int each = 0; each < 300; ++each) deep += "/d";
         std::filesystem::create_directories(deep);

         const error empty = co_await refusal_of("");
         const error cut = co_await refusal_of(std::string{"/tmp/a\0b", 8});
         const error long_name = co_await refusal_of(home / std::string(300, 'x'));
         const error too_deep = co_await refusal_of(deep);
         const error root = co_await refusal_of("/");

         CHECK(empty == errc::invalid_argument);
         CHECK(cut == errc::invalid_argument);
         CHECK(long_name == errc::name_too_long);
         CHECK(too_deep == errc::limit_exceeded);
         CHECK_FALSE(root);
         CHECK(watches_of_the_kernel() == 0);
         path_watch none;
         CHECK((co_await none.changed()).error() == errc::closed);
         CHECK(none.close().error() == errc::closed);
     }},
    {"a watch of paths may be closed or destroyed while a change is waited for, or is looked at",
     [](io_context& io) -> task<> {
         const scratch_directory home;
         for (const bool there : {false, true}) {
             auto watch = std::make_unique<path_watch>(co_await watch_of(home / "a/it"));
             int count = 0;
             std::optional<error> ended;
             launch(io, count_reports(*watch, count, ended), or_terminate{});
             co_await settle();
             if (there) std::filesystem::create_directory(home / "a");
             if (there) co_await settle();
             auto unawaited = watch->changed();

             watch.reset();
             const io_result<> never_begun = co_await std::move(unawaited);
             co_await settle_with_workers();

             CHECK(ended.has_value());
             if (!there) CHECK(ended == errc::canceled);
             CHECK(never_begun.error() == errc::closed);
         }
     }},
};

const conformance_suite on_the_kernel_suite{"watches", on_the_kernel};

// Runs `body` on each backend in a child of its own.
void in_a_child_on_each(const std::function<task<>(child_process&)>& body) {
    bool ran = true;
    with_every_backend([&](const io_context_options& options) {
        const child_report report = in_child([&](child_process& me) {
            io_context io{options};
            bool ended = false;
            const auto note = [&ended](task_outcome<void>) { ended = true; };
            launch(io, body(me), note);
            io.run_for(patience / 2);
            me.check(ended, "it ends");
        });
        CHECK_MESSAGE(report.passed(), report.text);
        if (report.text == "refused\n") ran = false;
    });
    if (!ran) skip("a namespace of its own was refused");
}

}  // namespace

TEST_CASE("a change of a path is reported after the kernel has lost events") {
    const int most = queued_changes_max();
    constexpr int bearable = 100'000;
    if (most == 0 || most > bearable) return skip("the kernel keeps too many changes to fill");
    on_each_backend_of("watches", [&](io_context&) -> task<> {
        const scratch_directory home;
        std::filesystem::create_directory(home / "a");
        path_watch it = co_await watch_of(home / "a/it");
        std::string name = home.put("0", "");
        for (int each = 1; each <= most + 1; ++each) {
            const std::string next = home / std::to_string(each);
            std::filesystem::rename(name, next);
            name = next;
        }
        std::filesystem::rename(home / "a", home / "old");  // This one is lost.
        std::filesystem::create_directory(home / "a");

        CHECK((co_await it.changed()).ok());
        static_cast<void>(home.put("a/it", "1"));
        CHECK((co_await it.changed()).ok());
    });
}

TEST_CASE(
    "a file system that is unmounted from the way of a path is a change, and none makes deaf") {
    const scratch_directory home;
    std::filesystem::create_directory(home / "mount");
    std::filesystem::permissions(home.path(), std::filesystem::perms::all);
    in_a_child_on_each([&](child_process& me) -> task<> {
        const std::string place = home / "mount";
        const std::string ids = "0 " + std::to_string(::getuid()) + " 1";
        const std::string groups = "0 " + std::to_string(::getgid()) + " 1";
        const bool alone = ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
                           (std::ofstream{"/proc/self/uid_map"} << ids << std::flush).good() &&
                           (std::ofstream{"/proc/self/setgroups"} << "deny" << std::flush).good() &&
                           (std::ofstream{"/proc/self/gid_map"} << groups << std::flush).good() &&
                           ::mount("none", place.c_str(), "tmpfs", 0, nullptr) == 0;
        if (!alone) {
            me.say("refused");
            co_return;
        }
        static_cast<void>(home.put("mount/it", "above"));
        path_watch it = co_await watch_of(place + "/it");

        me.check(::umount2(place.c_str(), 0) == 0, "unmounted");
        const io_result<> gone = co_await it.changed();
        me.check(gone.ok(), gone.error().message());
        static_cast<void>(home.put("mount/it", "below"));
        const io_result<> below = co_await it.changed();
        me.check(below.ok(), below.error().message());
        std::filesystem::remove(home / "mount/it");
    });
}

TEST_CASE("a user without sets of watches, or without watches, learns which limit it is") {
    const scratch_directory home;
    std::filesystem::permissions(home.path(), std::filesystem::perms::all);
    in_a_child_on_each([&](child_process& me) -> task<> {
        // The root, those of the scratch directory, and one that is to be made.
        int parts = 1;
        for (const auto& each : home.path()) parts += each != "/";
        if (!limit_watches(1, parts + 1)) {
            me.say("refused");
            co_return;
        }
        path_watch it = co_await watch_of(home / "made/it");
        const error no_set = co_await refusal_of(home / "other");
        me.check(no_set == errc::process_descriptors_exhausted, no_set.message());
        me.check(no_set.message().ends_with("fs.inotify.max_user_instances"), no_set.message());

        std::filesystem::create_directory(home / "made");
        std::filesystem::create_directory(home / "made/it");
        const io_result<> too_many = co_await it.changed();
        me.check(too_many.error() == errc::no_space_on_device, too_many.error().message());
        me.check(too_many.error().message().ends_with("fs.inotify.max_user_watches"),
                 too_many.error().message());

        // Nothing was lost: the next call looks again.
        std::filesystem::remove_all(home / "made/it");
        const io_result<> again = co_await it.changed();
        me.check(again.ok(), again.error().message());
        std::filesystem::remove_all(home / "made");
    });
}

TEST_CASE(
    "a directory that may not be read is passed, and changes that would go unseen are refused") {
    if (::getuid() != 0) return skip("it takes root to give up what root may do");
    const scratch_directory home;
    std::filesystem::permissions(home.path(), std::filesystem::perms::all);
    in_a_child_on_each([&](child_process& me) -> task<> {
        constexpr auto searchable = static_cast<std::filesystem::perms>(0711);
        std::filesystem::remove_all(home / "secret");
        std::filesystem::create_directories(home / "secret/inner");
        static_cast<void>(home.put("secret/inner/it", "1"));
        static_cast<void>(home.put("secret/key", "1"));
        std::filesystem::permissions(home / "secret", searchable);
        const bool other_user = ::setegid(65534) == 0 && ::seteuid(65534) == 0;
        me.check(other_user, "another user");
        const auto as_root = [&me](const auto& act) {
            me.check(::seteuid(0) == 0, "root");
            act();
            me.check(::seteuid(65534) == 0, "another user again");
        };

        path_watch key = co_await watch_of(home / "secret/key");
        as_root([&] { static_cast<void>(home.put("secret/key", "2")); });
        me.check((co_await key.changed()).ok(), "it is written");
        as_root([&] {
            static_cast<void>(home.put("secret/new", "3"));
            std::filesystem::rename(home / "secret/new", home / "secret/key");
        });
        me.check((co_await key.changed()).ok(), "it is replaced");
        as_root([&] { static_cast<void>(home.put("secret/key", "4")); });
        me.check((co_await key.changed()).ok(), "the new one is written");

        path_watch it = co_await watch_of(home / "secret/inner/it");
        as_root([&] { static_cast<void>(home.put("secret/inner/it", "2")); });
        me.check((co_await it.changed()).ok(), "what is below is written");
        const error missing = co_await refusal_of(home / "secret/missing");
        me.check(missing == errc::permission_denied, missing.message());
        as_root([&] { std::filesystem::remove(home / "secret/key"); });
        const io_result<> unseen = co_await key.changed();
        me.check(unseen.error() == errc::permission_denied, unseen.error().message());
        as_root([&] {
            std::filesystem::permissions(home / "secret",
                                         searchable | std::filesystem::perms::others_read);
        });
        me.check((co_await key.changed()).ok(), "it may be read now");
        me.check(::seteuid(0) == 0 && ::setegid(0) == 0, "root");
    });
}

TEST_CASE("a relative path is followed from where the process works") {
    const scratch_directory home;
    in_a_child_on_each([&](child_process& me) -> task<> {
        std::filesystem::create_directory(home / "in");
        me.check(::chdir((home / "in").c_str()) == 0, "there");
        const std::string far = "../../" + home.path().filename().string() + "/in/it";
        const std::vector<std::string> paths{"it", "./it", "../it", far};
        for (const std::string& path : paths) {
            path_watch it = co_await watch_of(path);
            std::ofstream{path} << "1" << std::flush;
            me.check((co_await it.changed()).ok(), path);
        }
        std::filesystem::remove_all(home / "in");
    });
}

namespace {

task<> wait_for_two_changes_at_once() {
    path_watch watch = co_await watch_of("/");
    static_cast<void>(co_await when_all(watch.changed(), watch.changed()));
}

}  // namespace

TEST_CASE("two waits for the next change of a path at once are a failed check") {
    const ending how = ending_of([] {
        io_context io;
        launch(io, wait_for_two_changes_at_once(), or_terminate{});
        io.run();
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("the next change of a path is awaited by one coroutine"));
}
