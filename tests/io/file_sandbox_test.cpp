// SPDX-License-Identifier: BSL-1.0
//
// Files where a sandbox keeps calls from us that old versions of Docker and of libseccomp do not know.
//
// Filters stick to a process, so each has a child. What the ring does on io_uring they do not see.
#include <gyre/io/file.hpp>

#include <gyre/io/file_system.hpp>
#include <gyre/io/pipe.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/harness.hpp>
#include <support/refusals.hpp>
#include <support/scratch_directory.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

using sandboxed_body = std::function<task<>(io_context&, child_process&, const scratch_directory&)>;

void check_answered(std::span<const unsigned> calls, int answer, const sandboxed_body& body) {
    for (const backend_choice backend : backends_under_test()) {
        if (backend == backend_choice::custom) continue;
        INFO(answer, " on ", std::string{describe(backend)});
        const scratch_directory home;
        check_in_child([&](child_process& me) {
            forbid(calls, static_cast<unsigned>(answer));
            io_context io{require(backend)};
            run_to_end(me, io, body(io, me, home));
        });
    }
}

void check_in_sandbox(std::span<const unsigned> refused, const sandboxed_body& body) {
    for (const int answer : {EPERM, EACCES, ENOSYS}) check_answered(refused, answer, body);
}

template <class Result>
void expect(child_process& me, const Result& got, errc wanted, const std::string& step) {
    me.check(got.error() == wanted, step + ": " + got.error().message());
}

task<> check_positions(io_context&, child_process& me, const scratch_directory& home) {
    const std::array<const_buffer, 2> parts{bytes_of(", in two"), bytes_of(" parts")};
    std::array<std::byte, 32> space{};
    const std::array<mutable_buffer, 2> into{mutable_buffer{space}.first(5),
                                             mutable_buffer{space}.subspan(5)};
    auto opened = co_await file::open(home / "file", file_options::updating());
    expect(me, opened, errc::ok, "open");
    file it = opened.take();
    expect(me, co_await it.write_some_at(0, bytes_of("kept")), errc::ok, "write");
    const auto durable = co_await it.write_durably_at(4, const_buffers{parts});
    me.check(durable.value() == 14, "a durable write says how much");
    const auto got = co_await it.read_some_at(0, mutable_buffers{into});
    me.check(text_of(std::span{space}.first(got.value())) == "kept, in two parts",
             "what was written is read");
    const auto in_order = co_await it.read_some(mutable_buffer{space}.first(4));
    me.check(in_order.value() == 4, "and read in order");
    expect(me, co_await it.write_some(bytes_of("; over")), errc::ok, "write in order");
    me.check(home.get("file") == "kept; overwo parts", "where the position was");

    file_options how = file_options::appending();
    auto log = co_await file::open(home / "log", how);
    file lines = log.take();
    expect(me, co_await lines.write_durably_at(0, bytes_of("once\n")), errc::ok, "append");
    me.check(home.get("log") == "once\n", "what is appended durably is there once");
}

task<> check_waiting(io_context& io, child_process& me, const scratch_directory&) {
    auto made = make_pipe(io);
    auto [failed, out, in] = std::move(made);
    std::array<std::byte, 8> space{};
    const auto none = co_await with_timeout(1ms, out.read_some(space));
    expect(me, none, errc::timed_out, "an empty pipe");
    expect(me, co_await write_all(in, bytes_of("text")), errc::ok, "a write");
    me.check((co_await out.read_some(space)).value() == 4, "what was written is read");
    const std::vector<std::byte> much(1 << 20);
    const auto filled = co_await with_timeout(5ms, write_all(in, much));
    expect(me, filled, errc::timed_out, "a full pipe");
    static_cast<void>(out.close());
    expect(me, co_await in.write_some(bytes_of("x")), errc::broken_pipe, "no reader");
}

task<> check_fifo(io_context&, child_process& me, const scratch_directory& home) {
    REQUIRE(::mkfifo((home / "fifo").c_str(), 0600) == 0);
    file reader = (co_await file::open(home / "fifo")).take();
    std::array<std::byte, 8> space{};
    const auto early = co_await with_timeout(1ms, reader.read_some(space));
    expect(me, early, errc::timed_out, "no writer yet");
    static_cast<void>(co_await file::open(home / "fifo", file_options{file_access::write}));
    expect(me, co_await reader.read_some(space), errc::eof, "a writer has come and left");
}

task<> check_status(io_context&, child_process& me, const scratch_directory& home) {
    static_cast<void>(home.put("file", "content"));
    REQUIRE(::chmod((home / "file").c_str(), 0640) == 0);
    REQUIRE(::symlink("file", (home / "link").c_str()) == 0);
    struct stat known{};
    REQUIRE(::stat((home / "file").c_str(), &known) == 0);
    const auto found = co_await status_of(home / "link");
    expect(me, found, errc::ok, "status");
    const file_status it = found.value();
    me.check(it.size == 7 && it.kind == file_kind::regular, "size and kind");
    me.check(it.inode == known.st_ino && it.device == known.st_dev, "which file it is");
    me.check(it.permissions == static_cast<std::filesystem::perms>(0640), "permissions");
    me.check(it.links == 1 && it.user == known.st_uid && it.group == known.st_gid, "its owner");
    me.check(it.modified.time_since_epoch() == std::chrono::seconds{known.st_mtim.tv_sec} +
                                                   std::chrono::nanoseconds{known.st_mtim.tv_nsec},
             "when it was written");
    const auto link = co_await status_of(home / "link", false);
    me.check(link.value().kind == file_kind::symbolic_link, "a link is not followed");
    expect(me, co_await status_of(home / "none"), errc::no_such_file, "what is not there");
    file opened = (co_await file::open(home / "file")).take();
    const auto itself = co_await opened.status();
    me.check(itself.value().size == 7 && itself.value().inode == known.st_ino, "of what is open");
}

task<> check_names(io_context& io, child_process& me, const scratch_directory& home) {
    static_cast<void>(home.put("old", "content"));
    expect(me, co_await rename_file(home / "old", home / "new"), errc::ok, "rename");
    me.check(home.get("new") == "content", "it has its new name");
    expect(me, co_await replace_file(home / "new", bytes_of("more")), errc::ok, "replace");
    me.check(home.get("new") == "more", "it was replaced");
    // Without the call there is no such thing, and nothing is done.
    const auto kept = co_await rename_new(home / "new", home / "newer");
    if (is_uring(io)) {
        expect(me, kept, errc::ok, "a rename that replaces nothing");
        co_return;
    }
    me.check(!kept.ok() && home.get("new") == "more", "it keeps its name");
}

// The same as where the call is not refused: see file_system_test.cpp.
task<> check_beneath(io_context&, child_process& me, const scratch_directory& home) {
    namespace files = std::filesystem;
    files::create_directories(home / "site/inner");
    static_cast<void>(home.put("secret", "SECRET"));
    static_cast<void>(home.put("site/file", "content"));
    files::create_symlink("../secret", home / "site/out");
    files::create_symlink(home / "secret", home / "site/absolute");
    files::create_symlink("../file", home / "site/inner/back");
    files::create_symlink("loop", home / "site/loop");
    directory root = (co_await directory::open(home / "site")).take();

    static constexpr std::array inside{"file", "./file", "inner/../file", "inner/back",
                                       "inner//../file"};
    static constexpr std::array outside{"../secret",          "out", "absolute",    "/etc/passwd",
                                        "inner/../../secret", "..",  "../site/file"};
    for (const char* each : inside) expect(me, co_await root.open_beneath(each), errc::ok, each);
    for (const char* each : outside)
        expect(me, co_await root.open_beneath(each), errc::across_devices, each);
    expect(me, co_await root.open_beneath("none"), errc::no_such_file, "none");
    expect(me, co_await root.open_beneath("file/none"), errc::not_a_directory, "file/none");
    expect(me, co_await root.open_beneath("file/"), errc::not_a_directory, "file/");
    expect(me, co_await root.open_beneath("loop"), errc::symbolic_link_loop, "loop");
    expect(me, co_await root.open_beneath(""), errc::no_such_file, "an empty name");
    auto made = co_await root.open_beneath("inner/made", file_options::writing());
    expect(me, made, errc::ok, "a new file");
    me.check(files::exists(home / "site/inner/made"), "which is where it should be");
}

}  // namespace

TEST_CASE("files are read and written, durably too, though preadv2 and pwritev2 are refused") {
    constexpr std::array<unsigned, 2> calls{SYS_preadv2, SYS_pwritev2};
    check_in_sandbox(calls, check_positions);
}

TEST_CASE(
    "pipes are waited for, and broken without a signal, though preadv2 and pwritev2 are refused") {
    constexpr std::array<unsigned, 2> calls{SYS_preadv2, SYS_pwritev2};
    check_in_sandbox(calls, check_waiting);
}

TEST_CASE(
    "a FIFO that no writer has opened is waited for though a read of it says that it is over") {
    // Some kernels can be asked for a single try of a FIFO; this answer is theirs.
    constexpr std::array<unsigned, 1> calls{SYS_preadv2};
    check_answered(calls, 0, check_fifo);
}

TEST_CASE("what the file system knows of a file is reported though statx is refused") {
    constexpr std::array<unsigned, 1> calls{SYS_statx};
    check_in_sandbox(calls, check_status);
}

TEST_CASE("files are renamed though renameat2 is refused, unless they must replace nothing") {
    constexpr std::array<unsigned, 1> calls{SYS_renameat2};
    check_in_sandbox(calls, check_names);
}

TEST_CASE("files beneath a directory are opened, and no others, though openat2 is refused") {
    constexpr std::array<unsigned, 1> calls{SYS_openat2};
    check_in_sandbox(calls, check_beneath);
}
