// SPDX-License-Identifier: BSL-1.0
//
// What a forked child finds of its parent's loops, signals and free memory, and what it leaves alone.
#include <base/ending.hpp>
#include <gyre/base/check.hpp>
#include <gyre/base/last_words.hpp>
#include <gyre/coro/frame_allocator.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/runtime/signal_subscription.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <runtime/fork_count.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>
#include <support/pools.hpp>
#include <support/settle.hpp>

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

/// A sleep, a connection and a byte through it. True if all of it works.
task<bool> try_everything(io_context& io) {
    socket_pair ends = local_pair(io);
    std::array<std::byte, 1> byte{std::byte{7}};
    static_cast<void>(co_await sleep_for(100us));
    const bool sent = (co_await write_all(ends.client, byte)).ok();
    byte[0] = std::byte{0};
    const bool got = (co_await ends.server.read_some(byte)).ok();
    co_return sent&& got&& byte[0] == std::byte{7};
}

bool works(io_context& io) {
    bool worked = false;
    launch(io, try_everything(io), [&worked](task_outcome<bool> of) { worked = of.get(); });
    io.run_for(patience);
    return worked;
}

void say_own(void*) noexcept { std::fputs("own\n", stderr); }

void fork_and_say(void*) noexcept {
    if (::fork() == 0) ::_exit(0);
    std::fputs("forked\n", stderr);
}

/// A listener whose queue is full, so that a connect waits.
class full_listener {
public:
    full_listener() {
        const socket_address any = endpoint{ipv4::loopback(), 0}.raw();
        REQUIRE(::bind(number_, reinterpret_cast<const sockaddr*>(any.data), any.size) == 0);
        REQUIRE(::listen(number_, 0) == 0);
        sockaddr_in got{};
        socklen_t size = sizeof got;
        REQUIRE(::getsockname(number_, reinterpret_cast<sockaddr*>(&got), &size) == 0);
        address_ = {ipv4::loopback(), ntohs(got.sin_port)};
        // A backlog of zero has one place. Further connects would want it too once it is free again.
        REQUIRE(::connect(waiting_, reinterpret_cast<const sockaddr*>(&got), size) == 0);
    }
    full_listener(const full_listener&) = delete;
    full_listener& operator=(const full_listener&) = delete;
    ~full_listener() {
        ::close(waiting_);
        ::close(number_);
    }

    [[nodiscard]] const endpoint& address() const noexcept { return address_; }

    /// Takes what has connected, so that there is room.
    void accept_all() const {
        while (::accept(number_, nullptr, nullptr) >= 0) {
        }
    }

private:
    int number_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    endpoint address_;
    int waiting_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

}  // namespace

TEST_CASE("a child is counted, and its parent is not") {
    const unsigned before = fork_count();
    const child_report child =
        in_child([before](child_process& me) { me.check(fork_count() == before + 1, "one more"); });
    CHECK(child.text == "");
    CHECK(fork_count() == before);
}

TEST_CASE("a loop that was made before a fork works in the child and goes on in the parent") {
    with_every_backend([](const io_context_options& options) {
        for (const bool has_run : {false, true}) {
            io_context io{options};
            if (has_run) CHECK(works(io));
            const child_report child =
                in_child([&](child_process& me) { me.check(works(io), "the loop works"); });
            CHECK(child.text == "");
            CHECK(child.passed());
            CHECK(works(io));
        }
    });
}

TEST_CASE("what waits at a fork is stopped in the child, and goes on in the parent") {
    with_every_backend([](const io_context_options& options) {
        auto io = std::make_unique<io_context>(options);
        socket_pair ends = local_pair(*io);
        std::array<std::byte, 1> byte{};
        io_result<std::size_t> got{std::size_t{0}};
        const auto reads = [&]() -> task<> { got = co_await ends.server.read_some(byte); };
        const stop_handle reading = launch(*io, reads(), or_terminate{});
        io->poll();

        const child_report child = in_child([&](child_process& me) {
            reading.request_stop();
            io->run_for(patience);
            me.check(got.error() == errc::canceled, "the read was stopped");
        });
        CHECK(child.text == "");
        CHECK(child.passed());

        const child_report destroying = in_child([&](child_process& me) {
            ends.client = {};
            io.reset();
            me.check(got.error() == errc::canceled, "the loop ended its roots");
        });
        CHECK(destroying.text == "");
        CHECK(destroying.passed());

        const auto writes = [&]() -> task<> {
            static_cast<void>(co_await write_all(ends.client, byte));
        };
        launch(*io, writes(), or_terminate{});
        io->run_for(patience);
        CHECK(got.ok());
        CHECK(got.value() == 1);
    });
}

TEST_CASE("a child without a free descriptor may still call exec") {
    io_context io;
    const signal_subscription heard = signal_subscription::open(io, {SIGUSR1}).take();
    const child_report child = in_child([](child_process& me) {
        std::vector<int> taken;
        for (int next = ::dup(1); next >= 0; next = ::dup(1)) taken.push_back(next);
        const pid_t grandchild = ::fork();
        if (grandchild == 0) ::_exit(7);
        int status = 0;
        ::waitpid(grandchild, &status, 0);
        for (const int each : taken) ::close(each);
        me.check(WIFEXITED(status) && WEXITSTATUS(status) == 7, "the grandchild ended by itself");
    });
    CHECK(child.text == "");
    CHECK(child.passed());
}

// The parent's ring, or its epoll instance, and its wake-up event are of no use to the child: what it needs
// itself takes their places.
TEST_CASE("a child without a free descriptor goes on with a loop of its parent's") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        socket_pair ends = local_pair(io);
        std::array<std::byte, 1> byte{};
        io_result<std::size_t> got{std::size_t{0}};
        const auto reads = [&]() -> task<> { got = co_await ends.server.read_some(byte); };
        io.poll();

        const child_report child = in_child([&](child_process& me) {
            while (::dup(STDERR_FILENO) >= 0) continue;
            launch(io, reads(), or_terminate{});
            io.poll();
            me.check(::send(ends.client.native_handle(), "a", 1, MSG_NOSIGNAL) == 1, "it sends");
            io.run_for(patience);
            me.check(io.backend().kind == options.backend, io.backend().reason);
            me.check(got.value() == 1, got.error().message());
        });

        CHECK(child.text == "");
        CHECK(child.passed());
        CHECK(works(io));
    });
}

// As daemons close what they inherit.
TEST_CASE("a child that closes its parent's sockets may open others by their numbers") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        socket_pair ends = local_pair(io);
        std::array<std::byte, 1> byte{};
        io_result<std::size_t> got{std::size_t{0}};
        const auto reads = [&]() -> task<> { got = co_await ends.server.read_some(byte); };
        const stop_handle reading = launch(io, reads(), or_terminate{});
        io.poll();

        const child_report child = in_child([&](child_process& me) {
            const int number = ends.server.native_handle();
            io_context own{options};  // Before, or it might have taken the numbers for itself.
            ::close(number);
            ::close(ends.client.native_handle());
            const socket_pair others = local_pair(own);
            me.check(
                others.client.native_handle() == number || others.server.native_handle() == number,
                "a number is used again");
            me.check(ends.server.native_handle() < 0, "what the parent had by it is closed");
            me.check(works(own), "the new loop works");
            io.run_for(patience);
            me.check(got.error() == errc::canceled, "what waited in the parent's loop has ended");
        });
        CHECK(child.text == "");
        CHECK(child.passed());
        reading.request_stop();
        io.run_for(patience);
    });
}

TEST_CASE("a coroutine may fork and go on in the child, once it has told the loop") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        int child = -1;
        const auto forks = [&]() -> task<> {
            child = ::fork();
            if (child == 0) {
                ::alarm(60);
                io.notify_fork();
                const bool worked = co_await try_everything(io);
                ::_exit(worked ? 0 : 1);
            }
            CHECK(co_await try_everything(io));
        };
        launch(io, forks(), or_terminate{});
        io.run_for(patience);
        REQUIRE(child > 0);
        CHECK(wait_for_child(child) == 0);
        CHECK(works(io));
    });
}

TEST_CASE("a child's signals are its own, and its parent's are left to the parent") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        auto opened = signal_subscription::open(io, {SIGUSR1, SIGUSR2});
        REQUIRE(opened.ok());
        signal_subscription subscription = opened.take();
        ::raise(SIGUSR1);

        const child_report child = in_child([&](child_process& me) {
            me.check(subscription.take() == 0, "what came before is the parent's");
            ::raise(SIGUSR2);
            me.check(subscription.take() == SIGUSR2, "what comes now is the child's");
        });
        CHECK(child.text == "");
        CHECK(child.passed());

        CHECK(subscription.take() == SIGUSR1);
        CHECK(subscription.take() == 0);
    });
}

TEST_CASE("a child finds free memory although threads were at it when it was forked") {
    constexpr int forks = recycles_memory ? 400 : 50;  // A sanitizer's process takes long to fork.
    constexpr int blocks = 64;
    constexpr std::size_t size = 512;
    std::atomic<bool> over = false;
    // With next to nothing of their own they are at the central cache all the time.
    const auto churn = [&over] {
        frame_cache::set_bytes_max(size);
        std::vector<void*> held;
        while (!over.load()) {
            for (int each = 0; each < blocks; ++each) held.push_back(frame_cache::allocate(size));
            for (void* const each : held) frame_cache::release(each, size);
            held.clear();
        }
    };
    std::thread one{churn};
    std::thread other{churn};
    int failed = 0;
    for (int each = 0; each < forks; ++each) {
        const int child = start_child([] {
            ::alarm(10);
            std::vector<void*> held;
            for (int block = 0; block < blocks; ++block) {
                held.push_back(frame_cache::allocate(size));
            }
            for (void* const block : held) frame_cache::release(block, size);
            return 0;
        });
        if (wait_for_child(child) != 0) ++failed;
    }
    over = true;
    one.join();
    other.join();
    CHECK(failed == 0);
}

TEST_CASE("a pool of the parent's may be destroyed in a child, and so may a loop with workers") {
    with_every_backend([](const io_context_options& options) {
        io_pool_options of_two;
        of_two.threads = 2;
        of_two.loop = options;
        auto pool = std::make_unique<io_pool>(of_two);
        auto io = std::make_unique<io_context>(options);
        const auto calls = []() -> task<> { CHECK((co_await blocking([] {})).ok()); };
        launch(*io, calls(), or_terminate{});
        io->run_for(patience);

        const child_report child = in_child([&](child_process&) {
            pool.reset();
            io.reset();
        });

        CHECK(child.text == "");
        CHECK(child.passed());
        pool->wait();
        CHECK(works(*io));
    });
}

TEST_CASE("a child may destroy a loop that another thread was running, and sockets of it") {
    with_every_backend([](const io_context_options& options) {
        auto io = std::make_unique<io_context>(options);
        socket_pair ends = local_pair(*io);
        std::array<std::byte, 1> byte{};
        std::atomic<bool> begun = false;
        const auto reads = [&]() -> task<> {
            begun = true;
            static_cast<void>(co_await ends.server.read_some(byte));
        };
        const stop_handle reading = launch(*io, reads(), or_terminate{});
        std::thread runner{[&io] { io->run(); }};
        CHECK(eventually([&] { return begun && io->asleep(); }));

        const child_report child = in_child([&](child_process& me) {
            io.reset();
            ends = {};
            io_context own{options};
            me.check(works(own), "a loop of the child's works");
        });

        CHECK(child.text == "");
        CHECK(child.passed());
        reading.request_stop();
        runner.join();
    });
}

TEST_CASE("a connect that is under way at a fork ends in both processes") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        full_listener server;
        error outcome{errc::timed_out, activity::connect};
        const auto connects = [&]() -> task<> {
            auto made = co_await with_timeout(patience, stream_socket::connect(server.address()));
            outcome = made.error();
        };
        launch(io, connects(), or_terminate{});
        io.poll();
        REQUIRE(!io.roots().empty());

        const child_report child = in_child([&](child_process& me) {
            server.accept_all();
            io.run_for(patience);
            me.check(!outcome, outcome.message());
        });

        CHECK(child.text == "");
        CHECK(child.passed());
        io.run_for(patience);
        CHECK(outcome.message() == error{}.message());
    });
}

TEST_CASE("a task that was sent to its own loop may fork") {
    with_every_backend([](const io_context_options& options) {
        const child_report child = in_child([&](child_process& me) {
            auto io = std::make_unique<io_context>(options);
            const auto forks = [](io_context& loop, int& number) -> task<> {
                number = ::fork();
                if (number == 0) loop.notify_fork();
                co_await yield();
            };
            int grandchild = -1;
            const auto sends = [&]() -> task<> { co_await on(*io, forks(*io, grandchild)); };
            launch(*io, sends(), or_terminate{});
            io->run_for(patience);

            // Only the other thread's post can end this: the loop has to wait for it.
            io_context other{options};
            std::atomic<bool> begun = false;
            const auto waits = [&begun]() -> task<> {
                begun = true;
                static_cast<void>(co_await sleep_for(patience));
            };
            const auto away = [&]() -> task<> { co_await on(other, waits()); };
            std::thread thread;
            {
                io_context::work_guard open{other};
                thread = std::thread{[&other] { other.run(); }};
                launch(*io, away(), or_terminate{});
                while (!begun) io->poll();
                io.reset();
            }
            thread.join();
            if (grandchild == 0) ::_exit(0);
            me.check(wait_for_child(grandchild) == 0, "the grandchild's loop has waited, too");
        });
        CHECK(child.text == "");
        CHECK(child.passed());
    });
}

TEST_CASE("a child may leave what a worker, or another loop's thread, was to end in its parent") {
    with_every_backend([](const io_context_options& options) {
        std::atomic<bool> over = false;
        std::atomic<int> begun = 0;
        auto io = std::make_unique<io_context>(options);
        io_context other{options};
        const auto calls = [&]() -> task<> {
            const auto waits = [&] {
                ++begun;
                over.wait(false);
            };
            static_cast<void>(co_await blocking(waits));
        };
        const auto waits_there = [&]() -> task<> {
            ++begun;
            static_cast<void>(co_await sleep_for(patience));
        };
        const auto sends = [&]() -> task<> { co_await on(other, waits_there()); };
        launch(*io, calls(), or_terminate{});
        const stop_handle sent = launch(*io, sends(), or_terminate{});
        io_context::work_guard open{other};
        std::thread runner{[&other] { other.run(); }};
        while (begun < 2) io->poll();

        const child_report child = in_child([&](child_process&) { io.reset(); });

        CHECK(child.text == "");
        CHECK(child.passed());
        over = true;
        over.notify_all();
        sent.request_stop();
        io->run_for(patience);
        open = {};
        runner.join();
    });
}

// Each asks the other for something: one for the task's end, the other for the end of the wait.
TEST_CASE("a child destroys loops of which one waits for a task on the other, in each order") {
    enum class run_elsewhere { none, waiting, other };
    with_every_backend([](const io_context_options& options) {
        for (const auto away :
             {run_elsewhere::none, run_elsewhere::waiting, run_elsewhere::other}) {
            for (const bool waiting_first : {true, false}) {
                CAPTURE(static_cast<int>(away));
                CAPTURE(waiting_first);
                auto waiting = std::make_unique<io_context>(options);
                auto other = std::make_unique<io_context>(options);
                event over;
                std::atomic<bool> begun = false;
                const auto waits = [&]() -> task<> {
                    begun = true;
                    static_cast<void>(co_await over.wait());
                };
                const auto sends = [&]() -> task<> { co_await on(*other, waits()); };
                const stop_handle sent = launch(*waiting, sends(), or_terminate{});
                io_context::work_guard open{*other};
                std::thread runner;
                if (away == run_elsewhere::waiting)
                    runner = std::thread{[&waiting] { waiting->run(); }};
                if (away == run_elsewhere::other) runner = std::thread{[&other] { other->run(); }};
                static_cast<void>(eventually([&] {
                    if (away != run_elsewhere::waiting) waiting->poll();
                    if (away != run_elsewhere::other) other->poll();
                    return begun && waiting->asleep() && other->asleep();
                }));
                REQUIRE(begun);

                const child_report child = in_child([&](child_process&) {
                    open = {};
                    if (waiting_first) {
                        waiting.reset();
                        if (away != run_elsewhere::other) {
                            over.set();
                            other->poll();
                        }
                        other.reset();
                    } else {
                        other.reset();
                        sent.request_stop();
                        waiting.reset();
                    }
                });

                CHECK(child.text == "");
                CHECK(child.passed());
                sent.request_stop();
                open = {};
                CHECK(eventually([&] {
                    if (away != run_elsewhere::waiting) waiting->poll();
                    if (away != run_elsewhere::other) other->poll();
                    return sent.ended();
                }));
                if (runner.joinable()) runner.join();
            }
        }
    });
}

TEST_CASE("last words may fork") {
    const ending how = ending_of([] {
        const last_words first{&fork_and_say, nullptr};
        expects(false, "broken");
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said.ends_with("forked\n"));
}

TEST_CASE("a forked child has last words, whatever other threads of its parent are at") {
    constexpr int forks = 500;
    constexpr unsigned seconds_max = 20;
    const auto comes_and_goes = [](const std::stop_token& over) {
        while (!over.stop_requested()) const last_words brief{&say_own, nullptr};
    };
    const std::jthread busy{comes_and_goes};
    const std::jthread busier{comes_and_goes};

    for (int each = 0; each < forks; ++each) {
        const ending how = ending_of([] {
            ::alarm(seconds_max);
            const last_words own{&say_own, nullptr};
            expects(false, "broken");
        });
        REQUIRE(how.signal == SIGABRT);
        REQUIRE(how.said_that("own\n"));
    }
}
