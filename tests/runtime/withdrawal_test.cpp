// SPDX-License-Identifier: BSL-1.0
//
// What becomes of a loop, and of what is under way in it, when the kernel begins to refuse io_uring.
//
// Seccomp filters stick to a process, so every test here runs in a forked child. These are tests of
// `automatic` and of io_uring; on_every_backend would have nothing to vary. fallback_test.cpp has refusals
// at the start.
#include <base/ending.hpp>
#include <gyre/io/datagram_batch.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/harness.hpp>
#include <support/pending_work.hpp>
#include <support/refusals.hpp>
#include <support/settle.hpp>

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

void check_goes_on_after(void (*change)()) {
    if (!has_uring()) return;
    check_in_child([change](child_process& me) {
        io_context io;
        {
            pending_work work{io, me};
            run_to_end(me, io, work.run(change));
            work.check_everything_came();
        }
        me.check(io.receive_memory().blocks_lent == 0 && io.receive_memory().blocks_offered == 0,
                 "the kernel's blocks have come back");
        me.check(io.backend().kind == backend_choice::epoll, "it goes on with epoll");
        me.check(says(io.backend().reason, "withdrew io_uring") &&
                     says(io.backend().reason, "Operation not permitted"),
                 "and says why, not \"" + io.backend().reason + '"');
        me.check(!io.status(), "which is no error");
        run_to_end(me, io, use_a_little(io, me));
    });
}

// A read of the client's is over; what the server sends now is still there for the next one.
void check_late_input_stays(child_process& me, io_context& io, socket_pair& pair) {
    put(pair.server, "not for that read");
    for (int tries = 0; tries < 100; ++tries) {
        // Each call is a chance for the kernel to finish what it still holds.
        static_cast<void>(::getppid());
        static_cast<void>(io.poll());
    }
    std::array<char, 32> rest{};
    const ssize_t left =
        ::recv(pair.client.native_handle(), rest.data(), rest.size(), MSG_DONTWAIT);
    me.check(left == 17, "input that came later is left alone");
}

}  // namespace

TEST_CASE("when io_uring_enter is refused in the middle of things, automatic loses nothing") {
    check_goes_on_after(&forbid_enter);
}

TEST_CASE("when all of io_uring is refused in the middle of things, automatic loses nothing") {
    check_goes_on_after(&forbid_everything);
}

TEST_CASE(
    "when io_uring is refused between set-up and the first run, automatic goes on with epoll") {
    for (void (*change)() : {&forbid_enter, &forbid_everything}) {
        check_in_child([change](child_process& me) {
            io_context io;
            change();

            run_to_end(me, io, use_a_little(io, me));

            me.check(io.backend().kind == backend_choice::epoll, "it goes on with epoll");
            me.check(!io.status(), "which is no error");
        });
    }
}

TEST_CASE("a loop that moves to another thread where io_uring is refused goes on with epoll") {
    if (!has_uring()) return;
    for (void (*change)() : {&forbid_setup, &forbid_everything}) {
        check_in_child([change](child_process& me) {
            io_context io;
            run_to_end(me, io, use_a_little(io, me));
            change();

            std::thread elsewhere{[&] { run_to_end(me, io, use_a_little(io, me)); }};
            elsewhere.join();

            me.check(io.backend().kind == backend_choice::epoll, "it goes on with epoll");
            me.check(says(io.backend().reason, "withdrew io_uring"),
                     "and says why, not \"" + io.backend().reason + '"');
            me.check(!io.status(), "which is no error");
        });
    }
}

TEST_CASE("a loop that moves to where the io_uring it requires is refused says so and lives on") {
    for (const backend_choice tier : tiers_here()) {
        check_in_child([tier](child_process& me) {
            io_context io{require(tier)};
            run_to_end(me, io, use_a_little(io, me));
            forbid_setup();
            socket_pair pair = connected_pair(io);
            const auto use = [&]() -> task<> {
                std::array<std::byte, 4> space{};
                const io_result<std::size_t> read = co_await pair.client.read_some(space);
                const io_result<> slept = co_await sleep_for(1ms);
                me.check(read.error() == errc::backend_unavailable, "operations say so");
                me.check(slept.ok(), "timers go on");
            };

            std::thread elsewhere{[&] { run_to_end(me, io, use()); }};
            elsewhere.join();

            me.check(io.status() == errc::backend_unavailable, "status tells");
        });
    }
}

TEST_CASE("counters go on where they were when a loop changes its backend") {
    for (const backend_choice tier : tiers_here()) {
        check_in_child([tier](child_process& me) {
            io_context io{require(tier)};
            udp_socket socket = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
            int ended = 0;
            const auto read = [&]() -> task<> {
                datagram_batch batch{1, 16};
                static_cast<void>(co_await socket.receive(batch));
                ++ended;
            };
            launch(io, read(), or_terminate{});
            launch(io, read(), or_terminate{});
            io.poll();
            // Both readers are told of one datagram, so one of them begins once more.
            const endpoint to = socket.local_endpoint().value();
            udp_socket from = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
            const auto send = [&]() -> task<> {
                static_cast<void>(co_await from.send_to(bytes_of("x"), to));
            };
            launch(io, send(), or_terminate{});
            while (ended == 0) io.run_one();
            for (int visit = 0; visit < 100; ++visit) io.poll();
            const loop_counters before = io.counters();

            forbid_enter();
            io.run_for(child_patience);

            const loop_counters after = io.counters();
            me.check(io.status() == errc::backend_unavailable, "the backend has changed");
            me.check(before.visits >= 100 && before.rearms >= 1, "there is something to lose");
            me.check(after.visits >= before.visits, "visits are kept");
            me.check(after.rearms >= before.rearms, "beginnings anew are kept");
            me.check(ended == 2, "both have ended");
        });
    }
}

TEST_CASE("any thread may ask a pool for its status while a loop of it loses its backend") {
    for (const backend_choice tier : tiers_here()) {
        check_in_child([tier](child_process& me) {
            io_pool_options options;
            options.threads = 1;
            options.loop = require(tier);
            io_pool pool{options};

            pool[0].post([] { forbid_enter(); });  // It sticks to that thread.
            const auto asked_in_vain = [&pool] {
                pool[0].post([] {});
                return pool.status() != errc::ok;
            };
            me.check(eventually(asked_in_vain), "its loop notices");

            me.check(pool.status() == errc::backend_unavailable, "status tells");
        });
    }
}

TEST_CASE("a ring that has lost completions ends the program, and nothing is begun twice") {
    if (!has_uring()) return;
    const ending how = ending_of([] {
        ::unsetenv("GYRE_BACKEND");
        io_context io;
        socket_pair pair = connected_pair(io);
        std::array<std::byte, 4> space{};
        const auto read = [&]() -> task<> {
            static_cast<void>(co_await pair.client.read_some(space));
        };
        launch(io, read(), or_terminate{});
        io.poll();
        forbid(std::array<unsigned, 1>{SYS_io_uring_enter}, EBADR);
        io.poll();
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("lost completions"));
}

TEST_CASE("a thread that posts while a loop changes its backend wakes it all the same") {
    check_in_child([](child_process& me) {
        io_context io;
        constexpr int posts = 2000;
        std::atomic<int> arrived = 0;
        event half_arrived;
        event all_arrived;
        const auto arrive = [&]() noexcept {
            const int now = ++arrived;
            arrived.notify_one();
            if (now == posts / 2) half_arrived.set();
            if (now == posts) all_arrived.set();
        };
        std::thread poster{[&] {
            for (int sent = 0; sent < posts; ++sent) {
                io.post(arrive);
                arrived.wait(sent);
            }
        }};
        const auto change = [&]() -> task<> {
            static_cast<void>(co_await half_arrived.wait());
            forbid_enter();
            static_cast<void>(co_await all_arrived.wait());
        };

        run_to_end(me, io, change());
        poster.join();

        me.check(arrived.load() == posts, "every post arrives");
        me.check(io.backend().kind == backend_choice::epoll, "the backend has changed");
    });
}

TEST_CASE("when io_uring is refused later but required, pending operations say so") {
    for (const backend_choice tier : tiers_here()) {
        check_in_child([tier](child_process& me) {
            io_context io{require(tier)};
            socket_pair pair = connected_pair(io);
            std::array<std::byte, 16> space{};
            const auto use = [&]() -> task<> {
                io_result<std::size_t> pending;
                const auto read = [&]() -> task<> {
                    pending = co_await pair.client.read_some(space);
                };
                const auto body = [&](task_group& group) -> task<> {
                    group.spawn(read());
                    co_await settle();
                    forbid_enter();
                };
                co_await with_group(body);
                const io_result<std::size_t> later = co_await pair.server.write_some(bytes_of("x"));
                const io_result<> slept = co_await sleep_for(1ms);

                me.check(pending.error() == errc::backend_unavailable, "the pending one says so");
                me.check(later.error() == errc::backend_unavailable, "and so does a later one");
                me.check(slept.ok(), "timers go on");
            };

            run_to_end(me, io, use());

            me.check(io.status() == errc::backend_unavailable, "status tells");
            me.check(says(io.backend().reason, "withdrew io_uring"),
                     "and the reason says why, not \"" + io.backend().reason + '"');
        });
    }
}

TEST_CASE("a leased read that was told of a refusal leaves blocks and socket alone") {
    const std::vector<backend_choice> those = tiers_here();
    for (void (*change)() : {&forbid_enter, &forbid_everything}) {
        for (const backend_choice tier : those) {
            check_in_child([change, tier](child_process& me) {
                io_context io{require(tier)};
                socket_pair pair = connected_pair(io);
                bool over = false;
                const auto read = [&]() -> task<> {
                    const io_result<buffer_lease> got = co_await pair.client.read();
                    over = !got.ok();
                };
                launch(io, read(), or_terminate{});
                io.poll();
                change();
                io.run_for(child_patience);
                me.check(over, "the read is over");
                me.check(io.receive_memory().blocks_offered == 0, "the kernel has no block");

                check_late_input_stays(me, io, pair);
            });
        }
    }
}

TEST_CASE("an operation that was told of a refusal no longer touches its buffer or its socket") {
    for (const backend_choice tier : tiers_here()) {
        check_in_child([tier](child_process& me) {
            io_context io{require(tier)};
            socket_pair pair = connected_pair(io);
            std::array<std::byte, 16> space{};
            bool over = false;
            const auto read = [&]() -> task<> {
                const io_result<std::size_t> got = co_await pair.client.read_some(space);
                over = !got.ok();
            };
            launch(io, read(), or_terminate{});
            io.poll();
            forbid_enter();
            io.run_for(child_patience);
            me.check(over, "the read is over");

            check_late_input_stays(me, io, pair);
            me.check(space == std::array<std::byte, 16>{}, "its buffer is left alone");
        });
    }
}

TEST_CASE("when waiting on epoll is refused later, pending operations say so and timers go on") {
    for (const unsigned refusal : {EPERM, EACCES, ENOSYS, ENOMEM, ENOSPC}) {
        check_in_child([refusal](child_process& me) {
            io_context io{require(backend_choice::epoll)};
            socket_pair pair = connected_pair(io);
            std::array<std::byte, 16> space{};
            const auto use = [&]() -> task<> {
                io_result<std::size_t> pending;
                const auto read = [&]() -> task<> {
                    pending = co_await pair.client.read_some(space);
                };
                const auto body = [&](task_group& group) -> task<> {
                    group.spawn(read());
                    co_await settle();
                    forbid(std::array<unsigned, 2>{SYS_epoll_wait, SYS_epoll_pwait2}, refusal);
                };
                co_await with_group(body);
                const io_result<std::size_t> later = co_await pair.server.write_some(bytes_of("x"));
                const io_result<> slept = co_await sleep_for(1ms);

                me.check(pending.error() == io.status(), "the pending one says so");
                me.check(later.error() == io.status(), "and so does a later one");
                me.check(slept.ok(), "timers go on");
            };

            run_to_end(me, io, use());

            me.check(io.status() == static_cast<errc>(refusal), "status tells");
            me.check(io.backend().kind == backend_choice::none, "no backend is left");
            me.check(says(io.backend().reason, io.status().message()), io.backend().reason);
        });
    }
}

TEST_CASE("when io_uring and then epoll are refused, the loop still keeps time and says why") {
    if (!has_uring()) return;
    check_in_child([](child_process& me) {
        io_context io;
        run_to_end(me, io, use_a_little(io, me));
        const auto use = [&]() -> task<> {
            forbid_enter();
            socket_pair pair = connected_pair(io);
            std::array<std::byte, 4> space{};
            static_cast<void>(co_await with_timeout(1ms, pair.server.read_some(space)));
            me.check(io.backend().kind == backend_choice::epoll, "first it goes on with epoll");
            forbid(std::array<unsigned, 2>{SYS_epoll_wait, SYS_epoll_pwait2}, EACCES);
            const auto got = co_await with_timeout(5s, pair.server.read_some(space));
            me.check(got.error() == errc::permission_denied, "then operations say so");
            me.check((co_await sleep_for(1ms)).ok(), "timers go on");
        };

        run_to_end(me, io, use());

        me.check(io.status() == errc::permission_denied, "status tells");
    });
}
