// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/run.hpp promises. Signals end processes, so those tests run in forked children.
#include <gyre/io/run.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/coro/task_locals.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/io/serve.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/runtime/pool_dump.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// How a child ended, and what it said.
struct program_end {
    int status = -1;
    std::string text;
};

// Runs `body(options, child)`, whose value is a program's status, in a child on every backend.
void check_programs(const std::function<int(const run_options&, child_process&)>& body,
                    const std::function<void(const program_end&)>& check) {
    with_every_backend([&](const io_context_options& options) {
        const child_report report = in_child([&](child_process& me) {
            run_options with;
            with.loop = options;
            with.grace = 1h;
            const int ended = body(with, me);
            me.say("status " + std::to_string(ended));
        });
        INFO(report.text);
        check({report.status, report.text});
    });
}

bool says(const program_end& it, const char* what) {
    return it.text.find(what) != std::string::npos;
}

// Says what `body` writes to standard error.
int with_errors_read(child_process& me, const std::function<int()>& body) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) return -1;
    const int status = body();
    std::array<char, 4096> space{};
    const ssize_t size = ::read(ends[0], space.data(), space.size());
    me.say(std::string_view{space.data(), static_cast<std::size_t>(size)});
    return status;
}

}  // namespace

TEST_CASE("run yields what its task yields") {
    with_every_backend([](const io_context_options& options) {
        const auto answer = []() -> task<int> {
            static_cast<void>(co_await sleep_for(1ms));
            co_return 42;
        };
        const auto owner = []() -> task<std::unique_ptr<int>> {
            co_return std::make_unique<int>(7);
        };
        const auto failing = []() -> task<io_result<>> { co_return error{errc::eof}; };
        bool ran = false;
        const auto nothing_to_yield = [&ran]() -> task<> {
            ran = true;
            co_return;
        };

        CHECK(run(answer(), options) == 42);
        CHECK(*run(owner(), options) == 7);
        CHECK(run(failing(), options).error() == errc::eof);
        run(nothing_to_yield(), options);
        CHECK(ran);
    });
}

TEST_CASE("a program that ends by itself yields its status and needs no signal") {
    check_programs(
        [](const run_options& options, child_process& me) {
            const auto seven = []() -> task<int> { co_return 7; };
            const auto plain = []() -> task<> { co_return; };
            const auto fine = []() -> task<io_result<>> { co_return io_result<>{}; };
            const auto canceled = []() -> task<io_result<>> { co_return error{errc::canceled}; };
            me.check(run_until_signal(seven(), options) == 7, "an int is the status");
            me.check(run_until_signal(plain(), options) == 0, "void is success");
            me.check(run_until_signal(fine(), options) == 0, "ok is success");
            me.check(run_until_signal(canceled(), options) == 0, "canceled is success");
            return 0;
        },
        [](const program_end& it) { CHECK(it.status == 0); });
}

TEST_CASE("a program that ends with an error says which and has status 1") {
    check_programs(
        [](const run_options& options, child_process& me) {
            return with_errors_read(me, [&] {
                const auto failing = []() -> task<io_result<>> {
                    co_return error{errc::address_in_use, activity::bind};
                };
                return run_until_signal(failing(), options);
            });
        },
        [](const program_end& it) {
            CHECK(says(it, "gyre: bind: Address already in use"));
            CHECK(says(it, "status 1"));
        });
}

TEST_CASE("a program whose loop has no backend says why, has status 1, and does not begin") {
    check_programs(
        [](const run_options& options, child_process& me) {
            return with_errors_read(me, [&] {
                rlimit limit{};
                if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
                limit.rlim_cur = 0;
                if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
                const auto begins = [&me]() -> task<> {
                    me.say("it has begun");
                    co_return;
                };
                return run_until_signal(begins(), options);
            });
        },
        [](const program_end& it) {
            CHECK(says(it, "Too many open files"));
            CHECK_FALSE(says(it, "it has begun"));
            CHECK(says(it, "status 1"));
        });
}

TEST_CASE("the first signal drains: an accept and an idle wait end, the rest goes on") {
    for (const int signal : {SIGTERM, SIGINT}) {
        check_programs(
            [signal](const run_options& options, child_process& me) {
                const auto accept_one = [&me]() -> task<> {
                    io_result<tcp_acceptor> listening =
                        co_await tcp_acceptor::listen({ipv4::loopback(), 0});
                    tcp_acceptor acceptor = listening.take();
                    const io_result<stream_socket> taken = co_await acceptor.accept();
                    me.check(taken.error() == errc::canceled, "the accept ends");
                };
                const auto idle_wait = [&me]() -> task<> {
                    const io_result<> idled = co_await idle(sleep_for(1h));
                    me.check(idled.error() == errc::canceled, "the idle wait ends");
                };
                const auto busy = [&me]() -> task<> {
                    const io_result<> slept = co_await sleep_for(20ms);
                    me.check(slept.ok(), "the rest goes on");
                };
                const auto body = [&](task_group& group) -> task<> {
                    group.spawn(accept_one());
                    group.spawn(idle_wait());
                    group.spawn(busy());
                    co_await settle();
                    ::raise(signal);
                };
                const auto main = [&]() -> task<> { co_await with_group(body); };
                return run_until_signal(main(), options);
            },
            [](const program_end& it) {
                CHECK(it.status == 0);
                CHECK(it.text == "status 0\n");
            });
    }
}

TEST_CASE("what is left after the grace is stopped") {
    check_programs(
        [](run_options options, child_process& me) {
            options.grace = 30ms;
            const auto main = [&me]() -> task<io_result<>> {
                const io_context& io = *io_context::current();
                ::raise(SIGTERM);
                const time_point before = io.now();  // What the grace is counted from, or earlier.
                const io_result<> slept = co_await sleep_for(1h);
                const duration lasted = io.now() - before;
                me.check(slept.error() == errc::canceled, "the sleep is canceled");
                me.check(lasted >= 30ms, "not before the grace is over");
                const io_result<> shielded_sleep = co_await shielded(sleep_for(1ms), 1h);
                me.check(shielded_sleep.ok(), "what is shielded goes on");
                co_return slept;
            };
            return run_until_signal(main(), options);
        },
        [](const program_end& it) {
            CHECK(it.status == 0);
            CHECK(it.text == "status 0\n");
        });
}

TEST_CASE("a program that ends within the grace does not wait for the rest of it") {
    check_programs(
        [](const run_options& options, child_process&) {
            const auto main = []() -> task<int> {
                ::raise(SIGINT);
                static_cast<void>(co_await sleep_for(5ms));
                co_return 3;
            };
            return run_until_signal(main(), options);  // The grace is an hour.
        },
        [](const program_end& it) { CHECK(says(it, "status 3")); });
}

TEST_CASE("the second signal ends the process at once, though its coroutine never suspends") {
    for (const int signal : {SIGTERM, SIGINT}) {
        check_programs(
            [signal](run_options options, child_process&) {
                options.signal_gap = 0s;
                const auto stuck = [signal]() -> task<> {
                    co_await settle();
                    for (;;) ::raise(signal);
                };
                return run_until_signal(stuck(), options);
            },
            [signal](const program_end& it) {
                CHECK(it.status == 128 + signal);
                CHECK_FALSE(says(it, "status"));
            });
    }
}

TEST_CASE("exit within a coroutine ends the program with its status, whatever is under way") {
    check_programs(
        [](const run_options& options, child_process&) {
            static std::mutex held;  // By the worker: exit does not wait for what it does.
            static io_context other{options.loop};  // Ends behind the loop that runs.
            held.lock();
            const auto wait = []() -> task<> { static_cast<void>(co_await sleep_for(1h)); };
            launch(other, wait(), or_terminate{});
            other.poll();
            const auto main = [&](task_group& group) -> task<> {
                group.spawn(wait);
                group.spawn(
                    []() -> task<> { static_cast<void>(co_await blocking([] { held.lock(); })); });
                co_await settle();
                std::exit(3);
            };
            const auto whole = [&]() -> task<> { co_await with_group(main); };
            return run_until_signal(whole(), options);
        },
        [](const program_end& it) {
            CHECK(it.status == 3);
            CHECK_FALSE(says(it, "status"));
        });
}

TEST_CASE("a signal that is sent to a program and to its group does not cut its drain") {
    check_programs(
        [](run_options options, child_process& me) {
            me.check(options.signal_gap > 0s, "a gap by default");
            options.signal_gap = 1h;
            const auto main = []() -> task<int> {
                ::raise(SIGTERM);
                ::raise(SIGTERM);
                co_await settle();
                ::raise(SIGINT);
                co_return 3;
            };
            return run_until_signal(main(), options);
        },
        [](const program_end& it) {
            CHECK(it.status == 0);
            CHECK(says(it, "status 3"));
        });
}

TEST_CASE("a second signal ends the process once the gap behind the first is over") {
    check_programs(
        [](run_options options, child_process& me) {
            options.signal_gap = 20ms;
            const auto main = [&]() -> task<int> {
                ::raise(SIGTERM);
                const auto over = std::chrono::steady_clock::now() + options.signal_gap;
                while (std::chrono::steady_clock::now() < over)
                    static_cast<void>(co_await sleep_for(options.signal_gap));
                me.say("alive after the gap");
                ::raise(SIGTERM);
                co_return 3;
            };
            return run_until_signal(main(), options);
        },
        [](const program_end& it) {
            CHECK(it.status == 128 + SIGTERM);
            CHECK(it.text == "alive after the gap\n");
        });
}

TEST_CASE("after a program has ended, signals do what they did before") {
    check_programs(
        [](const run_options& options, child_process&) {
            const auto main = []() -> task<> { co_return; };
            static_cast<void>(::signal(SIGTERM, SIG_DFL));
            static_cast<void>(run_until_signal(main(), options));
            ::raise(SIGTERM);
            return 0;
        },
        [](const program_end& it) {
            CHECK(it.status == 128 + SIGTERM);
            CHECK(it.text.empty());
        });
}

TEST_CASE("a server under run_until_signal ends with status 0 on a signal") {
    check_programs(
        [](const run_options& options, child_process& me) {
            const auto session = [](stream_socket peer) -> task<> {
                std::array<std::byte, 16> space{};
                static_cast<void>(co_await peer.read_some(space));
            };
            const auto main = [&]() -> task<io_result<>> {
                io_result<tcp_acceptor> listening =
                    co_await tcp_acceptor::listen({ipv4::loopback(), 0});
                tcp_acceptor acceptor = listening.take();
                ::raise(SIGTERM);
                const io_result<> served = co_await serve(std::move(acceptor), session);
                me.check(served.ok(), "serve ends well");
                co_return served;
            };
            return run_until_signal(main(), options);
        },
        [](const program_end& it) { CHECK(it.text == "status 0\n"); });
}

TEST_CASE("a program that was asked for it prints who waits for what at a signal, and goes on") {
    check_programs(
        [](const run_options& options, child_process& me) {
            run_options with = options;
            with.dump_signal = SIGUSR1;
            const auto raises = []() -> task<int> {
                event unset;
                const auto waits = [&]() -> task<> { static_cast<void>(co_await unset.wait()); };
                const auto body = [&](task_group& group) -> task<> {
                    group.spawn(waits());
                    co_await settle();
                    static_cast<void>(::raise(SIGUSR1));
                    co_await settle();
                    unset.set();
                };
                co_await with_group(body);
                co_return 7;
            };
            return with_errors_read(me, [&] { return run_until_signal(raises(), with); });
        },
        [](const program_end& it) {
            CHECK(it.status == 0);
            CHECK(says(it, "gyre: waiting coroutines:"));
            CHECK(says(it, "waiting for event"));
            CHECK(says(it, "status 7"));
        });
}

TEST_CASE("a program that was asked for it prints who waits on the loops of a pool, too") {
    check_programs(
        [](const run_options& options, child_process& me) {
            io_pool_options two;
            two.threads = 2;
            io_pool pool{two};
            const auto waits = []() -> task<> {
                static_cast<void>(co_await this_task::stop_requested());
            };
            launch(pool, with_name("kept busy", waits()), or_terminate{});
            run_options with = options;
            with.dump_signal = SIGUSR1;
            with.dump_pool = &pool;
            const auto raises = [&pool]() -> task<int> {
                static_cast<void>(::raise(SIGUSR1));
                co_await settle();  // The pool is asked now.
                static_cast<void>(co_await dump_tasks(pool));
                co_await settle();
                co_return 7;
            };
            return with_errors_read(me, [&] {
                const int status = run_until_signal(raises(), with);
                pool.request_stop();
                pool.wait();
                return status;
            });
        },
        [](const program_end& it) {
            CHECK(it.status == 0);
            CHECK(says(it, "gyre: waiting coroutines of the pool:"));
            CHECK(says(it, "loop 0:"));
            CHECK(says(it, "loop 1:"));
            CHECK(says(it, "kept busy"));
            CHECK(says(it, "status 7"));
        });
}

TEST_CASE("a dump signal that cannot be waited for is reported, and others end the program") {
    for (const int impossible : {SIGKILL, 999, -1}) {
        check_programs(
            [impossible](const run_options& options, child_process& me) {
                run_options with = options;
                with.dump_signal = impossible;
                const auto drained = []() -> task<int> {
                    static_cast<void>(::raise(SIGTERM));
                    static_cast<void>(co_await this_task::stop_requested());
                    co_return 7;
                };
                return with_errors_read(me, [&] { return run_until_signal(drained(), with); });
            },
            [](const program_end& it) {
                CHECK(it.status == 0);
                CHECK(says(it, "will print nothing"));
                CHECK(says(it, "status 7"));
            });
    }
}
