// SPDX-License-Identifier: BSL-1.0
//
// Two loops on one thread, polled in turn: what happens inside one of them may close the other one's
// sockets and destroy its frames, while that one rests.
#include <base/ending.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/coro/resume.hpp>
#include <gyre/runtime/io_context.hpp>
#include <support/endless_read.hpp>
#include <support/harness.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <deque>
#include <latch>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

// A loop with a read pending that is never answered, and another one beside it.
struct neighbours {
    explicit neighbours(const io_context_options& options) : resting{options}, other{options} {}

    task<> read() {
        std::array<std::byte, 8> space{};
        const auto got = co_await pair.client.read_some(mutable_buffer{space});
        ++resumptions;
        failed = got.error();
        size = got.value();
    }
    void begin_read() {
        launch(resting, read(), or_terminate{});
        resting.poll();
        REQUIRE(resting.next_deadline() == never);
    }
    task<> close() {
        const io_result<> closed = pair.client.close();
        CHECK(closed.ok());
        CHECK(resumptions == 0);  // It goes on where it belongs.
        CHECK(other.running_on_this_thread());
        co_return;
    }
    void close_from_the_other() {
        launch(other, close(), or_terminate{});
        other.poll();
        CHECK(other.roots().empty());
    }

    io_context resting;
    io_context other;
    socket_pair pair = local_pair(resting);
    int resumptions = 0;
    error failed;
    std::size_t size = 0;
};

struct counting_hook : wake_hook {
    counting_hook()
        : wake_hook{[](wake_hook& self) noexcept { ++static_cast<counting_hook&>(self).calls; }} {}
    std::atomic<int> calls = 0;
};

/// Makes the loop know both ends.
task<> exchange_a_byte(socket_pair& over) {
    std::array<std::byte, 1> space{};
    const auto sent = co_await over.client.write_some(const_buffer{space});
    const auto got = co_await over.server.read_some(mutable_buffer{space});
    CHECK(sent.ok());
    CHECK(got.ok());
}

}  // namespace

TEST_CASE("a coroutine of another loop may close a socket that is being read, and the read ends") {
    with_every_backend([](const io_context_options& options) {
        neighbours on{options};
        on.begin_read();

        on.close_from_the_other();

        CHECK(on.resting.next_deadline() <= on.resting.now());
        on.resting.poll();
        CHECK(on.resumptions == 1);
        CHECK(on.failed == errc::canceled);
        CHECK(on.resting.roots().empty());
    });
}

TEST_CASE("a poller of a loop's descriptor is woken when another loop closes its socket") {
    with_every_backend([](const io_context_options& options) {
        neighbours on{options};
        on.begin_read();
        pollfd watched{on.resting.native_wait_handle(), POLLIN, 0};
        REQUIRE(::poll(&watched, 1, 0) == 0);

        on.close_from_the_other();

        CHECK(::poll(&watched, 1, 10'000) == 1);
        on.resting.poll();
        CHECK(on.resumptions == 1);
    });
}

TEST_CASE("the wake hook of a loop is called when another loop has closed its socket, once") {
    with_every_backend([](const io_context_options& options) {
        neighbours on{options};
        counting_hook hook;
        on.begin_read();
        on.resting.set_wake_hook(&hook);

        on.close_from_the_other();

        CHECK(hook.calls == 1);
        on.resting.poll();
        CHECK(on.resumptions == 1);
        on.resting.set_wake_hook(nullptr);
    });
}

TEST_CASE("a socket without a pending read is closed from another loop without waking its own") {
    with_every_backend([](const io_context_options& options) {
        neighbours on{options};
        counting_hook hook;
        on.resting.poll();
        on.resting.set_wake_hook(&hook);

        on.close_from_the_other();

        CHECK(hook.calls == 0);
        on.resting.set_wake_hook(nullptr);
    });
}

TEST_CASE("a cancel from another loop and then the end of the socket end a read once") {
    with_every_backend([](const io_context_options& options) {
        neighbours on{options};
        on.begin_read();
        on.other.post([&] { on.resting.roots().front().chain.request(stop_level::stop); });
        on.other.poll();

        on.close_from_the_other();

        on.resting.poll();
        CHECK(on.resumptions == 1);
        CHECK(on.failed == errc::canceled);
    });
}

TEST_CASE("a frame destroyed inside another loop takes its read back, and the socket goes on") {
    with_every_backend([](const io_context_options& options) {
        neighbours on{options};
        stop_chain chain;
        const environment surroundings{on.resting, &on.resting, &chain};
        const auto read_for_ever = [&]() -> disposable { co_await on.read(); };
        const disposable it = read_for_ever();
        it.frame.promise().env = &surroundings;
        on.resting.post([&] { gyre::resume(it.frame); });
        on.resting.poll();
        REQUIRE(chain.pending() != nullptr);

        on.other.post([&] {
            it.frame.destroy();
            CHECK(on.other.running_on_this_thread());
        });
        on.other.poll();

        CHECK(chain.pending() == nullptr);
        on.resting.poll();
        CHECK(on.resumptions == 0);
        REQUIRE(::send(on.pair.server.native_handle(), "hello", 5, MSG_NOSIGNAL) == 5);
        launch(on.resting, on.read(), or_terminate{});
        on.resting.run_for(patience);
        CHECK(on.resumptions == 1);
        CHECK(on.size == 5);
    });
}

// Without a lock of the loop's the thread sanitizer sees a race on its list of descriptors.
TEST_CASE("several threads close idle sockets of one resting loop at a time") {
    constexpr std::size_t threads = 3;  // One of them has run the loop.
    constexpr std::size_t sockets = 100;
    with_every_backend([](const io_context_options& options) {
        io_context resting{options};
        std::vector<socket_pair> pairs;
        for (std::size_t each = 0; each < threads * sockets; ++each) {
            pairs.push_back(local_pair(resting));
        }
        for (socket_pair& each : pairs) launch(resting, exchange_a_byte(each), or_terminate{});
        resting.run();
        std::latch all_there{threads};
        std::atomic<std::size_t> closed = 0;
        const auto close_some = [&](std::size_t first) {
            all_there.arrive_and_wait();
            for (std::size_t each = first; each < pairs.size(); each += threads) {
                if (pairs[each].client.close().ok()) ++closed;
                if (pairs[each].server.close().ok()) ++closed;
            }
        };

        {
            const std::jthread second{close_some, 1};
            const std::jthread third{close_some, 2};
            close_some(0);
        }

        CHECK(closed == 2 * pairs.size());
    });
}

// Without a lock of the loop's the thread sanitizer sees races on its operations, and one may end twice.
TEST_CASE("several threads stop waits of a resting loop while its own destroys frames of it") {
    constexpr std::size_t threads = 4;  // One of them has run the loop, one runs none.
    constexpr std::size_t reads = 120;
    with_every_backend([](const io_context_options& options) {
        io_context resting{options};
        std::deque<endless_read> all;
        for (std::size_t each = 0; each < reads; ++each) all.emplace_back(resting);
        resting.post([&] {
            for (endless_read& each : all) each.begin();
        });
        resting.poll();
        std::latch all_there{threads};
        const auto each_of = [&](std::size_t first, void (endless_read::*end)() noexcept) {
            for (std::size_t each = first; each < reads; each += threads) (all[each].*end)();
        };
        const auto in_a_loop = [&](std::size_t first, void (endless_read::*end)() noexcept) {
            io_context own{options};
            own.post([&, first, end] { each_of(first, end); });
            all_there.arrive_and_wait();
            own.poll();
        };

        {
            const std::jthread second{in_a_loop, 1, &endless_read::stop};
            const std::jthread third{in_a_loop, 2, &endless_read::stop};
            const std::jthread without{[&] {
                all_there.arrive_and_wait();
                each_of(3, &endless_read::stop);
            }};
            in_a_loop(0, &endless_read::destroy);
        }
        const auto all_ended = [&all] {
            return std::ranges::none_of(all, [](const endless_read& it) { return it.waits(); });
        };
        for (int polls = 0; polls < 1000 && !all_ended(); ++polls) resting.poll();

        for (std::size_t each = 0; each < reads; ++each) {
            const bool destroyed = each % threads == 0;
            const std::string how = all[each].ended.message();
            CAPTURE(each);
            CAPTURE(how);
            CHECK_FALSE(all[each].waits());
            CHECK(all[each].resumptions == (destroyed ? 0 : 1));
            CHECK(all[each].ended == (destroyed ? errc::ok : errc::canceled));
        }
    });
}

TEST_CASE("a frame that is destroyed while it waits, on another thread than its loop's, says so") {
    with_every_backend([](const io_context_options& options) {
        const ending how = ending_of([&options] {
            io_context resting{options};
            endless_read it{resting};
            resting.post([&] { it.begin(); });
            resting.poll();
            std::thread{[&] { it.destroy(); }}.join();
        });

        CHECK(how.signal == SIGABRT);
        CHECK(how.said_that("on another thread than its loop's"));
    });
}
