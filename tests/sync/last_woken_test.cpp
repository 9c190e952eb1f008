// SPDX-License-Identifier: BSL-1.0
//
// The last of those that were woken may destroy what they waited for: every type of shared_waiters.hpp.
//
// One call ends more waits than a wake_list holds. The waits stand in the queue before it begins, each for a
// place of its own: one that goes on in the middle of the call, so in the worst moment each time, or a
// thread, as in a program.
#include <gyre/sync/shared_waiters.hpp>

#include <gyre/sync/barrier.hpp>
#include <gyre/sync/broadcast.hpp>
#include <gyre/sync/latch.hpp>
#include <gyre/sync/notify.hpp>
#include <gyre/sync/once.hpp>
#include <gyre/sync/oneshot.hpp>
#include <gyre/sync/shared_channel.hpp>
#include <gyre/sync/shared_mutex.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/watch.hpp>
#include <support/pools.hpp>
#include <support/waiting_places.hpp>

#include <base/ending.hpp>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

constexpr std::array<std::size_t, 4> counts{16, 17, 32, 40};  // A wake_list holds 16.

/// `count` waits of `wait(shared)` in `Place`s, all ended by `wake(shared)`; the last to go on destroys it.
template <class Place, class Shared, class Wait, class Wake>
void check_last_destroys(std::size_t count, std::unique_ptr<Shared> shared, const Wait& wait,
                         const Wake& wake) {
    using awaiter = decltype(wait(*shared));
    std::atomic<std::size_t> left = count;
    const auto ended = [&](auto result) {
        {
            [[maybe_unused]] const auto dropped = std::move(result);
        }  // What it holds is given back.
        if (left.fetch_sub(1) == 1) shared.reset();
    };
    std::list<wait_in_place<Place, awaiter, decltype(ended)>> waits;
    for (std::size_t each = 0; each < count; ++each) {
        waits.emplace_back(wait(*shared), ended);
        REQUIRE(waits.back().begin());
    }

    wake(*shared);
    waits.clear();  // Joins the threads.

    CHECK(left == 0);
    CHECK(shared == nullptr);
}

/// The same for each count, with both kinds of places. `make(count)` makes what is waited for.
template <class Make, class Wait, class Wake>
void check_last_destroys_each(const Make& make, const Wait& wait, const Wake& wake) {
    for (const std::size_t count : counts) {
        CAPTURE(count);
        check_last_destroys<place_in_the_waker>(count, make(count), wait,
                                                [&](auto& shared) { wake(shared, count); });
        for (int round = 0; round < 10; ++round) {
            check_last_destroys<place_on_a_thread>(count, make(count), wait,
                                                   [&](auto& shared) { wake(shared, count); });
        }
    }
}

/// A channel without room, and `count` blocked senders, all of which one `receive_many` serves. With
/// `waits_first` it waits before they come.
template <class Place>
void check_senders_destroy(std::size_t count, bool waits_first) {
    auto shared = std::make_unique<shared_channel<std::unique_ptr<int>>>(0);
    std::atomic<std::size_t> left = count;
    const auto sent = [&](auto) {
        if (left.fetch_sub(1) == 1) shared.reset();
    };
    std::vector<std::unique_ptr<int>> into(64);
    std::size_t received = 0;
    const auto arrived = [&](io_result<std::size_t> result) { received = result.value(); };
    using receive = shared_channel<std::unique_ptr<int>>::receive_many_awaiter;
    using send = shared_channel<std::unique_ptr<int>>::send_awaiter;
    {
        wait_in_place<place_by_hand, receive, decltype(arrived)> receiving{
            shared->receive_many(into), arrived};
        std::list<wait_in_place<Place, send, decltype(sent)>> sending;
        std::unique_ptr<int> first = std::make_unique<int>(0);
        if (waits_first) {
            REQUIRE(receiving.begin());
            REQUIRE(shared->try_send(first));
        }
        for (std::size_t each = 0; each < count; ++each) {
            sending.emplace_back(shared->send(std::make_unique<int>(1)), sent);
            REQUIRE(sending.back().begin());
        }

        if (waits_first) {
            receiving.place().run();
        } else {
            REQUIRE(!receiving.begin());
        }
    }

    CHECK(shared == nullptr);
    REQUIRE(received == count + (waits_first ? 1U : 0U));
    for (std::size_t each = 0; each < received; ++each) CHECK(into[each] != nullptr);
}

void check_senders_destroy(bool waits_first) {
    for (const std::size_t count : counts) {
        CAPTURE(count);
        check_senders_destroy<place_in_the_waker>(count, waits_first);
        for (int round = 0; round < 10; ++round) {
            check_senders_destroy<place_on_a_thread>(count, waits_first);
        }
    }
}

}  // namespace

TEST_CASE("the last holder of a permit destroys the semaphore while one release serves all") {
    check_last_destroys_each([](std::size_t) { return std::make_unique<shared_semaphore>(0); },
                             [](shared_semaphore& of) { return of.acquire(); },
                             [](shared_semaphore& of, std::size_t count) { of.release(count); });
}

TEST_CASE("the last reader destroys the mutex that a writer unlocks for all of them") {
    std::optional<shared_mutex::guard> writer;
    check_last_destroys_each(
        [&](std::size_t) {
            auto of = std::make_unique<shared_mutex>();
            writer = of->try_lock();
            return of;
        },
        [](shared_mutex& of) { return of.lock_shared(); },
        [&](shared_mutex&, std::size_t) { writer.reset(); });
}

TEST_CASE("the last one notified of all destroys the notify") {
    check_last_destroys_each([](std::size_t) { return std::make_unique<notify>(); },
                             [](notify& on) { return on.wait(); },
                             [](notify& on, std::size_t) { on.notify_all(); });
}

TEST_CASE("the last one to pass a latch destroys it") {
    check_last_destroys_each([](std::size_t) { return std::make_unique<latch>(1); },
                             [](latch& on) { return on.wait(); },
                             [](latch& on, std::size_t) { on.count_down(); });
}

TEST_CASE("the last one to leave a barrier destroys it") {
    check_last_destroys_each(
        [](std::size_t count) { return std::make_unique<barrier>(count + 1); },
        [](barrier& at) { return at.arrive_and_wait(); },
        [](barrier& at, std::size_t) {
            const auto arrived = [](io_result<bool>) {};
            wait_in_place<place_by_hand, barrier::arrive_awaiter, decltype(arrived)> last{
                at.arrive_and_wait(), arrived};
            CHECK(!last.begin());
        });
}

TEST_CASE("the last one to see a new value destroys the watch") {
    check_last_destroys_each([](std::size_t) { return std::make_unique<watch<int>>(1); },
                             [](watch<int>& of) { return of.changed(1); },
                             [](watch<int>& of, std::size_t) { of.set(2); });
}

TEST_CASE("the last one to hear that a watch is closed destroys it") {
    check_last_destroys_each([](std::size_t) { return std::make_unique<watch<int>>(1); },
                             [](watch<int>& of) { return of.changed(1); },
                             [](watch<int>& of, std::size_t) { of.close(); });
}

TEST_CASE("the last one to receive a value destroys the broadcast") {
    using feed = broadcast<std::shared_ptr<int>>;
    std::list<feed::receiver> receivers;
    check_last_destroys_each(
        [](std::size_t) { return std::make_unique<feed>(4); },
        [&](feed& from) { return receivers.emplace_back(from.subscribe()).receive(); },
        [](feed& from, std::size_t) { from.send(std::make_shared<int>(1)); });
}

TEST_CASE("the last receiver to hear that a shared channel is closed destroys it") {
    check_last_destroys_each([](std::size_t) { return std::make_unique<shared_channel<int>>(4); },
                             [](shared_channel<int>& from) { return from.receive(); },
                             [](shared_channel<int>& from, std::size_t) { from.close(); });
}

TEST_CASE("the last sender to hear that a shared channel is closed destroys it") {
    check_last_destroys_each([](std::size_t) { return std::make_unique<shared_channel<int>>(0); },
                             [](shared_channel<int>& to) { return to.send(1); },
                             [](shared_channel<int>& to, std::size_t) { to.close(); });
}

TEST_CASE("the last sender destroys the shared channel that one receive of many has emptied") {
    check_senders_destroy(false);
}

TEST_CASE("the last sender destroys the shared channel while a receiver of many goes on") {
    check_senders_destroy(true);
}

TEST_CASE("the last caller destroys what was done once while they waited for it") {
    for (const std::size_t count : counts) {
        CAPTURE(count);
        auto shared = std::make_unique<once>();
        std::atomic<std::size_t> left = count;
        std::atomic<int> times = 0;
        const auto call = [&]() -> task<> {
            const auto initialise = [&]() -> task<io_result<>> {
                ++times;
                co_await yield();
                co_return io_result<>{};
            };
            const io_result<> done = co_await shared->call(initialise);
            CHECK(done.ok());
            if (left.fetch_sub(1) == 1) shared.reset();
        };
        std::list<std::thread> threads;
        for (std::size_t each = 0; each < count; ++each) {
            threads.emplace_back([&] {
                io_context io;
                run_here(io, call());
            });
        }
        for (std::thread& each : threads) each.join();

        CHECK(shared == nullptr);
        CHECK(times == 1);
    }
}

namespace {

/// A wait that is over but has not gone on, whose owner `destroy` destroys meanwhile.
template <class Awaiter, class Wake, class Destroy>
ending ending_of_early_end(Awaiter it, const Wake& wake, const Destroy& destroy) {
    return ending_of([&] {
        const auto ended = [](auto) {};
        wait_in_place<place_by_hand, Awaiter, decltype(ended)> waiting{std::move(it), ended};
        REQUIRE(waiting.begin());
        wake();
        destroy();
        waiting.place().run();
    });
}

constexpr const char* outlives = "what is waited for outlives the coroutines and threads that wait";

}  // namespace

TEST_CASE("a watch that goes before a waiter has looked at the new value is a failed check") {
    std::optional<watch<int>> of{1};

    const ending how =
        ending_of_early_end(of->changed(1), [&] { of->set(2); }, [&] { of.reset(); });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that(outlives));
}

TEST_CASE("a broadcast that goes before a receiver has looked at the value is a failed check") {
    std::optional<broadcast<int>> from{4U};
    broadcast<int>::receiver receiver = from->subscribe();

    const ending how =
        ending_of_early_end(receiver.receive(), [&] { from->send(2); }, [&] { from.reset(); });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that(outlives));
}

TEST_CASE("a shared channel that goes before a receiver of many has looked is a failed check") {
    std::optional<shared_channel<int>> from{4U};
    std::array<int, 4> into{};
    int value = 1;

    const ending how = ending_of_early_end(
        from->receive_many(into), [&] { CHECK(from->try_send(value)); }, [&] { from.reset(); });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that(outlives));
}

TEST_CASE("a receiver of a oneshot that is closed before its wait has gone on is a failed check") {
    oneshot<int> ends = make_oneshot<int>();

    const ending how = ending_of_early_end(
        ends.receiver.receive(), [&] { static_cast<void>(ends.sender.send(7)); },
        [&] { ends.receiver.close(); });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a receiver is not closed while it is waited for"));
}

TEST_CASE("waits that were to look and are destroyed instead are not waited for") {
    oneshot<int> ends = make_oneshot<int>();
    watch<int> of{1};
    {
        const auto received = [](io_result<int>) {};
        const auto seen = [](io_result<watch<int>::snapshot>) {};
        wait_in_place<place_by_hand, oneshot_receiver<int>::receive_awaiter, decltype(received)>
            receiving{ends.receiver.receive(), received};
        wait_in_place<place_by_hand, watch<int>::changed_awaiter, decltype(seen)> looking{
            of.changed(1), seen};
        REQUIRE(receiving.begin());
        REQUIRE(looking.begin());
        CHECK(ends.sender.send(7).ok());
        of.set(2);
    }

    CHECK(ends.receiver.try_receive() == 7);
    ends.receiver.close();
    CHECK(*of.get().value == 2);
}

TEST_CASE("a check that fails in a latch calls its hook without the lock") {
    static latch counter{1};
    const ending how = ending_of([] {
        set_check_hook(
            [](const check_failure&) noexcept { static_cast<void>(counter.try_wait()); });
        counter.count_down(2);
    });

    CHECK(how.signal == SIGABRT);
    CHECK(how.said_that("a latch counts down to zero, and no further"));
}
