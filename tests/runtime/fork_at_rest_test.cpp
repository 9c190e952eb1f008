// SPDX-License-Identifier: BSL-1.0
//
// What a forked child may do to a loop of its parent's that rests, before it runs that loop: nothing of it
// reaches the parent, and nothing waits for the parent's threads.
#include <base/ending.hpp>
#include <gyre/base/build.hpp>
#include <gyre/io/process.hpp>
#include <gyre/runtime/loop_backend.hpp>
#include <gyre/runtime/loop_decorator.hpp>
#include <support/child.hpp>
#include <support/endless_read.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>
#include <support/skip.hpp>
#include <support/world.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

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
        while (read.resumptions == 0) co_await settle();
        CHECK(read.ended == errc::ok);
    });
}

TEST_CASE("a child closes an idle socket of a loop at rest, and its parent still hears of it") {
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
