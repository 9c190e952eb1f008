// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/descriptor.hpp promises of a program that was started without standard streams.
//
// The kernel gives the lowest number that is free: without care a loop's own descriptors become the standard
// streams of such a program. Numbers are closed in forked children, which no other test shares.
#include <gyre/io/descriptor.hpp>

#include <gyre/io/run.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/skip.hpp>

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <functional>

using namespace gyre;
using namespace gyre::testing;

namespace {

bool is_null_device(int number) {
    struct stat null{};
    struct stat found{};
    return ::stat("/dev/null", &null) == 0 && ::fstat(number, &found) == 0 &&
           S_ISCHR(found.st_mode) && found.st_rdev == null.st_rdev;
}

// A program without the standard streams of `closed`, a bit each. What it reads and writes, or the error.
void run_without(unsigned closed, const io_context_options& options, child_process& me,
                 errc read_ends, errc write_ends) {
    for (int number = 0; number < 3; ++number) {
        if ((closed >> number & 1U) != 0) ::close(number);
    }
    const auto use = [&]() -> task<> {
        io_context& io = *io_context::current();
        std::array<std::byte, 16> space{};
        if ((closed & 1U) != 0) {
            descriptor in = standard_input(io).take();
            const auto got = co_await in.read_some(space);
            me.check(got.error() == read_ends, "a read ends: " + got.error().message());
        }
        for (const int number : {1, 2}) {
            if ((closed >> number & 1U) == 0) continue;
            descriptor out = (number == 1 ? standard_output(io) : standard_error(io)).take();
            const auto put = co_await out.write_some(space);
            me.check(put.error() == write_ends, "a write ends: " + put.error().message());
        }
    };
    run(use(), options);
}

// In a child: a file system with nothing in it. False if that is refused.
bool enter_nothing(const std::string& path) {
    return ::chroot(path.c_str()) == 0 ||
           (::unshare(CLONE_NEWUSER) == 0 && ::chroot(path.c_str()) == 0);
}

}  // namespace

TEST_CASE("a standard stream that the program was started without is /dev/null") {
    for (unsigned closed = 1; closed < 8; ++closed) {
        with_every_backend([closed](const io_context_options& options) {
            const child_report report = in_child([&](child_process& me) {
                run_without(closed, options, me, errc::eof, errc::ok);
                for (int number = 0; number < 3; ++number) {
                    if ((closed >> number & 1U) == 0) continue;
                    me.check(is_null_device(number), "/dev/null");
                    me.check(::fcntl(number, F_GETFD) == 0, "children have it too");
                }
            });
            INFO(closed);
            CHECK_MESSAGE(report.passed(), report.text);
        });
    }
}

TEST_CASE("without a /dev/null a standard stream that is not there is a bad descriptor") {
    const scratch_directory nothing;
    bool entered = true;
    with_every_backend([&](const io_context_options& options) {
        const child_report report = in_child([&](child_process& me) {
            if (!enter_nothing(nothing.path().string())) return me.say("refused");
            run_without(7, options, me, errc::bad_descriptor, errc::bad_descriptor);
        });
        if (report.text == "refused\n") entered = false;
        else CHECK_MESSAGE(report.passed(), report.text);
    });
    if (!entered) skip("chroot(2) is refused");
}

TEST_CASE("a standard stream that is open stays what it is") {
    with_every_backend([](const io_context_options& options) {
        const child_report report = in_child([&](child_process& me) {
            std::array<int, 2> ends{};
            me.check(::pipe(ends.data()) == 0 && ::dup2(ends[0], STDIN_FILENO) == 0, "a pipe");
            me.check(::write(ends[1], "kept", 4) == 4, "written");
            run_without(6, options, me, errc::eof, errc::ok);
            std::array<char, 8> space{};
            me.check(::read(STDIN_FILENO, space.data(), space.size()) == 4, "the same pipe");
        });
        CHECK_MESSAGE(report.passed(), report.text);
    });
}
