// SPDX-License-Identifier: BSL-1.0
//
// What must hold for everything that waits, written once.
//
// A *scenario* is something to wait for: `wait()` makes an awaitable that stays pending until
// `wake()`, which ends the wait with success before it returns. The functions below stop it at
// every moment, and see that it resumes once and with the right outcome. sync/ and stream/ list theirs.
#pragma once

#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_any.hpp>

#include <support/harness.hpp>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace gyre::testing {

/// The base of scenarios that need no loop to be made.
struct needs_no_loop {
    explicit needs_no_loop(io_context&) noexcept {}
};

template <class... Values>
error outcome_of(const io_result<Values...>& one) {
    return one.error();
}
template <class First, class... Rest>
error outcome_of(const std::tuple<First, Rest...>& all) {
    return std::get<0>(all).error();
}
template <class... Results>
error outcome_of(const any_result<Results...>& all) {
    return std::get<0>(all.results).error();
}
template <class Result>
error outcome_of(const std::vector<Result>& all) {
    return all.front().error();
}
template <class Result>
error outcome_of(const std::optional<Result>& one) {
    return one->error();
}

/// What was seen of one wait.
struct watched {
    int resumptions = 0;
    error outcome = errc::no_such_file;  // Nothing here fails like this.
    event resumed;
    event may_end;
};

/// Lets everything run that is ready, and what becomes ready by that.
inline task<> settle() {
    for (int time = 0; time < 10; ++time) co_await yield();
}

/// Awaits what `scenario` makes, having moved it twice, and stays: a second resumption of the same
/// wait is counted, too.
template <class Scenario>
task<> watch(Scenario& scenario, watched& seen) {
    auto made = scenario.wait();
    auto moved = std::move(made);
    auto result = co_await std::move(moved);
    ++seen.resumptions;
    seen.outcome = outcome_of(result);
    seen.resumed.set();
    static_cast<void>(co_await shielded(seen.may_end.wait(), patience));
    if (!seen.may_end.is_set()) ++seen.resumptions;
}

/// Runs one wait in a group; `before(group)` happens before it begins, `act(group, scenario)` while
/// it is pending.
template <class Scenario, class Before, class Act>
void check_wait(const Before& before, const Act& act, error expected) {
    INFO(Scenario::name);
    const auto test = [&](io_context& io) -> task<> {
        Scenario scenario{io};
        watched seen;
        const auto body = [&](task_group& group) -> task<> {
            before(group);
            group.spawn(watch(scenario, seen));
            co_await settle();
            act(group, scenario);
            static_cast<void>(co_await shielded(seen.resumed.wait(), patience));
            co_await settle();
            CHECK(seen.resumptions == 1);
            CHECK(seen.outcome == expected);
            seen.may_end.set();
        };
        co_await with_group(body);
        CHECK(seen.resumptions == 1);
    };
    on_every_backend(test);
}

inline constexpr auto nothing_before = [](task_group&) {};

template <class Scenario>
void check_stopped_before_start() {
    check_wait<Scenario>([](task_group& group) { group.request_stop(); },
                         [](task_group&, Scenario&) {}, errc::canceled);
}

template <class Scenario>
void check_stopped_while_pending() {
    check_wait<Scenario>(
        nothing_before, [](task_group& group, Scenario&) { group.request_stop(); }, errc::canceled);
}

template <class Scenario>
void check_woken_then_stopped() {
    const auto act = [](task_group& group, Scenario& scenario) {
        scenario.wake();
        group.request_stop();
    };
    check_wait<Scenario>(nothing_before, act, errc::ok);
}

template <class Scenario>
void check_stopped_then_woken() {
    const auto act = [](task_group& group, Scenario& scenario) {
        group.request_stop();
        scenario.wake();
    };
    check_wait<Scenario>(nothing_before, act, errc::canceled);
}

template <class Scenario>
void check_drain_ignored() {
    const auto drain = [](task_group& group) { group.request_drain(); };
    check_wait<Scenario>(drain, [](task_group&, Scenario& scenario) { scenario.wake(); }, errc::ok);
    const auto act = [](task_group& group, Scenario& scenario) {
        group.request_drain();
        scenario.wake();
    };
    check_wait<Scenario>(nothing_before, act, errc::ok);
}

}  // namespace gyre::testing
