// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/file_watch.hpp promises.
#include <gyre/io/file_watch.hpp>

#include <base/ending.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <io/watch_limits.hpp>
#include <support/child.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/settle.hpp>
#include <support/skip.hpp>

#include <sys/resource.h>
#include <unistd.h>

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

task<file_change> next_of(file_watch& from) {
    const io_result<file_change> next = co_await from.next();
    CHECK(next.ok());
    co_return next.value();
}

}  // namespace

TEST_CASE("a watch that is closed, or was moved from, tells of no change") {
    const scratch_directory home;
    on_each_backend_of("watches", [&](io_context& io) -> task<> {
        file_watch first = file_watch::open(io).take();
        CHECK(first.add(home.path(), file_event::created).ok());
        for (const char* const name : {"one", "two", "three"})
            static_cast<void>(home.put(name, ""));
        CHECK((co_await first.next()).ok());
        file_watch second = std::move(first);
        CHECK((co_await first.next()).error() == errc::closed);
        CHECK((co_await second.next()).ok());
        static_cast<void>(second.close());
        CHECK((co_await second.next()).error() == errc::closed);
        for (const char* const name : {"one", "two", "three"}) std::filesystem::remove(home / name);
    });
}

TEST_CASE("changes that were lost are told of") {
    const int most = queued_changes_max();
    constexpr int bearable = 100'000;
    if (most == 0 || most > bearable) return skip("the kernel keeps too many changes to fill");
    on_each_backend_of("watches", [&](io_context& io) -> task<> {
        const scratch_directory home;
        auto opened = file_watch::open(io);
        file_watch watch = opened.take();
        CHECK(watch.add(home.path().string(), file_event::moved_here).ok());
        // Equal changes in a row would count as one.
        std::string name = home.put("0", "");
        for (int each = 1; each <= most + 1; ++each) {
            const std::string next = home / std::to_string(each);
            std::filesystem::rename(name, next);
            name = next;
        }

        int heard = 0;
        file_change change = co_await next_of(watch);
        for (; !change.is(file_event::overflow); ++heard) change = co_await next_of(watch);

        CHECK(heard == most);
        CHECK(change.watch == -1);
    });
}

namespace {

const std::vector<conformance_row> on_the_kernel{
    {"what happens in a directory is told with its name, waited for, and in order",
     [](io_context& io) -> task<> {
         const scratch_directory home;
         auto opened = file_watch::open(io);
         file_watch watch = opened.take();
         const auto all = file_event::created | file_event::written_and_closed |
                          file_event::moved_away | file_event::moved_here | file_event::removed;
         const int number = watch.add(home.path().string(), all).value();
         const auto act = [&]() -> task<io_result<>> {
             co_await settle();
             static_cast<void>(home.put("a", "content"));
             std::filesystem::rename(home / "a", home / "b");
             std::filesystem::remove(home / "b");
             std::filesystem::create_directory(home / "folder");
             co_return io_result<>{};
         };

         auto first = co_await when_all(watch.next(), act());

         const file_change created = std::get<0>(first).value();
         CHECK(created.is(file_event::created));
         CHECK(created.watch == number);
         CHECK(created.name == "a");
         CHECK_FALSE(created.of_directory);
         CHECK((co_await next_of(watch)).is(file_event::written_and_closed));
         const file_change away = co_await next_of(watch);
         const std::string old_name{away.name};
         const file_change here = co_await next_of(watch);
         CHECK(away.what == file_event::moved_away);
         CHECK(here.what == file_event::moved_here);
         CHECK(old_name == "a");
         CHECK(here.name == "b");
         CHECK(away.cookie == here.cookie);
         CHECK(away.cookie != 0);
         const file_change removed = co_await next_of(watch);
         CHECK(removed.is(file_event::removed));
         CHECK(removed.name == "b");
         const file_change folder = co_await next_of(watch);
         CHECK(folder.is(file_event::created));
         CHECK(folder.of_directory);
     }},
    {"a file tells of itself, and that its watch has ended with it",
     [](io_context& io) -> task<> {
         const scratch_directory home;
         const std::string path = home.put("it", "1");
         auto opened = file_watch::open(io);
         file_watch watch = opened.take();
         CHECK(watch.add(path, file_event::modified | file_event::itself_removed).ok());

         static_cast<void>(home.put("it", "2"));
         const file_change modified = co_await next_of(watch);
         CHECK(modified.is(file_event::modified));
         CHECK(modified.name.empty());
         std::filesystem::remove(path);
         file_change next = co_await next_of(watch);
         while (next.is(file_event::modified)) next = co_await next_of(watch);
         CHECK(next.is(file_event::itself_removed));
         CHECK((co_await next_of(watch)).is(file_event::watch_ended));
     }},
    {"a watch that is removed tells no more, and refusals say why",
     [](io_context& io) -> task<> {
         const scratch_directory home;
         auto opened = file_watch::open(io);
         file_watch watch = opened.take();
         const int number = watch.add(home.path().string(), file_event::created).value();
         CHECK(watch.add(home / "missing", file_event::created).error() == errc::no_such_file);
         CHECK(watch.add(home.path().string(), file_event::none).error() == errc::invalid_argument);
         CHECK(watch.add(std::string{"a\0b", 3}, file_event::created).error() ==
               errc::invalid_argument);

         CHECK(watch.remove(number).ok());
         CHECK(watch.remove(number).error() == errc::invalid_argument);
         static_cast<void>(home.put("unseen", ""));
         CHECK((co_await next_of(watch)).is(file_event::watch_ended));
         const auto nothing = co_await with_timeout(1ms, watch.next());
         CHECK(nothing.error() == errc::timed_out);

         CHECK(watch.close().ok());
         CHECK(watch.add(home.path().string(), file_event::created).error() == errc::closed);
         CHECK(watch.remove(number).error() == errc::closed);
         const auto closed = co_await watch.next();
         CHECK(closed.error() == errc::closed);
     }},
};

const conformance_suite on_the_kernel_suite{"watches", on_the_kernel};

}  // namespace

TEST_CASE("names that cannot be watched say why") {
    on_each_backend_of("watches", [](io_context& io) -> task<> {
        const scratch_directory home;
        auto opened = file_watch::open(io);
        file_watch watch = opened.take();
        std::filesystem::create_symlink(home / "b", home / "a");
        std::filesystem::create_symlink(home / "a", home / "b");
        const std::string file = home.put("file", "");
        const auto why = [&](const std::string& path) {
            return watch.add(path, file_event::modified).error();
        };

        CHECK(why(home / "a") == errc::symbolic_link_loop);
        CHECK(why(file + "/below") == errc::not_a_directory);
        CHECK(why(home / std::string(300, 'x')) == errc::name_too_long);
        CHECK(why("") == errc::no_such_file);
        CHECK(why(file).code() == errc::ok);
        co_return;
    });
}

TEST_CASE("what may not be read is not watched") {
    if (::getuid() != 0) return skip("it takes root to give up what root may do");
    const scratch_directory home;
    const std::string secret = home.put("secret", "");
    std::filesystem::permissions(secret, std::filesystem::perms::owner_read);
    std::filesystem::permissions(home.path(), std::filesystem::perms::all);
    with_every_backend([&](const io_context_options& options) {
        const child_report report = in_child([&](child_process& me) {
            io_context io{options};
            me.check(::setgid(65534) == 0 && ::setuid(65534) == 0, "nobody");
            file_watch watch = file_watch::open(io).take();
            const error refused = watch.add(secret, file_event::modified).error();
            me.check(refused == errc::permission_denied, refused.message());
        });
        CHECK_MESSAGE(report.passed(), report.text);
    });
}

TEST_CASE("without a free descriptor there is no set of watches, and later there is") {
    with_every_backend([](const io_context_options& options) {
        const child_report report = in_child([&](child_process& me) {
            io_context io{options};
            rlimit limit{};
            ::getrlimit(RLIMIT_NOFILE, &limit);
            const rlimit usual = limit;
            limit.rlim_cur = 0;
            ::setrlimit(RLIMIT_NOFILE, &limit);
            const error refused = file_watch::open(io).error();
            ::setrlimit(RLIMIT_NOFILE, &usual);
            me.check(refused == errc::process_descriptors_exhausted, refused.message());
            me.check(file_watch::open(io).ok(), "there is one now");
        });
        CHECK_MESSAGE(report.passed(), report.text);
    });
}

TEST_CASE("a user has so many sets of watches, and so many watches in all of them") {
    const scratch_directory home;
    const std::string one = home.put("one", "");
    const std::string two = home.put("two", "");
    const std::string three = home.put("three", "");
    std::filesystem::permissions(home.path(), std::filesystem::perms::all);
    bool ran = true;
    with_every_backend([&](const io_context_options& options) {
        const child_report report = in_child([&](child_process& me) {
            io_context io{options};
            if (!limit_watches(1, 2)) return me.say("refused");
            file_watch watch = file_watch::open(io).take();
            me.check(watch.add(one, file_event::modified).ok(), "the first");
            const int second = watch.add(two, file_event::modified).value();
            me.check(second > 0, "the second");

            const error too_many = watch.add(three, file_event::modified).error();
            const error no_set = file_watch::open(io).error();
            me.check(watch.remove(second).ok(), "one goes");
            const io_result<int> instead = watch.add(three, file_event::modified);

            me.check(too_many == errc::no_space_on_device, too_many.message());
            me.check(too_many.message().ends_with("fs.inotify.max_user_watches"),
                     too_many.message());
            me.check(no_set.message().ends_with("fs.inotify.max_user_instances"), no_set.message());
            me.check(no_set == errc::process_descriptors_exhausted, no_set.message());
            me.check(instead.ok(), "another one takes its place");
        });
        CHECK_MESSAGE(report.passed(), report.text);
        if (report.text == "refused\n") ran = false;
    });
    if (!ran) skip("no user namespace of its own");
}

namespace {

// Waits for a change; whether it was told in the end.
task<> note_next(file_watch& from, std::optional<error>& ended) {
    const io_result<file_change> next = co_await from.next();
    ended = next.error();
}

}  // namespace

TEST_CASE("a set of watches may be destroyed while its next change is waited for, or is there") {
    on_each_backend_of("watches", [](io_context& io) -> task<> {
        const scratch_directory home;
        for (const bool there : {false, true}) {
            auto watch = std::make_unique<file_watch>(file_watch::open(io).take());
            CHECK(watch->add(home.path(), file_event::created).ok());
            std::optional<error> ended;
            launch(io, note_next(*watch, ended), or_terminate{});
            co_await settle();
            if (there) static_cast<void>(home.put("it", ""));
            auto unawaited = watch->next();

            watch.reset();
            const io_result<file_change> never = co_await std::move(unawaited);
            co_await settle();

            CHECK(ended == errc::canceled);
            CHECK(never.error() == errc::closed);
        }
    });
}

namespace {

task<> wait_for_two_changes_at_once() {
    file_watch watch = file_watch::open(*io_context::current()).take();
    static_cast<void>(co_await when_all(watch.next(), watch.next()));
}

}  // namespace

TEST_CASE("two waits for the next change at once are a failed check") {
    const ending how = ending_of([] {
        io_context io;
        launch(io, wait_for_two_changes_at_once(), or_terminate{});
        io.run();
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("the next change of a watch is awaited by one coroutine"));
}
