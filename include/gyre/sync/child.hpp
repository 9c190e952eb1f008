// SPDX-License-Identifier: BSL-1.0
//
// A handle of one child: to stop it alone, and to have its result.
//
// `task_group::spawn` tells the group alone how a child has ended, which is cheapest and mostly
// enough. `task_group::spawn_child` returns one of these instead, for jobs that are looked up, canceled and
// asked for what became of them.
#pragma once

#include <gyre/base/check.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/sync/waiters.hpp>

#include <optional>
#include <utility>

namespace gyre {

/// One child of a group. The child is the group's all the same: it may outlive the handle, and never the
/// group. While there is a handle, what the child yields is kept for it and the group hears of no error; a
/// child whose handle has gone ends as if it had been spawned without. A user's exception stops the group
/// either way, and is rethrown here as well.
///
/// On the loop of the group. Moves, but not while it is waited for; may outlive the group.
template <class Result = void>
class [[nodiscard]] child {
public:
    /// What the record of a running child knows of its handle.
    struct link {
        loop* home = nullptr;
        stop_chain* chain = nullptr;
        child* handle = nullptr;  ///< Null once let go.
    };

    /// No child.
    child() noexcept = default;
    explicit child(link& running) noexcept : running_{&running} { running.handle = this; }
    child(child&& other) noexcept(moves_well) { *this = std::move(other); }
    child& operator=(child&& other) noexcept(moves_well) {
        if (this == &other) return *this;
        expects(waiting_.empty() && other.waiting_.empty(),
                "the handle of a child stays where it is while it is waited for");
        let_go();
        running_ = std::exchange(other.running_, nullptr);
        outcome_.reset();
        if (other.outcome_) outcome_.emplace(std::move(*other.outcome_));
        other.outcome_.reset();
        if (running_ != nullptr) running_->handle = this;
        return *this;
    }
    ~child() { let_go(); }

    /// Asks this child alone to end. Nothing happens once it has.
    void request_stop() noexcept { request(stop_level::stop); }
    /// Asks it to begin nothing new: see `stop_level::drain`.
    void request_drain() noexcept { request(stop_level::drain); }

    /// It has neither ended nor been let go.
    [[nodiscard]] bool running() const noexcept { return running_ != nullptr; }

    /// Its result is here, and was not taken.
    [[nodiscard]] bool ended() const noexcept { return outcome_.has_value(); }

    class wait_awaiter final : public waiter {
    public:
        explicit wait_awaiter(child& of) noexcept : waiter{"the end of a child"}, of_{of} {}

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            if (!of_.running() && !stopped_before(*given)) return go_on(handle, *given);
            return wait_in(of_.waiting_, handle, *given);
        }
        io_result<> await_resume() const noexcept { return outcome(); }

    private:
        child& of_;
    };

    class result_awaiter final : public waiter {
    public:
        explicit result_awaiter(child& of) noexcept
            : waiter{"the result of a child", ignores_stop}, of_{of} {}

        void request(stop_level level) noexcept override { of_.request(level); }

        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle,
                                         const environment* given) noexcept {
            if (!of_.running()) return go_on(handle, *given);
            of_.request(given->chain->level());
            return wait_in(of_.waiting_, handle, *given);
        }
        Result await_resume() { return of_.take(); }

    private:
        child& of_;
    };

    /// Waits until the child has ended, and leaves its result where it is.
    ///
    /// Errors:        none but cancellation; those of the child are in its result.
    /// Cancellation:  `errc::canceled`; the child goes on.
    /// Threads:       the loop of the group.
    /// Cost:          no allocation.
    [[nodiscard]] wait_awaiter wait() noexcept { return wait_awaiter{*this}; }

    /// Waits for the child's end and takes what it yields, as if the child's task were awaited here.
    ///
    /// @pre    there is a child whose result was not taken.
    ///
    /// Errors:        those of the child, whose exception is rethrown.
    /// Cancellation:  passed on to the child, which is waited for all the same.
    /// Threads:       the loop of the group.
    /// Cost:          no allocation.
    [[nodiscard]] result_awaiter result() noexcept { return result_awaiter{*this}; }

    /// What the child has yielded; rethrows its exception.
    /// @pre  ended.
    [[nodiscard]] Result take() {
        expects(ended(), "the result of a child is taken once, when it has ended");
        kept_outcome<Result> taken = std::move(*outcome_);
        outcome_.reset();
        return taken.take();
    }

    /// Called by the child's record.
    [[nodiscard]] const exception_slot& end(task_outcome<Result> outcome) noexcept {
        running_ = nullptr;
        outcome_.emplace()(outcome);
        waiting_.wake_all();
        return outcome_->failure();
    }

private:
    static constexpr bool moves_well =
        std::is_void_v<Result> || std::is_nothrow_move_constructible_v<Result>;

    void request(stop_level level) noexcept {
        if (running_ == nullptr) return;
        expects(running_->home->may_touch_here(), "a child is stopped on the loop of its group");
        running_->chain->request(level);
    }
    void let_go() noexcept {
        if (running_ != nullptr) running_->handle = nullptr;
        running_ = nullptr;
    }

    link* running_ = nullptr;  // Invariant: null, or in the record of a child that has not ended.
    std::optional<kept_outcome<Result>> outcome_;  // Empty while it runs.
    waiters waiting_;
};

}  // namespace gyre
