// SPDX-License-Identifier: BSL-1.0
//
// Several things at once, waiting for the first.
//
// Losers are stopped and awaited, and their results are returned too: a read that lost may have read
// bytes all the same, and a caller who never learns of them has lost data.
#pragma once

#include <gyre/coro/branch.hpp>

#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace gyre {

/// Which awaitable ended first, and what each of them yielded.
template <class... Results>
struct any_result {
    any_result(std::size_t index, std::tuple<Results...> all) noexcept
        : winner{index}, results{std::move(all)} {}

    std::size_t winner;              ///< The index of the branch that ended first.
    std::tuple<Results...> results;  ///< In order; losers usually hold `errc::canceled`.
};

/// Made by `when_any(first, second, ...)`.
template <awaitable... Awaitables>
class [[nodiscard]] any_of final : public fork_point {
public:
    static_assert(sizeof...(Awaitables) > 0, "when_any needs at least one awaitable");

    explicit any_of(Awaitables&&... each) noexcept : branches_{std::move(each)...} {}
    any_of(any_of&& other) noexcept : branches_{std::move(other.branches_)} {}

    [[nodiscard]] const char* waiting_for() const noexcept override { return "any branch"; }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept {
        open(waiter, *given);
        std::apply([this](auto&... each) { (this->start(each), ...); }, branches_);
        return suspend();
    }

    [[nodiscard]] any_result<branch_result<Awaitables>...> await_resume() {
        failure_.rethrow_if_any();
        return {winner_, std::apply(
                             [](auto&... each) {
                                 return std::tuple<branch_result<Awaitables>...>{each.take()...};
                             },
                             branches_)};
    }

    template <class Branch>
    void branch_ended(Branch& ended) noexcept {
        if (winner_ == none) {
            winner_ = index_of(ended);
            stop_branches(stop_level::stop);
        }
        failure_.keep_first(ended.failure());
        leave(ended.chain);
    }

private:
    static constexpr std::size_t none = sizeof...(Awaitables);

    template <class Branch>
    void start(Branch& each) noexcept {
        enter(each.chain);
        each.start(*this, env(), inherited());
    }

    template <class Branch>
    [[nodiscard]] std::size_t index_of(Branch& wanted) noexcept {
        std::size_t index = 0;
        std::apply(
            [&](auto&... each) {
                static_cast<void>(
                    ((static_cast<void*>(&each) == &wanted || (++index, false)) || ...));
            },
            branches_);
        return index;
    }

    std::tuple<branch<Awaitables, any_of>...> branches_;
    std::size_t winner_ = none;
    [[no_unique_address]] exception_slot failure_;
};

/// Awaits `each` at the same time until the first ends, stops the others, and waits for them.
///
/// @param  each  Owned. Tasks, or leaf awaitables.
/// @return The winner's index and every result.
///
/// Errors:        those of the branches, in the results. A user's exception from any branch is
///                rethrown when all have ended; the first one counts.
/// Cancellation:  reaches every branch.
/// Threads:       all branches on the caller's executor.
/// Cost:          no frame and no allocation but those of the branches themselves.
template <awaitable... Awaitables>
[[nodiscard]] any_of<Awaitables...> when_any(Awaitables... each) {
    return any_of<Awaitables...>{std::move(each)...};
}

/// Not provided, unlike for `when_all`; the message says what to do.
template <awaitable Awaitable>
any_of<Awaitable> when_any(std::vector<Awaitable> each) {
    static_assert(sizeof(Awaitable) == 0,
                  "when_any takes awaitables one by one; of a vector, spawn each into a group "
                  "(with_group) and let the first that ends call its request_stop()");
    return when_any(std::move(each.front()));
}

}  // namespace gyre

template <class... Awaitables>
struct std::tuple_size<gyre::any_of<Awaitables...>>
    : gyre::bound_before_awaited<gyre::any_of<Awaitables...>> {};
