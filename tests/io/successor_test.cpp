// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/successor.hpp promises. The generations of a server are this program itself, which becomes one
// where GYRE_TEST_GENERATION says so.
#include <gyre/io/successor.hpp>

#include <gyre/io/inherited_descriptors.hpp>
#include <gyre/io/run.hpp>
#include <gyre/io/serve.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <io/connections.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<io_result<>> generation() {
    io_context& io = *io_context::current();
    auto inherited = take_inherited_descriptors(io);
    auto taken = ready_notice::take(io);
    if (!inherited.ok() || !taken.ok()) co_return error{errc::malformed};
    auto listeners = inherited.take();
    if (listeners.size() != 1) co_return error{errc::invalid_argument};
    ready_notice ready = taken.take();
    const io_result<> told = co_await ready.tell();
    if (!told.ok()) co_return told.error();
    const io_result<> served =
        co_await serve(stream_acceptor::adopt(io, listeners[0].it.release()), &echo);
    co_return served;
}

// Before the tests' own main.
const bool is_a_test = [] {
    if (std::getenv("GYRE_TEST_GENERATION") == nullptr) return true;
    run_options options;
    options.grace = 30s;
    ::_exit(run_until_signal(generation(), options));
}();

process_options next_generation(io_context& io, const stream_acceptor& listener) {
    process_options how;
    how.environment = {"GYRE_TEST_GENERATION=1",
                       "GYRE_BACKEND=" + std::string{describe(io.backend().kind)}};
    how.passed.push_back({listener.native_handle(), "web"});
    return how;
}

process_options shell(std::string script) {
    process_options how;
    how.arguments = {"-c", std::move(script)};
    return how;
}

process_options for_ever() {
    process_options how;
    how.arguments = {"1000"};
    return how;
}

struct load {
    std::uint64_t answered = 0;
    std::uint64_t refused = 0;
    std::uint64_t lost = 0;  // Connections that were reset or closed, or gave a wrong answer.
    bool over = false;
};

task<> ask(endpoint server, load& told) {
    while (!told.over) {
        io_result<stream_socket> connected = co_await stream_socket::connect(server);
        if (!connected.ok()) {
            ++told.refused;
            co_return;
        }
        stream_socket client = connected.take();
        for (int each = 0; each < 3; ++each) {
            std::array<std::byte, 8> space{};
            const io_result<std::size_t> sent = co_await write_all(client, bytes_of("question"));
            const io_result<std::size_t> got = co_await read_exactly(client, space);
            if (sent.ok() && got.ok() && text_of(space) == "question") {
                ++told.answered;
            } else {
                ++told.lost;
            }
        }
    }
}

}  // namespace

TEST_CASE("a hundred generations follow each other under load, and no client hears of it") {
    REQUIRE(is_a_test);
    on_every_backend([](io_context& io) -> task<> {
        // The tiers share what closes and accepts.
        const backend_choice kind = io.backend().kind;
        if (kind != backend_choice::epoll && kind != backend_choice::uring_a) co_return;
        stream_acceptor listener = stream_acceptor::listen(io, {ipv4::loopback(), 0}).take();
        const endpoint where = listener.local_endpoint().value();
        load told;
        int failed = 0;
        int unclean = 0;
        const auto body = [&](task_group& group) -> task<> {
            process current;
            for (int each = 0; each <= 100; ++each) {
                auto started =
                    co_await start_successor("/proc/self/exe", next_generation(io, listener), 20s);
                failed += started.ok() ? 0 : 1;
                if (!started.ok()) break;
                auto [fine, next, ended] = std::move(started);
                if (each == 0) {
                    for (int client = 0; client < 8; ++client) group.spawn(ask(where, told));
                } else {
                    const io_result<exit_status> old = co_await current.terminate(20s);
                    unclean += old.ok() && old.value().success() ? 0 : 1;
                }
                current = std::move(next);
            }
            told.over = true;
            co_await group.join();
            const io_result<exit_status> last = co_await current.terminate(20s);
            CHECK(last.ok());
        };

        co_await with_group(body);

        MESSAGE(std::string{describe(kind)}, ": ", told.answered, " answers");
        CHECK(failed == 0);
        CHECK(unclean == 0);
        CHECK(told.refused == 0);
        CHECK(told.lost == 0);
        CHECK(told.answered > 100);
    });
}

TEST_CASE("a program that ends before it is ready is an error, with its status") {
    on_every_backend([](io_context&) -> task<> {
        const std::size_t before = open_descriptors();

        const auto started = co_await start_successor("sh", shell("exit 7"), 20s);

        CHECK(started.error() == errc::eof);
        CHECK(started.get<2>() == exit_status::exited(7));
        CHECK(open_descriptors() == before);
    });
}

TEST_CASE("a program that has ended is noticed though a child of its own has the pipe") {
    on_every_backend([](io_context&) -> task<> {
        const auto started =
            co_await start_successor("sh", shell("sleep 10 >/dev/null 2>&1 & exit 3"), 5s);

        CHECK(started.error() == errc::eof);
        CHECK(started.get<2>() == exit_status::exited(3));
    });
}

TEST_CASE("a program that gives up its end of the pipe, or never says a word, is ended") {
    on_every_backend([](io_context&) -> task<> {
        const auto gave_up = co_await start_successor(
            "sh", shell("eval \"exec $GYRE_READY_FD>&-\"; exec sleep 1000"), 20s);
        CHECK(gave_up.error() == errc::eof);
        CHECK(gave_up.get<2>() == exit_status::killed(SIGTERM, false));

        const auto silent = co_await start_successor("sleep", for_ever(), 50ms);
        CHECK(silent.error() == errc::timed_out);
        CHECK(silent.get<2>() == exit_status::killed(SIGTERM, false));
        CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
        CHECK(errno == ECHILD);
    });
}

TEST_CASE("a program that is not there is an error of the start") {
    on_every_backend([](io_context&) -> task<> {
        const std::size_t before = open_descriptors();
        const auto started = co_await start_successor("/no/such/program", {}, 20s);
        CHECK(started.error() == errc::no_such_file);
        CHECK(open_descriptors() == before);
    });
}

TEST_CASE("a program without gyre is ready when it writes to the descriptor that it is told of") {
    on_every_backend([](io_context& io) -> task<> {
        stream_acceptor listener = stream_acceptor::listen(io, {ipv4::loopback(), 0}).take();
        process_options how = shell(
            "echo >&$GYRE_READY_FD; echo $LISTEN_FDS $GYRE_READY_FD; "
            "exec sleep 1000");
        how.output = child_stream::piped();
        how.passed.push_back({listener.native_handle(), "web"});

        auto started = co_await start_successor("sh", how, 20s);
        REQUIRE(started.ok());
        auto [fine, child, unused] = std::move(started);
        std::string said(4, '\0');
        const io_result<std::size_t> got = co_await read_exactly(child.output(), said);

        CHECK(got.ok());
        CHECK(said == "1 4\n");
    });
}

TEST_CASE("a start that is stopped leaves no process behind") {
    while (::waitpid(-1, nullptr, 0) > 0) {
    }  // What earlier cases have killed.
    on_every_backend([](io_context&) -> task<> {
        const auto started = co_await with_timeout(50ms, start_successor("sleep", for_ever(), 1h));
        CHECK(started.error() == errc::timed_out);
        CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
        CHECK(errno == ECHILD);
    });
}

TEST_CASE("a shell gives a program the number that sd_listen_fds insists on") {
    on_every_backend([](io_context& io) -> task<> {
        stream_acceptor listener = stream_acceptor::listen(io, {ipv4::loopback(), 0}).take();
        process_options how;
        how.arguments = {"-c", "LISTEN_PID=$$ exec \"$0\" \"$@\"", "sh", "-c",
                         "test $LISTEN_PID = $$ && echo same"};
        how.passed.push_back({listener.native_handle(), "web"});

        const io_result<process_output> said = co_await run_process("sh", how);

        REQUIRE(said.ok());
        CHECK(said.value().output == "same\n");
    });
}

TEST_CASE("a program that nobody waits for tells nobody, and a wrong announcement is an error") {
    on_every_backend([](io_context& io) -> task<> {
        ready_notice none = ready_notice::take(io).take();
        CHECK_FALSE(none.wanted());
        const io_result<> told = co_await none.tell();
        CHECK(told.ok());

        for (const char* const wrong : {"", "x", "-1", "3x", "2147483648"}) {
            ::setenv("GYRE_READY_FD", wrong, 1);
            CHECK(ready_notice::take(io).error() == errc::malformed);
        }
        for (const char* const shut : {"999", "2147483647"}) {
            ::setenv("GYRE_READY_FD", shut, 1);
            CHECK(ready_notice::take(io).error() == errc::bad_descriptor);
        }
        const int own = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        ::setenv("GYRE_READY_FD", std::to_string(own).c_str(), 1);
        CHECK(ready_notice::take(io).error() == errc::bad_descriptor);
        CHECK(::fcntl(own, F_GETFD) >= 0);
        ::close(own);
        ::unsetenv("GYRE_READY_FD");
    });
}

TEST_CASE("a notice that has the last number there may be is taken") {
    with_every_backend([](const io_context_options& options) {
        const child_report report = in_child([&](child_process& me) {
            io_context io{options};
            const int last = 200;
            const rlimit so_many{last + 1, last + 1};
            std::array<int, 2> ends{};
            me.check(::pipe(ends.data()) == 0 && ::dup2(ends[1], last) == last, "a pipe");
            me.check(::setrlimit(RLIMIT_NOFILE, &so_many) == 0, "a limit");
            ::setenv("GYRE_READY_FD", std::to_string(last).c_str(), 1);

            const io_result<ready_notice> taken = ready_notice::take(io);

            me.check(taken.ok(), taken.error().message());
            me.check(taken.value().wanted(), "somebody waits");
            me.check(::fcntl(last, F_GETFD) < 0, "the number is free");
        });
        CHECK_MESSAGE(report.passed(), report.text);
    });
}
