// SPDX-License-Identifier: BSL-1.0
//
// Loops and pools that are made when the process has no descriptors left.
#include <gyre/io/stream_socket.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>
#include <support/refusals.hpp>

#include <sys/resource.h>

#include <atomic>
#include <thread>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

// What is open stays so.
void forbid_descriptors() {
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = 0;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

}  // namespace

TEST_CASE("a loop without a descriptor says so, and goes on with posts and timers") {
    with_every_backend([](const io_context_options& options) {
        check_in_child([&options](child_process& me) {
            forbid_descriptors();
            io_context io{options};
            me.check(io.status() == errc::process_descriptors_exhausted, "the status says why");
            me.check(io.backend().kind == backend_choice::none, "there is no backend");
            me.check(says(io.backend().reason, "no descriptors"), io.backend().reason);

            const auto uses = [&]() -> task<> {
                me.check((co_await sleep_for(1ms)).ok(), "it sleeps");
                const io_result<stream_socket> none =
                    co_await stream_socket::connect({ipv4::loopback(), 1});
                me.check(!none.ok(), "it has no sockets");
            };
            run_to_end(me, io, uses());

            bool posted = false;
            io_context::work_guard waits{io};
            std::thread other{[&] {
                io.post([&] {
                    posted = true;
                    waits = {};
                });
            }};
            io.run_for(child_patience);
            other.join();
            me.check(posted, "it is woken");
        });
    });
}

TEST_CASE("a pool without a descriptor says so, and runs what needs none") {
    check_in_child([](child_process& me) {
        forbid_descriptors();
        io_pool_options options;
        options.threads = 2;
        io_pool pool{options};
        me.check(pool.status() == errc::process_descriptors_exhausted, "the status says why");
        std::atomic<int> ran = 0;
        for (int each = 0; each < 100; ++each) pool.post([&ran] { ++ran; });
        pool.wait();
        me.check(ran == 100, "posts run");
    });
}
