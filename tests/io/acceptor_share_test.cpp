// SPDX-License-Identifier: BSL-1.0
//
// The share of a turn that accepting gets, beside connections that always have something to do.
#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/conformance.hpp>

#include <vector>

using namespace gyre;
using namespace gyre::testing;

TEST_CASE("a backlog is accepted in a few rounds of those who are busy, not in one per handful") {
    on_each_backend_of("acceptors", [](io_context& io) -> task<> {
        constexpr std::size_t waiting = 96;
        constexpr int busy = 20;
        constexpr unsigned rounds_max = 8;  // A streak's worth of accepts in each takes 32.
        io_result<tcp_acceptor> listening = tcp_acceptor::listen(io, {ipv4::loopback(), 0});
        REQUIRE(listening.ok());
        tcp_acceptor acceptor = listening.take();
        const endpoint there = acceptor.local_endpoint().value();
        std::vector<tcp_socket> clients;
        for (std::size_t i = 0; i < waiting; ++i) {
            io_result<tcp_socket> connected = co_await tcp_socket::connect(there);
            REQUIRE(connected.ok());
            clients.push_back(connected.take());
        }

        unsigned rounds = 0;
        bool over = false;
        const auto be_busy = [&](bool counts) -> task<> {
            while (!over) {
                rounds += counts ? 1 : 0;
                co_await yield();
            }
        };
        co_await with_group([&](task_group& crowd) -> task<> {
            for (int i = 0; i < busy; ++i) crowd.spawn(be_busy(i == 0));
            co_await yield();
            const unsigned before = rounds;
            std::size_t accepted = 0;
            while (accepted < waiting) {
                const io_result<tcp_socket> taken = co_await acceptor.accept();
                if (!taken.ok()) break;
                ++accepted;
            }
            over = true;

            CHECK(accepted == waiting);
            CHECK(rounds - before <= rounds_max);
        });
    });
}
