// SPDX-License-Identifier: BSL-1.0
//
// What a loop is where the kernel refuses io_uring from the start, or the memory for it that may be locked.
//
// Filters, limits and user ids stick to a process, so every test here runs in a forked child. These are
// tests of `automatic` and of io_uring; on_every_backend would have nothing to vary. withdrawal_test.cpp has
// refusals that come later.
#include <gyre/io/acceptor.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/harness.hpp>
#include <support/pending_work.hpp>
#include <support/refusals.hpp>
#include <support/settle.hpp>
#include <support/skip.hpp>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// A user of each process's own: what the processes of one user have locked is counted together.
uid_t unprivileged() { return 60'000 + static_cast<uid_t>(::getpid() % 5'000); }

// Drops every privilege, io_uring's exemption from the limit included.
void become_nobody(rlim_t locked_bytes_max) {
    const rlimit limit{locked_bytes_max, locked_bytes_max};
    REQUIRE(::setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    REQUIRE(::setgid(unprivileged()) == 0);
    REQUIRE(::setuid(unprivileged()) == 0);
}

bool can_become_nobody() {
    if (::getuid() == 0) return true;
    skip("only root can become an unprivileged user");
    return false;
}

}  // namespace

TEST_CASE("where io_uring_setup is refused, automatic is epoll and says why") {
    check_in_child([](child_process& me) {
        forbid_setup();

        io_context io;

        me.check(io.backend().kind == backend_choice::epoll, "automatic is epoll");
        me.check(says(io.backend().reason, "io_uring_setup refused: Operation not permitted"),
                 "and says why, not \"" + io.backend().reason + '"');
        me.check(!io.status(), "which is no error");
        run_to_end(me, io, use_a_little(io, me));
    });
}

TEST_CASE("where io_uring_setup is refused but required, operations say so and timers go on") {
    for (const backend_choice tier : tiers()) {
        check_in_child([tier](child_process& me) {
            forbid_setup();
            io_context io{require(tier)};
            const auto use = [&]() -> task<> {
                socket_pair pair = connected_pair(io);
                put(pair.server, "there");
                std::array<std::byte, 4> space{};
                const std::array<mutable_buffer, 1> parts{space};
                const endpoint peer = pair.client.remote_endpoint().value();
                const io_result<std::size_t> read = co_await pair.client.read_some(space);
                const io_result<std::size_t> parted =
                    co_await pair.client.read_some(mutable_buffers{parts});
                const io_result<std::size_t> written =
                    co_await pair.client.write_some(bytes_of("x"));
                const io_result<> waited = co_await pair.client.wait(readiness::readable);
                const io_result<stream_socket> connected = co_await stream_socket::connect(peer);
                tcp_acceptor acceptor = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
                const io_result<stream_socket> accepted = co_await acceptor.accept();
                for (const error each : {read.error(), parted.error(), written.error(),
                                         waited.error(), connected.error(), accepted.error()}) {
                    me.check(each == errc::backend_unavailable,
                             "backend_unavailable, not \"" + each.message() + '"');
                }
                const io_result<> slept = co_await sleep_for(1ms);
                me.check(slept.ok(), "timers go on");
            };

            run_to_end(me, io, use());

            me.check(io.status() == errc::backend_unavailable, "status tells");
            me.check(says(io.backend().reason, "required by option, but io_uring_setup refused"),
                     "and the reason says why, not \"" + io.backend().reason + '"');
        });
    }
}

TEST_CASE("GYRE_BACKEND=uring requires io_uring too, and the reason names the variable") {
    check_in_child([](child_process& me) {
        ::setenv("GYRE_BACKEND", "uring", 1);
        forbid_setup();

        io_context io;
        io_context by_option{require(backend_choice::epoll)};

        me.check(io.status() == errc::backend_unavailable, "status tells");
        me.check(says(io.backend().reason, "uring required by GYRE_BACKEND"),
                 "the reason names the variable, not \"" + io.backend().reason + '"');
        me.check(!by_option.status(), "an option beats the variable");
        run_to_end(me, by_option, use_a_little(by_option, me));
    });
}

TEST_CASE("where the kernel takes no buffers to choose from, leased reads wait without") {
    for (const backend_choice tier : tiers_here()) {
        check_in_child([tier](child_process& me) {
            io_context io{require(tier)};
            run_to_end(me, io, use_a_little(io, me));  // What set-up itself registers.
            forbid_register();
            socket_pair pair = connected_pair(io);
            std::string text;
            const auto read = [&]() -> task<> {
                io_result<buffer_lease> got = co_await pair.client.read();
                if (got.ok()) text = text_of(got.take().bytes());
            };
            const auto use = [&]() -> task<> {
                const auto body = [&](task_group& group) -> task<> {
                    group.spawn(read());
                    co_await settle();
                    me.check(io.receive_memory().blocks_offered == 0, "nothing is offered");
                    put(pair.server, "all the same");
                };
                co_await with_group(body);
            };

            run_to_end(me, io, use());

            me.check(text == "all the same", "it reads \"" + text + '"');
            me.check(is_uring(io), "and stays what it was");
        });
    }
}

TEST_CASE(
    "where the precise wait on epoll is refused, the loop waits by milliseconds and does not "
    "spin") {
    for (const unsigned refusal : {EPERM, EACCES, ENOSYS, ENOMEM, ENOSPC}) {
        check_in_child([refusal](child_process& me) {
            constexpr std::array<unsigned, 1> calls{SYS_epoll_pwait2};
            forbid(calls, refusal);
            io_context io{require(backend_choice::epoll)};

            run_to_end(me, io, use_a_little(io, me));
            const auto sleeps = [&me]() -> task<> {
                for (int each = 0; each < 5; ++each) {
                    me.check((co_await sleep_for(5ms)).ok(), "sleeps end");
                }
            };
            run_to_end(me, io, sleeps());

            const std::uint64_t visits = io.counters().visits;
            me.check(visits < 100, std::to_string(visits) + " visits to the kernel");
            me.check(says(io.backend().reason, "epoll_pwait2 refused"), "and it says so");
            me.check(!io.status(), "which is no error");
        });
    }
}

TEST_CASE("where epoll is refused as well, operations say so, and posts and timers go on") {
    for (const unsigned refusal : {EPERM, EACCES, ENOSYS, ENOMEM, ENOSPC}) {
        for (const unsigned call : {SYS_epoll_create1, SYS_epoll_ctl, SYS_eventfd2}) {
            check_in_child([refusal, call](child_process& me) {
                forbid(std::array<unsigned, 1>{call}, refusal);
                io_context io{require(backend_choice::epoll)};
                bool posted = false;
                const auto use = [&]() -> task<> {
                    io_result<stream_socket> connected =
                        co_await stream_socket::connect({ipv4::loopback(), 1});
                    me.check(connected.error() == io.status(), "operations say so");
                    io.post([&posted] { posted = true; });
                    me.check((co_await sleep_for(1ms)).ok(), "timers go on");
                    me.check(posted, "posts go on");
                };

                run_to_end(me, io, use());

                me.check(io.backend().kind == backend_choice::none, "there is no backend");
                me.check(io.status() == static_cast<errc>(refusal), "the status says why");
                me.check(says(io.backend().reason, io.status().message()), io.backend().reason);
            });
        }
    }
}

TEST_CASE("with 64 KiB of lockable memory an unprivileged loop works, and says what it had to do") {
    if (!can_become_nobody()) return;
    check_in_child([](child_process& me) {
        become_nobody(64 * 1024);

        io_context io;

        me.check(!io.backend().reason.empty(), "it says why");
        me.check(!io.status(), "it is no error");
        me.say(std::string{"it chose "} + describe(io.backend().kind) + ": " + io.backend().reason);
        run_to_end(me, io, use_a_little(io, me));
        {
            pending_work work{io, me};
            run_to_end(me, io, work.run([] {}));
            work.check_everything_came();
        }
    });
}

TEST_CASE("with no lockable memory at all an unprivileged loop works all the same") {
    if (!can_become_nobody()) return;
    check_in_child([](child_process& me) {
        become_nobody(0);

        io_context io;
        io_context required{require(backend_choice::uring)};

        if (io.backend().kind == backend_choice::epoll) {
            me.check(says(io.backend().reason, "Cannot allocate memory"),
                     "it says why, not \"" + io.backend().reason + '"');
            me.check(required.status() == errc::backend_unavailable, "required is refused");
        } else {
            me.check(!required.status(), "what automatic has, may be required");
        }
        run_to_end(me, io, use_a_little(io, me));
    });
}

TEST_CASE("without lockable memory a process waits for some once, and not for each of its loops") {
    if (!can_become_nobody() || !has_uring()) return;
    check_in_child([](child_process& me) {
        become_nobody(0);
        const auto time_to_make = [](int loops) {
            const time_point begin = std::chrono::steady_clock::now();
            for (int each = 0; each < loops; ++each) io_context io;
            return std::chrono::steady_clock::now() - begin;
        };

        const duration first = time_to_make(1);
        const duration rest = time_to_make(8);

        me.check(rest < 2 * first, "eight took " + std::to_string(rest / 1us) + " us, the first " +
                                       std::to_string(first / 1us));
    });
}

TEST_CASE("a pool has one backend, whatever memory there is for rings") {
    if (!can_become_nobody() || !has_uring()) return;
    for (rlim_t kib = 0; kib <= 512; kib += 32) {
        check_in_child([kib](child_process& me) {
            become_nobody(kib * 1024);
            io_pool_options options;
            options.threads = 8;
            io_pool pool{options};

            me.check(!pool.status(), "it is no error");
            me.check(pool[0].backend().kind != backend_choice::epoll ||
                         says(pool[0].backend().reason, "Cannot allocate memory"),
                     "it says why, not \"" + pool[0].backend().reason + '"');
            for (std::size_t each = 1; each < pool.size(); ++each) {
                me.check(pool[each].backend().kind == pool[0].backend().kind,
                         std::to_string(kib) + " KiB: " + describe(pool[0].backend().kind) +
                             " and " + describe(pool[each].backend().kind));
            }
        });
    }
}

TEST_CASE("a thousand loops made and destroyed by an unprivileged user never end on epoll") {
    if (!can_become_nobody() || !has_uring()) return;
    check_in_child([](child_process& me) {
        become_nobody(8 << 20);

        int on_epoll = 0;
        std::string reason;
        for (int cycle = 0; cycle < 1000; ++cycle) {
            io_context io;
            static_cast<void>(io.poll());
            if (is_uring(io)) continue;
            ++on_epoll;
            reason = io.backend().reason;
        }

        me.check(on_epoll == 0, std::to_string(on_epoll) + " of 1000 on epoll: " + reason);
    });
}

TEST_CASE("many loops at once, within the limit of an unprivileged user, are all on io_uring") {
    if (!can_become_nobody() || !has_uring()) return;
    check_in_child([](child_process& me) {
        become_nobody(8 << 20);

        for (int round = 0; round < 20; ++round) {
            std::vector<std::unique_ptr<io_context>> loops;
            for (int each = 0; each < 16; ++each) {
                loops.push_back(std::make_unique<io_context>());
                static_cast<void>(loops.back()->poll());
                me.check(is_uring(*loops.back()), loops.back()->backend().reason);
            }
        }
    });
}
