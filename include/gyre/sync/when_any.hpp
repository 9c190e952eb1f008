// SPDX-License-Identifier: BSL-1.0
//
// Several things at once, waiting for the first.
//
// Losers are stopped and awaited, and their results are returned too: a read that lost may have read
// bytes all the same, and a caller who never learns of them has lost data. Where losers should go on
// instead, and be asked again, task_set.hpp yields them one by one.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/coro/branch.hpp>

#include <cstddef>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace gyre {

/// Which awaitable ended first, and what each of them yielded.
template <class... Results>
struct any_result {
    any_result(std::size_t index, std::tuple<Results...> all)
        : winner{index}, results{std::move(all)} {}

    std::size_t winner;              ///< The index of the branch that ended first.
    std::tuple<Results...> results;  ///< In order; losers usually hold `errc::canceled`.
};

/// The same of a vector of awaitables of one type.
template <class Result>
struct any_in_result {
    any_in_result(std::size_t index, std::vector<Result> all) noexcept
        : winner{index}, results{std::move(all)} {}

    std::size_t winner;           ///< The index of the branch that ended first.
    std::vector<Result> results;  ///< In order; losers usually hold `errc::canceled`.
};

/// What the fixed and the counted form share: the first end stops the other branches.
template <class Self>
class any_fork : public fork_point {
public:
    [[nodiscard]] const char* waiting_for() const noexcept override { return "any branch"; }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept {
        open(waiter, *given);
        return suspend(static_cast<Self&>(*this).begin_rest());
    }

    template <class Branch>
    void branch_ended(Branch& ended) noexcept {
        if (winner_ == none) {
            winner_ = static_cast<Self&>(*this).index_of(ended);
            stop_branches(stop_level::stop);
        }
        failure_.keep_first(ended.failure());
        leave(ended.chain);
    }

protected:
    [[nodiscard]] std::size_t winner() const noexcept { return winner_; }
    void rethrow_first() { failure_.rethrow_if_any(); }

private:
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    std::size_t winner_ = none;
    [[no_unique_address]] exception_slot failure_;
};

/// Made by `when_any(first, second, ...)`.
template <awaitable... Awaitables>
class [[nodiscard]] any_of final : public any_fork<any_of<Awaitables...>> {
public:
    static_assert(sizeof...(Awaitables) > 0, "when_any needs at least one awaitable");

    explicit any_of(Awaitables&&... each) noexcept(moves_well) : branches_{std::move(each)...} {}
    any_of(any_of&& other) noexcept(moves_well) : branches_{std::move(other.branches_)} {}
    ~any_of() { this->let_go(); }

    [[nodiscard]] any_result<branch_result<Awaitables>...> await_resume() {
        this->rethrow_first();
        return {this->winner(),
                std::apply(
                    [](auto&... each) {
                        return std::tuple<branch_result<Awaitables>...>{each.take()...};
                    },
                    branches_)};
    }

    [[nodiscard]] bool begin_rest() noexcept override {
        return this->begin_rest_of(branches_, *this);
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

private:
    static constexpr bool moves_well = (std::is_nothrow_move_constructible_v<Awaitables> && ...);

    std::tuple<branch<Awaitables, any_of>...> branches_;
};

/// Made by `when_any(vector)`.
template <awaitable Awaitable>
class [[nodiscard]] any_in final : public any_fork<any_in<Awaitable>> {
public:
    explicit any_in(std::vector<Awaitable> each) {
        expects(!each.empty(), "when_any needs at least one awaitable");
        branches_.reserve(each.size());
        for (Awaitable& it : each) branches_.emplace_back(std::move(it));
    }
    any_in(any_in&& other) noexcept : branches_{std::move(other.branches_)} {}
    ~any_in() { this->let_go(); }

    [[nodiscard]] any_in_result<branch_result<Awaitable>> await_resume() {
        this->rethrow_first();
        std::vector<branch_result<Awaitable>> results;
        results.reserve(branches_.size());
        for (auto& each : branches_) results.push_back(each.take());
        return {this->winner(), std::move(results)};
    }

    [[nodiscard]] bool begin_rest() noexcept override {
        return this->begin_rest_of(branches_, *this);
    }

    [[nodiscard]] std::size_t index_of(const branch<Awaitable, any_in>& wanted) const noexcept {
        return static_cast<std::size_t>(&wanted - branches_.data());
    }

private:
    std::vector<branch<Awaitable, any_in>> branches_;
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

/// The same for a number known only at run time; two allocations.
///
/// @pre  `each` is not empty: nothing would ever end.
template <awaitable Awaitable>
[[nodiscard]] any_in<Awaitable> when_any(std::vector<Awaitable> each) {
    return any_in<Awaitable>{std::move(each)};
}

}  // namespace gyre

template <class... Awaitables>
struct std::tuple_size<gyre::any_of<Awaitables...>>
    : gyre::bound_before_awaited<gyre::any_of<Awaitables...>> {};
