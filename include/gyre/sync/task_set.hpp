// SPDX-License-Identifier: BSL-1.0
//
// Children that all do the same, whose results come as a stream, in the order in which they end.
//
// A group tells each result to a function, and `when_all` keeps them until the last. Here the body asks for
// the next one, so it can begin another child for each that has ended: so many at a time, for as
// much as there is to do.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/base/exception.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/value_ring.hpp>
#include <gyre/sync/waiters.hpp>

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace gyre {

/// Some children of a group, and the results of those that have ended. At its end the rest is stopped,
/// and their results are dropped; it is the group that waits for them.
///
///     task_set<io_result<page>> fetches{group, 8};
///     for (const url& each : wanted) {
///         if (fetches.full()) use(co_await fetches.next());
///         fetches.spawn(fetch(each));
///     }
///     while (!fetches.empty()) use(co_await fetches.next());
///
/// On the loop of the group. Does not move. Must outlive those who wait for its results.
template <class Result = void>
class task_set {
public:
    using value = std::conditional_t<std::is_void_v<Result>, nothing, Result>;
    /// What `next` yields: values, in a `std::optional` if they have no null state of their own.
    using received = typename value_ring<value>::place;

    /// @param  group  Borrowed; children are spawned into it, and count against its bound as well.
    /// @param  max    How many there may be: children that run, and results not taken yet. The
    ///                room for these is allocated here.
    task_set(task_group& group, std::size_t max) : group_{group}, results_(max) {
        expects(max > 0, "a task set has room for at least one child");
    }
    task_set(const task_set&) = delete;
    task_set& operator=(const task_set&) = delete;
    ~task_set() {
        while (!running_.empty()) {
            member& each = running_.pop_front();
            each.set = nullptr;
            each.chain->request(stop_level::stop);
        }
    }

    /// Starts `coroutine`, in a later item of the loop. A user's exception stops the group.
    ///
    /// @param  coroutine  Owned. A task, or a function that makes one, which is kept.
    /// @pre    not full.
    void spawn(task<Result> coroutine) {
        expects(!full(), "the task set is full: take a result first, by next()");
        running_.push_back(group_.start(coroutine, member{this}));
        ++size_;
    }
    template <task_function Function>
    void spawn(Function coroutine) {
        spawn(call_and_keep(std::move(coroutine)));
    }

    class next_awaiter final : public waiter {
    public:
        explicit next_awaiter(task_set& from) noexcept
            : waiter{"the next result of a task set"}, from_{from} {}

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            if (stopped_before(*given)) return go_on(handle, *given, errc::canceled);
            bool taken = false;
            const bool moved = run_catching(failure_, [&] { taken = from_.take(value_); });
            if (taken || !moved) return go_on(handle, *given);
            if (from_.running_.empty()) return go_on(handle, *given, errc::eof);
            return wait_in(from_.receivers_, handle, *given);
        }
        io_result<received> await_resume() {
            if (outcome()) return outcome();
            failure_.rethrow_if_any();
            return std::move(value_);
        }

    private:
        friend class task_set;

        task_set& from_;
        received value_{};
        [[no_unique_address]] exception_slot failure_;
    };

    /// Takes the result of the child that has ended first of those not taken, waiting for one if need be.
    ///
    /// Errors:        `errc::eof` if there is neither a result nor a child; those of the children are in
    ///                their results. What the move of a result throws is rethrown; it counts as taken.
    /// Cancellation:  `errc::canceled`; nothing was taken, and the children go on.
    /// Threads:       the loop of the group.
    /// Cost:          no allocation; a few ns if there is one.
    [[nodiscard]] next_awaiter next() noexcept { return next_awaiter{*this}; }

    /// Takes a result if there is one.
    [[nodiscard]] std::optional<value> try_next() {
        received taken{};
        if (!take(taken)) return std::nullopt;
        return std::optional<value>{std::move(taken)};
    }

    /// Asks every child to end; their results still come.
    void request_stop() noexcept { request(stop_level::stop); }
    /// Asks them to begin nothing new: see `stop_level::drain`.
    void request_drain() noexcept { request(stop_level::drain); }

    /// Children that run, and results that were not taken.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// No child runs, and no result waits.
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// There are as many of both as there may be: a result must be taken before the next `spawn`.
    [[nodiscard]] bool full() const noexcept { return size_ == results_.capacity(); }

private:
    // In the record of a child: it takes its place in the set once that stands still.
    struct member : list_link<task_set> {
        explicit member(task_set* of) noexcept : set{of} {}
        member(member&& other) noexcept : set{other.set} {}

        void operator()(task_outcome<Result> ended) {
            this->unlink();
            if (set == nullptr) return static_cast<void>(ended.get());
            exception_slot failed;
            const bool has_value = run_catching(failed, [&] {
                if constexpr (std::is_void_v<Result>) {
                    ended.get();
                    set->keep(nothing{});
                } else {
                    set->keep(ended.get());
                }
            });
            if (!has_value) --set->size_;
            // Who waits has seen no result so far, and there is none to come.
            if (set->running_.empty()) set->receivers_.wake_all(errc::eof);
            failed.rethrow_if_any();
        }

        task_set* set;  // Null once that has gone.
        stop_chain* chain = nullptr;
    };

    void keep(value result) {
        if (receivers_.empty()) return results_.push(result);
        results_.hand(result, static_cast<next_awaiter&>(receivers_.front()).value_);
        --size_;
        receivers_.wake_one();
    }

    [[nodiscard]] bool take(received& into) {
        if (results_.empty()) return false;
        --size_;
        results_.pop(into);
        return true;
    }

    void request(stop_level level) noexcept {
        running_.for_each([level](member& each) { each.chain->request(level); });
    }

    task_group& group_;
    value_ring<value> results_;
    std::size_t size_ = 0;  // Invariant: the members of `running_`, and `results_`.
    list<member, task_set> running_;
    waiters receivers_;  // Invariant: empty unless `results_` is and `running_` is not.
};

}  // namespace gyre
