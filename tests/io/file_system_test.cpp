// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/file_system.hpp promises of names.
#include <gyre/io/file_system.hpp>

#include <base/ending.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/io/run.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/sync/when_any.hpp>
#include <gyre/test/fuse.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/skip.hpp>

#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

std::size_t entries_of(const scratch_directory& it) {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator{it.path()})
        ++count;
    return count;
}

}  // namespace

TEST_CASE("times beyond what nanoseconds count are the first or the last that there is") {
    const scratch_directory home;
    const std::string name = home.put("it", "");
    constexpr std::time_t distant = 15'000'000'000;  // In 2445; ext4 ends in 2446.
    const std::array times{timespec{distant, 0}, timespec{distant, 999'999'999}};
    REQUIRE(::utimensat(AT_FDCWD, name.c_str(), times.data(), 0) == 0);
    struct stat kept{};
    REQUIRE(::stat(name.c_str(), &kept) == 0);
    if (kept.st_mtim.tv_sec != distant) return skip("this file system knows no such times");
    on_each_backend_of("files", [&](io_context&) -> task<> {
        const auto status = co_await status_of(name);

        CHECK(status.value().modified == file_status::time::max());
        CHECK(status.value().accessed == file_status::time::max());
    });
}

TEST_CASE("a directory's entries are met once each, however many there are") {
    const scratch_directory home;
    constexpr int files = 2000;  // More than one call of the kernel's yields.
    for (int each = 0; each < files; ++each) {
        static_cast<void>(home.put("file with a long name, number " + std::to_string(each), ""));
    }
    std::filesystem::create_directory(home.path() / "folder");
    REQUIRE(::mkfifo((home / "fifo").c_str(), 0600) == 0);
    on_each_backend_of("files", [&](io_context&) -> task<> {
        auto opened = co_await directory::open(home.path().string());
        REQUIRE(opened.ok());
        directory it = opened.take();
        std::map<std::string, file_kind> met;
        for (;;) {
            const auto next = co_await it.next();
            if (!next.ok()) {
                CHECK(next.error() == errc::eof);
                break;
            }
            CHECK(met.emplace(next.value().name, next.value().kind).second);
        }

        CHECK(met.size() == files + 2);
        CHECK(met.at("folder") == file_kind::directory);
        CHECK(met.at("fifo") == file_kind::pipe);
        CHECK(met.at("file with a long name, number 1999") == file_kind::regular);
    });
}

TEST_CASE("a directory that is closed, or was moved from, has no next entry") {
    const scratch_directory home;
    for (const char* const name : {"one", "two", "three"}) static_cast<void>(home.put(name, ""));
    on_each_backend_of("files", [&](io_context&) -> task<> {
        directory first = (co_await directory::open(home.path())).take();
        CHECK((co_await first.next()).ok());
        directory second = std::move(first);
        CHECK((co_await first.next()).error() == errc::closed);
        CHECK((co_await second.next()).ok());
        static_cast<void>(second.close());
        CHECK((co_await second.next()).error() == errc::closed);
    });
}

namespace {

const std::vector<conformance_row> on_the_kernel{
    {"a status is of the name's file, through a link or of the link itself",
     [](io_context&) -> task<> {
         const scratch_directory home;
         static_cast<void>(home.put("it", "content"));
         REQUIRE(::symlink("it", (home / "link").c_str()) == 0);

         const auto plain = co_await status_of(home / "it");
         CHECK(plain.value().size == 7);
         CHECK(plain.value().kind == file_kind::regular);
         const auto through = co_await status_of(home / "link");
         CHECK(through.value().inode == plain.value().inode);
         const auto itself = co_await status_of(home / "link", false);
         CHECK(itself.value().kind == file_kind::symbolic_link);
         const auto folder = co_await status_of(home.path().string());
         CHECK(folder.value().kind == file_kind::directory);
         const auto missing = co_await status_of(home / "missing");
         CHECK(missing.error() == errc::no_such_file);
         const auto nothing = co_await status_of("");
         CHECK(nothing.error() == errc::no_such_file);
     }},
    {"a link says what it leads to, be it there or not, and what is no link has nothing to say",
     [](io_context&) -> task<> {
         const scratch_directory home;
         static_cast<void>(home.put("it", "content"));
         const std::string longest(PATH_MAX - 1, 'x');
         std::filesystem::create_symlink("it", home / "link");
         std::filesystem::create_symlink("nowhere/at all", home / "dangling");
         std::filesystem::create_symlink(longest, home / "long");

         const auto link = co_await read_link(home / "link");
         CHECK(link.value() == "it");
         const auto dangling = co_await read_link(home / "dangling");
         CHECK(dangling.value() == "nowhere/at all");
         const auto whole = co_await read_link(home / "long");
         CHECK(whole.value() == longest);
         const auto plain = co_await read_link(home / "it");
         CHECK(plain.error() == error{errc::invalid_argument, activity::read_link});
         const auto missing = co_await read_link(home / "missing");
         CHECK(missing.error() == errc::no_such_file);
         const auto cut = co_await read_link(std::string{"a\0b", 3});
         CHECK(cut.error() == errc::invalid_argument);
     }},
    {"names are given, given away and taken",
     [](io_context&) -> task<> {
         const scratch_directory home;
         static_cast<void>(home.put("a", "A"));
         static_cast<void>(home.put("b", "B"));

         const auto kept = co_await rename_new(home / "a", home / "b");
         CHECK(kept.error() == errc::file_exists);
         CHECK((co_await rename_file(home / "a", home / "b")).ok());
         CHECK(home.get("b") == "A");
         CHECK((co_await rename_new(home / "b", home / "c")).ok());
         CHECK((co_await make_directory(home / "folder")).ok());
         const auto twice = co_await make_directory(home / "folder");
         CHECK(twice.error() == errc::file_exists);
         CHECK((co_await rename_file(home / "c", home / "folder/c")).ok());
         const auto full = co_await remove_directory(home / "folder");
         CHECK(full.error() == errc::directory_not_empty);
         CHECK((co_await remove_file(home / "folder/c")).ok());
         CHECK((co_await remove_directory(home / "folder")).ok());
         const auto gone = co_await remove_file(home / "folder/c");
         CHECK(gone.error() == errc::no_such_file);
         const auto cut = co_await remove_file(std::string{"a\0b", 3});
         CHECK(cut.error() == errc::invalid_argument);
         CHECK(entries_of(home) == 0);
     }},
    {"what is no directory is not opened as one",
     [](io_context&) -> task<> {
         const scratch_directory home;
         const auto file = co_await directory::open(home.put("it", ""));
         CHECK(file.error() == errc::not_a_directory);
         directory closed;
         const auto next = co_await closed.next();
         CHECK(next.error() == errc::closed);
     }},
    {"a file is read whole, up to a bound, and told of which step was refused",
     [](io_context&) -> task<> {
         const scratch_directory home;
         const std::string odd{"a\0b\n", 4};
         const std::string large(3'000'000, 'x');
         static_cast<void>(home.put("odd", odd));
         static_cast<void>(home.put("none", ""));
         static_cast<void>(home.put("large", large));

         const auto all = co_await read_file(home / "odd");
         CHECK(all.error() == error{});
         CHECK(all.value() == odd);
         const auto none = co_await read_file(home / "none", 0);
         CHECK(none.error() == error{});
         CHECK(none.value().empty());
         const auto whole = co_await read_file(home / "large", large.size());
         CHECK(whole.error() == error{});
         CHECK(whole.value() == large);
         const auto part = co_await read_file(home / "large", large.size() - 1);
         CHECK(part.error() == errc::limit_exceeded);
         CHECK(part.value().size() == large.size() - 1);
         // Its size is said to be 0, and each of its bytes is made as it is read.
         const auto made = co_await read_file("/proc/self/status");
         CHECK(made.error() == error{});
         CHECK(made.value().find("\nVmSize:") != std::string::npos);
         const auto endless = co_await read_file("/dev/zero");
         CHECK(endless.error() == errc::limit_exceeded);
         CHECK(endless.value().size() == std::size_t{1} << 20);

         const auto missing = co_await read_file(home / "missing");
         CHECK(missing.error().message() == "open: No such file or directory");
         const auto folder = co_await read_file(home.path());
         CHECK(folder.error().message() == "read: Is a directory");
         const auto cut = co_await read_file(std::string{"a\0b", 3});
         CHECK(cut.error() == errc::invalid_argument);
     }},
    {"a FIFO is read until its last writer has closed it, and a stop ends that",
     [](io_context&) -> task<> {
         const scratch_directory home;
         REQUIRE(::mkfifo((home / "fifo").c_str(), 0600) == 0);
         // Both ways, so that the first reader finds a writer.
         file writer =
             (co_await file::open(home / "fifo", file_options{file_access::read_write})).take();
         const auto write = [&writer](const char* text) -> task<> {
             static_cast<void>(co_await write_all(writer, bytes_of(text)));
             const auto taken = [&writer] {
                 int size = -1;
                 return ::ioctl(writer.native_handle(), FIONREAD, &size) == 0 && size == 0;
             };
             while (!taken()) co_await yield();
         };
         const auto write_to_the_end = [&]() -> task<> {
             co_await write("second");
             static_cast<void>(writer.close());
         };

         const auto stopped = co_await when_any(read_file(home / "fifo"), write("first"));
         const auto ended = co_await when_all(read_file(home / "fifo"), write_to_the_end());

         CHECK(std::get<0>(stopped.results).error() == errc::canceled);
         CHECK(std::get<0>(stopped.results).value() == "first");
         CHECK(std::get<0>(ended).error() == error{});
         CHECK(std::get<0>(ended).value() == "second");
     }},
    {"a file is replaced whole, keeps its name throughout, and leaves nothing beside it",
     [](io_context&) -> task<> {
         const scratch_directory home;
         static_cast<void>(home.put("state", "old"));

         CHECK((co_await replace_file(home / "state", bytes_of("new state"))).ok());
         CHECK(home.get("state") == "new state");
         CHECK((co_await replace_file(home / "first", bytes_of("made"))).ok());
         CHECK(home.get("first") == "made");
         CHECK(entries_of(home) == 2);

         const auto nowhere = co_await replace_file(home / "missing/state", bytes_of("lost"));
         CHECK(nowhere.error() == errc::no_such_file);
         std::filesystem::create_directory(home.path() / "folder");
         static_cast<void>(home.put("folder/inside", ""));
         const auto folder = co_await replace_file(home / "folder", bytes_of("lost"));
         CHECK(folder.error() == errc::is_a_directory);
         CHECK(entries_of(home) == 3);
     }},
    {"a replacement that is stopped leaves the old content, and nothing beside it",
     [](io_context&) -> task<> {
         const scratch_directory home;
         const std::string large(4 << 20, 'x');
         static_cast<void>(home.put("state", "old"));

         // Ever later, so that each of its steps is met.
         io_result<> replaced;
         int stopped = 0;
         for (duration limit{1}; stopped == 0 || !replaced.ok(); limit += limit / 2 + duration{1}) {
             replaced = co_await with_timeout(limit, replace_file(home / "state", bytes_of(large)));
             CHECK(entries_of(home) == 1);
             if (replaced.ok()) continue;
             CHECK(replaced.error() == errc::timed_out);
             CHECK(home.get("state") == "old");
             ++stopped;
         }

         CHECK(home.get("state") == large);
     }},

};

const conformance_suite on_the_kernel_suite{"files", on_the_kernel};

}  // namespace

TEST_CASE("a replacement that fails has changed nothing, unless its last step is what failed") {
    const scratch_directory home;
    std::filesystem::create_directory(home.path() / "folder");
    const auto replace = [&](test::fuse& fault, const io_context_options& options) -> error {
        const test::fused_loops under{fault};
        const io_result<> ended =
            run(replace_file(home / "folder/state", bytes_of("new")), options);
        return ended.error();
    };
    with_every_backend([&](const io_context_options& options) {
        test::fuse none;
        CHECK(replace(none, options) == error{});
        CHECK(home.get("folder/state") == "new");
        for (std::size_t nth = 1; nth <= none.counted(); ++nth) {
            bool more = true;
            for (std::size_t which = 0; more; ++which) {
                static_cast<void>(home.put("folder/state", "old"));
                test::fuse fault{nth, which};
                const error ended = replace(fault, options);
                CHECK(ended == fault.fault());
                INFO(fault.text());
                CHECK((home.get("folder/state") == "old") == (nth < none.counted()));
                CHECK(std::filesystem::remove(home / "folder/state"));
                CHECK(std::filesystem::is_empty(home / "folder"));
                more = fault.has_more_errors();
            }
        }
    });
}

TEST_CASE("a read of a whole file tells what has failed of it, and leaves nothing open") {
    const scratch_directory home;
    static_cast<void>(home.put("it", "content"));
    const auto open_numbers = [] {
        return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {});
    };
    const auto read = [&](test::fuse& fault, const io_context_options& options) {
        const test::fused_loops under{fault};
        return run(read_file(home / "it"), options);
    };
    with_every_backend([&](const io_context_options& options) {
        test::fuse none;
        CHECK(read(none, options).value() == "content");
        CHECK(none.counted() >= 3);
        const auto open = open_numbers();
        for (std::size_t nth = 1; nth <= none.counted(); ++nth) {
            bool more = true;
            for (std::size_t which = 0; more; ++which) {
                test::fuse fault{nth, which};
                const io_result<std::string> got = read(fault, options);
                INFO(fault.text());
                CHECK(got.error() == fault.fault());
                CHECK(open_numbers() == open);
                more = fault.has_more_errors();
            }
        }
    });
}

TEST_CASE("a file whose name is as long as names may be is replaced") {
    const scratch_directory home;
    const std::string name(NAME_MAX, 'x');
    on_each_backend_of("files", [&](io_context&) -> task<> {
        for (const char* const content : {"first", "second"}) {
            const io_result<> replaced = co_await replace_file(home / name, bytes_of(content));
            CHECK(replaced.error() == error{});
            CHECK(home.get(name) == content);
        }
        CHECK(entries_of(home) == 1);
    });
}

TEST_CASE("a directory may be closed or destroyed while its next entry is read") {
    const scratch_directory home;
    static_cast<void>(home.put("it", ""));
    on_each_backend_of("files", [&](io_context& io) -> task<> {
        const auto note_next = [](directory& of, std::optional<error>& ended) -> task<> {
            const auto next = co_await of.next();
            ended = next.error();
        };
        for (int round = 0; round < 100; ++round) {
            std::optional<error> ended;
            auto it = std::make_unique<directory>((co_await directory::open(home.path())).take());
            launch(io, note_next(*it, ended), or_terminate{});
            for (int each = 0; each <= round % 3; ++each) co_await yield();
            auto unawaited = it->next();

            if (round % 2 == 0) static_cast<void>(it->close());
            it.reset();
            const auto never = co_await std::move(unawaited);
            while (!ended) co_await yield();

            CHECK(never.error() == errc::closed);
            // Or it had it already.
            CHECK((ended == errc::canceled || ended == errc::closed || ended == error{}));
        }
    });
}

TEST_CASE("beneath a directory, names and links are followed that stay there, and no others") {
    const scratch_directory home;
    const std::string outside = home.put("secret", "secret");
    std::filesystem::create_directories(home.path() / "served" / "below");
    static_cast<void>(home.put("served/plain", "plain"));
    static_cast<void>(home.put("served/below/deep", "deep"));
    std::filesystem::create_symlink("below/deep", home / "served/inner");
    std::filesystem::create_symlink("../secret", home / "served/escape");
    std::filesystem::create_symlink(outside, home / "served/absolute");
    std::filesystem::create_symlink("..", home / "served/up");
    std::filesystem::create_symlink("circle", home / "served/circle");
    std::filesystem::create_symlink("/proc/self/cwd", home / "served/jump");
    on_each_backend_of("files", [&](io_context&) -> task<> {
        directory served = (co_await directory::open(home / "served")).take();
        directory closed;
        const auto content_of = [&](const char* name) -> task<std::string> {
            auto opened = co_await served.open_beneath(name);
            if (!opened.ok()) co_return opened.error().message();
            file it = opened.take();
            std::array<std::byte, 16> space{};
            const auto got = co_await it.read_some(space);
            co_return std::string{text_of(const_buffer{space}.first(got.value()))};
        };
        const auto why = [&](std::string name, file_options how = {}) -> task<error> {
            auto opened = co_await served.open_beneath(std::move(name), how);
            co_return opened.error();
        };

        CHECK((co_await content_of("plain")) == "plain");
        CHECK((co_await content_of("below/deep")) == "deep");
        CHECK((co_await content_of("inner")) == "deep");
        CHECK((co_await content_of("below/../plain")) == "plain");
        for (const char* const name :
             {"escape", "absolute", "up/secret", "../secret", "/etc/passwd", "jump/x"}) {
            INFO(name);
            CHECK((co_await why(name)) == errc::across_devices);
        }
        CHECK((co_await why("circle")) == errc::symbolic_link_loop);
        CHECK((co_await why("missing")) == errc::no_such_file);
        CHECK((co_await why("")) == errc::no_such_file);
        CHECK((co_await why(std::string{"plain\0x", 7})) == errc::invalid_argument);
        CHECK((co_await why("up/new", file_options::writing())) == errc::across_devices);
        CHECK((co_await why("new", file_options::writing())) == error{});
        CHECK(home.get("served/new").empty());
        const auto of_closed = co_await closed.open_beneath("plain");
        CHECK(of_closed.error() == errc::closed);
        std::filesystem::remove(home / "served/new");
    });
}

namespace {

task<> read_two_entries_at_once() {
    io_result<directory> opened = co_await directory::open("/");
    directory root = opened.take();
    static_cast<void>(co_await when_all(root.next(), root.next()));
}

}  // namespace

TEST_CASE("two reads of the next entry at once are a failed check") {
    const ending how = ending_of([] {
        io_context io;
        launch(io, read_two_entries_at_once(), or_terminate{});
        io.run();
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("the next entry of a directory is awaited by one coroutine"));
}
