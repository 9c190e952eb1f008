// SPDX-License-Identifier: BSL-1.0
//
// What the seam promises of timers, events, signals, and of contexts themselves.
#pragma once

#include <exchange/tests/net/law.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace exchange::testing {

using std::chrono::milliseconds;

inline constexpr std::chrono::hours far_away{24};

TEST_CASE_TEMPLATE_DEFINE("a timer ends when its moment has come, and not before", Side,
                          timer_passes) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        typename the::timer timer{on};
        const gyre::time_point due = Side::traits::now(on) + milliseconds{3};

        const io_result<> passed = co_await timer.wait_until(due);
        const gyre::time_point then = Side::traits::now(on);
        const io_result<> long_ago = co_await timer.wait_until(due - far_away);
        const io_result<> again = co_await timer.wait();

        CHECK(passed.ok());
        CHECK(then >= due);
        CHECK(long_ago.ok());
        CHECK(again.ok());
        CHECK(timer.deadline() == due - far_away);
    });
}

TEST_CASE_TEMPLATE_DEFINE("a deadline that is pushed back wakes no waiter at its former moment",
                          Side, timer_pushed_back) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        bool in_time = false;
        for (auto span = milliseconds{5}; !in_time; span *= 2) {
            typename the::timer liveness{on};
            typename the::timer later{on};
            io_result<> waiting;
            typename the::event ended;
            const gyre::time_point former = Side::traits::now(on) + span;
            liveness.expire_at(former);
            Side::traits::launch(on, the::note([&] { return liveness.wait(); }, waiting, ended));
            co_await the::settle(on);
            for (int packet = 1; packet <= 3; ++packet) {
                liveness.expire_at(Side::traits::now(on) + packet * far_away);
            }
            co_await the::settle(on);
            in_time = !ended.is_set();  // Else the machine was too slow: once more, with more time.

            const io_result<> passed = co_await later.wait_until(former + milliseconds{2});
            co_await the::settle(on);
            CHECK(passed.ok());
            CHECK(ended.is_set() == !in_time);

            const gyre::time_point due = Side::traits::now(on) + milliseconds{1};
            liveness.expire_at(due);
            static_cast<void>(co_await ended.wait());
            CHECK(waiting.ok());
            CHECK((!in_time || Side::traits::now(on) >= due));
        }
    });
}

TEST_CASE_TEMPLATE_DEFINE("a deadline that is moved nearer comes nearer, also from never", Side,
                          timer_moved_nearer) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        for (const bool from_never : {false, true}) {
            typename the::timer timer{on};
            io_result<> waiting = errc::closed;
            typename the::event ended;
            timer.expire_at(from_never ? gyre::never : Side::traits::now(on) + far_away);
            Side::traits::launch(on, the::note([&] { return timer.wait(); }, waiting, ended));
            co_await the::settle(on);
            CHECK_FALSE(ended.is_set());

            const gyre::time_point due = Side::traits::now(on) + milliseconds{2};
            timer.expire_at(due);
            static_cast<void>(co_await ended.wait());

            CHECK(waiting.ok());
            CHECK(Side::traits::now(on) >= due);
        }
    });
}

TEST_CASE_TEMPLATE_DEFINE("a timer that is cancelled ends its wait as canceled, and serves again",
                          Side, timer_cancelled) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        typename the::timer timer{on};
        io_result<> waiting;
        typename the::event ended;
        timer.cancel();  // No waiter: nothing happens, now or later.
        timer.expire_at(Side::traits::now(on) + far_away);
        Side::traits::launch(on, the::note([&] { return timer.wait(); }, waiting, ended));
        co_await the::settle(on);
        CHECK_FALSE(ended.is_set());

        timer.expire_at(Side::traits::now(on) + 2 * far_away);
        timer.cancel();
        static_cast<void>(co_await ended.wait());
        const io_result<> next = co_await timer.wait_until(Side::traits::now(on) + milliseconds{1});

        CHECK(waiting.error() == errc::canceled);
        CHECK(next.ok());
    });
}

template <class Side>
typename law<Side>::template task<> append_when_set(typename law<Side>::event& on, int number,
                                                    std::vector<int>& order) {
    const io_result<> set = co_await on.wait();
    CHECK(set.ok());
    order.push_back(number);
}

TEST_CASE_TEMPLATE_DEFINE("an event releases all waiters in their order, and none inside the call",
                          Side, event_wakes_all) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        typename the::event event;
        std::vector<int> order;
        for (int each = 0; each < 5; ++each) {
            Side::traits::launch(on, append_when_set<Side>(event, each, order));
        }
        co_await the::settle(on);
        CHECK(order.empty());

        event.set();
        CHECK(event.is_set());
        CHECK(order.empty());
        event.reset();  // Those who have waited go on all the same.
        co_await the::settle(on);

        CHECK_FALSE(event.is_set());
        CHECK(order == std::vector<int>{0, 1, 2, 3, 4});
    });
}

TEST_CASE_TEMPLATE_DEFINE("an event that is set is not waited for, and one that was reset is", Side,
                          event_stays_set) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        typename the::event event;
        std::vector<int> order;

        event.set();
        const io_result<> at_once = co_await event.wait();
        const io_result<> again = co_await event.wait();
        event.reset();
        Side::traits::launch(on, append_when_set<Side>(event, 1, order));
        co_await the::settle(on);
        const bool waited = order.empty();
        event.set();
        co_await the::settle(on);

        CHECK((at_once.ok() && again.ok()));
        CHECK(waited);
        CHECK(order.size() == 1);
    });
}

TEST_CASE_TEMPLATE_DEFINE("a signal is reported by its number, also one that came before the wait",
                          Side, signal_reported) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto signals = Side::traits::open_signals(on, {SIGUSR1, SIGUSR2}).take();
        io_result<int> waiting;
        typename the::event ended;

        REQUIRE(std::raise(SIGUSR2) == 0);
        const io_result<int> first = co_await signals.wait();
        Side::traits::launch(on, the::note([&] { return signals.wait(); }, waiting, ended));
        co_await the::settle(on);
        REQUIRE(std::raise(SIGUSR1) == 0);
        static_cast<void>(co_await ended.wait());

        CHECK(first.value() == SIGUSR2);
        CHECK(waiting.value() == SIGUSR1);
    });
}

TEST_CASE_TEMPLATE_DEFINE(
    "a wait for signals that is cancelled ends, and the next one gets the signal", Side,
    signal_wait_cancelled) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        auto signals = Side::traits::open_signals(on, {SIGUSR1}).take();
        io_result<int> waiting;
        typename the::event ended;
        signals.cancel();  // No waiter: nothing happens, now or later.
        Side::traits::launch(on, the::note([&] { return signals.wait(); }, waiting, ended));
        co_await the::settle(on);
        CHECK_FALSE(ended.is_set());

        signals.cancel();
        static_cast<void>(co_await ended.wait());
        REQUIRE(std::raise(SIGUSR1) == 0);
        const io_result<int> next = co_await signals.wait();

        CHECK(waiting.error() == errc::canceled);
        CHECK(next.value() == SIGUSR1);
        CHECK(Side::traits::open_signals(on, {SIGKILL}).error() == errc::invalid_argument);
    });
}

template <class Side>
typename law<Side>::template task<> count_once(int& runs) {
    ++runs;
    co_return;
}

TEST_CASE_TEMPLATE_DEFINE("what is launched begins with the loop's next turn, not inside the call",
                          Side, launch_later) {
    using the = law<Side>;
    the::hold([](typename the::context& on) -> typename the::template task<> {
        int runs = 0;

        for (int each = 0; each < 3; ++each) Side::traits::launch(on, count_once<Side>(runs));
        CHECK(runs == 0);
        co_await the::settle(on);

        CHECK(runs == 3);
    });
}

TEST_CASE_TEMPLATE_DEFINE("run returns when nothing is left, stop ends it before, restart goes on",
                          Side, run_and_stop) {
    using the = law<Side>;
    Side::each_context([](typename the::context& on) {
        typename the::event event;
        std::vector<int> order;
        Side::traits::launch(on, append_when_set<Side>(event, 1, order));

        on.post([&on] { on.stop(); });
        on.run();
        CHECK(order.empty());
        on.restart();
        std::thread elsewhere{[&] { on.post([&event] { event.set(); }); }};
        on.run();
        elsewhere.join();
        CHECK(order.size() == 1);
        on.restart();
        on.run();
    });
}

/// Tells that it is gone.
class mourned {
public:
    explicit mourned(int& deaths) noexcept : deaths_{&deaths} {}
    mourned(const mourned&) = delete;
    mourned& operator=(const mourned&) = delete;
    ~mourned() { ++*deaths_; }

private:
    int* deaths_;
};

template <class Side>
typename law<Side>::template task<> wait_for_event(typename law<Side>::event& event, int& deaths) {
    const mourned here{deaths};
    static_cast<void>(co_await event.wait());
}

template <class Side>
typename law<Side>::template task<> wait_for_time(typename law<Side>::context& on, int& deaths) {
    const mourned here{deaths};
    typename law<Side>::timer timer{on};
    static_cast<void>(co_await timer.wait_until(Side::traits::now(on) + far_away));
}

template <class Side>
typename law<Side>::template task<> wait_for_datagram(typename law<Side>::context& on,
                                                      int& deaths) {
    const mourned here{deaths};
    auto socket = law<Side>::bound(on);
    std::array<std::byte, 8> space;
    static_cast<void>(co_await socket.receive_from(space));
}

TEST_CASE_TEMPLATE_DEFINE("a context with a pending wait does not come to rest in time", Side,
                          no_rest) {
    using the = law<Side>;
    Side::each_context_options([](const auto& options) {
        int deaths = 0;
        typename the::context on{options};
        Side::traits::launch(on, wait_for_time<Side>(on, deaths));
        CHECK_FALSE(Side::run_to_rest(on, milliseconds{5}));
        CHECK(deaths == 0);
    });
}

TEST_CASE_TEMPLATE_DEFINE("a context that ends lets go of everything that waits on it", Side,
                          context_ends) {
    using the = law<Side>;
    Side::each_context_options([](const auto& options) {
        int deaths = 0;
        {
            std::optional<typename the::event> event{std::in_place};
            typename the::context on{options};
            Side::traits::launch(on, wait_for_event<Side>(*event, deaths));
            Side::traits::launch(on, wait_for_time<Side>(on, deaths));
            Side::traits::launch(on, wait_for_datagram<Side>(on, deaths));
            on.run_for(milliseconds{5});
            CHECK(deaths == 0);
            if constexpr (Side::events_die_first) event.reset();
        }
        CHECK(deaths == 3);
    });
}

}  // namespace exchange::testing
