// SPDX-License-Identifier: BSL-1.0
//
// What must hold for everything that waits, written once.
//
// A *scenario* is something to wait for: `wait()` makes an awaitable that stays pending until
// `wake()`, which ends the wait with success before it returns. The functions below stop it at
// every moment, and see that it resumes once and with the right outcome. sync/ and stream/ list theirs.
#pragma once

#include <gyre/sync/event.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_any.hpp>

#include <support/harness.hpp>
#include <support/settle.hpp>

#include <functional>
#include <memory>
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
error outcome_of(const any_in_result<Result>& all) {
    return all.results.front().error();
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

/// All that the laws know of a scenario, so that they are compiled once and not for each.
class waiting {
public:
    waiting() = default;
    waiting(const waiting&) = delete;
    waiting& operator=(const waiting&) = delete;
    virtual ~waiting() = default;

    /// Awaits what the scenario makes, having moved it twice, and stays: a second resumption of the
    /// same wait is counted, too.
    [[nodiscard]] virtual task<> watch(watched& seen) = 0;

    /// A failed check if the scenario knows no way.
    virtual void wake() = 0;
};

template <class Scenario>
class waiting_in final : public waiting {
public:
    explicit waiting_in(io_context& io) : scenario_{io} {}

    task<> watch(watched& seen) override {
        auto made = scenario_.wait();
        auto moved = std::move(made);
        auto result = co_await std::move(moved);
        ++seen.resumptions;
        seen.outcome = outcome_of(result);
        seen.resumed.set();
        static_cast<void>(co_await shielded(seen.may_end.wait(), patience));
        if (!seen.may_end.is_set()) ++seen.resumptions;
    }

    void wake() override {
        if constexpr (requires { scenario_.wake(); }) {
            scenario_.wake();
        } else {
            FAIL("nothing wakes it");
        }
    }

private:
    Scenario scenario_;
};

/// A scenario as the laws take it.
struct waiting_subject {
    const char* name;
    std::unique_ptr<waiting> (*make)(io_context&);
};

template <class Scenario>
[[nodiscard]] waiting_subject subject() {
    return {Scenario::name, [](io_context& io) -> std::unique_ptr<waiting> {
                return std::make_unique<waiting_in<Scenario>>(io);
            }};
}

/// Runs one wait in a group; `before(group)` happens before it begins, `act(group, it)` while it is
/// pending.
void check_wait(const waiting_subject& of, const std::function<void(task_group&)>& before,
                const std::function<void(task_group&, waiting&)>& act, error expected);

/// The laws.
void check_stopped_before_start(const waiting_subject& of);
void check_stopped_while_pending(const waiting_subject& of);
void check_woken_then_stopped(const waiting_subject& of);
void check_stopped_then_woken(const waiting_subject& of);
void check_drain_ignored(const waiting_subject& of);

template <class Scenario>
void check_stopped_before_start() {
    check_stopped_before_start(subject<Scenario>());
}
template <class Scenario>
void check_stopped_while_pending() {
    check_stopped_while_pending(subject<Scenario>());
}
template <class Scenario>
void check_woken_then_stopped() {
    check_woken_then_stopped(subject<Scenario>());
}
template <class Scenario>
void check_stopped_then_woken() {
    check_stopped_then_woken(subject<Scenario>());
}
template <class Scenario>
void check_drain_ignored() {
    check_drain_ignored(subject<Scenario>());
}

}  // namespace gyre::testing
