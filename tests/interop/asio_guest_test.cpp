// SPDX-License-Identifier: BSL-1.0
//
// What gyre/interop/asio_guest.hpp promises: gyre tasks on the thread that runs an Asio loop.
#include <base/ending.hpp>
#include <interop/asio_threads.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>

#include <boost/asio/post.hpp>

#include <sys/socket.h>

#include <array>
#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// A host, a loop, and the guest between them.
struct household {
    explicit household(const io_context_options& options) : loop{options} {}

    void run() { host.run_for(patience); }

    asio::io_context host;
    io_context loop;
    asio_guest guest{host, loop};
};

void on_every_guest(const auto& body) {
    with_every_backend([&](const io_context_options& options) {
        household home{options};
        body(home);
    });
}

task<> sleep_then_set(duration how_long, bool& woke) {
    const auto slept = co_await sleep_for(how_long);
    woke = slept.ok();
}

// Awaits an operation of Asio's that ends when `finish()` is called.
task<> wait_for_call(std::function<void()>& finish, bool& went_on) {
    const auto initiation = [&finish](auto handler) {
        const auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        finish = [kept] { (*kept)(); };
    };
    const auto got =
        co_await asio::async_initiate<const use_io_result_t&, void()>(initiation, use_io_result);
    went_on = got.ok();
}

task<> keep_outcome_of_long_sleep(error& outcome) {
    const auto slept = co_await sleep_for(1h);
    outcome = slept.error();
}

}  // namespace

TEST_CASE("a task launched before the host runs ends, and with it the host's run") {
    on_every_guest([](household& home) {
        bool woke = false;
        launch(home.loop, sleep_then_set(2ms, woke), or_terminate{});
        home.run();
        CHECK(woke);
        CHECK(home.host.stopped());  // For lack of work, not of time.
    });
}

TEST_CASE("a loop that has work before the guest is made is not forgotten") {
    with_every_backend([](const io_context_options& options) {
        asio::io_context host;
        io_context loop{options};
        bool woke = false;
        launch(loop, sleep_then_set(1ms, woke), or_terminate{});
        const asio_guest guest{host, loop};
        host.run_for(patience);
        CHECK(woke);
    });
}

TEST_CASE("a host that was out of work is restarted and serves the next task") {
    on_every_guest([](household& home) {
        for (int time = 0; time < 3; ++time) {
            bool woke = false;
            launch(home.loop, sleep_then_set(1ms, woke), or_terminate{});
            home.run();
            CHECK(woke);
            home.host.restart();
        }
    });
}

TEST_CASE("timers fire in the order of their deadlines, whichever was armed first") {
    on_every_guest([](household& home) {
        std::string order;
        const auto wait = [&](duration how_long, char name) -> task<> {
            static_cast<void>(co_await sleep_for(how_long));
            order += name;
        };
        launch(home.loop, wait(30ms, 'c'), or_terminate{});
        launch(home.loop, wait(2ms, 'a'), or_terminate{});
        launch(home.loop, wait(15ms, 'b'), or_terminate{});
        home.run();
        CHECK(order == "abc");
    });
}

TEST_CASE("gyre's sockets work on the host's thread, in both directions and in turns") {
    on_every_guest([](household& home) {
        auto [client, server] = connected_pair(home.loop);
        stream_socket& near = client;
        stream_socket& far = server;
        int rounds = 0;
        const auto echo = [&]() -> task<> {
            std::array<std::byte, 64> space;
            for (;;) {
                const auto got = co_await far.read_some(mutable_buffer{space});
                if (!got.ok()) co_return;
                const auto sent = co_await write_all(far, std::span{space}.first(got.value()));
                if (!sent.ok()) co_return;
            }
        };
        const auto talk = [&]() -> task<> {
            std::array<std::byte, 8> message{};
            for (; rounds < 200; ++rounds) {
                const auto sent = co_await write_all(near, const_buffer{message});
                const auto back = co_await read_exactly(near, mutable_buffer{message});
                if (!sent.ok() || !back.ok()) co_return;
            }
            static_cast<void>(near.close());
        };
        launch(home.loop, echo(), or_terminate{});
        launch(home.loop, talk(), or_terminate{});
        home.run();
        CHECK(rounds == 200);
        CHECK(home.loop.roots().empty());
    });
}

TEST_CASE(
    "an Asio handler sets an event that a gyre task waits for, on one thread, without a lock") {
    on_every_guest([](household& home) {
        event happened;
        std::thread::id resumed_on;
        const auto wait = [&]() -> task<> {
            static_cast<void>(co_await happened.wait());
            resumed_on = std::this_thread::get_id();
        };
        launch(home.loop, wait(), or_terminate{});
        asio::steady_timer timer{home.host, 2ms};
        timer.async_wait([&](auto) {
            happened.set();
            CHECK(resumed_on == std::thread::id{});  // Never within the call.
        });
        home.run();
        CHECK(resumed_on == std::this_thread::get_id());
    });
}

TEST_CASE("a stop from any thread reaches a task on the host's thread") {
    on_every_guest([](household& home) {
        error outcome;
        const stop_handle stop =
            launch(home.loop, keep_outcome_of_long_sleep(outcome), or_terminate{});
        std::thread other{[&] { stop.request_stop(); }};
        home.run();
        other.join();
        CHECK(outcome == errc::canceled);
    });
}

TEST_CASE("posts from other threads are all run, however they coincide with the host's sleep") {
    on_every_guest([](household& home) {
        constexpr int posts = 20'000;
        int ran = 0;
        std::thread poster{[&, guard = io_context::work_guard{home.loop}] {
            for (int each = 0; each < posts; ++each) {
                home.loop.post([&ran] { ++ran; });
                if (each % 64 == 0) std::this_thread::yield();
            }
        }};
        home.loop.post([] {});  // The guard alone wakes no thread.
        home.run();
        poster.join();
        CHECK(ran == posts);
    });
}

TEST_CASE("a guest that dies stops what is left and runs the host until it has ended") {
    with_every_backend([](const io_context_options& options) {
        asio::io_context host;
        io_context loop{options};
        error slept;
        error waited;
        asio::steady_timer timer{host, 1h};  // Outlives the guest, and so the wait.
        const auto wait = [&]() -> task<> {
            const auto result = co_await timer.async_wait(use_io_result);
            waited = result.error();
        };
        {
            asio_guest guest{host, loop};
            launch(loop, keep_outcome_of_long_sleep(slept), or_terminate{});
            launch(loop, wait(), or_terminate{});
            host.poll();
            CHECK_FALSE(slept);
        }
        CHECK(slept == errc::canceled);
        CHECK(waited == errc::canceled);
        CHECK(loop.roots().empty());
    });
}

TEST_CASE("a guest that dies begins what was launched, and stops it while the host is there") {
    with_every_backend([](const io_context_options& options) {
        io_context loop{options};
        error waited;
        int handled = 0;
        {
            asio::io_context host;
            asio::steady_timer timer{host, 1h};
            const auto wait = [&]() -> task<> {
                const auto result = co_await timer.async_wait(use_io_result);
                waited = result.error();
            };
            const auto again = [&](task_outcome<void>) {
                ++handled;
                launch(loop, wait(), [&handled](task_outcome<void>) { ++handled; });
            };
            const asio_guest guest{host, loop};
            launch(loop, wait(), again);
        }
        CHECK(waited == errc::canceled);
        CHECK(handled == 2);
        CHECK_FALSE(loop.has_work());
    });
}

TEST_CASE("a host goes home beside coroutines in the background, which end with its guest") {
    with_every_backend([](const io_context_options& options) {
        error outcome;
        {
            household home{options};
            launch_in_background(home.loop, keep_outcome_of_long_sleep(outcome), or_terminate{});
            home.run();
            CHECK(home.host.stopped());  // For lack of work, not of time.
            CHECK(outcome == errc::ok);
        }
        CHECK(outcome == errc::canceled);
    });
}

TEST_CASE("a second guest of a loop inherits nothing from the first") {
    with_every_backend([](const io_context_options& options) {
        io_context loop{options};
        error waited;
        bool woke = false;
        {
            asio::io_context host;
            asio::steady_timer timer{host, 1h};
            const auto wait = [&]() -> task<> {
                const auto result = co_await timer.async_wait(use_io_result);
                waited = result.error();
            };
            {
                const asio_guest first{host, loop};
                launch(loop, wait(), or_terminate{});
            }
            CHECK(waited == errc::canceled);
        }
        asio::io_context host;
        const asio_guest second{host, loop};
        launch(loop, sleep_then_set(1ms, woke), or_terminate{});

        host.run_for(patience);

        CHECK(woke);
        CHECK(host.stopped());
    });
}

TEST_CASE("a guest that dies ends all roots, though the end of one stops the loop") {
    with_every_backend([](const io_context_options& options) {
        io_context loop{options};
        asio::io_context host;
        int ended = 0;
        error slept;
        const auto stop_loop = [&](task_outcome<void>) {
            ++ended;
            loop.stop();
        };
        {
            const asio_guest guest{host, loop};
            for (int each = 0; each < 3; ++each)
                launch(loop, keep_outcome_of_long_sleep(slept), stop_loop);
            host.poll();
        }
        CHECK(ended == 3);
        CHECK(loop.roots().empty());
    });
}

TEST_CASE("a guest that dies leaves a loop that can be run again") {
    with_every_backend([](const io_context_options& options) {
        asio::io_context host;
        io_context loop{options};
        bool woke = false;
        {
            asio_guest guest{host, loop};
            launch(loop, sleep_then_set(1ms, woke), or_terminate{});
            host.run_for(patience);
            CHECK(woke);
            host.restart();
            asio::post(host, [] {});
        }
        host.poll();  // What the guest had posted finds it gone.
        woke = false;
        launch(loop, sleep_then_set(1ms, woke), or_terminate{});
        loop.run_for(patience);
        CHECK(woke);
    });
}

TEST_CASE("the guest closes no descriptor of gyre's, and leaves none open") {
    with_every_backend([](const io_context_options& options) {
        asio::io_context host;
        bool woke = false;
        {
            io_context loop{options};
            asio_guest guest{host, loop};
            launch(loop, sleep_then_set(1ms, woke), or_terminate{});
            host.run_for(patience);
        }
        const std::size_t before = open_descriptors();
        {
            io_context loop{options};
            asio_guest guest{host, loop};
            launch(loop, sleep_then_set(1ms, woke), or_terminate{});
            host.restart();
            host.run_for(patience);
        }
        CHECK(open_descriptors() == before);
    });
}

TEST_CASE("a gyre socket that one of the host's handlers closes ends what waits for it") {
    on_every_guest([](household& home) {
        auto [client, server] = connected_pair(home.loop);
        error outcome;
        const auto read = [&]() -> task<> {
            std::array<std::byte, 8> space{};
            const auto got = co_await server.read_some(space);
            outcome = got.error();
        };
        launch(home.loop, read(), or_terminate{});
        asio::steady_timer later{home.host, 2ms};
        later.async_wait([&, &socket = server](auto) { CHECK(socket.close().ok()); });

        home.run();

        CHECK(outcome == errc::canceled);
        CHECK(home.loop.roots().empty());
    });
}

TEST_CASE("a loop that was stopped keeps the host from nothing, and its roots end with the guest") {
    with_every_backend([](const io_context_options& options) {
        io_context loop{options};
        error outcome;
        {
            asio::io_context host;
            asio_guest guest{host, loop};
            launch(loop, keep_outcome_of_long_sleep(outcome), or_terminate{});
            loop.post([&] { loop.stop(); });

            CHECK(host.run_for(patience) > 0);
            CHECK(host.stopped());
            CHECK_FALSE(outcome);
        }
        CHECK(outcome == errc::canceled);
    });
}

TEST_CASE("what is posted to a guest's loop runs, whatever became of a guest before") {
    with_every_backend([](const io_context_options& options) {
        io_context loop{options};
        asio::io_context host;
        int ran = 0;
        {
            asio_guest first{host, loop};
            const io_context::work_guard released_at_once{loop};
        }
        asio_guest second{host, loop};
        loop.post([&] { ++ran; });

        host.run_for(patience);

        CHECK(ran == 1);
    });
}

TEST_CASE(
    "coroutines that never let their queue run empty do not keep the host from its own work") {
    on_every_guest([](household& home) {
        constexpr int rounds_max = 3'000'000;
        bool over = false;
        int rounds_at_first = 0;
        int rounds = 0;
        event ping;
        event pong;
        const auto play = [&](event& mine, event& theirs) -> task<> {
            while (!over && rounds < rounds_max) {
                ++rounds;
                theirs.set();
                static_cast<void>(co_await mine.wait());
                mine.reset();
            }
            theirs.set();
        };
        asio::steady_timer timer{home.host, 1ms};
        timer.async_wait([&](auto) {
            over = true;
            rounds_at_first = rounds;
        });
        launch(home.loop, play(ping, pong), or_terminate{});
        launch(home.loop, play(pong, ping), or_terminate{});

        home.run();

        CHECK(over);
        CHECK(rounds_at_first > 0);
        CHECK(rounds_at_first < rounds_max);
    });
}

TEST_CASE("a coroutine goes on within the handler of the operation that it waits for") {
    on_every_guest([](household& home) {
        std::function<void()> finish;
        bool went_on = false;
        bool went_on_within = false;
        launch(home.loop, wait_for_call(finish, went_on), or_terminate{});
        asio::steady_timer later{home.host, 2ms};
        later.async_wait([&](auto) {
            finish();
            went_on_within = went_on;
        });

        home.run();

        CHECK(went_on_within);
        CHECK(home.host.stopped());
    });
}

TEST_CASE("a handler that something inside the loop calls resumes no coroutine within the call") {
    on_every_guest([](household& home) {
        std::function<void()> finish;
        bool went_on = false;
        bool went_on_within = true;
        launch(home.loop, wait_for_call(finish, went_on), or_terminate{});
        home.loop.post([&] {
            finish();
            went_on_within = went_on;
        });

        home.run();

        CHECK_FALSE(went_on_within);
        CHECK(went_on);
    });
}

TEST_CASE("a handler that is called while the host does not run leaves the resumption to its run") {
    on_every_guest([](household& home) {
        std::function<void()> finish;
        bool went_on = false;
        launch(home.loop, wait_for_call(finish, went_on), or_terminate{});
        home.host.poll();

        finish();

        CHECK_FALSE(went_on);
        home.run();
        CHECK(went_on);
    });
}

TEST_CASE("a handler of one guest's host resumes no coroutine on the loop of another's host") {
    with_every_backend([](const io_context_options& options) {
        household one{options};
        household other{options};
        std::function<void()> finish;
        bool went_on = false;
        bool went_on_within = true;
        launch(one.loop, wait_for_call(finish, went_on), or_terminate{});
        one.host.poll();
        asio::post(other.host, [&] {
            finish();
            went_on_within = went_on;
        });

        other.run();
        CHECK_FALSE(went_on_within);

        one.run();
        CHECK(went_on);
    });
}

TEST_CASE("a write that has to wait for room goes on, although nothing else has the guest run") {
    on_every_guest([](household& home) {
        auto [near, far] = connected_pair(home.loop);
        stream_socket& into = near;
        const std::vector<std::byte> much(std::size_t{32} << 20);
        bool written = false;
        const auto write_much = [&]() -> task<> {
            const auto sent = co_await write_all(into, const_buffer{much});
            written = sent.ok();
            static_cast<void>(into.close());
        };
        std::thread reader{[number = far.native_handle()] {
            std::vector<std::byte> space(1 << 16);
            while (::recv(number, space.data(), space.size(), 0) > 0) {
            }
        }};
        launch(home.loop, write_much(), or_terminate{});

        home.run();

        CHECK(written);
        if (!written) static_cast<void>(::shutdown(far.native_handle(), SHUT_RDWR));
        reader.join();
    });
}

TEST_CASE("a guest that is destroyed by what its loop runs says so, instead of going on without") {
    const ending how = ending_of([] {
        asio::io_context host;
        io_context loop;
        auto guest = std::make_unique<asio_guest>(host, loop);
        loop.post([&] { guest.reset(); });
        host.run_for(patience);
    });
    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a guest is destroyed by its host, not by its loop"));
}

TEST_CASE("a guest that is destroyed on another thread than its own says so") {
    const ending how = ending_of([] {
        asio::io_context host;
        io_context loop;
        auto guest = std::make_unique<asio_guest>(host, loop);
        std::thread elsewhere{[&] { guest.reset(); }};
        elsewhere.join();
    });
    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a guest is destroyed on the thread that made it"));
}
