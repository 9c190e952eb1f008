// SPDX-License-Identifier: BSL-1.0
//
// Known pitfalls of io_uring and epoll, one test each.
//
// Here are the traps that no other test walks into. Memory limits and refused rings are in
// tests/runtime/fallback_test.cpp, filters that come late in withdrawal_test.cpp beside it; accepts that are
// given up, and whose peer an address is, in tests/io/acceptor_test.cpp; harvests of more than one enter
// surfaces in backend_laws_test.cpp; reads without a free buffer in storms_test.cpp; the order of ring
// entries in tests/runtime/uring_ring_test.cpp.
#include <gyre/io/acceptor.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <support/child.hpp>
#include <support/harness.hpp>
#include <support/settle.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> accept_for_ever(stream_acceptor& from) {
    for (;;) {
        const io_result<stream_socket> next = co_await from.accept();
        if (!next.ok()) co_return;
    }
}

task<> read_for_ever(stream_socket from) {
    std::array<std::byte, 16> space;
    for (;;) {
        const io_result<std::size_t> got = co_await from.read_some(space);
        if (!got.ok()) co_return;
    }
}

task<> serve_without_end(stream_acceptor listening, std::vector<stream_socket> held) {
    const auto body = [&](task_group& group) -> task<> {
        for (int each = 0; each < 4; ++each) group.spawn(accept_for_ever(listening));
        for (stream_socket& each : held) group.spawn(read_for_ever(std::move(each)));
        co_return;
    };
    co_await with_group(body);
}

}  // namespace

// io_uring, closed with an accept in flight, keeps the port for up to a second.
TEST_CASE(
    "trap: a port can be bound again as soon as its loop is gone, accepts and reads in flight") {
    with_every_backend([](const io_context_options& options) {
        endpoint where{ipv4::loopback(), 0};
        listen_options alone;
        alone.address_reused = false;  // So that nothing helps.
        for (int round = 0; round < 20; ++round) {
            io_context io{options};
            io_result<stream_acceptor> listening = stream_acceptor::listen(io, where, alone);
            REQUIRE_FALSE(listening.error());
            stream_acceptor acceptor = listening.take();
            where = acceptor.local_endpoint().value();

            std::vector<stream_socket> held;
            for (int each = 0; each < 3; ++each) {
                auto [near, far] = local_pair(io);
                held.push_back(std::move(near));
                held.push_back(std::move(far));
            }
            launch(io, serve_without_end(std::move(acceptor), std::move(held)), or_terminate{});
            io.poll();
        }
    });
}

// The mappings of a ring are inherited, and a child that touched them would submit for its parent.
TEST_CASE("trap: a forked child leaves its parent's loop alone and makes one of its own") {
    on_every_backend([](io_context& io) -> task<> {
        auto [near, far] = local_pair(io);
        std::array<std::byte, 5> got{};
        io_result<std::size_t> result{errc::malformed};
        const auto listen = [&]() -> task<> { result = co_await read_exactly(far, got); };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(listen());
            co_await settle();  // In flight now.

            const int child = start_child([&near, kind = io.backend().kind]() -> int {
                // The inherited socket is a plain descriptor here; the loop is a new one.
                const int number = ::dup(near.native_handle());
                io_context_options options;
                options.backend = kind;
                io_context own{options};
                bool sent = false;
                const auto send = [&]() -> task<> {
                    stream_socket socket = stream_socket::adopt(own, number);
                    const auto written = co_await write_all(socket, bytes_of("child"));
                    sent = written.ok();
                    co_await settle();
                };
                launch(own, send(), or_terminate{});
                own.run();
                return sent ? 0 : 1;
            });
            CHECK(wait_for_child(child) == 0);
        };
        co_await with_group(body);

        CHECK(result.value() == 5);
        CHECK(const_buffer{got}.front() == std::byte{'c'});
    });
}

// What came with a descriptor ends a read, so a short one proves nothing about what lies behind it.
TEST_CASE("trap: a read that ends where descriptors were sent does not hide the bytes behind it") {
    on_every_backend([](io_context& io) -> task<> {
        auto [near, far] = local_pair(io);
        std::array<std::byte, 8> space{};
        const io_result<std::size_t> none = co_await with_timeout(1ms, near.read_some(space));
        CHECK(none.error() == errc::timed_out);

        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
        char byte = 'a';
        iovec part{&byte, 1};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        const int sent = far.native_handle();
        std::memcpy(CMSG_DATA(header), &sent, sizeof sent);
        CHECK(::sendmsg(far.native_handle(), &message, 0) == 1);
        CHECK(::send(far.native_handle(), "bcd", 3, 0) == 3);

        std::size_t got = 0;
        while (got < 4) {
            const io_result<std::size_t> some = co_await with_timeout(10s, near.read_some(space));
            CHECK(some.ok());
            if (!some.ok()) break;
            got += some.value();
        }
        CHECK(got == 4);
    });
}

// epoll watches the file behind a number: closed, it would go on reporting for a duplicate of it.
TEST_CASE(
    "trap: a duplicate of a closed socket neither wakes the loop nor speaks for a new socket") {
    on_every_backend([](io_context& io) -> task<> {
        auto [near, far] = local_pair(io);
        std::array<std::byte, 8> space{};
        const io_result<std::size_t> first =
            co_await with_timeout(1ms, near.read_some(space));  // Known to the backend now.
        CHECK(first.error() == errc::timed_out);
        const int number = near.native_handle();
        const int duplicate = ::dup(number);
        REQUIRE(duplicate >= 0);
        io_result<std::size_t> got{errc::malformed};
        static_cast<void>(near.close());

        // The next one gets the number that has become free.
        auto [other, peer] = local_pair(io);
        CHECK(other.native_handle() == number);
        const auto listen = [&]() -> task<> { got = co_await other.read_some(space); };
        constexpr int words = 30;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(listen());
            for (int word = 0; word < words; ++word) {
                static_cast<void>(
                    ::send(far.native_handle(), "for the duplicate", 17, MSG_NOSIGNAL));
                static_cast<void>(co_await sleep_for(1ms));
            }
            group.request_stop();
        };
        // The kernel may interrupt waits while it ends the rings of earlier tests; but not each time.
        std::uint64_t visits_min = std::numeric_limits<std::uint64_t>::max();
        for (int round = 0; round < 3; ++round) {
            const std::uint64_t before = io.counters().visits;
            co_await with_group(body);
            visits_min = std::min(visits_min, io.counters().visits - before);
            CHECK(got.error() == errc::canceled);
        }
        // One for each time that we slept, and not a second one for each word.
        CHECK(visits_min < words * 3 / 2);
        ::close(duplicate);
    });
}
