// SPDX-License-Identifier: BSL-1.0
//
// Servers on pools: where sessions run, how many, and how they end.
#include <gyre/io/serve_pool.hpp>

#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>
#include <support/pools.hpp>
#include <support/thread_stacks.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

template <class Body>
void leaving_no_descriptor(unsigned threads, const Body& body) {
    const std::size_t before = open_descriptors();
    with_pools(threads, body);
    CHECK(open_descriptors() == before);
}

/// Which loops sessions ran on, and how many at once.
struct record {
    std::mutex lock;
    std::set<const io_context*> loops;
    std::atomic<int> now = 0;
    std::atomic<int> most = 0;

    void begin() {
        const int here = ++now;
        int known = most.load();
        while (known < here && !most.compare_exchange_weak(known, here)) {
        }
        const std::lock_guard held{lock};
        loops.insert(io_context::current());
    }
};

task<> echo_byte(record& seen, stream_socket peer) {
    seen.begin();
    std::array<std::byte, 1> byte;
    for (;;) {
        const auto got = co_await peer.read_some(byte);
        if (!got.ok()) break;
        const auto sent = co_await write_all(peer, byte);
        if (!sent.ok()) break;
    }
    --seen.now;
}

task<> ask_for_byte(const endpoint& server, std::atomic<int>& answered) {
    io_result<stream_socket> connecting = co_await stream_socket::connect(server);
    if (!connecting.ok()) co_return;
    stream_socket socket = connecting.take();
    std::array<std::byte, 1> byte{std::byte{42}};
    const auto sent = co_await write_all(socket, byte);
    if (!sent.ok()) co_return;
    byte[0] = {};
    const auto got = co_await read_exactly(socket, mutable_buffer{byte});
    if (got.ok() && byte[0] == std::byte{42}) ++answered;
}

}  // namespace

TEST_CASE("a bound is divided among servers without a rest, however large") {
    const auto share = [](std::size_t all, std::size_t servers) {
        serve_options whole;
        whole.connections_max = all;
        return share_of(whole, servers).connections_max;
    };
    CHECK(share(10, 2) == 5);
    CHECK(share(10, 3) == 4);
    CHECK(share(1, 16) == 1);
    CHECK(share(std::numeric_limits<std::size_t>::max(), 2) == (std::size_t{1} << 63));
}

TEST_CASE("a rate is divided among servers, however long its time") {
    const auto share = [](duration per, std::uint64_t burst, std::size_t servers) {
        serve_options whole;
        whole.accepts = rate_limit{1, per, burst};
        const rate_limit part = *share_of(whole, servers).accepts;
        CHECK(token_rate{part}.burst() == part.burst);
        return part;
    };
    CHECK(share(1s, 8, 4).per == 4s);
    CHECK(share(1s, 8, 4).burst == 2);
    CHECK(share(1s, 3, 4).burst == 1);
    CHECK(share(duration::max(), 1, 4).per == duration::max());
    CHECK(share(duration::max() / 3, 3, 4).per == duration::max());
    CHECK(share(duration::max() / 3, 3, 2).per == duration::max() / 3 * 2);
}

TEST_CASE("with a listener for each loop every connection is served, on a loop of the pool") {
    leaving_no_descriptor(3, [](io_context& io, io_pool& pool) {
        record seen;
        std::atomic<int> answered = 0;
        const auto all = [&]() -> task<> {
            auto listening = listen_on_each(pool, endpoint{ipv4::loopback(), 0});
            REQUIRE(listening.ok());
            std::vector<stream_acceptor> acceptors = listening.take();
            REQUIRE(acceptors.size() == 3);
            const endpoint server = acceptors[0].local_endpoint().value();
            CHECK(acceptors[2].local_endpoint().value() == server);
            const auto session = [&seen](stream_socket peer) {
                return echo_byte(seen, std::move(peer));
            };
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(serve(pool, std::move(acceptors), session));
                const auto clients = [&](task_group& asking) -> task<> {
                    for (int each = 0; each < 60; ++each) {
                        asking.spawn(ask_for_byte(server, answered));
                    }
                    co_return;
                };
                co_await with_group(clients);
                group.request_drain();
            };
            co_await with_group(body);
        };
        run_here(io, all());

        CHECK(answered == 60);
        CHECK(seen.now == 0);
        // By addresses, so by luck: that 60 ports fall to one of three loops does not happen.
        CHECK(seen.loops.size() >= 2);
        for (const io_context* each : seen.loops) {
            CHECK((each == &pool[0] || each == &pool[1] || each == &pool[2]));
        }
    });
}

TEST_CASE(
    "with one listener connections go to the loop with the fewest sessions, up to the bound") {
    leaving_no_descriptor(2, [](io_context& io, io_pool& pool) {
        record seen;
        std::atomic<int> answered = 0;
        const auto all = [&]() -> task<> {
            auto listening = co_await stream_acceptor::listen(endpoint{ipv4::loopback(), 0});
            REQUIRE(listening.ok());
            stream_acceptor acceptor = listening.take();
            const endpoint server = acceptor.local_endpoint().value();
            serve_counters counters;
            serve_options options;
            options.connections_max = 4;
            options.counters = &counters;
            const auto session = [&seen](stream_socket peer) {
                return echo_byte(seen, std::move(peer));
            };
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(serve(pool, std::move(acceptor), session, options));
                const auto clients = [&](task_group& asking) -> task<> {
                    for (int each = 0; each < 40; ++each) {
                        asking.spawn(ask_for_byte(server, answered));
                    }
                    co_return;
                };
                co_await with_group(clients);
                group.request_drain();
            };
            co_await with_group(body);
            CHECK(counters.accepted == 40);
        };
        run_here(io, all());

        CHECK(answered == 40);
        CHECK(seen.now == 0);
        CHECK(seen.most <= 4);
        CHECK(seen.loops == std::set<const io_context*>{&pool[0], &pool[1]});
    });
}

TEST_CASE("a stop ends sessions on every loop and the server with them") {
    leaving_no_descriptor(2, [](io_context& io, io_pool& pool) {
        record seen;
        const auto all = [&]() -> task<> {
            auto listening = listen_on_each(pool, endpoint{ipv4::loopback(), 0});
            REQUIRE(listening.ok());
            std::vector<stream_acceptor> acceptors = listening.take();
            const endpoint server = acceptors[0].local_endpoint().value();
            const auto session = [&seen](stream_socket peer) {
                return echo_byte(seen, std::move(peer));
            };
            const auto body = [&](task_group& group) -> task<> {
                group.spawn(serve(pool, std::move(acceptors), session));
                std::vector<stream_socket> silent;
                for (int each = 0; each < 10; ++each) {
                    io_result<stream_socket> connected = co_await stream_socket::connect(server);
                    REQUIRE(connected.ok());
                    silent.push_back(connected.take());
                }
                while (seen.now.load() < 10) co_await yield();
                group.request_stop();
            };
            co_await with_group(body);
        };
        run_here(io, all());

        CHECK(seen.now == 0);
    });
}

TEST_CASE("listening on each loop fails as a whole if the address is taken") {
    leaving_no_descriptor(2, [](io_context& io, io_pool& pool) {
        const auto taken = stream_acceptor::listen(io, endpoint{ipv4::loopback(), 0});
        REQUIRE(taken.ok());

        const auto refused = listen_on_each(pool, taken.value().local_endpoint().value());

        CHECK(refused.error() == errc::address_in_use);
    });
}

TEST_CASE("a server on a pool that could not start ends at once, and says why") {
    on_every_backend([](io_context& io) -> task<> {
        io_pool_options of_pool;
        of_pool.threads = 2;
        std::optional<thread_stacks> none{thread_stacks::impossible};
        io_pool pool{of_pool};
        none.reset();
        io_result<stream_acceptor> one = stream_acceptor::listen(io, {ipv4::loopback(), 0});
        io_result<std::vector<stream_acceptor>> each = listen_on_each(pool, {ipv4::loopback(), 0});
        REQUIRE(one.ok());
        REQUIRE(each.ok());
        const auto hang_up = [](stream_socket) -> task<> { co_return; };

        const io_result<> handing_over = co_await serve(pool, one.take(), hang_up);
        const io_result<> on_each = co_await serve(pool, each.take(), hang_up);

        CHECK(handing_over.error() == errc::resource_unavailable);
        CHECK(on_each.error() == errc::resource_unavailable);
    });
}
