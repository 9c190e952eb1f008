// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/inherited_descriptors.hpp promises, between two generations of a program.
#include <gyre/io/inherited_descriptors.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/process.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

using namespace gyre;
using namespace gyre::testing;

namespace {

void announce(const std::string& count, const std::string& names, int receiver) {
    ::setenv("LISTEN_FDS", count.c_str(), 1);
    ::setenv("LISTEN_FDNAMES", names.c_str(), 1);
    if (receiver > 0) {
        ::setenv("LISTEN_PID", std::to_string(receiver).c_str(), 1);
    } else {
        ::unsetenv("LISTEN_PID");
    }
}

// In a program that was started with pipes as 3 and 4, `body(io, me)`.
template <class Body>
void with_two_pipes(const Body& body) {
    for (const backend_choice each : backends_under_test()) {
        INFO("backend ", std::string{describe(each)});
        const child_report report = in_child([&](child_process& me) {
            int ends[2];
            if (::pipe(ends) != 0) me.check(false, "a pipe");
            const int moved = ::fcntl(ends[0], F_DUPFD, 100);
            const int other = ::fcntl(ends[1], F_DUPFD, 100);
            ::dup2(moved, 3);
            ::dup2(other, 4);
            io_context_options options;
            options.backend = each;
            io_context io{options};
            body(io, me);
        });
        CHECK_MESSAGE(report.passed(), report.text);
    }
}

}  // namespace

TEST_CASE("what was announced is taken over in its order, under its names, and only once") {
    with_two_pipes([](io_context& io, child_process& me) {
        announce("2", "metrics:", ::getpid());
        auto taken = take_inherited_descriptors(io);
        me.check(taken.ok(), "it succeeds");
        const auto all = taken.take();
        me.check(all.size() == 2, "both are there");
        me.check(all[0].name == "metrics" && all[1].name == "unknown", "their names");
        me.check((::fcntl(all[0].it.native_handle(), F_GETFD) & FD_CLOEXEC) != 0, "close-on-exec");
        me.check(::write(all[1].it.native_handle(), "x", 1) == 1, "the second is written to");
        char got = 0;
        me.check(::read(all[0].it.native_handle(), &got, 1) == 1 && got == 'x', "the first read");
        me.check(::fcntl(3, F_GETFD) < 0 || all[0].it.native_handle() == 3, "3 is free");
        me.check(std::getenv("LISTEN_FDS") == nullptr, "the announcement is gone");
        auto again = take_inherited_descriptors(io);
        me.check(again.ok() && again.take().empty(), "there is nothing left");
    });
}

TEST_CASE("what was announced to another process, or wrongly, is left alone") {
    with_two_pipes([](io_context& io, child_process& me) {
        announce("2", "", ::getpid() + 1);
        auto others = take_inherited_descriptors(io);
        me.check(others.ok() && others.take().empty(), "another process's");
        for (const char* const wrong : {"two", "-1", "2x", "100000"}) {
            announce(wrong, "", 0);
            me.check(take_inherited_descriptors(io).error() == errc::malformed, wrong);
        }
        announce("2", "", 0);
        for (const char* const wrong : {"x", "-1", "0", "1x", "99999999999"}) {
            ::setenv("LISTEN_PID", wrong, 1);
            me.check(take_inherited_descriptors(io).error() == errc::malformed, wrong);
        }
        announce("90", "", 0);
        me.check(take_inherited_descriptors(io).error() == errc::bad_descriptor, "not open");
        const int own = ::fcntl(3, F_DUPFD_CLOEXEC, 5);
        announce(std::to_string(own - 2), "", 0);
        me.check(take_inherited_descriptors(io).error() == errc::bad_descriptor, "our own");
        me.check(::fcntl(own, F_GETFD) >= 0, "our own is open still");
        me.check(::fcntl(3, F_GETFD) >= 0 && ::fcntl(4, F_GETFD) >= 0, "they are open still");
        me.check(std::getenv("LISTEN_FDS") != nullptr, "the announcement is there still");
    });
}

TEST_CASE("a child that is given listeners keeps what else is in its environment") {
    on_every_backend([](io_context& io) -> task<> {
        auto listening = stream_acceptor::listen(io, endpoint{ipv4::loopback(), 0});
        stream_acceptor first = listening.take();
        process_options how;
        how.environment = std::vector<std::string>{"LISTEN_ADDRESS=here", "LISTEN_FDS=7",
                                                   "LISTEN_PID=1", "LISTEN_FDNAMES=old"};
        how.arguments = {"-c",
                         "echo $LISTEN_ADDRESS $LISTEN_FDS $LISTEN_FDNAMES ${LISTEN_PID-none}"};
        how.passed = {{first.native_handle(), "web"}};

        const io_result<process_output> said = co_await run_process("/bin/sh", how);

        REQUIRE(said.ok());
        CHECK(said.value().output == "here 1 web none\n");
    });
}

TEST_CASE("a child is given listeners, as a service is") {
    on_every_backend([](io_context& io) -> task<> {
        auto listening = stream_acceptor::listen(io, endpoint{ipv4::loopback(), 0});
        stream_acceptor first = listening.take();
        process_options how;
        how.arguments = {"-c",
                         "ls -x /proc/$$/fd; echo $LISTEN_FDS $LISTEN_FDNAMES; "
                         "readlink /proc/$$/fd/4; readlink /proc/$$/fd/3"};
        int null[] = {::open("/dev/null", O_RDONLY | O_CLOEXEC), -1};
        how.passed = {{first.native_handle(), "web"}, {null[0], "nothing"}};

        const io_result<process_output> said = co_await run_process("sh", how);

        REQUIRE(said.ok());
        const std::string& text = said.value().output;
        CHECK_MESSAGE(text.starts_with("0  1  2  3  4\n2 web:nothing\n/dev/null\nsocket:["), text);
        how.passed = {{first.native_handle(), "a:b"}};
        CHECK((co_await run_process("sh", how)).error() == errc::invalid_argument);
        ::close(null[0]);
    });
}
