// SPDX-License-Identifier: BSL-1.0
//
// A forked child may end waits and close sockets of an inherited loop that rests, before it runs that loop.
// Nothing of it reaches the parent, and nothing waits for the parent's threads.
#include <base/ending.hpp>
#include <gyre/base/build.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/file.hpp>
#include <gyre/io/process.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/runtime/loop_backend.hpp>
#include <gyre/runtime/loop_decorator.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/child.hpp>
#include <support/disposable.hpp>
#include <support/endless_read.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/settle.hpp>
#include <support/skip.hpp>
#include <support/world.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <latch>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

/// A loop at rest with a read that waits.
struct resting_loop {
    explicit resting_loop(const io_context_options& options) : io{options}, read{io} {
        io.post([this] { read.begin(); });
        io.poll();
        REQUIRE(read.waits());
    }

    /// True if the read ends by a byte from its peer.
    [[nodiscard]] bool is_answered() {
        const char byte = 'a';
        if (::send(read.ends().server.native_handle(), &byte, 1, MSG_NOSIGNAL) != 1) return false;
        return ends() && read.ended == errc::ok;
    }
    /// True if the coroutine has gone on.
    [[nodiscard]] bool ends() {
        return eventually([this] {
            io.poll();
            return read.resumptions == 1;
        });
    }

    io_context io;
    endless_read read;
};

/// Something that a child does with what it has inherited.
struct child_action {
    const char* name;
    void (*of)(resting_loop& it, child_process& me);
};

const std::array child_actions{
    child_action{"closes the socket",
                 [](resting_loop& it, child_process&) { it.read.ends().client = {}; }},
    child_action{"closes the socket, and runs the loop",
                 [](resting_loop& it, child_process& me) {
                     it.read.ends().client = {};
                     me.check(it.ends() && it.read.ended == errc::canceled,
                              "the read ends in the child");
                 }},
    child_action{"stops the wait, and runs the loop",
                 [](resting_loop& it, child_process& me) {
                     it.read.stop();
                     me.check(it.ends() && it.read.ended == errc::canceled,
                              "the read ends in the child");
                 }},
    child_action{"destroys the frame", [](resting_loop& it, child_process&) { it.read.destroy(); }},
    child_action{"destroys the frame, and runs the loop",
                 [](resting_loop& it, child_process& me) {
                     it.read.destroy();
                     it.io.poll();
                     me.check(it.read.resumptions == 0, "nobody resumes what is destroyed");
                 }},
};

/// Holds threads up until it opens.
class gate {
public:
    void wait() noexcept {
        reached_ = true;
        opened_.wait(false);
    }
    [[nodiscard]] bool reached() const noexcept { return reached_; }
    void open() noexcept {
        opened_ = true;
        opened_.notify_all();
    }

private:
    std::atomic<bool> reached_ = false;
    std::atomic<bool> opened_ = false;
};

/// Forwards everything to another backend; a cancel passes the gate first.
class gated_backend final : public loop_backend {
public:
    gated_backend(std::unique_ptr<loop_backend> inner, gate& passed) noexcept
        : inner_{std::move(inner)}, passed_{passed} {}

    void attach(io_context& owner) noexcept override { inner_->attach(owner); }
    [[nodiscard]] error bind_thread() noexcept override { return inner_->bind_thread(); }
    [[nodiscard]] bool submit(operation& op) noexcept override { return inner_->submit(op); }
    void cancel(operation& op) noexcept override {
        passed_.wait();
        inner_->cancel(op);
    }
    [[nodiscard]] error turn(time_point deadline) noexcept override {
        return inner_->turn(deadline);
    }
    void abandon() noexcept override { inner_->abandon(); }
    void leave_to_parent() noexcept override { inner_->leave_to_parent(); }
    void wake() noexcept override { inner_->wake(); }
    void forget(descriptor_slot& it) noexcept override { inner_->forget(it); }
    [[nodiscard]] int wait_handle() noexcept override { return inner_->wait_handle(); }
    [[nodiscard]] std::size_t in_flight() const noexcept override { return inner_->in_flight(); }
    [[nodiscard]] bool idle() const noexcept override { return inner_->idle(); }
    [[nodiscard]] bool holds_back() const noexcept override { return inner_->holds_back(); }
    [[nodiscard]] bool takes(const operation& op) const noexcept override {
        return inner_->takes(op);
    }
    [[nodiscard]] bool tries_first() const noexcept override { return inner_->tries_first(); }
    [[nodiscard]] backend_info info() const noexcept override { return inner_->info(); }

private:
    std::unique_ptr<loop_backend> inner_;
    gate& passed_;
};

class gates_cancels final : public loop_decorator {
public:
    explicit gates_cancels(gate& passed) noexcept : passed_{passed}, before_{install(this)} {}
    ~gates_cancels() { install(before_); }

    host& decorate(host& machine) noexcept override { return machine; }
    std::unique_ptr<loop_backend> decorate(std::unique_ptr<loop_backend> chosen) noexcept override {
        return std::make_unique<gated_backend>(std::move(chosen), passed_);
    }

private:
    gate& passed_;
    loop_decorator* before_;
};

/// A loop at rest, and a thread that stops its read and does not come to an end of that.
class visited_loop {
public:
    explicit visited_loop(const io_context_options& options) {
        {
            const gates_cancels installed{gate_};
            loop_ = std::make_unique<resting_loop>(options);
        }
        visitor_ = std::thread{[this] { loop_->read.stop(); }};
        REQUIRE(eventually([this] { return gate_.reached(); }));
    }
    visited_loop(const visited_loop&) = delete;
    visited_loop& operator=(const visited_loop&) = delete;
    ~visited_loop() {
        gate_.open();
        visitor_.join();
        CHECK(loop_->ends());
        CHECK(loop_->read.ended == errc::canceled);
    }

    [[nodiscard]] std::unique_ptr<resting_loop>& loop() noexcept { return loop_; }

private:
    gate gate_;
    std::unique_ptr<resting_loop> loop_;
    std::thread visitor_;
};

}  // namespace

// By the parent's ring, or its epoll instance, the child would crash, or the parent's read never end.
TEST_CASE("a child ends waits of a loop at rest, and those of its parent go on") {
    with_every_backend([](const io_context_options& options) {
        for (const child_action& each : child_actions) {
            CAPTURE(each.name);
            resting_loop it{options};

            const child_report child = in_child([&](child_process& me) { each.of(it, me); });

            CHECK(child.text == "");
            CHECK(child.passed());
            CHECK(it.is_answered());
        }
    });
}

// It has not called notify_fork.
TEST_CASE(
    "a child that a coroutine has forked destroys frames of its loop's, and closes their peers") {
    everywhere([](io_context& io) -> task<> {
        endless_read read{io};
        read.begin();
        co_await settle();

        const child_report child = in_child([&read](child_process& me) {
            read.destroy();
            me.check(read.ends().server.close().ok(), "it closes");
            read.ends().client = {};
        });

        CHECK(child.text == "");
        CHECK(child.passed());
        std::array<std::byte, 1> byte{};
        CHECK((co_await read.ends().server.write_some(byte)).ok());
        const io_result<> over = co_await with_timeout(patience, read.over.wait());
        CHECK(over.ok());
        CHECK(read.resumptions == 1);
        CHECK(read.ended == errc::ok);
    });
}

// They are stopped in the parent, whose kernel has not been told of it yet.
TEST_CASE("a child ends waits that its parent has stopped, and the parent ends its own") {
    with_every_backend([](const io_context_options& options) {
        io_context other{options};
        for (const child_action& each : child_actions) {
            for (const bool from_another_loop : {false, true}) {
                CAPTURE(each.name);
                CAPTURE(from_another_loop);
                resting_loop it{options};
                if (from_another_loop) other.post([&it] { it.read.stop(); });
                other.poll();
                if (!from_another_loop) it.read.stop();

                const child_report child = in_child([&](child_process& me) { each.of(it, me); });

                CHECK(child.text == "");
                CHECK(child.passed());
                CHECK(it.ends());
                CHECK(it.read.ended == errc::canceled);
            }
        }
    });
}

// A stop by a handle is a message, which the loop takes in as it runs. Begun once more before that, what was
// stopped would take bytes and connections that its parent waits for, and send its parent's a second time.
TEST_CASE(
    "a child that stops what waits by handles, and runs the loop, takes nothing of its parent's") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        tcp_acceptor at = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
        socket_pair read_from = local_pair(io);
        socket_pair written_to = local_pair(io);
        std::array<std::byte, 1> byte{};
        const std::vector<std::byte> many(std::size_t{4} << 20, std::byte{7});
        error of_accept;
        error of_read;
        error of_write;
        const auto accepts = [&]() -> task<> { of_accept = (co_await at.accept()).error(); };
        const auto reads = [&]() -> task<> {
            of_read = (co_await read_from.client.read_some(byte)).error();
        };
        const auto writes = [&]() -> task<> {
            of_write = (co_await write_all(written_to.client, many)).error();
        };
        const std::array all{launch(io, accepts(), or_terminate{}),
                             launch(io, reads(), or_terminate{}),
                             launch(io, writes(), or_terminate{})};
        io.poll();
        const socket_address to = at.local_endpoint().value().raw();
        std::size_t drained = 0;
        const auto drain = [&written_to, &drained] {
            std::array<char, 65536> space{};
            const int from = written_to.server.native_handle();
            for (ssize_t got = 1; got > 0;
                 drained += static_cast<std::size_t>(std::max<ssize_t>(got, 0)))
                got = ::recv(from, space.data(), space.size(), MSG_DONTWAIT);
        };
        drain();

        const child_report child = in_child([&](child_process& me) {
            const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            me.check(::connect(client, reinterpret_cast<const sockaddr*>(to.data), to.size) == 0,
                     "a client connects");
            me.check(::send(read_from.server.native_handle(), "a", 1, MSG_NOSIGNAL) == 1,
                     "a peer sends");
            for (const stop_handle& each : all) each.request_stop();
            io.run_for(patience);
            me.check(of_accept == errc::canceled, "the accept ends");
            me.check(of_read == errc::canceled, "the read ends");
            me.check(of_write == errc::canceled, "the write ends");
        });

        CHECK(child.text == "");
        CHECK(child.passed());
        CHECK(eventually([&] {
            drain();
            io.poll();
            return io.roots().empty();
        }));
        drain();
        CHECK(of_accept == errc::ok);
        CHECK(of_read == errc::ok);
        CHECK(of_write == errc::ok);
        CHECK(drained == many.size());
        for (const stop_handle& each : all) each.request_stop();
        io.run_for(patience);
    });
}

// It may have been about to post the message.
TEST_CASE("a child ends roots that a thread of its parent's was asking to end at the fork") {
    constexpr int forks = 20;
    constexpr std::size_t roots = 4000;
    with_every_backend([](const io_context_options& options) {
        for (int each = 0; each < forks; ++each) {
            io_context io{options};
            event never_set;
            const auto waits = [&]() -> task<> { static_cast<void>(co_await never_set.wait()); };
            std::vector<stop_handle> all;
            for (std::size_t root = 0; root < roots; ++root)
                all.push_back(launch(io, waits(), or_terminate{}));
            io.poll();
            std::latch begun{1};
            std::thread asks{[&] {
                for (std::size_t root = 0; root < roots; ++root) {
                    if (root == roots / 4) begun.count_down();
                    all[root].request_stop();
                }
            }};
            begun.wait();

            const child_report child = in_child([&](child_process& me) {
                for (const stop_handle& it : all) it.request_stop();
                io.run_for(patience);
                me.check(io.roots().empty(), "they have ended");
            });

            asks.join();
            io.run_for(patience);
            CHECK(child.text == "");
            REQUIRE(child.passed());
        }
    });
}

TEST_CASE("a child uses a loop that another thread ran before") {
    with_every_backend([](const io_context_options& options) {
        for (const child_action& each : child_actions) {
            CAPTURE(each.name);
            std::optional<resting_loop> it;
            std::atomic<bool> begun = false;
            std::atomic<bool> over = false;
            std::thread first{[&] {
                it.emplace(options);
                begun = true;
                over.wait(false);
                CHECK(it->is_answered());
                it.reset();
            }};
            CHECK(eventually([&] { return begun.load(); }));

            const child_report child = in_child([&](child_process& me) { each.of(*it, me); });

            CHECK(child.text == "");
            CHECK(child.passed());
            over = true;
            over.notify_all();
            first.join();
        }
    });
}

// Begun once more, the accept would take what its parent waits for, and a send would go out twice.
TEST_CASE("a child that destroys a loop does nothing of what is pending there") {
    with_every_backend([](const io_context_options& options) {
        auto io = std::make_unique<io_context>(options);
        tcp_acceptor at = tcp_acceptor::listen(*io, {ipv4::loopback(), 0}).take();
        bool accepted = false;
        const auto accepts = [&]() -> task<> { accepted = (co_await at.accept()).ok(); };
        launch(*io, accepts(), or_terminate{});
        io->poll();
        const socket_address to = at.local_endpoint().value().raw();

        const child_report child = in_child([&](child_process& me) {
            const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            me.check(::connect(client, reinterpret_cast<const sockaddr*>(to.data), to.size) == 0,
                     "a client connects");
            io.reset();
            me.check(!accepted, "the parent's accept is not the child's");
        });

        CHECK(child.text == "");
        CHECK(child.passed());
        io->run_for(patience);
        CHECK(accepted);
    });
}

// No thread of the child's brings them to an end: what waited for that would do so for ever.
TEST_CASE("a child that goes on with a loop destroys frames that wait for its parent's workers") {
    with_every_backend([](const io_context_options& options) {
        io_context_options of_one = options;
        of_one.worker_threads_max = 1;
        io_context io{of_one};
        gate open;
        int resumptions = 0;
        const auto calls = [&]() -> disposable {
            const auto waits = [&open] { open.wait(); };
            static_cast<void>(co_await blocking(waits));
            ++resumptions;
        };
        const auto starts = [&]() -> disposable {
            static_cast<void>(co_await run_process("/bin/true", {}));
            ++resumptions;
        };
        std::array<stop_chain, 2> chains;
        std::array all{calls(), starts()};
        const std::array given{environment{executor_ref{io}, &io, &chains[0]},
                               environment{executor_ref{io}, &io, &chains[1]}};
        io.post([&] {
            for (std::size_t each = 0; each < all.size(); ++each) {
                all[each].frame.promise().env = &given[each];
                gyre::resume(all[each].frame);
            }
        });
        io.poll();
        REQUIRE(eventually([&open] { return open.reached(); }));

        const child_report child = in_child([&](child_process& me) {
            io.poll();
            for (const disposable& each : all) each.frame.destroy();
            me.check(resumptions == 0, "none goes on");
            // ThreadSanitizer lets a child of several threads start none.
            if (signals_come_late) return;
            bool called = false;
            const auto calls_own = [&]() -> task<> {
                const auto notes = [&called] { called = true; };
                static_cast<void>(co_await blocking(notes));
            };
            launch(io, calls_own(), or_terminate{});
            io.run_for(patience);
            me.check(called, "a worker of the child's carries out its calls");
        });

        CHECK(child.text == "");
        CHECK(child.passed());
        open.open();
        CHECK(eventually([&] {
            io.poll();
            return resumptions == 2;
        }));
        for (const disposable& each : all) each.frame.destroy();
    });
}

// Workers have ended it, and the loop has not looked since.
TEST_CASE("a child that closes a file whose write is over may open others by its number") {
    with_every_backend([](const io_context_options& options) {
        const scratch_directory place;
        io_context io{options};
        std::optional<file> to;
        const auto writes = [&]() -> task<> {
            to = (co_await file::open(place.path() / "written", file_options::writing())).take();
            const std::array<std::byte, 1> byte{};
            static_cast<void>(co_await to->write_some_at(0, byte));
        };
        const stop_handle writing = launch(io, writes(), or_terminate{});
        static_cast<void>(eventually([&] {
            io.poll();
            return to.has_value();
        }));
        REQUIRE(to.has_value());
        io.poll();
        CHECK(
            eventually([&] { return std::filesystem::file_size(place.path() / "written") == 1; }));

        const child_report child = in_child([&](child_process& me) {
            io_context own{options};
            ::close(to->native_handle());
            std::array<socket_pair, 8> others;
            for (socket_pair& each : others) each = local_pair(own);
            me.check(to->native_handle() < 0, "what the parent had by its number is closed");
        });

        CHECK(child.text == "");
        CHECK(child.passed());
        io.run_for(patience);
        CHECK(io.roots().empty());
    });
}

TEST_CASE("a child closes an idle socket of a loop at rest, and its parent goes on reading") {
    with_every_backend([](const io_context_options& options) {
        io_context io{options};
        socket_pair ends = local_pair(io);
        const auto reads = [&ends]() -> task<> {
            std::array<std::byte, 1> byte{};
            CHECK((co_await ends.client.read_some(byte)).ok());
        };
        const auto read_one = [&] {
            launch(io, reads(), or_terminate{});
            io.poll();
            const char byte = 'a';
            CHECK(::send(ends.server.native_handle(), &byte, 1, MSG_NOSIGNAL) == 1);
            io.run_for(patience);
            CHECK(io.roots().empty());
        };
        read_one();

        const child_report child = in_child([&ends](child_process&) { ends.client = {}; });

        CHECK(child.text == "");
        CHECK(child.passed());
        read_one();
    });
}

// The child has no such thread: what waits for the end of its visit would wait for ever.
TEST_CASE("a child destroys a loop that another thread was visiting") {
    with_every_backend([](const io_context_options& options) {
        visited_loop it{options};

        const child_report child = in_child(
            [&it](child_process&) { static_cast<void>(it.loop().release()->io.~io_context()); });

        CHECK(child.text == "");
        CHECK(child.passed());
    });
}

TEST_CASE(
    "a child that runs a loop that another thread was visiting says so, as one that closes does") {
    with_every_backend([](const io_context_options& options) {
        visited_loop it{options};

        const ending of_run = ending_of([&it] { it.loop()->io.poll(); });
        const ending of_close = ending_of([&it] { it.loop()->read.ends().client = {}; });
        const ending of_destruction = ending_of([&it] { it.loop()->read.destroy(); });

        for (const ending* each : {&of_run, &of_close, &of_destruction}) {
            CHECK(each->signal == SIGABRT);
            CHECK(each->said_that(
                "in a forked child, a loop that another thread was inside of is only "
                "destroyed"));
        }
    });
}

// Its thread waits for a condition, whose end would wait for that thread.
TEST_CASE("a child destroys a loop without a backend that another thread was running") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none{0, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    auto io = std::make_unique<io_context>();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    REQUIRE(io->status() == errc::process_descriptors_exhausted);
    io_context::work_guard open{*io};
    std::atomic<bool> begun = false;
    io->post([&begun] { begun = true; });
    std::thread runner{[&io] { io->run(); }};
    CHECK(eventually([&] { return begun && io->asleep(); }));

    const child_report child = in_child([&io](child_process&) { io.reset(); });

    CHECK(child.text == "");
    CHECK(child.passed());
    open = {};
    runner.join();
}

// Each start waits for detached processes, by descriptors that a child may have closed.
TEST_CASE("a child that starts a process closes nothing by numbers of its parent's") {
    if (signals_come_late)
        return skip("ThreadSanitizer lets a child of several threads start none");
    // By which this process knows another one, pidfd_open(2); -1 if by none.
    const auto number_of = [](pid_t id) {
        const std::string wanted = "Pid:\t" + std::to_string(id);
        for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fdinfo"}) {
            std::ifstream lines{each.path()};
            for (std::string line; std::getline(lines, line);)
                if (line == wanted) return std::stoi(each.path().filename().string());
        }
        return -1;
    };
    with_every_backend([&number_of](const io_context_options& options) {
        io_context io{options};
        pid_t left = 0;
        const auto leaves = [&left]() -> task<> {
            process_options how;
            how.arguments = {"60"};
            process it = (co_await process::start("/bin/sleep", std::move(how))).take();
            left = it.id();
            it.detach();
        };
        launch(io, leaves(), or_terminate{});
        io.run();
        const int number = number_of(left);
        REQUIRE(number >= 0);

        const child_report child = in_child([&](child_process& me) {
            me.check(::dup2(STDERR_FILENO, number) == number, "another file has its number");
            io_context own{options};
            bool started = false;
            const auto starts = [&started]() -> task<> {
                started = (co_await run_process("/bin/true", {})).ok();
            };
            launch(own, starts(), or_terminate{});
            own.run();
            me.check(started, "a process is started");
            me.check(::fcntl(number, F_GETFD) >= 0, "the file is open");
        });

        CHECK(child.text == "");
        CHECK(child.passed());
        ::kill(left, SIGKILL);
    });
}

// The lock under which one process is started at a time, as another user, is held by a worker.
TEST_CASE("a child starts processes as another user, whatever its parent's workers are at") {
    if (::getuid() != 0) return skip("it takes root to become another user");
    if (signals_come_late)
        return skip("ThreadSanitizer lets a child of several threads start none");
    with_every_backend([](const io_context_options& options) {
        constexpr int forks = 40;
        const auto starts_one = [](bool& started) -> task<> {
            process_options how;
            how.user = process_user{2'000'000'001, 2'000'000'001};
            started = (co_await run_process("/bin/true", std::move(how))).ok();
        };
        const auto starts = [&](std::stop_token over) {
            io_context own{options};
            for (bool started = true; started && !over.stop_requested();) {
                launch(own, starts_one(started), or_terminate{});
                own.run();
            }
        };
        const std::jthread starter{starts};

        for (int each = 0; each < forks; ++each) {
            const child_report child = in_child([&](child_process& me) {
                io_context own{options};
                bool started = false;
                launch(own, starts_one(started), or_terminate{});
                own.run();
                me.check(started, "a process is started");
            });
            CHECK(child.text == "");
            REQUIRE(child.passed());
        }
    });
}
