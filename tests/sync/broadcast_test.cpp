// SPDX-License-Identifier: BSL-1.0
//
// What gyre/sync/broadcast.hpp promises. How its wait ends when stopped: waiting_laws_test.cpp.
#include <gyre/sync/broadcast.hpp>

#include <base/ending.hpp>
#include <gyre/interop/future.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/pools.hpp>
#include <support/settle.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <future>
#include <memory>
#include <thread>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

using values = std::vector<int>;

task<> receive_all(broadcast<int>::receiver by, values& into) {
    for (;;) {
        const auto got = co_await by.receive();
        if (got.error()) co_return;
        CHECK(got.get<2>() == 0);
        into.push_back(got.get<1>());
    }
}

/// What a receiver has had: in order it is all that was sent, each either received or missed.
struct tally {
    std::uint64_t received = 0;
    std::uint64_t missed = 0;
    bool in_order = true;

    /// Values are numbered from 0.
    void note(std::uint64_t value, std::uint64_t lost) {
        missed += lost;
        if (value != received + missed) in_order = false;
        ++received;
    }
};

task<tally> tally_of(broadcast<std::uint64_t>::receiver by) {
    tally seen;
    for (;;) {
        const auto got = co_await by.receive();
        if (got.error()) co_return seen;
        seen.note(got.get<1>(), got.get<2>());
    }
}

}  // namespace

TEST_CASE("each receiver gets each value that is sent after it has subscribed") {
    on_every_backend([](io_context&) -> task<> {
        broadcast<int> numbers{8};
        values early, late;
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(receive_all(numbers.subscribe(), early));
            CHECK(numbers.send(1));
            CHECK(numbers.send(2));
            group.spawn(receive_all(numbers.subscribe(), late));
            co_await settle();
            CHECK(numbers.send(3));
            numbers.close();
        };

        co_await with_group(body);

        CHECK(early == values{1, 2, 3});
        CHECK(late == values{3});
        CHECK_FALSE(numbers.send(4));
    });
}

TEST_CASE(
    "a receiver that was too slow goes on with the oldest value, and is told how many it missed") {
    on_every_backend([](io_context&) -> task<> {
        broadcast<int> numbers{3};
        auto by = numbers.subscribe();
        for (int value = 0; value < 10; ++value) CHECK(numbers.send(value));
        auto copy = by;

        const auto first = co_await by.receive();
        const auto second = co_await by.receive();
        CHECK(numbers.send(10));
        CHECK(numbers.send(11));
        const auto third = co_await by.receive();
        numbers.close();
        const auto of_copy = copy.try_receive();
        const auto fourth = co_await by.receive();
        const auto fifth = co_await by.receive();
        const auto sixth = co_await by.receive();

        CHECK(first.get<1>() == 7);
        CHECK(first.get<2>() == 7);
        CHECK(second.get<1>() == 8);
        CHECK(second.get<2>() == 0);
        CHECK(third.get<1>() == 9);
        CHECK(third.get<2>() == 0);
        CHECK(of_copy.get<1>() == 9);
        CHECK(of_copy.get<2>() == 9);
        CHECK(fourth.get<1>() == 10);
        CHECK(fifth.get<1>() == 11);
        CHECK(sixth.error() == errc::closed);
    });
}

TEST_CASE("a receiver that has waited tells what it missed before it went on") {
    on_every_backend([](io_context&) -> task<> {
        broadcast<int> numbers{2};
        io_result<int, std::uint64_t> got;
        const auto receive = [&](broadcast<int>::receiver by) -> task<> {
            got = co_await by.receive();
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(receive(numbers.subscribe()));
            co_await settle();
            for (int value = 0; value < 5; ++value) CHECK(numbers.send(value));
        };

        co_await with_group(body);

        CHECK(got.get<1>() == 3);
        CHECK(got.get<2>() == 3);
    });
}

TEST_CASE("trying to receive tells nothing yet from nothing more") {
    broadcast<int> numbers{1};
    auto by = numbers.subscribe();

    const auto nothing_yet = by.try_receive();
    CHECK(numbers.send(7));
    const auto there = by.try_receive();
    numbers.close();
    const auto nothing_more = by.try_receive();

    CHECK(nothing_yet.error() == errc::resource_unavailable);
    CHECK(there.get<1>() == 7);
    CHECK(nothing_more.error() == errc::closed);
}

TEST_CASE("a value that is pushed out of the ring goes at once") {
    broadcast<std::shared_ptr<int>> pointers{1};
    auto first = std::make_shared<int>(1);
    const std::weak_ptr<int> watched_first = first;
    CHECK(pointers.send(std::move(first)));
    CHECK_FALSE(watched_first.expired());

    CHECK(pointers.send(std::make_shared<int>(2)));

    CHECK(watched_first.expired());
}

TEST_CASE("storm: on every thread each value is received in order, or counted as missed") {
    with_pools(2, [](io_context&, io_pool& pool) {
        constexpr std::uint64_t count = 5000;
        broadcast<std::uint64_t> numbers{16};
        std::vector<std::future<tally>> ends;
        for (std::size_t each = 0; each < 4; ++each) {
            ends.push_back(to_future(pool[each % 2], tally_of(numbers.subscribe())));
        }
        tally seen_here;
        std::thread blocking{[&, by = numbers.subscribe()]() mutable {
            for (;;) {
                const auto got = by.receive_blocking();
                if (got.error()) return;
                seen_here.note(got.get<1>(), got.get<2>());
            }
        }};

        for (std::uint64_t value = 0; value < count; ++value) numbers.send(value);
        numbers.close();
        blocking.join();

        for (std::future<tally>& each : ends) {
            const tally seen = each.get();
            CHECK(seen.in_order);
            CHECK(seen.received + seen.missed == count);
        }
        CHECK(seen_here.in_order);
        CHECK(seen_here.received + seen_here.missed == count);
    });
}

TEST_CASE("a thread that receives nothing waits until its deadline") {
    broadcast<int> numbers{1};
    auto by = numbers.subscribe();

    const auto none = by.receive_blocking(std::chrono::steady_clock::now() + 1ms);

    CHECK(none.error() == errc::timed_out);
}

namespace {

task<> receive_twice_at_once() {
    broadcast<int> from{4};
    broadcast<int>::receiver by = from.subscribe();
    const auto send = [&from]() -> task<> {
        from.send(1);
        co_return;
    };
    static_cast<void>(co_await when_all(by.receive(), by.receive(), send()));
}

}  // namespace

TEST_CASE("a receiver that waits for two values at once is a failed check") {
    const ending how = ending_of([] {
        io_context io;
        launch(io, receive_twice_at_once(), or_terminate{});
        io.run();
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a receiver of a broadcast waits for one thing at a time"));
}
