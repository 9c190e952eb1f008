// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/file.hpp promises, on rings and on workers.
#include <gyre/io/file.hpp>

#include <gyre/io/file_system.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/buffered.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/conformance.hpp>
#include <support/disposable.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/settle.hpp>
#include <support/skip.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

static_assert(duplex_stream<file> && duplex_stream<file::cursor>);

namespace {

std::string text(std::span<const std::byte> bytes) { return std::string{text_of(bytes)}; }

// What files may grow to, while it lives.
struct file_size_limit {
    explicit file_size_limit(std::size_t most) : bytes{most} {
        REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
        const rlimit limited{most, before.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
    }
    file_size_limit(const file_size_limit&) = delete;
    file_size_limit& operator=(const file_size_limit&) = delete;
    ~file_size_limit() { ::setrlimit(RLIMIT_FSIZE, &before); }

    std::size_t bytes;
    rlimit before{};
};

// Reads all that is left.
task<std::string> rest_of(file& it) {
    std::string all;
    std::array<std::byte, 7> space;
    for (;;) {
        const auto got = co_await it.read_some(space);
        if (!got.ok()) {
            CHECK(got.error() == errc::eof);
            co_return all;
        }
        all += text(std::span{space}.first(got.value()));
    }
}

std::ptrdiff_t threads_of_this_process() {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {});
}

}  // namespace

TEST_CASE("a file that cannot be opened says why, and none stays open") {
    const scratch_directory home;
    static_cast<void>(home.put("old", "content"));
    on_each_backend_of("files", [&](io_context&) -> task<> {
        const std::size_t before = open_descriptors();
        file_options fresh = file_options::writing();
        fresh.exclusive = true;

        const auto missing = co_await file::open(home / "missing");
        CHECK(missing.error() == errc::no_such_file);
        const auto existing = co_await file::open(home / "old", fresh);
        CHECK(existing.error() == errc::file_exists);
        const auto folder = co_await file::open(home.path().string(), file_options::updating());
        CHECK(folder.error() == errc::is_a_directory);
        const auto cut = co_await file::open(home / std::string{"old\0er", 6});
        CHECK(cut.error() == errc::invalid_argument);
        const auto beneath = co_await file::open(home / "old/file");
        CHECK(beneath.error() == errc::not_a_directory);

        CHECK(missing.error().message() == "open: No such file or directory");
        CHECK(open_descriptors() == before);
        CHECK(home.get("old") == "content");
    });
}

TEST_CASE("opening a FIFO waits for nobody") {
    const scratch_directory home;
    const std::string name = home / "fifo";
    REQUIRE(::mkfifo(name.c_str(), 0600) == 0);
    on_each_backend_of("files", [&](io_context&) -> task<> {
        const auto alone = co_await file::open(name, file_options{file_access::write});
        CHECK(alone.error() == errc::no_such_device_or_address);
        file reader = (co_await file::open(name)).take();
        file writer = (co_await file::open(name, file_options{file_access::write})).take();

        std::array<std::byte, 8> space;
        const auto nothing = co_await with_timeout(1ms, reader.read_some(space));
        CHECK((co_await writer.write_some(bytes_of("said"))).value() == 4);
        const auto said = co_await reader.read_some(space);

        CHECK(nothing.error() == errc::timed_out);
        CHECK(text(std::span{space}.first(said.value())) == "said");
    });
}

TEST_CASE("writes in order that meet a limit keep what is there, and say how far they came") {
    const file_size_limit limit{1024 * 1024};
    const scratch_directory home;
    std::vector<std::byte> numbers(1536 * 1024);
    for (std::size_t at = 0; at < numbers.size(); at += sizeof(std::uint32_t)) {
        const auto number = static_cast<std::uint32_t>(at);
        std::memcpy(&numbers[at], &number, sizeof number);
    }
    on_each_backend_of("files", [&](io_context&) -> task<> {
        file written = (co_await file::open(home / "log", file_options::writing())).take();
        const auto all = co_await write_all(written, numbers);
        CHECK(all.error() == errc::file_too_large);
        CHECK(all.value() == limit.bytes);
        const std::string kept = home.get("log");
        REQUIRE(kept.size() == limit.bytes);
        CHECK(std::memcmp(kept.data(), numbers.data(), kept.size()) == 0);

        static_cast<void>(home.put("settings", "old"));
        const io_result<> replaced = co_await replace_file(home / "settings", numbers);
        CHECK(replaced.error() == errc::file_too_large);
        CHECK(home.get("settings") == "old");

        CHECK((co_await written.write_some_at(limit.bytes, numbers)).error() ==
              errc::file_too_large);
        CHECK((co_await written.resize(2 * limit.bytes)).error() == errc::file_too_large);
    });
}

TEST_CASE("past the cache, too, a write beyond the limit is an error and no signal") {
    const file_size_limit limit{1024 * 1024};
    const scratch_directory home;
    on_each_backend_of("files", [&](io_context&) -> task<> {
        constexpr std::size_t block = 4096;
        file_options how = file_options::updating();
        how.direct = true;
        auto opened = co_await file::open(home / "it", how);
        if (opened.error() == errc::invalid_argument) co_return skip("not on this file system");
        file it = opened.take();
        const auto free_it = [](void* at) { std::free(at); };
        const std::unique_ptr<void, decltype(free_it)> memory{std::aligned_alloc(block, 2 * block),
                                                              free_it};
        std::memset(memory.get(), 1, 2 * block);
        const const_buffer two{static_cast<const std::byte*>(memory.get()), 2 * block};
        const std::array<const_buffer, 2> gathered{two.first(block), two.last(block)};

        CHECK((co_await it.write_some_at(limit.bytes, two)).error() == errc::file_too_large);
        CHECK((co_await it.write_some_at(limit.bytes, gathered)).error() == errc::file_too_large);
        CHECK((co_await it.write_durably_at(limit.bytes, two)).error() == errc::file_too_large);
        CHECK((co_await it.write_some_at(limit.bytes - block, two)).value() == block);
    });
}

TEST_CASE("a file may outlive its loop, and be used on another one") {
    with_every_backend([](const io_context_options& options) {
        const scratch_directory home;
        file it;
        {
            io_context io{options};
            launch(
                io,
                [](file& into, std::string path) -> task<> {
                    auto made = co_await file::open(std::move(path), file_options::updating());
                    into = made.take();
                    CHECK((co_await write_all(into, bytes_of("kept"))).ok());
                }(it, home / "it"),
                [](task_outcome<void> outcome) { outcome.get(); });
            io.run();
        }
        CHECK(it.is_open());
        io_context other{options};
        launch(
            other,
            [](file& from) -> task<> {
                std::array<std::byte, 8> space;
                const auto got = co_await from.read_some_at(0, space);
                CHECK(got.value() == 4);
            }(it),
            [](task_outcome<void> outcome) { outcome.get(); });
        other.run();
    });
}

namespace {

const std::vector<conformance_row> on_the_kernel{
    {"a file is made, written in order, and read in order up to its end",
     [](io_context&) -> task<> {
         const scratch_directory home;
         auto made = co_await file::open(home / "new", file_options::writing());
         REQUIRE(made.ok());
         file out = made.take();
         CHECK((::fcntl(out.native_handle(), F_GETFD) & FD_CLOEXEC) != 0);

         const std::array parts{bytes_of(" and"), bytes_of(" parts")};
         CHECK((co_await write_all(out, bytes_of("one"))).value() == 3);
         CHECK((co_await write_all(out, const_buffers{parts})).value() == 10);
         CHECK(out.close().ok());
         CHECK(home.get("new") == "one and parts");

         auto opened = co_await file::open(home / "new");
         file in = opened.take();
         const std::string all = co_await rest_of(in);
         CHECK(all == "one and parts");
         const auto refused = co_await in.write_some(bytes_of("x"));
         CHECK(refused.error() == errc::bad_descriptor);
     }},
    {"truncating empties, appending goes on at the end",
     [](io_context&) -> task<> {
         const scratch_directory home;
         static_cast<void>(home.put("log", "first"));

         auto appended = co_await file::open(home / "log", file_options::appending());
         file log = appended.take();
         CHECK((co_await write_all(log, bytes_of(", second"))).ok());
         CHECK(home.get("log") == "first, second");

         auto emptied = co_await file::open(home / "log", file_options::writing());
         CHECK(emptied.ok());
         CHECK(home.get("log").empty());
     }},
    {"positions are read and written in any order, many at once, and the file's own stays",
     [](io_context&) -> task<> {
         constexpr std::size_t pages = 64;
         constexpr std::size_t page = 4096;
         const scratch_directory home;
         auto made = co_await file::open(home / "pages", file_options::updating());
         file it = made.take();
         const auto write_page = [&](std::size_t number) -> task<> {
             const std::vector<std::byte> content(page, std::byte(number));
             const auto done = co_await it.write_some_at(number * page, content);
             CHECK(done.value() == page);
         };
         const auto read_page = [&](std::size_t number) -> task<> {
             std::vector<std::byte> content(page);
             const auto done = co_await it.read_some_at(number * page, content);
             CHECK(done.value() == page);
             CHECK(content == std::vector<std::byte>(page, std::byte(number)));
         };
         const auto write_all_pages = [&](task_group& group) -> task<> {
             for (std::size_t each = pages; each-- > 0;) group.spawn(write_page(each));
             co_return;
         };
         const auto read_all_pages = [&](task_group& group) -> task<> {
             for (std::size_t each = 0; each < pages; ++each) group.spawn(read_page(each));
             co_return;
         };

         co_await with_group(write_all_pages);
         co_await with_group(read_all_pages);

         CHECK(::lseek(it.native_handle(), 0, SEEK_CUR) == 0);
         std::array<std::byte, 4> beyond;
         const auto end = co_await it.read_some_at(pages * page, beyond);
         CHECK(end.error() == errc::eof);
     }},
    {"positions are gathered and scattered",
     [](io_context&) -> task<> {
         const scratch_directory home;
         auto made = co_await file::open(home / "parts", file_options::updating());
         file it = made.take();
         const std::array parts{bytes_of("one "), bytes_of("two")};
         std::array<std::byte, 3> first{};
         std::array<std::byte, 4> second{};
         const std::array<mutable_buffer, 2> spaces{first, second};

         CHECK((co_await it.write_some_at(2, const_buffers{parts})).value() == 7);
         CHECK((co_await it.read_some_at(2, mutable_buffers{spaces})).value() == 7);

         CHECK(text(first) + text(second) == "one two");
         CHECK(home.get("parts") == std::string{"\0\0one two", 9});
     }},
    {"cursors are streams with positions of their own",
     [](io_context&) -> task<> {
         const scratch_directory home;
         auto made = co_await file::open(home / "it", file_options::updating());
         file it = made.take();
         file::cursor front = it.at(0);
         file::cursor back = it.at(10);

         const auto both = co_await when_all(write_all(front, bytes_of("0123456789")),
                                             write_all(back, bytes_of("abcdef")));
         CHECK(std::get<0>(both).value() == 10);
         CHECK(std::get<1>(both).value() == 6);
         CHECK(front.offset() == 10);
         CHECK(back.offset() == 16);

         std::array<std::byte, 6> space;
         file::cursor middle = it.at(7);
         CHECK((co_await read_exactly(middle, space)).ok());
         CHECK(text(space) == "789abc");
         const auto short_one = co_await read_exactly(middle, space);
         CHECK(short_one.error() == errc::eof);
         CHECK(short_one.value() == 3);
         CHECK(middle.offset() == 16);
     }},
    {"a durable write is one, and so is what was synced",
     [](io_context&) -> task<> {
         const scratch_directory home;
         auto made = co_await file::open(home / "journal", file_options::updating());
         file it = made.take();
         const std::array parts{bytes_of("group "), bytes_of("of two")};

         CHECK((co_await it.write_durably_at(0, bytes_of("entry "))).value() == 6);
         CHECK((co_await it.write_durably_at(6, const_buffers{parts})).value() == 12);
         CHECK((co_await it.sync_range(0, 18)).ok());
         CHECK((co_await it.sync_data()).ok());
         CHECK((co_await it.sync_all()).ok());

         CHECK(home.get("journal") == "entry group of two");
     }},
    {"a file is resized, has room set aside, and tells its status",
     [](io_context&) -> task<> {
         const scratch_directory home;
         auto made = co_await file::open(home / "it", file_options::updating());
         file it = made.take();
         CHECK((co_await write_all(it, bytes_of("content"))).ok());

         CHECK((co_await it.resize(3)).ok());
         CHECK(home.get("it") == "con");
         CHECK((co_await it.resize(5)).ok());
         CHECK(home.get("it") == std::string{"con\0\0", 5});
         CHECK((co_await it.allocate(0, 100'000)).ok());
         const auto asked = co_await it.status();
         REQUIRE(asked.ok());
         const file_status& status = asked.value();
         struct stat expected{};
         REQUIRE(::fstat(it.native_handle(), &expected) == 0);
         CHECK(status.size == 100'000);
         CHECK(status.allocated >= 100'000);
         CHECK(status.kind == file_kind::regular);
         CHECK(status.inode == expected.st_ino);
         CHECK(status.device == expected.st_dev);
         CHECK(status.links == 1);
         CHECK(static_cast<unsigned>(status.permissions) == (expected.st_mode & 07777U));
         const auto modified = std::chrono::seconds{expected.st_mtim.tv_sec} +

                               std::chrono::nanoseconds{expected.st_mtim.tv_nsec};
         CHECK(status.modified.time_since_epoch() == modified);
     }},
    {"permissions are those that were asked for, less the umask",
     [](io_context&) -> task<> {
         const scratch_directory home;
         file_options secret = file_options::writing();
         secret.permissions =
             std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
         auto made = co_await file::open(home / "key", secret);
         file it = made.take();
         const auto asked = co_await it.status();
         CHECK(asked.value().permissions == secret.permissions);
     }},
    {"a device that is full says so",
     [](io_context&) -> task<> {
         file_options how{file_access::write};
         auto opened = co_await file::open("/dev/full", how);
         REQUIRE(opened.ok());
         file full = opened.take();
         const auto written = co_await full.write_some(bytes_of("x"));
         CHECK(written.error() == errc::no_space_on_device);
     }},
    {"past the cache, aligned blocks come back as they were",
     [](io_context&) -> task<> {
         constexpr std::size_t block = 4096;
         const scratch_directory home;
         file_options direct = file_options::updating();
         direct.direct = true;
         auto made = co_await file::open(home / "blocks", direct);
         if (made.error() == errc::invalid_argument) co_return;  // Not on this file system.
         file it = made.take();
         const auto free_it = [](void* at) { std::free(at); };
         const std::unique_ptr<void, decltype(free_it)> memory{std::aligned_alloc(block, 2 * block),
                                                               free_it};
         const std::span both{static_cast<std::byte*>(memory.get()), 2 * block};
         std::fill(both.begin(), both.begin() + block, std::byte{7});

         CHECK((co_await it.write_some_at(block, both.first(block))).value() == block);
         CHECK((co_await it.read_some_at(block, both.last(block))).value() == block);

         CHECK(both.back() == std::byte{7});
         const auto crooked = co_await it.read_some_at(block, both.subspan(1, block));
         CHECK(crooked.error() == errc::invalid_argument);
     }},
    {"a stop ends a file's operation that has not begun, and loses nothing of one that has",
     [](io_context&) -> task<> {
         const scratch_directory home;
         auto made = co_await file::open(home / "it", file_options::updating());
         file it = made.take();
         const std::vector<std::byte> block(1 << 16, std::byte{1});
         std::uint64_t reported = 0;
         const auto write_for_ever = [&]() -> task<io_result<>> {
             for (;;) {
                 const auto done = co_await it.write_some_at(reported, block);
                 reported += done.value();
                 if (!done.ok()) co_return done.error();
             }
         };

         const auto stopped = co_await with_timeout(5ms, write_for_ever());

         CHECK(stopped.error() == errc::timed_out);
         const auto asked = co_await it.status();
         CHECK(asked.value().size == reported);
     }},
    {"closing waits for the device, and what is made for a closed file does not begin",
     [](io_context&) -> task<> {
         const scratch_directory home;
         auto made = co_await file::open(home / "it", file_options::updating());
         file it = made.take();
         const std::vector<std::byte> block(1 << 20, std::byte{1});
         auto late = it.sync_all();
         const auto close = [&]() -> task<io_result<>> { co_return it.close(); };

         const auto both = co_await when_all(it.write_some_at(0, block), close());

         const auto& written = std::get<0>(both);
         CHECK((written.ok() || written.error() == errc::canceled));
         CHECK(home.get("it").size() == written.value());
         const auto synced = co_await late;
         CHECK(synced.error() == errc::closed);
         const auto asked = co_await it.status();
         CHECK(asked.error() == errc::closed);
     }},
    {"closing files while workers end their operations loses no wake-up",
     [](io_context& io) -> task<> {
         const scratch_directory home;
         const auto resize = [](file& it) -> task<> {
             const io_result<> resized = co_await it.resize(100);
             CHECK((resized.ok() || resized.error() == errc::canceled));
         };
         for (int round = 0; round < 1000; ++round) {
             std::array<file, 4> some;
             for (std::size_t each = 0; each < some.size(); ++each) {
                 const std::string name = home / std::to_string(each);
                 some[each] = (co_await file::open(name, file_options::updating())).take();
             }
             for (file& each : some) launch(io, resize(each), or_terminate{});
             co_await yield();
             for (file& each : some) CHECK(each.close().ok());
             co_await yield();
         }
     }},
};

const conformance_suite on_the_kernel_suite{"files", on_the_kernel};

}  // namespace

TEST_CASE("what the page cache holds is read without a worker") {
    on_each_backend_of("files", [](io_context&) -> task<> {
        const scratch_directory home;
        const std::string name = home.put("it", std::string(1 << 16, 'x'));
        auto opened = co_await file::open(name);
        file it = opened.take();
        std::array<std::byte, 4096> block{};
        const std::ptrdiff_t threads = threads_of_this_process();
        std::size_t got = 0;

        for (;;) {
            const auto read = co_await it.read_some(block);
            if (!read.ok()) {
                CHECK(read.error() == errc::eof);
                break;
            }
            CHECK(block[read.value() - 1] == std::byte{'x'});
            got += read.value();
        }

        CHECK(got == 1 << 16);
        CHECK(threads_of_this_process() <= threads);
    });
}

namespace {

// Ends where its owner destroys it.
disposable write_in_frame(file& into, std::shared_ptr<std::vector<std::byte>> from) {
    static_cast<void>(co_await into.write_some(*from));
    FAIL_CHECK("resumed after its end");
}

disposable open_in_frame(std::string path) {
    static_cast<void>(co_await file::open(std::move(path)));
    FAIL_CHECK("resumed after its end");
}

}  // namespace

TEST_CASE(
    "a frame that is destroyed with a file's operation takes its buffer along when that is over") {
    on_each_backend_of("files", [](io_context& io) -> task<> {
        const scratch_directory home;
        const std::string name = home.put("it", std::string(1 << 20, 'x'));
        file it = (co_await file::open(name, file_options::writing())).take();
        const std::size_t before = open_descriptors();
        stop_chain chain;
        const environment surroundings{io, &io, &chain};
        for (int round = 0; round < 300; ++round) {
            // In order, so that a worker writes, on rings as well.
            auto space = std::make_shared<std::vector<std::byte>>(1 << 16);
            const disposable writer = write_in_frame(it, std::move(space));
            const disposable opener = open_in_frame(name);
            writer.frame.promise().env = opener.frame.promise().env = &surroundings;
            const disposable& one = round % 2 == 0 ? writer : opener;
            gyre::resume(one.frame);
            // It is waiting for a worker, running there, ended there, or ready: all of them are met.
            const duration pause = std::chrono::microseconds{round % 30 * 5};
            for (const time_point begun = io.read_clock(); io.read_clock() - begun < pause;) {
            }

            writer.frame.destroy();
            opener.frame.destroy();

            CHECK(chain.pending() == nullptr);
        }
        co_await settle();
        CHECK(open_descriptors() == before);
    });
}
