// SPDX-License-Identifier: BSL-1.0
//
// One object per loop of a pool, each touched by its own thread only.
//
// State that every session needs (a cache, a book, counters) is cut into as many parts as there are loops,
// and a part is asked by a message instead of locked. The parts are made, used and destroyed on
// their loops.
#pragma once

#include <gyre/base/build.hpp>
#include <gyre/base/check.hpp>
#include <gyre/base/exception.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/runtime/remote_task.hpp>
#include <gyre/sync/task_group.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace gyre {

/// Parts of type `Part`, one on each loop of a pool. Moves while nothing is under way. It must be
/// stopped before it dies, which is checked; the pool must outlive it.
template <class Part>
class sharded {
public:
    /// Makes a part on every loop.
    ///
    /// @param  pool  Borrowed.
    /// @param  make  Called as `make(io_context&, index)` on each loop, on all at the same time; returns
    ///               a `Part`.
    ///
    /// Errors:        none; an exception of `make` travels on after the parts that exist are gone.
    /// Cancellation:  ignored; it ends soon. Threads: resumes on the caller's executor.
    /// Cost:          a message to each loop and back.
    template <class Maker>
        requires std::convertible_to<std::invoke_result_t<Maker&, io_context&, std::size_t>, Part>
    [[nodiscard]] static task<sharded> start(io_pool& pool, Maker make) {
        sharded made{pool};
        std::vector<exception_slot> failures(pool.size());
        const auto body = [&](task_group& group) -> task<> {
            for (std::size_t index = 0; index < pool.size(); ++index) {
                group.spawn(made.make_one(index, make, failures[index]));
            }
            co_return;
        };
        co_await with_group(body);
        for (std::size_t index = 1; index < failures.size(); ++index) {
            failures.front().keep_first(failures[index]);
        }
        if (!failures.front().empty()) co_await made.stop();
        failures.front().rethrow_if_any();
        co_return made;
    }

    sharded(sharded&& other) noexcept
        : pool_{other.pool_}, parts_{std::exchange(other.parts_, {})} {}
    sharded& operator=(sharded&&) = delete;
    ~sharded() {
        for (const auto& each : parts_) {
            expects(!each.has_value(), "a sharded object is stopped before it dies");
        }
    }

    /// The part of the loop that the caller runs on, which must be one of the pool.
    [[nodiscard]] Part& local() noexcept {
        for (std::size_t index = 0; index < parts_.size(); ++index) {
            if ((*pool_)[index].running_on_this_thread()) return *parts_[index];
        }
        fail_check("local", "the caller runs on a loop of the pool");
    }

    [[nodiscard]] std::size_t size() const noexcept { return parts_.size(); }

    /// Calls `function(Part&)` on loop `index` and yields what it returns; a task is run there.
    ///
    /// @param  function  Owned; called there. With g++ 12 give a lambda with captures a name first
    ///                   (docs/guide/compilers.md).
    ///
    /// Errors:        those of `function`. Cancellation: reaches a task; a plain call is waited for.
    /// Threads:       `function` on loop `index`; resumes on the caller's executor.
    /// Cost:          two frames, two posts from outside.
    template <class Function>
    [[nodiscard]] auto at(std::size_t index, Function&& function) {
        expects(index < parts_.size(), "a part of this object");
        return on((*pool_)[index],
                  call<std::decay_t<Function>>(parts_[index], std::forward<Function>(function)));
    }

    /// The same, for what g++ 12 may destroy twice.
    template <maybe_destroyed_twice Function>
    [[nodiscard,
      deprecated(
          "g++ 12 destroys a temporary lambda twice in a co_await: give it a name, and pass that")]]
    auto at(std::size_t index, Function&& function) {
        expects(index < parts_.size(), "a part of this object");
        return on((*pool_)[index], call<Function>(parts_[index], std::forward<Function>(function)));
    }

    /// Calls `function(Part&)` on every loop, on all at the same time.
    ///
    /// @param  function  Owned; several threads use it until the last call has ended. It returns nothing,
    ///                   or a task of nothing. For g++ 12 see `at`.
    ///
    /// Errors: none. Cancellation, Threads: as for `at`. Cost: a message to each loop and back.
    template <class Function>
    [[nodiscard]] task<> on_all(Function function) {
        const auto one = [&](std::size_t index) -> task<> {
            co_await on((*pool_)[index], call_borrowed(parts_[index], function));
        };
        const auto body = [&](task_group& group) -> task<> {
            for (std::size_t index = 0; index < parts_.size(); ++index) group.spawn(one(index));
            co_return;
        };
        co_await with_group(body);
    }

    /// Destroys every part on its loop. Nothing may be under way. Cancellation: ignored.
    [[nodiscard]] task<> stop() {
        const auto end_one = [](std::optional<Part>& part) -> task<> {
            part.reset();
            co_return;
        };
        for (std::size_t index = 0; index < parts_.size(); ++index) {
            co_await on((*pool_)[index], end_one(parts_[index]));
        }
    }

private:
    explicit sharded(io_pool& pool) : pool_{&pool}, parts_(pool.size()) {}

    template <class Maker>
    task<> make_one(std::size_t index, Maker& make, exception_slot& failure) {
        const auto there = [&]() -> task<> {
            run_catching(failure, [&] { parts_[index].emplace(make((*pool_)[index], index)); });
            co_return;
        };
        co_await on((*pool_)[index], there());
    }

    template <class Function, class Result = std::invoke_result_t<Function&, Part&>>
        requires(!is_task<Result>)
    static task<Result> call(std::optional<Part>& part, Function function) {
        expects(part.has_value(), "a sharded object is used before it is stopped");
        co_return function(*part);
    }
    template <class Function, class Result = std::invoke_result_t<Function&, Part&>>
        requires is_task<Result>
    static Result call(std::optional<Part>& part, Function function) {
        expects(part.has_value(), "a sharded object is used before it is stopped");
        co_return co_await function(*part);
    }
    template <class Function>
    static task<> call_borrowed(std::optional<Part>& part, Function& function) {
        expects(part.has_value(), "a sharded object is used before it is stopped");
        if constexpr (is_task<std::invoke_result_t<Function&, Part&>>) {
            co_await function(*part);
        } else {
            function(*part);
        }
        co_return;
    }

    io_pool* pool_;
    std::vector<std::optional<Part>> parts_;
};

}  // namespace gyre
