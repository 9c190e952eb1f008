// SPDX-License-Identifier: BSL-1.0
//
// Several things at once, waiting for all of them.
//
// The branches live in the awaiting coroutine's frame (branch.hpp), so awaiting three sockets costs no
// allocation. when_any.hpp waits for the first instead.
#pragma once

#include <gyre/coro/branch.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace gyre {

/// What the fixed and the counted form share: the first failure stops the other branches.
template <class Self>
class all_fork : public fork_point {
public:
    [[nodiscard]] const char* waiting_for() const noexcept override { return "all branches"; }

    template <class Branch>
    void branch_ended(Branch& ended) noexcept {
        if (ended.failed()) stop_branches(stop_level::stop);
        failure_.keep_first(ended.failure());
        leave(ended.chain);
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiter,
                                     const environment* given) noexcept {
        open(waiter, *given);
        return suspend(static_cast<Self&>(*this).begin_rest());
    }

protected:
    void rethrow_first() { failure_.rethrow_if_any(); }

private:
    [[no_unique_address]] exception_slot failure_;
};

/// Made by `when_all(first, second, ...)`.
template <awaitable... Awaitables>
class [[nodiscard]] all_of final : public all_fork<all_of<Awaitables...>> {
public:
    explicit all_of(Awaitables&&... each) noexcept(moves_well) : branches_{std::move(each)...} {}
    all_of(all_of&& other) noexcept(moves_well) : branches_{std::move(other.branches_)} {}
    ~all_of() { this->let_go(); }

    [[nodiscard]] std::tuple<branch_result<Awaitables>...> await_resume() {
        this->rethrow_first();
        // The type is spelled out: one tuple in a tuple would be taken for a copy of it.
        return std::apply(
            [](auto&... each) { return std::tuple<branch_result<Awaitables>...>{each.take()...}; },
            branches_);
    }

    [[nodiscard]] bool begin_rest() noexcept override {
        return this->begin_rest_of(branches_, *this);
    }

private:
    static constexpr bool moves_well = (std::is_nothrow_move_constructible_v<Awaitables> && ...);

    std::tuple<branch<Awaitables, all_of>...> branches_;
};

/// Made by `when_all(vector)`.
template <awaitable Awaitable>
class [[nodiscard]] all_in final : public all_fork<all_in<Awaitable>> {
public:
    explicit all_in(std::vector<Awaitable> each) {
        branches_.reserve(each.size());
        for (Awaitable& it : each) branches_.emplace_back(std::move(it));
    }
    all_in(all_in&& other) noexcept : branches_{std::move(other.branches_)} {}
    ~all_in() { this->let_go(); }

    [[nodiscard]] std::vector<branch_result<Awaitable>> await_resume() {
        this->rethrow_first();
        std::vector<branch_result<Awaitable>> results;
        results.reserve(branches_.size());
        for (auto& each : branches_) results.push_back(each.take());
        return results;
    }

    [[nodiscard]] bool begin_rest() noexcept override {
        return this->begin_rest_of(branches_, *this);
    }

private:
    std::vector<branch<Awaitable, all_in>> branches_;
};

/// Awaits all of `each` at the same time.
///
/// @param  each  Owned. Tasks, or leaf awaitables such as `socket.read_some(...)`.
/// @return A tuple of what they yield, in order; `nothing` for void. Results are all there even when
///         some are errors.
///
/// Errors:        those of the branches, in the tuple. The first branch that ends with an error, or a
///                user's exception, stops the others; that exception is rethrown when all have ended.
/// Cancellation:  reaches every branch.
/// Threads:       all branches on the caller's executor.
/// Cost:          no frame and no allocation but those of the branches themselves. Forks within each other
///                are worked depth-first, however many and however deep they are: see fork_point.
template <awaitable... Awaitables>
[[nodiscard]] all_of<Awaitables...> when_all(Awaitables... each) {
    return all_of<Awaitables...>{std::move(each)...};
}

/// The same for a number known only at run time; one allocation.
template <awaitable Awaitable>
[[nodiscard]] all_in<Awaitable> when_all(std::vector<Awaitable> each) {
    return all_in<Awaitable>{std::move(each)};
}

}  // namespace gyre

template <class... Awaitables>
struct std::tuple_size<gyre::all_of<Awaitables...>>
    : gyre::bound_before_awaited<gyre::all_of<Awaitables...>> {};
