// SPDX-License-Identifier: BSL-1.0
//
// What the seam promises of memory: once warm, nothing that a running exchange does allocates.
//
// malloc itself is counted (lab/kit/allocations.hpp), so these are left out where sanitizers replace it.
#pragma once

#include <exchange/tests/net/law.hpp>
#include <lab/kit/allocations.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace exchange::testing {

inline constexpr int rounds_to_warm_up = 100;
inline constexpr int rounds_counted = 2'000;

/// Runs `round()`, which returns task<>, until warm, then counts.
template <class Side, class Round>
typename law<Side>::template task<> expect_no_allocation(Round& round) {
    for (int each = 0; each < rounds_to_warm_up; ++each) co_await round();

    const std::uint64_t before = lab::allocations_of_this_thread();
    for (int each = 0; each < rounds_counted; ++each) co_await round();
    const std::uint64_t after = lab::allocations_of_this_thread();

    CHECK(after - before == 0);
}

template <class Side>
typename law<Side>::template task<bool> send_all(typename law<Side>::stream_socket& to,
                                                 const_buffer from) {
    while (!from.empty()) {
        const count_result sent = co_await to.write_some(from);
        if (!sent.ok()) co_return false;
        from = from.subspan(sent.value());
    }
    co_return true;
}

template <class Side>
typename law<Side>::template task<> echo(typename law<Side>::stream_socket socket) {
    std::array<std::byte, 64> space;
    for (;;) {
        const count_result got = co_await socket.read_some(space);
        if (!got.ok()) co_return;
        const bool sent = co_await send_all<Side>(socket, std::span{space}.first(got.value()));
        if (!sent) co_return;
    }
}

TEST_CASE_TEMPLATE_DEFINE("echoes on eight connections at once, gathered, allocate nothing", Side,
                          echoes_without_allocation) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        std::vector<typename the::stream_socket> clients;
        for (int each = 0; each < 8; ++each) {
            auto ends = co_await the::connect_pair(on);
            clients.push_back(std::move(ends.near));
            Side::traits::launch(on, echo<Side>(std::move(ends.far)));
        }
        const std::array<const_buffer, 2> message{bytes_of("head"), bytes_of("body")};
        std::array<std::byte, 64> space;
        const auto round = [&]() -> typename the::template task<> {
            for (auto& each : clients) {
                const count_result sent = co_await each.write_some(const_buffers{message});
                if (sent.value() != 8) CHECK(sent.value() == 8);
            }
            for (auto& each : clients) {
                const count_result got = co_await each.read_some(space);
                if (got.value() != 8) CHECK(got.value() == 8);
            }
        };
        co_await expect_no_allocation<Side>(round);
        for (auto& each : clients) CHECK(each.close().ok());
    });
}

template <class Side>
typename law<Side>::template task<> take_a_turn() {
    typename law<Side>::event set;
    set.set();
    static_cast<void>(co_await set.wait());
}

template <class Side>
typename law<Side>::template task<> answer(typename law<Side>::event& asked,
                                           typename law<Side>::event& answered, int& answers,
                                           const bool& over) {
    while (!over) {
        const io_result<> set = co_await asked.wait();
        if (!set.ok()) co_return;
        asked.reset();
        co_await take_a_turn<Side>();  // On Asio six of these frames live at once.
        if (++answers % 6 == 0) answered.set();
    }
}

TEST_CASE_TEMPLATE_DEFINE(
    "an event that six wait for, and a task that each awaits then, allocate nothing", Side,
    events_without_allocation) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        typename the::event asked;
        typename the::event answered;
        int answers = 0;
        bool over = false;
        for (int each = 0; each < 6; ++each) {
            Side::traits::launch(on, answer<Side>(asked, answered, answers, over));
        }
        co_await the::settle(on);
        const auto round = [&]() -> typename the::template task<> {
            asked.set();
            static_cast<void>(co_await answered.wait());
            answered.reset();
        };
        co_await expect_no_allocation<Side>(round);
        over = true;
        co_await round();
        CHECK(answers == 6 * (rounds_to_warm_up + rounds_counted + 1));
    });
}

TEST_CASE_TEMPLATE_DEFINE("a deadline that passes, and one that is pushed back, allocate nothing",
                          Side, timers_without_allocation) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        typename the::timer liveness{on};
        typename the::timer step{on};
        io_result<> waiting;
        typename the::event ended;
        liveness.expire_at(Side::traits::now(on) + std::chrono::hours{1});
        Side::traits::launch(on, the::note([&] { return liveness.wait(); }, waiting, ended));
        const auto round = [&]() -> typename the::template task<> {
            const gyre::time_point now = Side::traits::now(on);
            liveness.expire_at(now + std::chrono::hours{2});
            const io_result<> passed =
                co_await step.wait_until(now + std::chrono::microseconds{20});
            if (!passed.ok()) CHECK(passed.ok());
        };
        co_await expect_no_allocation<Side>(round);
        liveness.cancel();
        static_cast<void>(co_await ended.wait());
        CHECK(waiting.error() == errc::canceled);
    });
}

TEST_CASE_TEMPLATE_DEFINE("datagrams one by one and in batches allocate nothing", Side,
                          datagrams_without_allocation) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto sender = the::bound(on);
        auto receiver = the::bound(on);
        const endpoint to = receiver.local_endpoint().value();
        const std::array<const_buffer, 2> parts{bytes_of("head"), bytes_of("body")};
        typename the::datagram_batch batch{4, 64};
        std::array<std::byte, 64> space;
        const auto round = [&]() -> typename the::template task<> {
            static_cast<void>(co_await sender.send_to(parts, to));
            for (int each = 0; each < 4; ++each) static_cast<void>(batch.append(parts, to));
            while (!batch.empty()) static_cast<void>(co_await sender.send(batch));
            for (int each = 0; each < 5; ++each) {
                auto [failed, got, from] = co_await receiver.receive_from(space);
                if (failed || got.size != 8) CHECK(got.size == 8);
            }
        };
        co_await expect_no_allocation<Side>(round);
    });
}

}  // namespace exchange::testing
